"""State on a real broker: snapshots are made, used and trusted no more than they deserve."""

import logging

import pytest

from stream.broker import Broker
from stream.config import Batch, Scope, State
from stream.errors import StateError
from stream.events import RestoreFinished
from stream.kafka.sender import Sender
from stream.records.journal import unpack
from tests.contract.records import instance
from tests.contract.site import Names, Site
from tests.workers import wait_until

pytestmark = pytest.mark.broker


@pytest.fixture
def site(broker: Broker, topics: Names) -> Site:
    return Site(broker, topics)


def test_a_worker_goes_on_from_a_snapshot_and_a_trimmed_journal(site: Site) -> None:
    site.feed(200)
    site.work(until_snapshots=2)
    site.feed(300)
    site.work(until_snapshots=1)
    [restored] = site.seen(RestoreFinished)
    assert isinstance(restored, RestoreFinished)
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
    for _ in range(4):
        # A worker that stops at once may leave the trimming to its successor.
        if wait_until(lambda: site.journal_begins_at() > 0, seconds=5):
            break
        site.feed(120)
        site.work(until_snapshots=1)
    assert site.journal_begins_at() > 0
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
    told = [event for event in site.events if isinstance(event, RestoreFinished)]
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
