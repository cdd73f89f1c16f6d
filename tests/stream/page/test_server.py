"""The port: who is let in, what is served, and that nobody can hold the learning up."""

import json
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from learners.outline import Size
from stream.broker.process import wait_until
from stream.config import Agent, Config, Http, parse
from stream.config import MetricsSettings as MetricsSettings
from stream.demo.generators import loans
from stream.errors import ConfigError, EngineError
from stream.events import BatchPredicted, ModelMeasured
from stream.observe.metrics import Metrics
from stream.page import feed as presenting
from stream.page import server as serving
from stream.page.access_policy import COOKIE, AccessPolicy
from stream.page.http_app import ELSEWHERE, NO_TOKEN, SWITCHED_OFF, HttpApp, listeners
from stream.page.routes import MOST_PAGES
from tests.stream.page.asking import SECONDS, ask
from tests.stream.page.garden import Garden, Planted, full_tree, garden

TOKEN = "a-token-of-enough-letters"
AGENT = Agent(name="loans", input="applications")


@pytest.fixture
def one() -> Iterator[Garden]:
    with garden() as planted:
        planted.bed.learn_stream(loans(1), 100)
        planted.presenter.tick()
        yield planted


# ---- what is served


def test_page_interface_metrics_and_health_are_on_one_port(one: Garden) -> None:
    assert b"<title>Espalier</title>" in ask(one.address).body
    assert ask(one.address, "metrics").body == b"espalier_up 1\n"
    assert ask(one.address, "healthz").status == 200
    told = ask(one.address, "api/tree").told
    assert isinstance(told, dict) and told["version"] == one.bed.version
    state = ask(one.address, "api/state").told
    assert isinstance(state, dict) and state["agents"][0]["answered"] == 100


def test_every_file_of_the_page_is_served_and_nothing_else(one: Garden) -> None:
    static = Path(serving.__file__).parent / "static"
    for path in static.iterdir():
        assert ask(one.address, f"static/{path.name}").body == path.read_bytes()
    for other in ("static/../server.py", "static/%2e%2e/server.py", "static/", "server.py", "static/none.js"):
        assert ask(one.address, other).status == 404


ELSEWHERE_IN_PAGE = re.compile(
    r"""(?:https?|wss?|ftp):\S*        # an address with its scheme
      | (?<=["'(=`])\s*//[^\s/]\S*    # one that takes the scheme of the page
      | @import\b\S*                  # a style sheet of its own
      | \bintegrity\s*=               # only what comes from elsewhere needs it
    """,
    re.VERBOSE,
)
NAMESPACE = "http://www.w3.org/2000/svg"
"""A name that looks like an address; nobody asks for it."""


def elsewhere(text: str) -> list[str]:
    """Return what a file of the page would fetch from another server."""
    return ELSEWHERE_IN_PAGE.findall(text.replace(NAMESPACE, ""))


def test_the_page_needs_nothing_from_anywhere_else() -> None:
    for path in (Path(serving.__file__).parent / "static").iterdir():
        text = path.read_text()
        assert elsewhere(text) == [], path
        assert "innerHTML" not in text and "insertAdjacentHTML" not in text and "eval(" not in text, path


@pytest.mark.parametrize(
    "text",
    [
        '<script src="//cdn.example/x.js"></script>',
        "<img src=//cdn.example/x.png>",
        '<link href="https://fonts.example/a.css">',
        "background: url(//cdn.example/x.png)",
        "background: url(http://cdn.example/x.png)",
        "const socket = new WebSocket('wss://cdn.example')",
        'import x from "//cdn.example/x.js";',
        "fetch(`//cdn.example/x`)",
        '@import "other.css";',
    ],
)
def test_what_would_come_from_elsewhere_is_found(text: str) -> None:
    assert elsewhere(text)


def test_a_comment_is_no_address() -> None:
    assert elsewhere(f'// a comment\nlet a = 1; // another\nnode.setAttribute("xmlns", "{NAMESPACE}");') == []


def test_every_answer_forbids_what_the_page_does_not_need(one: Garden) -> None:
    for path in ("", "static/app.js", "api/state", "api/tree", "api/answer", "api/tree?version=x"):
        headers = ask(one.address, path).headers
        if path in ("", "static/app.js", "api/state"):
            assert "default-src 'none'" in headers["Content-Security-Policy"]
            assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Python" not in headers["Server"]


def test_nothing_can_be_changed_through_the_port(one: Garden) -> None:
    # 405: known, but not here. 501: not known anywhere.
    for method, status in {"POST": 405, "OPTIONS": 405, "PUT": 501, "DELETE": 501, "PATCH": 501}.items():
        for path in ("", "api/state", "api/tree", "healthz", "metrics"):
            said = ask(one.address, path, method=method, Content_Length="0")
            assert said.status == status, (method, path)
    assert ask(one.address, "api/answer").status == 405


def test_a_question_is_answered_by_the_tree_of_now_or_by_an_older_one(one: Garden) -> None:
    values = {name: str(value) for name, value in next(loans(3)).items() if name not in ("id", "class")}
    question: dict[str, object] = {"agent": "loans", "values": values}

    def answer(**more: object) -> dict[str, object]:
        body = json.dumps({**question, **more}).encode()
        said = ask(one.address, "api/answer", method="POST", body=body, Content_Type="application/json")
        assert said.status == 200 and isinstance(said.told, dict)
        return said.told

    told = answer()
    assert told["answer"] == one.bed.learner.predict_one(values).answer
    assert told["version"] == one.bed.version
    oldest = answer(version=1)["version"]
    assert isinstance(oldest, int) and 1 <= oldest < one.bed.version


@pytest.mark.parametrize(
    ("body", "kind", "status", "word"),
    [
        (b"{}", "application/json", 400, "missing required field"),
        (b"[", "application/json", 400, "question"),
        (b'{"agent": "loans", "values": {"a": {}}}', "application/json", 400, "question"),
        (b'{"agent": "nobody", "values": {}}', "application/json", 404, "no such agent"),
        (b"agent=loans", "application/x-www-form-urlencoded", 415, "application/json"),
        (b"\xff\xfe", "application/json", 400, "question"),
    ],
)
def test_a_wrong_question_is_told_what_is_wrong(
    one: Garden, body: bytes, kind: str, status: int, word: str
) -> None:
    said = ask(one.address, "api/answer", method="POST", body=body, Content_Type=kind)
    assert said.status == status
    assert isinstance(said.told, dict) and word in said.told["error"]


def test_an_agent_without_data_is_told_of_as_one(one: Garden) -> None:
    with garden(AGENT) as empty:
        assert ask(empty.address, "api/tree").status == 404
        body = b'{"agent": "loans", "values": {"a": 1}}'
        said = ask(empty.address, "api/answer", method="POST", body=body, Content_Type="application/json")
        assert isinstance(said.told, dict)
        assert (said.told["answer"], said.told["flags"]) == (None, ["no_answer"])


# ---- who is let in


def test_with_a_token_only_those_who_know_it_see_the_page() -> None:
    with garden(token=TOKEN) as one:
        for path in ("", "api/state", "api/events", "static/app.js"):
            assert ask(one.address, path).status == 403
            assert ask(one.address, path, Authorization="Bearer something-else-entirely").status == 403
            assert ask(one.address, path, Cookie=f"{COOKIE}=wrong; a=b").status == 403
        assert ask(one.address, "?token=wrong").status == 403
        assert ask(one.address, "api/state?token=" + TOKEN).status == 403, (
            "only the page's own address takes it"
        )
        assert ask(one.address, "api/state", Authorization=f"Bearer {TOKEN}").status == 200
        came = ask(one.address, f"?token={TOKEN}")
        assert (came.status, came.headers["Location"]) == (303, "/")
        cookie = came.headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert ask(one.address, "", Cookie=cookie.partition(";")[0]).status == 200
        # No secret is behind these.
        told = {path: ask(one.address, path).status for path in ("metrics", "healthz", "startupz", "readyz")}
        assert told == {"metrics": 200, "healthz": 200, "startupz": 503, "readyz": 503}
        one.health.has_started = True
        assert ask(one.address, "startupz").status == 200


def test_without_a_token_a_page_from_elsewhere_cannot_read_ours_by_a_name_of_its_own(one: Garden) -> None:
    for host in ("evil.example", "evil.example:9464", "127.0.0.1.evil.example", "", "[", "localhost.evil"):
        assert ask(one.address, "api/state", Host=host).status == 403, host
    for host in ("localhost:1", "127.0.0.1", "[::1]:9464", "LOCALHOST"):
        assert ask(one.address, "api/state", Host=host).status == 200, host
    assert ask(one.address, "metrics", Host="prometheus.example").status == 200


SMALLEST = '[[agent]]\nname = "loans"\ninput = "applications"\n'


def test_beyond_this_machine_there_is_no_page_without_a_token() -> None:
    for host in ("0.0.0.0", "::", "10.0.0.1", "worker.example"):
        with pytest.raises(ConfigError, match="there is no token"):
            parse(f'{SMALLEST}[http]\nhost = "{host}"\n', environ={})
        parse(f'{SMALLEST}[http]\nhost = "{host}"\ntoken = "{TOKEN}"\n', environ={})
        parse(f'{SMALLEST}[http]\nhost = "{host}"\npage = false\n', environ={})
    for host in ("127.0.0.1", "localhost", "::1", "127.1.2.3"):
        parse(f'{SMALLEST}[http]\nhost = "{host}"\n', environ={})
    with pytest.raises(ConfigError, match="16 or more letters"):
        parse(f'{SMALLEST}[http]\ntoken = "short"\n', environ={})


def config(metrics: MetricsSettings | None = None, http: Http | None = None) -> Config:
    return Config(agents=(AGENT,), metrics=metrics or MetricsSettings(), http=http or Http())


def test_one_port_is_enough_unless_the_page_has_one_of_its_own() -> None:
    def found(*settings: object) -> list[tuple[object, ...]]:
        return [(one.table, one.host, one.port, one.page) for one in listeners(config(*settings))]  # type: ignore[arg-type]

    everywhere = MetricsSettings(host="0.0.0.0")
    off = MetricsSettings(enabled=False)
    assert found() == [("metrics", "127.0.0.1", 9464, None)]
    assert found(everywhere) == [("metrics", "0.0.0.0", 9464, NO_TOKEN)]
    assert found(everywhere, Http(token=TOKEN)) == [("metrics", "0.0.0.0", 9464, None)]
    assert found(None, Http(page=False)) == [("metrics", "127.0.0.1", 9464, SWITCHED_OFF)]
    assert found(everywhere, Http(host="127.0.0.1", port=8080)) == [
        ("metrics", "0.0.0.0", 9464, ELSEWHERE),
        ("http", "127.0.0.1", 8080, None),
    ]
    apart = config(everywhere, Http(host="127.0.0.1", port=8080))
    assert [one.has_metrics for one in listeners(apart)] == [True, True]
    assert found(off) == [], "no port is opened that nobody has asked for"
    assert found(off, Http(port=9464)) == [("metrics", "127.0.0.1", 9464, None)]
    assert found(off, Http(port=8080)) == [("http", "127.0.0.1", 8080, None)]
    assert found(off, Http(page=False)) == []


def test_where_the_page_is_not_served_the_reason_is() -> None:
    front = HttpApp([AGENT], Metrics())
    try:
        port = front.listen("127.0.0.1", 0, AccessPolicy("127.0.0.1", None, NO_TOKEN))
        said = ask(f"http://127.0.0.1:{port}")
        assert said.status == 403 and b"ESPALIER_HTTP_TOKEN_FILE" in said.body
        assert b"espalier_" in ask(f"http://127.0.0.1:{port}", "metrics").body
    finally:
        front.close()


def test_a_port_that_is_taken_is_told_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for settings, table in (
            (config(MetricsSettings(port=port)), "metrics"),
            (config(MetricsSettings(port=0), Http(port=port)), "http"),
        ):
            front = HttpApp([AGENT], Metrics())
            with pytest.raises(EngineError, match=rf"{port}: .*Set port in \[{table}\]"):
                front.open(settings)


def test_the_token_is_shown_nowhere() -> None:
    assert TOKEN not in repr(config(None, Http(token=TOKEN)))


# ---- nobody is waited for


def watching(address: str) -> socket.socket:
    """A connection that follows the news."""
    host, port = address.removeprefix("http://").rstrip("/").split(":")
    connection = socket.create_connection((host, int(port)), timeout=SECONDS)
    connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    return connection


def test_news_come_as_events_and_what_was_missed_comes_together(one: Garden) -> None:
    with watching(one.address) as connection:
        text = b""
        while b"event: versions" not in text:
            text += connection.recv(65_536)
        names = [line.split()[1] for line in text.splitlines() if line.startswith(b"event: ")]
        assert names[:2] == [b"state", b"curves"]
        assert {b"tree", b"changes", b"versions"} <= set(names)
        assert b"text/event-stream" in text


def test_a_reader_who_goes_away_is_forgotten(one: Garden) -> None:
    connection = watching(one.address)
    assert wait_until(lambda: one.hub.viewers == 1, SECONDS)
    connection.close()
    assert wait_until(lambda: one.hub.viewers == 0, SECONDS)


def test_a_reader_who_is_stuck_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    assert serving._Handler.timeout == serving.REQUEST_SECONDS
    monkeypatch.setattr(serving._Handler, "timeout", 0.3)
    with garden(learner=Planted(full_tree(6))) as one, watching(one.address):
        assert wait_until(lambda: one.hub.viewers == 1, SECONDS)
        # It reads nothing: once the system's buffers are full, sending to it takes too long.
        deadline = time.monotonic() + SECONDS
        while one.hub.viewers and time.monotonic() < deadline:
            one.bed.version += 1
            one.bed.restored()
            one.presenter.tick()
        assert one.hub.viewers == 0


def test_there_is_an_end_to_how_many_are_served() -> None:
    with garden() as one:
        readers = [watching(one.address) for _ in range(MOST_PAGES)]
        try:
            assert wait_until(lambda: one.hub.viewers == MOST_PAGES, SECONDS)
            assert ask(one.address, "api/events").status == 503
            assert ask(one.address, "healthz").status == 200
        finally:
            for reader in readers:
                reader.close()


def test_the_learning_loop_never_waits_for_a_reader_or_the_presenter(one: Garden) -> None:
    done = threading.Event()

    def learn() -> None:
        one.bed.learn_stream(loans(2), 200)
        done.set()

    with one.presenter._changed:  # as if the presenter or a reader held it for ever
        threading.Thread(target=learn, daemon=True).start()
        assert done.wait(SECONDS)


def test_a_thousand_changes_a_second_are_a_handful_of_updates() -> None:
    """However many changes there are between two ticks, a reader is sent one tree; and ticks are rare."""
    assert presenting.TICK_SECONDS >= 0.1
    with garden(learner=Planted(full_tree(6))) as one:
        one.presenter.close()
        reader = one.presenter.reader(("loans", "applications"))
        one.presenter.tick()
        reader.next(0)
        for _ in range(10):
            for _ in range(100):
                one.bed.version += 1
                one.bed.restored()
            assert not reader.next(0), "nothing is sent before it is time"
            one.presenter.tick()
            news = reader.next(0)
            trees = [json.loads(text) for name, text in news if name == "tree"]
            assert [tree["version"] for tree in trees] == [one.bed.version]
        assert one.bed.version == 1_000


def test_a_tree_that_may_not_be_counted_now_is_shown_with_older_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with garden() as one:
        one.presenter.close()
        one.bed.learn_stream(loans(1), 60)
        model = one.hub.agents["loans"].models["applications"]
        model._credit = -1e9  # as if counting had taken very long
        counted = model.counted
        one.bed.learn_stream(loans(2), 200)
        assert model.counted is counted is not None and counted.version < one.bed.version

        def version() -> int:
            one.presenter.tick()
            return int(json.loads(one.presenter.tree(("loans", "applications")) or b"")["version"])

        monkeypatch.setattr(presenting, "STALE_SECONDS", 1e9)
        assert version() == counted.version
        monkeypatch.setattr(presenting, "STALE_SECONDS", 0.0)
        assert version() == one.bed.version


def test_the_queues_of_the_hub_are_bounded_when_nobody_looks() -> None:
    agent = AGENT
    with garden(agent) as one:
        one.presenter.close()
        for _ in range(300):
            one.hub.observe(ModelMeasured("loans", "applications", Size(1, 1, 0), 1, None, [b"{}"] * 3))
            one.hub.observe(BatchPredicted("loans", [True] * 700, 0))
        model = one.hub.agents["loans"].models["applications"]
        assert len(model.steps) == 64
        assert len(one.hub.agents["loans"]._batches) <= 4


def test_a_garbled_request_ends_that_connection_and_no_other(one: Garden) -> None:
    host, port = one.address.removeprefix("http://").rstrip("/").split(":")
    for garbage in (
        b"\x00\xff\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST /api/answer HTTP/1.1\r\n\r\n",
        b"GET //[ HTTP/1.1\r\n\r\n",
    ):
        with socket.create_connection((host, int(port)), timeout=SECONDS) as connection:
            connection.sendall(garbage + b"\r\n\r\n")
            connection.recv(100)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{one.address}nothing", timeout=SECONDS)
    assert ask(one.address, "healthz").status == 200
