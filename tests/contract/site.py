"""An agent on a real broker, for tests of what it keeps there."""

import time
from collections.abc import Callable

import msgspec
from confluent_kafka import Consumer, TopicPartition

from learners.id5r.options import CoreOptions
from stream.broker import Broker
from stream.config import Agent, Batch, Config, MetricsSettings, Scope, State
from stream.events import Event, Snapshotted
from stream.kafka.clients import consumer_settings
from stream.worker import Worker
from tests.contract.records import instance
from tests.contract.rigs import KafkaRig

Names = Callable[[str], str]


SOON = State(snapshot_records=50, snapshot_seconds=3600, trim_journal=True)


class Site:
    """An agent on a broker, whose worker is started again and again."""

    def __init__(self, broker: Broker, topics: Names, scope: Scope = Scope.TOPIC) -> None:
        self.rig = KafkaRig(broker.bootstrap_servers)
        self.agent = Agent(
            name=topics("a"), input=topics("in"), scope=scope, options=CoreOptions(significance=None)
        )
        self.rig.create([self.agent], 2)
        self.produced = 0
        self.events: list[Event] = []

    def feed(self, count: int) -> None:
        for number in range(self.produced, self.produced + count):
            self.rig.produce(self.agent.input, instance(number), number % 2)
        self.produced += count
        self.rig.flush()

    def work(self, state: State = SOON, batch: Batch | None = None, *, until_snapshots: int = 0) -> None:
        """Run a worker until it has answered everything and made so many snapshots."""
        self.events = []
        config = Config(
            agents=(self.agent,),
            engine=self.rig.engine,
            kafka=self.rig.kafka,
            batch=batch or Batch(max_batch=20),
            metrics=MetricsSettings(enabled=False),
            state=state,
        )
        worker = Worker(config, self.events.append)
        worker.start()
        try:
            self.rig.wait_for({self.agent.topics.predictions: self.produced}, worker)
            deadline = time.monotonic() + 30
            while len(self.seen(Snapshotted)) < until_snapshots:
                assert time.monotonic() < deadline, f"{len(self.seen(Snapshotted))} snapshots"
                assert not worker.wait(0.05)
        finally:
            worker.stop()
            worker.wait(60)

    def seen(self, kind: type) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    def predictions(self) -> list[tuple[int, int]]:
        sources = [
            msgspec.json.decode(r.value or b"")["source"]
            for r in self.rig.read(self.agent.topics.predictions)
        ]
        return sorted((source["partition"], source["offset"]) for source in sources)

    def journal_begins_at(self) -> int:
        consumer = Consumer(consumer_settings(self.rig.kafka, "looker"))
        try:
            return consumer.get_watermark_offsets(TopicPartition(self.agent.topics.journal, 0), timeout=10)[0]
        finally:
            consumer.close()

    def expect_every_record_answered_once(self) -> None:
        halves = [(p, n) for p in (0, 1) for n in range(self.produced // 2)]
        assert self.predictions() == halves
