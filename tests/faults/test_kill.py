"""A worker killed at random moments and started again: nothing lost, nothing doubled.

The reader and the producer are plain confluent-kafka clients: what they see is what anybody would see.
"""

import itertools
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from learners.core.options import CoreOptions
from stream.broker import Broker
from stream.config import Agent, Scope
from stream.engines.kafka import Topics
from stream.topics import plans_for
from tests.contract.rigs import KafkaRig, MemoryRig

pytestmark = [pytest.mark.broker, pytest.mark.timeout(240)]

RECORDS = 5_000
KILLS = 3


def instance(number: int) -> dict[str, str]:
    rng = random.Random(number)
    values = {name: rng.choice("xyz") for name in ("a", "b", "c", "d")}
    label = "yes" if (values["a"] == values["b"]) != (values["c"] == "x") else "no"
    return {"id": f"r{number}", **values, "class": label}


def write_config(path: Path, broker: Broker, agent: Agent, scope: str, **kafka: Any) -> Path:
    file = path / "espalier.toml"
    properties = "\n".join(f'"{name}" = {json.dumps(value)}' for name, value in kafka.items())
    file.write_text(
        f"""
[kafka]
bootstrap_servers = "{broker.bootstrap_servers}"
[kafka.properties]
{properties}
[metrics]
enabled = false
[batch]
max_batch = 100
[[agent]]
name = "{agent.name}"
input = "{agent.input}"
scope = "{scope}"
[agent.options]
significance = "none"
"""
    )
    return file


class WorkerProcess:
    """`espalier worker` as anybody would start it."""

    def __init__(self, config: Path, log: Path) -> None:
        self._log = log.open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "stream", "worker", "-c", str(config)],
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(30)
        self._log.close()

    def stop(self) -> int:
        self.process.terminate()
        status = self.process.wait(30)
        self._log.close()
        return status


class PlainReader(threading.Thread):
    """A read_committed consumer that runs during the faults and uses nothing of ours."""

    def __init__(self, bootstrap_servers: str, topic: str) -> None:
        super().__init__(daemon=True)
        self.records: list[dict[str, Any]] = []
        self._stop_reading = threading.Event()
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": f"{topic}.plain-reader",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
        )
        admin = AdminClient({"bootstrap.servers": bootstrap_servers})
        partitions = admin.list_topics(topic, timeout=15).topics[topic].partitions
        self._consumer.assign([TopicPartition(topic, number, -2) for number in partitions])

    def run(self) -> None:
        while not self._stop_reading.is_set():
            for message in self._consumer.consume(500, 0.1):
                error = message.error()
                assert error is None or error.code() == KafkaError._PARTITION_EOF
                if error is None:
                    self.records.append(json.loads(message.value() or b"null"))
        self._consumer.close()

    def wait_for(self, count: int, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while len(self.records) < count and time.monotonic() < deadline:
            time.sleep(0.1)

    def stop(self) -> None:
        self._stop_reading.set()
        self.join(15)


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
def readers(broker: Broker) -> Iterator[Callable[[str], PlainReader]]:
    started: list[PlainReader] = []

    def start(topic: str) -> PlainReader:
        reader = PlainReader(broker.bootstrap_servers, topic)
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
    config: Path
    log: Path
    predictions: PlainReader
    changes: PlainReader

    def start_worker(self) -> WorkerProcess:
        return WorkerProcess(self.config, self.log)

    def check(self) -> None:
        """Compare what the readers saw with a run without a fault."""
        self.changes.wait_for(max(p["tree"]["version"] for p in self.predictions.records), 10)
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
    readers: Callable[[str], PlainReader],
    tmp_path: Path,
) -> Setting:
    scope, partitions = request.param
    agent = Agent(name=topics("a"), input=topics("in"), scope=Scope(scope))
    Topics(KafkaRig(broker.bootstrap_servers).kafka).create(plans_for(agent, partitions))
    config = write_config(
        tmp_path, broker, agent, scope, **{"session.timeout.ms": 2000, "heartbeat.interval.ms": 500}
    )
    return Setting(
        agent,
        partitions,
        config,
        tmp_path / "worker.log",
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
        predictions.wait_for(before + rng.randint(1, 800), 60)
        assert len(predictions.records) > before, setting.log.read_text()
        time.sleep(rng.random() / 4)
        worker.kill()
    producing.join(60)
    worker = setting.start_worker()
    predictions.wait_for(RECORDS, 120)
    time.sleep(1)
    assert worker.stop() == 0, setting.log.read_text()
    setting.check()


def test_another_worker_takes_over_from_one_that_dies(broker: Broker, setting: Setting) -> None:
    predictions = setting.predictions
    producing = produce_slowly(broker.bootstrap_servers, setting.agent.input, setting.partitions)
    workers = [setting.start_worker() for _ in range(2)]
    predictions.wait_for(1_000, 60)
    # For scope "topic" one of the two stands by: whichever is killed, the other goes on.
    workers.pop(0).kill()
    at_death = len(predictions.records)
    predictions.wait_for(at_death + 1_000, 60)
    assert len(predictions.records) >= at_death + 1_000, setting.log.read_text()
    workers.append(setting.start_worker())
    predictions.wait_for(RECORDS - 1_000, 60)
    # And one that leaves in good order hands on at once.
    assert workers.pop(0).stop() == 0, setting.log.read_text()
    producing.join(60)
    predictions.wait_for(RECORDS, 60)
    time.sleep(1)
    assert workers.pop().stop() == 0, setting.log.read_text()
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
