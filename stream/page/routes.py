"""What there is at which address."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from stream.observe.health import Health, Verdict
from stream.page.access_policy import COOKIE, PAGE_HEADERS, AccessPolicy
from stream.page.feed import PageFeed, Place, Tree
from stream.page.live_state import LiveState
from stream.page.tree_view import nodes_of
from stream.page.what_if import answer

STATIC = Path(__file__).parent / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
KEEP_ALIVE_SECONDS = 10.0
MOST_PAGES = 32
WHOLE = 1_000_000

Query = Mapping[str, Sequence[str]]


class Request(NamedTuple):
    """What somebody asks. The names of headers are written `Like-This`."""

    method: str
    path: str
    query_text: str
    query: Query
    headers: Mapping[str, str]
    body: bytes

    def one(self, name: str) -> str | None:
        """Return a parameter of the address."""
        values = self.query.get(name)
        return values[0] if values else None


class Response(NamedTuple):
    """What is said."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @classmethod
    def text(cls, status: int, text: str) -> "Response":
        """Return a response in plain text."""
        headers = {
            "Content-Type": "text/plain; charset=utf-8",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        }
        return cls(status, headers, text.encode())

    @classmethod
    def json(cls, status: int, body: bytes) -> "Response":
        """Return a response of the page's own interface."""
        return cls(status, {**PAGE_HEADERS, "Content-Type": "application/json"}, body)


class Stream(NamedTuple):
    """What is said piece by piece."""

    headers: Mapping[str, str]
    pieces: Generator[bytes]


class Asked(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a question to a tree."""

    agent: str
    values: dict[str, str | int | float | bool | None]
    model: str | None = None
    version: int | None = None


Expose = Callable[[str], tuple[bytes, str]]
"""Returns the metrics and their media type, given what the reader accepts."""


class Site:
    """The page of a worker, its health checks and its metrics; nothing can be changed through it.

    Args:
        hub: What the agents tell.
        presenter: What is made of it.
        health: How the agents are.
        expose: Says the metrics; None: they are not served.
    """

    def __init__(self, hub: LiveState, presenter: PageFeed, health: Health, expose: Expose | None) -> None:
        self._hub = hub
        self._presenter = presenter
        self._health = health
        self._expose = expose
        self._static = {
            path.name: (TYPES[path.suffix], path.read_bytes())
            for path in STATIC.iterdir()
            if path.suffix in TYPES
        }
        self._asked = msgspec.json.Decoder(Asked)
        self._drawn = msgspec.json.Decoder(Tree)

    def respond(self, request: Request, door: AccessPolicy) -> Response | Stream:
        """Return what to say to a request that came through a door."""
        match request.path:
            case "/metrics" if self._expose is not None:
                return self._metrics(request, self._expose)
            case "/healthz" | "/readyz" | "/startupz":
                return self._check(request)
        token = request.one("token") if request.path == "/" else None
        objection = door.objection(request.headers, token)
        if objection is not None:
            return Response.text(403, f"{objection}\n")
        if token is not None and door.token is not None:
            return _with_cookie(token)
        return self._page(request)

    def _metrics(self, request: Request, expose: Expose) -> Response:
        if request.method not in ("GET", "HEAD"):
            return Response.text(405, "ask with GET\n")
        text, media_type = expose(request.headers.get("Accept", ""))
        return Response(200, {"Content-Type": media_type}, text)

    def _check(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return Response.text(405, "ask with GET\n")
        verdict: Verdict
        match request.path:
            case "/healthz":
                verdict = self._health.alive()
            case "/startupz":
                verdict = self._health.started()
            case _:
                verdict = self._health.ready(standby=request.one("standby") == "ok")
        return Response.text(200 if verdict.is_good else 503, "\n".join([*verdict.lines, ""]))

    def _page(self, request: Request) -> Response | Stream:
        allowed = "POST" if request.path == "/api/answer" else "GET"
        if request.method != allowed and not (request.method == "HEAD" and allowed == "GET"):
            return Response.text(405, f"ask with {allowed}\n")
        match request.path:
            case "/":
                return self._file("index.html")
            case "/favicon.ico":
                return self._file("icon.svg")
            case "/api/state":
                return Response.json(200, self._presenter.state())
            case "/api/tree":
                return self._tree(request)
            case "/api/events":
                return self._events(request)
            case "/api/answer":
                return self._answer(request)
            case path if path.startswith("/static/"):
                return self._file(path.removeprefix("/static/"))
        return Response.text(404, "there is nothing here; the page is at /\n")

    def _file(self, name: str) -> Response:
        if name not in self._static:
            return Response.text(404, "there is no such file; the page is at /\n")
        kind, body = self._static[name]
        return Response(200, {**PAGE_HEADERS, "Content-Type": kind}, body)

    # ---- the interface of the page

    def _place(self, agent: str | None, model: str | None) -> Place | None:
        """Return which agent and model are meant: the first, where none is named."""
        board = next(iter(self._hub.agents.values()), None) if agent is None else self._hub.agents.get(agent)
        if board is None:
            return None
        return board.name, model or ""

    def _tree(self, request: Request) -> Response:
        place = self._place(request.one("agent"), request.one("model"))
        version = request.one("version")
        if version is not None and not (version.isdecimal() and len(version) < 19):
            return _wrong(400, "a version is a whole number")
        body = self._presenter.tree(place, None if version is None else int(version)) if place else None
        return _wrong(404, "there is no tree yet") if body is None else Response.json(200, body)

    def _events(self, request: Request) -> Response | Stream:
        place = self._place(request.one("agent"), request.one("model"))
        if place is None:
            return _wrong(404, "there is no such agent")
        if self._hub.viewers >= MOST_PAGES:
            return _wrong(503, f"{MOST_PAGES} pages are open already")
        headers = {
            **PAGE_HEADERS,
            "Content-Type": "text/event-stream",
            "Connection": "close",
            "X-Accel-Buffering": "no",
        }
        if request.method == "HEAD":
            return Response(200, headers, b"")
        return Stream(headers, self._news(place))

    def _news(self, place: Place) -> Generator[bytes]:
        presenter = self._presenter
        presenter.viewer_came()
        try:
            reader = presenter.reader(place)
            yield b"retry: 1000\n\n"
            while not presenter.is_closed:
                messages = reader.next(KEEP_ALIVE_SECONDS)
                yield b"".join(_pieces(messages)) or b": nothing new\n\n"
        finally:
            presenter.viewer_left()

    def _answer(self, request: Request) -> Response:
        if request.headers.get("Content-Type", "").partition(";")[0].strip() != "application/json":
            return _wrong(415, "ask with Content-Type: application/json")
        try:
            asked = self._asked.decode(request.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return _wrong(400, f'a question is {{"agent": ..., "values": {{...}}}}: {error}')
        place = self._place(asked.agent, asked.model)
        if place is None:
            return _wrong(404, "there is no such agent")
        if asked.version is None:
            latest = self._presenter.outline(place)
            version, nodes = (0, []) if latest is None else (latest[0], nodes_of(latest[1], WHOLE))
        else:
            body = self._presenter.tree(place, asked.version)
            tree = None if body is None else self._drawn.decode(body)
            version, nodes = (0, []) if tree is None else (tree.version, tree.nodes)
        said = msgspec.structs.asdict(answer(nodes, asked.values))
        return Response.json(200, msgspec.json.encode({"version": version, **said}))


def _pieces(messages: Sequence[tuple[str, bytes]]) -> Iterator[bytes]:
    for name, body in messages:
        yield b"event: %b\ndata: %b\n\n" % (name.encode(), body)


def _wrong(status: int, message: str) -> Response:
    return Response.json(status, msgspec.json.encode({"error": message}))


def _with_cookie(token: str) -> Response:
    """Take the token out of the address, where a browser would show and remember it."""
    cookie = f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict"
    return Response(303, {"Location": "/", "Set-Cookie": cookie, "Cache-Control": "no-store"}, b"")
