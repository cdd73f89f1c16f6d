"""`espalier bench restore`: what a model's state costs to keep and to bring back, on one real broker."""

import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Producer

from lab.bench.loops import Order
from lab.bench.measure import Tell
from lab.bench.report import Column, Goal, Report, Table, Value, at_most
from lab.bench.streams import Nominal, as_json
from lab.bench.take_over import measure_take_over
from lab.experiments.report import Chart, Series
from stream.assembly import processor_factory
from stream.broker import Broker, InstallProgress, Sources
from stream.config import Agent, Kafka, Limits
from stream.kafka.clients import REQUEST_SECONDS, producer_settings, send
from stream.kafka.reading import read_to_end
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin
from stream.model.ports import unit_of
from stream.model.processing import Processor
from stream.records.record import Output, Partition, Record
from stream.state.restore import restore
from stream.state.snapshot_format import SnapshotPoint
from stream.state.snapshot_writer import SnapshotWriter
from stream.state.snapshots import Snapshots

PLACES = (10_000, 100_000, 1_000_000, 10_000_000)
QUICK_PLACES = (2_000, 10_000)
BATCH = 2_000
CHUNK = 50_000
DELAY_MS = 100
"""How long a snapshot may hold up an answer."""

NOTE = (
    "8 nominal attributes, 5 % noise, everything kept. The journal and the snapshots are in topics of a real "
    'broker, which shares the machine. "Held up" is how long the loop stands still for a snapshot, and the '
    "longest batch while one is being made is set against the longest without: what is left is what copying "
    "the memory costs. A restore ends with a tree whose digest is that of the first."
)


TAKE_OVERS = 5
TAKE_OVER_SECONDS = 10
TAKEN = "from the death of a worker to the answers of the one that stood by"
SESSION_SECONDS = 6
"""What a group waits before it takes a silent member for dead, unless a worker is told otherwise."""


class Place(NamedTuple):
    """What was measured after some records."""

    records: int
    journal_bytes: int
    snapshot_bytes: int
    held_up: float
    longest_batch: float
    longest_beside: float
    snapshot_seconds: float
    from_journal: float
    from_snapshot: float


def restoring(places: tuple[int, ...], sources: Sources, quick: bool, tell: Tell) -> Report:
    """Measure snapshots and restores after so many records."""

    def report(progress: InstallProgress) -> None:
        tell(f"{progress.step} the broker")

    with (
        tempfile.TemporaryDirectory(prefix="espalier-bench-") as directory,
        Broker.start(Path(directory), sources=sources, heap="1g", report=report) as broker,
    ):
        kafka = Kafka(broker.bootstrap_servers)
        found = _Course(kafka, tell).along(places)
        taken = _take_overs(kafka, 1 if quick else TAKE_OVERS, tell)
    return Report(
        "restore",
        "Keeping state and bringing it back",
        quick,
        goals=[*_goals(found), at_most(TAKEN, TAKE_OVER_SECONDS, max(taken), " s", ".1f")],
        tables=[_table(found), _take_over_table(taken)],
        notes=[NOTE],
        charts=[_chart(found)],
    )


class _Course:
    """One model on its way along a stream, with its topics."""

    def __init__(self, kafka: Kafka, tell: Tell) -> None:
        self._kafka = kafka
        self._tell = tell
        self._agent = Agent(name="bench-restore", input="bench.restore")
        self._unit = unit_of(self._agent.input, None)
        self._make = processor_factory(self._agent, Limits(), lambda event: None)
        self._processor = self._make(self._unit)
        self._source = Nominal(0.05, attributes=8)
        TopicAdmin(kafka).create(plans_for(self._agent, 1))
        settings = producer_settings(kafka, "bench-restore")
        self._producer = Producer({k: v for k, v in settings.items() if not k.startswith("transaction")})
        self._done = self._journal_bytes = 0
        self._slots = ("A", 1)

    def along(self, places: tuple[int, ...]) -> list[Place]:
        found = []
        for place in places:
            self._tell(f"learning up to record {place:,}")
            longest = self._learn(place - self._done)
            self._tell(f"a snapshot after {place:,} records")
            snapshot = self._snapshot()
            self._tell(f"restoring {place:,} records")
            seconds = [self._restore(with_snapshot) for with_snapshot in (False, True)]
            size, held_up, beside, took = snapshot
            found.append(Place(place, self._journal_bytes, size, held_up, longest, beside, took, *seconds))
        return found

    def _learn(self, count: int) -> float:
        """Learn from some records; return the seconds of the longest batch."""
        longest = 0.0
        where = Partition(self._agent.input, 0)
        while count > 0:
            size = min(CHUNK, count)
            count -= size
            texts = as_json(self._source, self._source.draw(size))
            for start in range(0, size, BATCH):
                batch = [
                    Record(where, self._done + number, text)
                    for number, text in enumerate(texts[start : start + BATCH])
                ]
                self._done += len(batch)
                started = time.perf_counter()
                outputs = self._processor.process(batch)
                longest = max(longest, time.perf_counter() - started)
                for output in outputs.others:
                    if output.topic == self._agent.topics.journal:
                        self._journal_bytes += len(output.value or b"")
                        send(self._producer, output, 0)
                        self._producer.poll(0)
        self._flush()
        return longest

    def _snapshot(self) -> tuple[int, float, float, float]:
        """Make a snapshot while learning goes on; return its bytes, and the seconds of each thing."""
        slot, number = self._slots
        self._slots = ("AB"[slot == "A"], number + 1)
        sequence, digest = self._processor.point
        point = SnapshotPoint(sequence, digest, sequence)
        started = time.perf_counter()
        running = SnapshotWriter(self._unit.model, slot, number, point, self._processor.snapshot)
        held_up = time.perf_counter() - started
        manifest, beside = None, 0.0
        while manifest is None:
            began = time.perf_counter()
            pieces, manifest = running.take(self._agent.topics.snapshots, 0)
            held_up = max(held_up, time.perf_counter() - began)
            self._send(pieces)
            if manifest is None:
                beside = max(beside, self._learn(BATCH))
        self._flush()
        return running.bytes_written, held_up, beside, time.perf_counter() - started

    def _send(self, pieces: Iterable[Output]) -> None:
        for piece in pieces:
            send(self._producer, piece, 0)

    def _flush(self) -> None:
        if self._producer.flush(4 * REQUEST_SECONDS):
            raise TimeoutError("the broker did not take the journal in time")

    def _restore(self, with_snapshot: bool) -> float:
        topics = self._agent.topics
        started = time.perf_counter()
        kept = read_to_end(self._kafka, Partition(topics.snapshots, 0)) if with_snapshot else ()

        def journal(processor: Processor, start: int) -> Iterable[Record]:
            return read_to_end(self._kafka, Partition(topics.journal, 0), start)

        snapshots = Snapshots(self._unit.model, kept)
        restored = restore(lambda: self._make(self._unit), self._unit.model, snapshots, journal)
        seconds = time.perf_counter() - started
        if restored.processor.point != self._processor.point or bool(restored.snapshot) != with_snapshot:
            raise AssertionError(f"restored {restored.processor.point}, not {self._processor.point}")
        return seconds


def _take_overs(kafka: Kafka, times: int, tell: Tell) -> list[float]:
    """Return the seconds of some take-overs."""
    source = Nominal(0.05, attributes=8)
    texts = as_json(source, source.draw(20_000))
    taken = []
    for turn in range(1, times + 1):
        tell(f"a worker dies and another takes over ({turn} of {times})")
        name = f"bench.take-over.{turn}"
        order = Order(kafka.bootstrap_servers, name, f"{name}.input", 2_000)
        TopicAdmin(kafka).create(plans_for(order.agent, 1))
        taken.append(measure_take_over("id5r", order, texts).seconds)
    return taken


def _take_over_table(taken: list[float]) -> Table:
    columns = (
        Column("take-overs", ",d"),
        Column("shortest, s", ".1f"),
        Column("longest, s", ".1f"),
        Column("of which the group's session timeout, s", ".0f"),
    )
    return Table("Take-over", columns, [(len(taken), min(taken), max(taken), SESSION_SECONDS)])


def _goals(found: list[Place]) -> list[Goal]:
    return [
        at_most(
            f"an answer held up by a snapshot of {one.records:,} records",
            DELAY_MS,
            1e3 * one.held_up,
            " ms",
            ".0f",
        )
        for one in found
    ]


def _table(found: list[Place]) -> Table:
    columns = (
        Column("records", ",d"),
        Column("journal, bytes", ",d"),
        Column("snapshot, bytes", ",d"),
        Column("held up, ms", ".1f"),
        Column("longest batch, ms", ".1f"),
        Column("longest beside a snapshot, ms", ".1f"),
        Column("snapshot, s", ".2f"),
        Column("restored from the journal, s", ".2f"),
        Column("restored from the snapshot, s", ".2f"),
    )
    rows: list[tuple[Value, ...]] = [
        (
            one.records,
            one.journal_bytes,
            one.snapshot_bytes,
            1e3 * one.held_up,
            1e3 * one.longest_batch,
            1e3 * one.longest_beside,
            one.snapshot_seconds,
            one.from_journal,
            one.from_snapshot,
        )
        for one in found
    ]
    return Table(f"State, batches of {BATCH:,} records", columns, rows)


def _chart(found: list[Place]) -> Chart:
    return Chart(
        "Seconds to restore",
        "records learned",
        "seconds",
        (
            Series("from the journal", tuple((float(n), one.from_journal) for n, one in enumerate(found))),
            Series("from a snapshot", tuple((float(n), one.from_snapshot) for n, one in enumerate(found))),
        ),
        categories=tuple(f"{one.records:,}" for one in found),
    )
