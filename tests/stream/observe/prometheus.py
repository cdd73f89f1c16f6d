"""A real Prometheus for tests: started, asked, and ended."""

import json
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

import pytest
import yaml

from stream.broker.kafka_ping import free_port
from tests.needs import OBSERVE, missing
from tests.paths import REPOSITORY

RULES = REPOSITORY / "deploy" / "prometheus" / "rules.yaml"
SECONDS = 120.0


def program(name: str) -> str:
    """Return where a program is."""
    found = shutil.which(name)
    if found is None:
        missing(f"there is no {name}: install Debian's package prometheus, or put it on the PATH", OBSERVE)
    return found


class Prometheus:
    """A Prometheus that scrapes every second and evaluates our rules.

    Args:
        directory: Where it keeps its files.
        targets: What it scrapes, as the job "espalier".
    """

    def __init__(self, directory: Path, targets: Sequence[str]) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [
                {"job_name": "espalier", "static_configs": [{"targets": list(targets)}]},
            ],
        }
        file = directory / "prometheus.yaml"
        file.write_text(yaml.safe_dump(config))
        self._log = (directory / "prometheus.log").open("wb")
        self._process = subprocess.Popen(
            [
                program("prometheus"),
                f"--config.file={file}",
                f"--storage.tsdb.path={directory / 'data'}",
                f"--web.listen-address={self.url.removeprefix('http://')}",
                "--enable-feature=exemplar-storage",
            ],
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    def __enter__(self) -> Self:
        try:
            self.until(lambda: bool(self.ask("query", query="1")), "Prometheus answers")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)
        self._log.close()

    def ask(self, what: str, **options: str) -> Any:
        """Return what the API says; nothing while it does not answer."""
        query = urllib.parse.urlencode(options)
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{what}?{query}", timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == HTTPStatus.SERVICE_UNAVAILABLE:
                return {}  # It is still starting.
            pytest.fail(f"{options}: {error.read().decode()}")
        except OSError:
            return {}

    def query(self, expr: str) -> list[float]:
        """Return the values of an instant query that are numbers."""
        result = self.ask("query", query=expr).get("result", [])
        if result and not isinstance(result[0], dict):
            return [float(result[1])]
        values = [float(series["value"][1]) for series in result]
        return [value for value in values if value == value]

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until something holds."""
        deadline = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain until {what}"
            assert self._process.poll() is None, "Prometheus has ended"
            time.sleep(0.2)
