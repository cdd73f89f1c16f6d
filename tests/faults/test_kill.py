"""A worker killed at random moments and started again: nothing lost, nothing doubled.

The reader and the producer are plain confluent-kafka clients: what they see is what anybody would see.
"""

import itertools
import json
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Message, Producer

from learners.id5r.options import CoreOptions
from stream.broker import Broker
from stream.config import Agent, Scope
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin
from tests.contract.rigs import KafkaRig, MemoryRig
from tests.readers import PlainReader
from tests.settings import agent_table, write_settings
from tests.workers import WorkerProcess

pytestmark = [pytest.mark.broker, pytest.mark.timeout(240)]

RECORDS = 5_000
KILLS = 3
Reader = PlainReader[dict[str, Any]]


def instance(number: int) -> dict[str, str]:
    rng = random.Random(number)
    values = {name: rng.choice("xyz") for name in ("a", "b", "c", "d")}
    label = "yes" if (values["a"] == values["b"]) != (values["c"] == "x") else "no"
    return {"id": f"r{number}", **values, "class": label}


def as_json(message: Message) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(message.value() or b"null")
    return told


def produce_slowly(bootstrap_servers: str, topic: str, partitions: int) -> threading.Thread:
    def work() -> None:
        producer = Producer({"bootstrap.servers": bootstrap_servers, "enable.idempotence": True})
        for number in range(RECORDS):
            producer.produce(topic, json.dumps(instance(number)).encode(), partition=number % partitions)
            producer.poll(0)
            if number % 100 == 99:
                time.sleep(0.1)
        assert producer.flush(30) == 0

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@pytest.fixture
def readers(broker: Broker) -> Iterator[Callable[[str], Reader]]:
    started: list[Reader] = []

    def start(topic: str) -> Reader:
        reader = PlainReader(broker.bootstrap_servers, topic, as_json)
        started.append(reader)
        reader.start()
        return reader

    yield start
    for reader in started:
        reader.stop()


class Setting(NamedTuple):
    """An agent on fresh topics, a configuration for its workers, and plain readers of what it writes."""

    agent: Agent
    partitions: int
    directory: Path
    predictions: Reader
    changes: Reader

    def start_worker(self) -> WorkerProcess:
        return WorkerProcess(self.directory)

    def check(self) -> None:
        """Compare what the readers saw with a run without a fault."""
        self.predictions.finish()
        self.changes.finish()
        assert sorted(p["id"] for p in self.predictions.records) == sorted(f"r{n}" for n in range(RECORDS))
        for number in range(self.partitions):
            told = [p for p in self.predictions.records if p["source"]["partition"] == number]
            assert [p["source"]["offset"] for p in told] == list(range(RECORDS // self.partitions))
            if self.agent.scope is Scope.PARTITION:
                self._check_model(f"{self.agent.input}/{number}", range(number, RECORDS, self.partitions))
        if self.agent.scope is Scope.TOPIC:
            # The exact learners' tree does not depend on the order of arrival.
            self._check_model(self.agent.input, range(RECORDS))

    def _check_model(self, model: str, numbers: Iterable[int]) -> None:
        told = [change for change in self.changes.records if change["model"] == model]
        assert [change["seq"] for change in told] == list(range(1, len(told) + 1))
        assert all(b["tree"]["previous_digest"] == a["tree"]["digest"] for a, b in itertools.pairwise(told))
        assert told[-1]["tree"]["digest"] == uninterrupted(numbers)


@pytest.fixture(params=[("topic", 1), ("topic", 4), ("partition", 4)], ids="{0[0]}-{0[1]}".format)
def setting(
    request: pytest.FixtureRequest,
    broker: Broker,
    topics: Callable[[str], str],
    readers: Callable[[str], Reader],
    tmp_path: Path,
) -> Setting:
    scope, partitions = request.param
    agent = Agent(name=topics("a"), input=topics("in"), scope=Scope(scope))
    TopicAdmin(KafkaRig(broker.bootstrap_servers).kafka).create(plans_for(agent, partitions))
    write_settings(
        tmp_path,
        broker.bootstrap_servers,
        agent_table(agent, options={"significance": "none"}),
        kafka={"properties": {"session.timeout.ms": 2_000, "heartbeat.interval.ms": 500}},
        metrics={"enabled": False},
        batch={"max_batch": 100},
    )
    return Setting(
        agent,
        partitions,
        tmp_path,
        readers(agent.topics.predictions),
        readers(agent.topics.tree_changes),
    )


def test_a_worker_killed_three_times_loses_and_doubles_nothing(broker: Broker, setting: Setting) -> None:
    predictions = setting.predictions
    producing = produce_slowly(broker.bootstrap_servers, setting.agent.input, setting.partitions)
    rng = random.Random(setting.partitions)
    for _ in range(KILLS):
        worker = setting.start_worker()
        before = len(predictions.records)
        assert predictions.wait_for(before + rng.randint(1, 800), 60), worker.words()
        time.sleep(rng.random() / 4)
        worker.kill()
    producing.join(60)
    worker = setting.start_worker()
    assert predictions.wait_for(RECORDS, 120), worker.words()
    assert worker.stop() == 0, worker.words()
    setting.check()


def test_another_worker_takes_over_from_one_that_dies(broker: Broker, setting: Setting) -> None:
    predictions = setting.predictions
    producing = produce_slowly(broker.bootstrap_servers, setting.agent.input, setting.partitions)
    workers = [setting.start_worker() for _ in range(2)]
    assert predictions.wait_for(1_000, 60), workers[0].words()
    # For scope "topic" one of the two stands by: whichever is killed, the other goes on.
    workers.pop(0).kill()
    at_death = len(predictions.records)
    assert predictions.wait_for(at_death + 1_000, 60), workers[0].words()
    workers.append(setting.start_worker())
    workers[-1].wait_for("agents .* at ")  # before that a signal would end it at once
    assert predictions.wait_for(RECORDS - 1_000, 60), workers[0].words()
    # And one that leaves in good order hands on at once.
    assert workers.pop(0).stop() == 0, workers[0].words()
    producing.join(60)
    assert predictions.wait_for(RECORDS, 60), workers[0].words()
    assert workers[0].stop() == 0, workers[0].words()
    setting.check()


def uninterrupted(numbers: Iterable[int]) -> str:
    """Return the digest of a run over some records without a fault."""
    rig = MemoryRig()
    agent = Agent(name="calm", input="calm-in", options=CoreOptions(significance=None))
    rig.create([agent], partitions=1)
    for number in numbers:
        rig.produce(agent.input, json.dumps(instance(number)).encode())
    rig.run([agent], {})
    last = rig.read(agent.topics.tree_changes)[-1]
    digest: str = json.loads(last.value or b"")["tree"]["digest"]
    return digest
