"""State on a real broker: snapshots are made, used and trusted no more than they deserve."""

import logging
import time
from collections.abc import Callable

import msgspec
import pytest
from confluent_kafka import Consumer, TopicPartition

from learners.core.options import CoreOptions
from stream.broker import Broker
from stream.config import Agent, Batch, Config, Metrics, Scope, State
from stream.engines.kafka import Sender, consumer_settings
from stream.errors import StateError
from stream.events import Event, Restored, Snapshotted
from stream.journal import unpack
from stream.worker import Worker
from tests.contract.rigs import KafkaRig
from tests.contract.test_engines import instance

pytestmark = pytest.mark.broker
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
            metrics=Metrics(enabled=False),
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


@pytest.fixture
def site(broker: Broker, topics: Names) -> Site:
    return Site(broker, topics)


def test_a_worker_goes_on_from_a_snapshot_and_a_trimmed_journal(site: Site) -> None:
    site.feed(200)
    site.work(until_snapshots=2)
    site.feed(300)
    site.work(until_snapshots=1)
    [restored] = site.seen(Restored)
    assert isinstance(restored, Restored)
    assert restored.records < 200
    site.feed(20)
    site.work()
    assert site.journal_begins_at() > 0
    site.expect_every_record_answered_once()


@pytest.mark.parametrize("broken", ["piece", "manifest"])
def test_a_snapshot_spoiled_by_somebody_is_passed_over(
    site: Site, broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    site.feed(100)
    keep = State(snapshot_records=50, snapshot_seconds=3600)
    site.work(keep, until_snapshots=1)
    newest = max(site.rig.read(site.agent.topics.snapshots), key=lambda record: record.offset)
    assert newest.key is not None
    sender = Sender(site.rig.kafka)
    key = newest.key if broken == "manifest" else newest.key + b"|0"
    sender.send(site.agent.topics.snapshots, b"spoiled", key)
    sender.flush()
    site.feed(20)
    site.work(keep)
    assert "passed over" in caplog.text
    site.expect_every_record_answered_once()


def test_a_journal_that_no_longer_reaches_back_stops_the_worker(site: Site) -> None:
    site.feed(200)
    site.work(until_snapshots=2)
    sender = Sender(site.rig.kafka)
    for record in site.rig.read(site.agent.topics.snapshots):
        assert record.key is not None
        sender.send(site.agent.topics.snapshots, None, record.key)
    sender.flush()
    site.feed(20)
    with pytest.raises(StateError, match="Part of the journal is missing"):
        site.work()


def test_a_model_of_each_partition_has_its_own_snapshots(broker: Broker, topics: Names) -> None:
    site = Site(broker, topics, Scope.PARTITION)
    site.feed(240)
    site.work(State(snapshot_records=40, snapshot_seconds=3600), until_snapshots=2)
    site.feed(20)
    site.work()
    told = [event for event in site.events if isinstance(event, Restored)]
    assert len(told) == 2
    assert all(event.records < 120 for event in told)
    site.expect_every_record_answered_once()


def test_a_batch_is_closed_by_its_bytes(site: Site) -> None:
    site.feed(100)
    site.work(State(trim_journal=False), Batch(max_batch=1_000, max_batch_bytes=1_024))
    size = len(instance(0))
    entries = [unpack(record.value or b"") for record in site.rig.read(site.agent.topics.journal)]
    learned = [sum(len(block.labels) // 4 for block in entry.blocks) for entry in entries]
    assert sum(learned) == 100
    assert max(learned) <= 1_024 // (size - 2)
    assert max(learned) > 1
