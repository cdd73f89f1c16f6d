"""The port: page, metrics and health checks for whoever asks, a thread for each."""

import contextlib
import logging
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from stream.page.access_policy import AccessPolicy
from stream.page.routes import Request, Response, Site, Stream

log = logging.getLogger(__name__)

REQUEST_SECONDS = 10.0
"""How long a request may take to arrive, and a reader to take what it is sent, before it is dropped."""
MOST_CONNECTIONS = 64
MOST_BODY = 65_536
MOST_WAITING = 262_144
"""Bytes on their way to one reader: who is this far behind gets the next news when there is room."""


class _Handler(BaseHTTPRequestHandler):
    """Carries requests to the site and what it says back."""

    protocol_version = "HTTP/1.1"
    server_version = "espalier"
    sys_version = ""
    timeout = REQUEST_SECONDS
    server: "_Server"

    def do_GET(self) -> None:
        self._answer("GET", b"")

    def do_HEAD(self) -> None:
        self._answer("HEAD", b"")

    def do_OPTIONS(self) -> None:
        self._answer("OPTIONS", b"")

    def do_POST(self) -> None:
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if not 0 <= length <= MOST_BODY:
            self.close_connection = True
            self._send(
                Response.text(413, f"a body of at most {MOST_BODY} bytes is needed, with its length\n")
            )
            return
        self._answer("POST", self.rfile.read(length))

    def _answer(self, method: str, body: bytes) -> None:
        try:
            parts = urlsplit(self.path)
            query = parse_qs(parts.query, keep_blank_values=True, max_num_fields=100)
        except ValueError:
            self._send(Response.text(400, "this is no address\n"))
            return
        headers = {name.title(): value for name, value in self.headers.items()}
        request = Request(method, parts.path, parts.query, query, headers, body)
        said = self.server.site.respond(request, self.server.door)
        if isinstance(said, Stream):
            self._stream(said)
        else:
            self._send(said)

    def _send(self, said: Response) -> None:
        self.send_response(said.status)
        for name, value in said.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(said.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(said.body)

    def _stream(self, said: Stream) -> None:
        """Send pieces for as long as there are any and somebody takes them."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_WAITING)
        self.send_response(200)
        for name, value in said.headers.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.closing(said.pieces) as pieces:
            for piece in pieces:
                self.wfile.write(piece)

    def log_message(self, format: str, *args: object) -> None:
        # The address may hold a token: only what is before it is written down.
        path = self.path.partition("?")[0] if hasattr(self, "path") else ""
        log.debug("%s %s %s", self.client_address[0], getattr(self, "command", ""), path)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 32

    def __init__(self, host: str, port: int, site: Site, door: AccessPolicy) -> None:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        self.address_family, address = found[0][0], found[0][4]
        self.site = site
        self.door = door
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._open: set[socket.socket] = set()
        super().__init__((str(address[0]), int(address[1])), _Handler)

    def server_bind(self) -> None:
        # Not HTTPServer's, which asks a name server for our own name.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._room.acquire(blocking=False):
            log.debug("more than %d connections: one was refused", MOST_CONNECTIONS)
            self.shutdown_request(request)
            return
        self._open.add(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._open.discard(request)
            self._room.release()

    def close_connections(self) -> None:
        """Hang up on everybody: a browser keeps a connection for what it may ask next."""
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        # A browser that went away, or a bug: either way the others are served, and the worker works.
        log.debug("a request from %s broke off", client_address, exc_info=True)


def listen(site: Site, host: str, port: int, door: AccessPolicy) -> tuple[int, Callable[[], None]]:
    """Serve a site; return the port and how to stop it.

    Raises:
        OSError: The port is taken, or there is no such address.
    """
    server = _Server(host, port, site, door)
    thread = threading.Thread(target=server.serve_forever, args=(0.2,), name="http", daemon=True)
    thread.start()

    def stop() -> None:
        server.shutdown()
        server.server_close()
        server.close_connections()
        thread.join(5)

    return server.server_port, stop
