"""A worker on a real Kafka: its page, its health checks, what it logs, and how it takes a restart."""

import contextlib
import json
import signal
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from stream.broker import Broker
from stream.broker.process import wait_until
from stream.config import Agent, Kafka
from stream.demo.generators import loans
from stream.kafka.sender import Sender
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin
from tests.settings import agent_table, write_settings
from tests.stream.page.asking import Said, ask
from tests.workers import SECONDS, WorkerProcess

RECORDS = 200


class Running(WorkerProcess):
    """A worker that runs and logs JSON, and its page."""

    @property
    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.words().splitlines()]

    @property
    def address(self) -> str:
        found = self.said(r"the page is at (http://[\d.:]+)")
        assert found, self.words()
        return found[1]

    def ask(self, path: str) -> Said:
        return ask(self.address, path)


@contextlib.contextmanager
def working(directory: Path) -> Iterator[Running]:
    with Running(directory) as worker:
        worker.wait_for("the page is at")
        yield worker
        assert worker.stop() == 0, worker.words()


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
    TopicAdmin(kafka).create(plans_for(agent, 2))
    write_settings(tmp_path, kafka.bootstrap_servers, agent_table(agent), log={"format": "json"})
    with working(tmp_path) as worker:
        assert worker.ask("healthz").status == 200
        assert wait_until(lambda: worker.ask("startupz").status == 200, SECONDS)
        assert wait_until(lambda: worker.ask("readyz").status == 200, SECONDS), worker.ask("readyz").body
        worker.process.send_signal(signal.SIGUSR1)
        send_loans(kafka, agent.input)

        def state() -> dict[str, object]:
            told = worker.ask("api/state").told
            assert isinstance(told, dict)
            found: dict[str, object] = told["agents"][0]
            return found

        assert wait_until(lambda: state()["answered"] == RECORDS and state()["lag"] == 0, SECONDS), state()
        tree = worker.ask("api/tree").told
        assert isinstance(tree, dict) and tree["version"] > 5
        assert b'outcome="learned"' in worker.ask("metrics").body
        assert wait_until(lambda: any("to go" in str(line["message"]) for line in worker.lines), SECONDS)
        (progress, *_) = [line for line in worker.lines if "to go" in str(line["message"])]
        assert progress["agent"] == agent.name
        assert str(progress["partition"]).startswith(agent.input) and isinstance(progress["offset"], int)
        assert any(line.get("message") == "SIGUSR1: from now on debug" for line in worker.lines)
    with working(tmp_path) as again:
        assert wait_until(lambda: again.ask("readyz").status == 200, SECONDS), again.ask("readyz").body
        assert wait_until(lambda: again.ask("api/tree").status == 200, SECONDS)
        restored = again.ask("api/tree").told
        assert isinstance(restored, dict)
        assert (restored["version"], restored["digest"]) == (tree["version"], tree["digest"])
