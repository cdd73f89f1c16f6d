"""Topics that are lists: the same engine without a broker, for tests and for a first look.

A transaction is the moment when the outputs of a batch are appended. A crash can be scripted before or after
it, and everything is then restored from the journal, as it would be from Kafka.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from stream.errors import StateError
from stream.model.idle_time import IdleScheduler
from stream.model.ports import Guarantee, MakeProcessor, Stop, Unit, unit_of
from stream.model.processing import Processor
from stream.records.record import Headers, Outputs, Partition, Record
from stream.state.restore import restore
from stream.state.snapshot_format import SnapshotPoint
from stream.state.snapshot_writer import SnapshotWriter
from stream.state.snapshots import Snapshots


class MemoryBroker:
    """Topics, their partitions, and the offsets that groups have committed."""

    def __init__(self) -> None:
        self._logs: dict[Partition, list[Record]] = {}
        self._partitions: dict[str, int] = {}
        self.committed: dict[tuple[str, Partition], int] = {}

    def create(self, topic: str, partitions: int = 1) -> None:
        """Make a topic."""
        self._partitions[topic] = partitions

    def partitions(self, topic: str) -> int:
        """Return how many partitions a topic has; one that is not there yet is made with one."""
        return self._partitions.setdefault(topic, 1)

    def produce(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = None,
        partition: int | None = None,
        headers: Headers = (),
    ) -> Record:
        """Append a record."""
        where = Partition(topic, (partition or 0) % self.partitions(topic))
        log = self._logs.setdefault(where, [])
        record = Record(where, len(log), value, key, headers, timestamp_ms=0)
        log.append(record)
        return record

    def read(self, topic: str, partition: int | None = None) -> list[Record]:
        """Return the records of a topic, or of one of its partitions."""
        numbers = range(self.partitions(topic)) if partition is None else [partition]
        return [record for number in numbers for record in self._logs.get(Partition(topic, number), [])]


class Crash(NamedTuple):
    """Where a scripted crash happens: before or after the commit of the batch with this number."""

    batch: int
    after_commit: bool


class MemoryEngine:
    """Runs one agent over a `MemoryBroker` until the input is drained or it is told to stop.

    Args:
        broker: The topics.
        topic: The input.
        journal: The topic of the agent's journal.
        group: The name under which offsets are committed.
        per_partition: Whether there is a model for each partition.
        max_batch: How many records are processed at a time.
        crashes: When to lose everything that was not committed.
        snapshots: The topic of the agent's snapshots, if any are to be made.
        snapshot_every: After how many batches one is made.
        wait: Called when the input is drained; returns whether to look again. None: stop then.
        idle_share: The most of the time, while it is drained, that is spent on better trees.
    """

    guarantee = Guarantee.EXACTLY_ONCE

    def __init__(
        self,
        broker: MemoryBroker,
        topic: str,
        journal: str,
        group: str,
        *,
        per_partition: bool = False,
        max_batch: int = 2_000,
        crashes: Sequence[Crash] = (),
        snapshots: str | None = None,
        snapshot_every: int = 1,
        wait: Callable[[], bool] | None = None,
        idle_share: float = 0.0,
    ) -> None:
        self._broker = broker
        self._topic = topic
        self._journal = journal
        self._group = group
        self._per_partition = per_partition
        self._max_batch = max_batch
        self._crashes = set(crashes)
        self._snapshots = snapshots
        self._snapshot_every = snapshot_every
        self._slots: dict[Unit, tuple[str, int]] = {}
        self._wait = wait
        self._improving = IdleScheduler(idle_share)
        self._batches = 0

    def run(self, make_processor: MakeProcessor, stop: Stop) -> None:
        """Work until the input is drained or `stop` says so."""
        processors = self._restore(make_processor)
        while not stop():
            worked = False
            for unit, processor in processors.items():
                records = self._poll(unit, processor)
                if not records:
                    continue
                worked = True
                outputs = processor.process(records)
                if Crash(self._batches, after_commit=False) not in self._crashes:
                    self._commit(outputs, processor)
                    if self._snapshots is not None and self._batches % self._snapshot_every == 0:
                        self._snapshot(unit, processor, self._snapshots)
                self._batches += 1
                number = self._batches - 1
                if {Crash(number, after_commit=False), Crash(number, after_commit=True)} & self._crashes:
                    processors = self._restore(make_processor)
                    break
            if not worked:
                self._improve(processors)
            if not worked and (self._wait is None or not self._wait()):
                return

    def _improve(self, processors: dict[Unit, Processor]) -> None:
        """Spend a slice of spare time, and commit what comes of it once in a while."""
        self._improving.spend(processors)
        for unit, processor in processors.items():
            for outputs in self._improving.outputs({unit: processor}):
                self._commit(outputs, processor)

    def _restore(self, make_processor: MakeProcessor) -> dict[Unit, Processor]:
        numbers = range(self._broker.partitions(self._topic)) if self._per_partition else [None]
        processors: dict[Unit, Processor] = {}
        for number in numbers:
            unit = unit_of(self._topic, number)
            processor = processors[unit] = self._restored(unit, make_processor)
            for partition, offset in processor.next_offsets.items():
                committed = self._broker.committed.get((self._group, Partition(self._topic, partition)))
                if committed != offset:
                    raise StateError(f"the journal stands at {offset}, the group at {committed}")
        return processors

    def _restored(self, unit: Unit, make_processor: MakeProcessor) -> Processor:
        kept = self._broker.read(self._snapshots, unit.journal_partition) if self._snapshots else []
        snapshots = Snapshots(unit.model, kept)
        self._slots[unit] = snapshots.next_slot, snapshots.latest_number
        return restore(
            lambda: make_processor(unit),
            unit.model,
            snapshots,
            lambda _, start: self._broker.read(self._journal, unit.journal_partition)[start:],
        ).processor

    def _snapshot(self, unit: Unit, processor: Processor, topic: str) -> None:
        slot, number = self._slots[unit]
        sequence, digest = processor.point
        point = SnapshotPoint(sequence, digest, len(self._broker.read(self._journal, unit.journal_partition)))
        running = SnapshotWriter(unit.model, slot, number + 1, point, processor.snapshot)
        manifest = None
        while manifest is None:
            pieces, manifest = running.take(topic, unit.journal_partition)
            for piece in pieces:
                self._broker.produce(topic, piece.value, piece.key, piece.partition)
        self._slots[unit] = "A" if slot == "B" else "B", number + 1

    def _poll(self, unit: Unit, processor: Processor) -> list[Record]:
        if self._per_partition:
            numbers: Sequence[int] = [unit.journal_partition]
        else:
            numbers = range(self._broker.partitions(self._topic))
        records: list[Record] = []
        for number in numbers:
            start = processor.next_offsets.get(number, 0)
            fresh = self._broker.read(self._topic, number)[start : start + self._max_batch - len(records)]
            records.extend(fresh)
        return records

    def _commit(self, outputs: Outputs, processor: Processor) -> None:
        for output in outputs:
            self._broker.produce(output.topic, output.value, output.key, output.partition, output.headers)
        for number, offset in processor.next_offsets.items():
            self._broker.committed[self._group, Partition(self._topic, number)] = offset
