"""`espalier demo --observe`: Prometheus beside the demonstration, or a line that says how to get it."""

import os
import socket
import stat
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from stream.demo import observe
from stream.demo.observe import Observatory, ObserveError
from stream.events import Started
from stream.observe.metrics import Metrics, exposition
from tests.stream.observe.prometheus import program


@pytest.fixture
def target() -> Iterator[str]:
    metrics = Metrics()
    metrics.observe(Started("a", "in", "id5r", "topic"))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text, media_type = exposition(metrics, self.headers["Accept"])
            self.send_response(200)
            self.send_header("Content-Type", media_type)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join(10)


def test_where_prometheus_is_missing_a_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ObserveError, match="apt-get install prometheus"):
        Observatory("127.0.0.1:1")


def test_a_prometheus_that_does_not_start_is_quoted_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "prometheus"
    fake.write_text("#!/bin/sh\necho the disk is full >&2\nexit 1\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ObserveError, match="the disk is full"):
        Observatory("127.0.0.1:1")
    assert not list(tmp_path.glob("espalier-prometheus-*"))


def test_a_prometheus_scrapes_the_demonstration_and_ends_with_it(
    target: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program("prometheus")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    # Somebody else has the usual port.
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(observe, "PORT", taken.getsockname()[1])
        observatory = Observatory(target)
        try:
            assert str(taken.getsockname()[1]) not in observatory.url
            links = dict(observatory.links())
            assert set(links) == {"Prometheus", "alerts"}
            assert all(link.startswith(observatory.url) for link in links.values())
            deadline = time.monotonic() + 90
            query = f"{observatory.url}/api/v1/query?query=espalier_agent_info"
            while b'"agent":"a"' not in _read(query):
                assert time.monotonic() < deadline
                time.sleep(0.1)
        finally:
            observatory.close()
    assert not _read(f"{observatory.url}/-/ready")
    assert not list(tmp_path.glob("espalier-prometheus-*"))


def _read(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            told: bytes = answer.read()
            return told
    except OSError:
        return b""
