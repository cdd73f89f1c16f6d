"""A Prometheus beside the demonstration, where one is installed."""

import contextlib
import json
import os
import shutil
import signal
import socket
import tempfile
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

from stream.broker.errors import BrokerError
from stream.broker.process import spawn
from stream.errors import EngineError

HOST = "127.0.0.1"
PORT = 9090
SCRAPE_SECONDS = 1
START_SECONDS = 15.0
END_SECONDS = 10.0
RULES = Path(__file__).resolve().parents[2] / "deploy" / "prometheus" / "rules.yaml"
"""In a checkout the alerts are there too."""
GET_PROMETHEUS = (
    "Prometheus is not installed, so the metrics are served and nobody keeps them. Install it "
    '("apt-get install prometheus" on Debian and Ubuntu, "brew install prometheus" on a Mac) and start again'
)
SHOWN = ("espalier_accuracy_ratio", "sum by (operation) (rate(espalier_operations_total[30s]))")


class ObserveError(EngineError):
    """There is no Prometheus to be had. The demonstration goes on without it."""


class Observatory:
    """A Prometheus that scrapes one address; it ends with this process, however that ends.

    Args:
        target: What to scrape, as `host:port`.

    Raises:
        ObserveError: It is not installed, or does not start.
    """

    def __init__(self, target: str) -> None:
        found = shutil.which("prometheus")
        if found is None:
            raise ObserveError(GET_PROMETHEUS)
        self._directory = Path(tempfile.mkdtemp(prefix="espalier-prometheus-"))
        self.url = f"http://{HOST}:{_free_port()}"
        # JSON is YAML too.
        (self._directory / "prometheus.yaml").write_text(json.dumps(_settings(target)), "utf-8")
        command = [
            found,
            f"--config.file={self._directory / 'prometheus.yaml'}",
            f"--storage.tsdb.path={self._directory / 'data'}",
            f"--web.listen-address={self.url.removeprefix('http://')}",
            "--enable-feature=exemplar-storage",
        ]
        try:
            self._pid = spawn(
                command, directory=self._directory, output=self._directory / "log", attached=True
            )
            self._wait()
        except BrokerError as error:
            shutil.rmtree(self._directory, ignore_errors=True)
            raise ObserveError(f"Prometheus does not start: {error}") from error

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(f"{self.url}/-/ready"):
            if time.monotonic() > deadline or not _is_alive(self._pid):
                said = (self._directory / "log").read_text("utf-8", "replace").strip().splitlines()
                self.close()
                raise ObserveError(
                    f"Prometheus does not start. Its last line: {said[-1] if said else 'none'}"
                )
            time.sleep(0.1)

    def links(self) -> list[tuple[str, str]]:
        """Return what there is to look at."""
        shown = {f"g{n}.{key}": text for n, expr in enumerate(SHOWN) for key, text in _graph(expr)}
        return [
            ("Prometheus", f"{self.url}/graph?{urlencode(shown)}"),
            ("alerts", f"{self.url}/alerts"),
        ]

    def close(self) -> None:
        """End it and remove what it has kept."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGTERM)
            deadline = time.monotonic() + END_SECONDS
            while _is_alive(self._pid) and time.monotonic() < deadline:
                time.sleep(0.05)
            if _is_alive(self._pid):
                os.kill(self._pid, signal.SIGKILL)
        shutil.rmtree(self._directory, ignore_errors=True)


def _settings(target: str) -> dict[str, object]:
    return {
        "global": {"scrape_interval": f"{SCRAPE_SECONDS}s", "evaluation_interval": f"{SCRAPE_SECONDS}s"},
        "rule_files": [str(RULES)] if RULES.is_file() else [],
        "scrape_configs": [{"job_name": "espalier", "static_configs": [{"targets": [target]}]}],
    }


def _graph(expr: str) -> tuple[tuple[str, str], ...]:
    return ("expr", expr), ("tab", "0"), ("range_input", "5m")


def _free_port() -> int:
    """Return the usual port, or a free one where that is taken."""
    for port in (PORT, 0):
        with contextlib.suppress(OSError), socket.create_server((HOST, port)) as listener:
            found: int = listener.getsockname()[1]
            return found
    raise ObserveError(f"no port is free on {HOST}")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
