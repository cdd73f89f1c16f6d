"""A worker on a real Kafka: its page, its health checks, what it logs, and how it takes a restart."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from stream.broker import Broker
from stream.broker.process import wait_until
from stream.config import Agent, Kafka
from stream.engines.kafka import Sender, Topics
from stream.generators import loans
from stream.topics import plans_for
from tests.web.test_server import Said, ask

REPOSITORY = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
SECONDS = 60.0
RECORDS = 200


class Running:
    """A worker that runs, and what it has logged."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.process = process
        self._log = log

    @property
    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    @property
    def address(self) -> str:
        found = re.search(r"the page is at (http://[\d.:]+)", self._log.read_text())
        assert found, self._log.read_text()
        return found[1]

    def said(self, path: str) -> Said:
        return ask(self.address, path)


@contextlib.contextmanager
def working(directory: Path) -> Iterator[Running]:
    log = directory / "worker.log"
    with log.open("w") as stream:
        command = [sys.executable, "-m", "stream", "worker"]
        with subprocess.Popen(command, cwd=directory, env=ENVIRONMENT, stderr=stream, text=True) as process:
            running = Running(process, log)
            try:
                assert wait_until(
                    lambda: "the page is at" in log.read_text() or process.poll() is not None, SECONDS
                )
                yield running
                process.terminate()
                assert process.wait(SECONDS) == 0, log.read_text()
            finally:
                process.kill()


def send_loans(kafka: Kafka, topic: str) -> None:
    sender = Sender(kafka)
    for number, one in enumerate(islice(loans(1), RECORDS)):
        sender.send(topic, msgspec.json.encode(one), str(number).encode())
    sender.flush()


@pytest.mark.broker
def test_a_worker_shows_its_tree_and_says_how_it_is_before_and_after_a_restart(
    broker: Broker, topics: Callable[[str], str], tmp_path: Path
) -> None:
    agent = Agent(name=topics("loans"), input=topics("in"))
    kafka = Kafka(bootstrap_servers=broker.bootstrap_servers)
    Topics(kafka).create(plans_for(agent, 2))
    (tmp_path / "espalier.toml").write_text(
        f'[kafka]\nbootstrap_servers = "{kafka.bootstrap_servers}"\n[metrics]\nport = 0\n'
        f'[log]\nformat = "json"\n[[agent]]\nname = "{agent.name}"\ninput = "{agent.input}"\n'
    )
    with working(tmp_path) as worker:
        assert worker.said("healthz").status == 200
        assert wait_until(lambda: worker.said("startupz").status == 200, SECONDS)
        assert wait_until(lambda: worker.said("readyz").status == 200, SECONDS), worker.said("readyz").body
        worker.process.send_signal(signal.SIGUSR1)
        send_loans(kafka, agent.input)

        def state() -> dict[str, object]:
            told = worker.said("api/state").told
            assert isinstance(told, dict)
            found: dict[str, object] = told["agents"][0]
            return found

        assert wait_until(lambda: state()["answered"] == RECORDS and state()["lag"] == 0, SECONDS), state()
        tree = worker.said("api/tree").told
        assert isinstance(tree, dict) and tree["version"] > 5
        assert b'outcome="learned"' in worker.said("metrics").body
        assert wait_until(lambda: any("to go" in str(line["message"]) for line in worker.lines), SECONDS)
        (progress, *_) = [line for line in worker.lines if "to go" in str(line["message"])]
        assert progress["agent"] == agent.name
        assert str(progress["partition"]).startswith(agent.input) and isinstance(progress["offset"], int)
        assert any(line.get("message") == "SIGUSR1: from now on debug" for line in worker.lines)
    with working(tmp_path) as again:
        assert wait_until(lambda: again.said("readyz").status == 200, SECONDS), again.said("readyz").body
        assert wait_until(lambda: again.said("api/tree").status == 200, SECONDS)
        restored = again.said("api/tree").told
        assert isinstance(restored, dict)
        assert (restored["version"], restored["digest"]) == (tree["version"], tree["digest"])
