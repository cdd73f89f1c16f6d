"""Who is let in: tokens, hosts, ports, and what is said where there is no page."""

import socket

import pytest

from stream.config import Config, Http, MetricsSettings, parse
from stream.errors import ConfigError, EngineError
from stream.observe.metrics import Metrics
from stream.page.access_policy import COOKIE, AccessPolicy
from stream.page.http_app import ELSEWHERE, NO_TOKEN, SWITCHED_OFF, HttpApp, listeners
from tests.stream.page.agents import AGENT, TOKEN
from tests.stream.page.asking import ask
from tests.stream.page.garden import Garden, garden


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
