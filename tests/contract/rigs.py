"""The same agents on every engine: what a contract test needs of each."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Protocol

from confluent_kafka import Producer

from stream.assembly import processor_factory
from stream.config import Agent, Batch, Config, EngineName, Kafka, Limits, MetricsSettings, Scope
from stream.kafka.reading import read_to_end
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin
from stream.memory import Crash, MemoryBroker, MemoryEngine
from stream.records.record import Headers, Partition, Record
from stream.worker import Worker

DEADLINE = 60.0


class Rig(Protocol):
    """Topics and agents on some engine."""

    def create(self, agents: Sequence[Agent], partitions: int) -> None: ...

    def produce(self, topic: str, value: bytes | None, partition: int = 0, headers: Headers = ()) -> None: ...

    def run(self, agents: Sequence[Agent], expected: dict[str, int], max_batch: int = 50) -> None:
        """Run the agents until the topics hold at least so many records; then stop them."""
        ...

    def read(self, topic: str) -> list[Record]:
        """Return the committed records of a topic, partition after partition."""
        ...


class MemoryRig:
    def __init__(self) -> None:
        self.broker = MemoryBroker()

    def create(self, agents: Sequence[Agent], partitions: int) -> None:
        for agent in agents:
            for plan in plans_for(agent, partitions):
                self.broker.create(plan.name, plan.partitions)

    def produce(self, topic: str, value: bytes | None, partition: int = 0, headers: Headers = ()) -> None:
        self.broker.produce(topic, value, None, partition, headers)

    def run(
        self,
        agents: Sequence[Agent],
        expected: dict[str, int],
        max_batch: int = 50,
        crashes: Sequence[Crash] = (),
    ) -> None:
        for agent in agents:
            engine = MemoryEngine(
                self.broker,
                agent.input,
                agent.topics.journal,
                agent.group,
                per_partition=agent.scope is Scope.PARTITION,
                max_batch=max_batch,
                crashes=crashes,
            )
            engine.run(processor_factory(agent, Limits(), lambda event: None), lambda: False)
        for topic, count in expected.items():
            assert len(self.read(topic)) >= count, topic

    def read(self, topic: str) -> list[Record]:
        return self.broker.read(topic)


class KafkaRig:
    """A real Kafka, with either of the engines that work on one."""

    def __init__(self, bootstrap_servers: str, engine: EngineName = EngineName.CONFLUENT) -> None:
        self.engine = engine
        self.kafka = Kafka(bootstrap_servers)
        self._topics = TopicAdmin(self.kafka)
        # Idempotent: a retry at a topic that is still being made must not change the order.
        settings = {"bootstrap.servers": bootstrap_servers, "message.timeout.ms": 20_000}
        self._producer = Producer({**settings, "enable.idempotence": True})

    def create(self, agents: Sequence[Agent], partitions: int) -> None:
        for agent in agents:
            self._topics.create(plans_for(agent, partitions))

    def produce(self, topic: str, value: bytes | None, partition: int = 0, headers: Headers = ()) -> None:
        self._producer.produce(topic, value, partition=partition, headers=list(headers))
        self._producer.poll(0)

    def flush(self) -> None:
        assert self._producer.flush(30) == 0

    def config(self, agents: Sequence[Agent], max_batch: int, instance: str | None = None) -> Config:
        return Config(
            agents=tuple(agents),
            engine=self.engine,
            kafka=self.kafka,
            instance=instance,
            batch=Batch(max_batch=max_batch),
            metrics=MetricsSettings(enabled=False),
        )

    @contextlib.contextmanager
    def working(
        self, agents: Sequence[Agent], max_batch: int = 50, instance: str | None = None
    ) -> Iterator[Worker]:
        """Run a worker for a while."""
        self.flush()
        worker = Worker(self.config(agents, max_batch, instance), lambda event: None)
        worker.start()
        try:
            yield worker
        finally:
            worker.stop()
            worker.wait(DEADLINE)

    def run(self, agents: Sequence[Agent], expected: dict[str, int], max_batch: int = 50) -> None:
        with self.working(agents, max_batch) as worker:
            self.wait_for(expected, worker)

    def wait_for(self, expected: dict[str, int], worker: Worker | None = None) -> None:
        deadline = time.monotonic() + DEADLINE
        for topic, count in expected.items():
            while len(self.read(topic)) < count:
                assert time.monotonic() < deadline, f"{topic}: {len(self.read(topic))} of {count}"
                if worker is not None:
                    assert not worker.wait(0.05), "the worker has stopped"

    def read(self, topic: str) -> list[Record]:
        count = self._topics.describe([topic])[topic].partitions
        return [
            record for number in range(count) for record in read_to_end(self.kafka, Partition(topic, number))
        ]
