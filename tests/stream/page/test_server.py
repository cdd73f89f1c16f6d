"""The port: what is served, and what is answered."""

import json
import re
from pathlib import Path

import pytest

from stream.demo.generators import loans
from stream.page import server as serving
from tests.stream.page.agents import AGENT
from tests.stream.page.asking import ask
from tests.stream.page.garden import Garden, garden


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
