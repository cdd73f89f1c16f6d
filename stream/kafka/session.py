"""The engine on confluent-kafka: one transaction per batch, state in topics, exactly once.

Whatever goes wrong, there is one way out: everything in memory is dropped and made again from the topics.
While a batch is being committed the next is worked on, but it is not written before the first is decided.
"""

import logging
import time
from collections.abc import Sequence
from functools import partial

from confluent_kafka import TopicPartition

from stream.config import Agent, Batch, Kafka
from stream.errors import Abortable
from stream.events import Committed, PartitionProgress, Processed
from stream.kafka.batch_poller import IDLE_SECONDS
from stream.kafka.checkpoints import CheckpointManager, CompletedSnapshots
from stream.kafka.clients import CONFLUENT, Clients
from stream.kafka.membership import Membership
from stream.kafka.transactions import TransactionalWriter
from stream.model.idle_time import IdleScheduler
from stream.model.number_hints import Observe
from stream.model.ports import Stop, Unit
from stream.model.processing import Processor
from stream.native.messages import first_repeat, next_offsets
from stream.records.record import OutputColumn, Outputs, Partition, Record

log = logging.getLogger(__name__)

COMMIT_LOOK_SECONDS = 0.002
"""How often it is looked whether a commit is over, before spare time is spent."""
LOOK_SECONDS = 0.25
"""How often it is looked how old the records are that are processed."""

_Spans = dict[Partition, tuple[int, int]]
"""For each partition the first offset of a batch, and the offset to read next."""


class _Session:
    """From joining the group to the first disturbance."""

    def __init__(
        self,
        kafka: Kafka,
        agent: Agent,
        batch: Batch,
        observe: Observe,
        keeper: CheckpointManager,
        partitions: dict[str, int],
        clients: Clients = CONFLUENT,
    ) -> None:
        self._kafka = kafka
        self._agent = agent
        self._batch = batch
        self._observe = observe
        self._keeper = keeper
        self._partitions = partitions
        self._clients = clients
        self._processors: dict[Unit, Processor] = {}
        self._writer: TransactionalWriter | None = None
        self._written: dict[Partition, int] = {}
        self._look_again = 0.0
        self._improving = IdleScheduler(agent.idle_share)

    def work(self, member: Membership, stop: Stop) -> None:
        """Join, and carry batches until told to stop. The numbers are those of `stream/__init__.py`."""
        member.before_leaving = self._settle
        try:
            while not stop():
                if member.has_own_id:
                    # What this worker left open when it died is aborted before offsets are asked for, which
                    # would otherwise wait until the broker gives it up.
                    self._open_writer(member.transactional_id)
                member.keep_alive()
                self._drop(member.take_revoked())
                if not member.is_active:
                    if not member.has_own_id:
                        self._end_writer()
                    continue
                self._open_writer(member.transactional_id)
                self._restore(member)
                # 1 a batch is polled
                records = member.poll(self._batch, self._wait())
                self._drop(member.take_revoked())
                # 2-6 decoded, answered, learned, made into outputs, counted
                outputs, spans = self._process(records, member)
                if not records:
                    if self._improving.is_next(self._processors) and self._writer_is_busy:
                        # A commit needs the machine more than a better tree does.
                        continue
                    outputs = self._improve()
                # 7, 8 produced and committed together with the offsets
                self._write(outputs, spans, member)
            self._write_rest(member)
            self._settle()
        finally:
            self._keeper.close()
            self._end_writer()
            member.close()

    def _restore(self, member: Membership) -> None:
        """Restore the models that have come; meanwhile others, or the same, may go and come again."""
        while (unit := member.next_assigned()) is not None:
            # A restore waits for open transactions, and one of them may be ours.
            self._settle()
            processor = self._keeper.restore(unit)
            if processor is not None:
                self._processors[unit] = processor
            self._drop(member.take_revoked())

    # ---- 2-6

    def _process(self, records: list[Record], member: Membership) -> tuple[list[Outputs], _Spans]:
        started = time.perf_counter()
        outputs: list[Outputs] = []
        spans: _Spans = {}
        # 3 each record goes to the processor of its model
        for unit, batch in _by_unit(records, member).items():
            processor = self._processors.get(unit)
            if processor is None:
                # Its partition was taken away while the batch was being read: another worker answers it.
                continue
            read = next_offsets(batch)
            _check_order(processor, batch, read)
            outputs.append(processor.process(batch))
            spans.update(read)
            self._keeper.learned(unit, len(batch))
        if spans:
            last, seconds = records[-1], time.perf_counter() - started
            self._observe(
                Processed(self._agent.name, len(records), seconds, last.partition.number, last.offset)
            )
        self._written = self._look_at(records)
        return outputs, spans

    def _look_at(self, records: list[Record]) -> dict[Partition, int]:
        """Return when the last record of each partition was written; a few times a second, it costs."""
        now = time.monotonic()
        if now < self._look_again:
            return {}
        self._look_again = now + LOOK_SECONDS
        return {record.partition: record.timestamp_ms for record in records}

    # ---- spare time

    @property
    def _writer_is_busy(self) -> bool:
        return self._writer is not None and self._writer.is_busy

    def _wait(self) -> float:
        """Return how long a record is waited for before there is something else to do."""
        seconds = self._improving.wait(self._processors, IDLE_SECONDS)
        return max(seconds, COMMIT_LOOK_SECONDS) if self._writer_is_busy else seconds

    def _improve(self) -> list[Outputs]:
        """Spend a slice of the time that no record needs; return what is to be committed of it."""
        unit = self._improving.spend(self._processors)
        if unit is not None:
            self._keeper.improved(unit, self._improving.take_seconds())
        return self._improving.outputs(self._processors)

    def _write_rest(self, member: Membership) -> None:
        """Commit what has come of spare time before leaving: it need not be spent again."""
        rest = self._improving.outputs(self._processors, now=True)
        if rest and self._writer is not None and member.is_active:
            self._begin(self._writer, rest, {}, member)

    # ---- 7, 8

    def _open_writer(self, transactional_id: str) -> None:
        if self._writer is not None:
            return

        def retried(why: str) -> None:
            log.warning(
                "agent %s: a commit was disturbed, the producer is replaced: %s", self._agent.name, why
            )

        self._writer = TransactionalWriter(
            self._kafka, transactional_id, self._partitions, retried, self._clients
        )

    def _write(self, outputs: list[Outputs], spans: _Spans, member: Membership) -> None:
        """Begin to commit what a batch came to, and what there is of snapshots."""
        writer = self._writer
        assert writer is not None
        if self._keeper.is_due(self._processors):
            # A snapshot is of a moment when everything is decided: this batch is committed first.
            outputs = [*outputs, *self._improving.outputs(self._processors, now=True)]
            if outputs:
                self._begin(writer, outputs, spans, member)
            self._settle()
            self._keeper.begin(self._processors)
            return
        pieces, finished = self._keeper.pieces()
        if pieces:
            outputs = [*outputs, Outputs(OutputColumn(self._agent.topics.snapshots), pieces)]
        if outputs:
            self._begin(writer, outputs, spans, member, finished)
        else:
            self._settle()

    def _begin(
        self,
        writer: TransactionalWriter,
        outputs: Sequence[Outputs],
        spans: _Spans,
        member: Membership,
        finished: CompletedSnapshots | None = None,
    ) -> None:
        # Also what has no records of its own, a piece of a snapshot or what came of spare time, is fenced by
        # the group's generation, which goes with the offsets: whoever lost its partitions must not write.
        places = spans or self._standing()
        offsets = [TopicPartition(p.topic, p.number, end) for p, (_, end) in places.items()]
        lags = {place: member.lag(place, end) for place, (_, end) in spans.items()}
        told = partial(self._tell, spans, lags, self._written, finished or [])
        writer.write(outputs, offsets, member.group_metadata(), told)

    def _standing(self) -> _Spans:
        """Return where the models stand."""
        return {
            Partition(self._agent.input, number): (offset, offset)
            for processor in self._processors.values()
            for number, offset in processor.next_offsets.items()
        }

    def _settle(self) -> None:
        if self._writer is not None:
            self._writer.settle()

    def _end_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _tell(
        self,
        spans: _Spans,
        lags: dict[Partition, int],
        written: dict[Partition, int],
        finished: CompletedSnapshots,
        seconds: float,
    ) -> None:
        self._keeper.committed(finished)
        self._observe(Committed(self._agent.name, "committed", seconds))
        for place, (first, end) in spans.items():
            told = PartitionProgress(
                self._agent.name, *place, first, end, lags[place], written.get(place, -1)
            )
            self._observe(told)

    def _drop(self, units: Sequence[Unit]) -> None:
        for unit in units:
            self._processors.pop(unit, None)
            self._keeper.drop(unit)


def _check_order(processor: Processor, batch: list[Record], spans: _Spans) -> None:
    """See that no record is learned twice, whatever the client returns.

    Raises:
        Abortable: The client has gone back to records that the model has learned from.
    """
    for partition, (first, _) in spans.items():
        expected = processor.next_offsets.get(partition.number, 0)
        if first < expected:
            raise Abortable(f"the client went back to offset {first} of {partition}, expected {expected}")
    repeat = first_repeat(batch)
    if repeat is not None:
        raise Abortable(f"the client returned offset {repeat.offset} of {repeat.partition} twice in a batch")


def _by_unit(records: list[Record], member: Membership) -> dict[Unit, list[Record]]:
    """Return the records of each model, in order."""
    batches: dict[Unit, list[Record]] = {}
    units: dict[Partition, list[Record]] = {}
    for record in records:
        batch = units.get(record.partition)
        if batch is None:
            batch = units[record.partition] = batches.setdefault(member.unit_of(record.partition), [])
        batch.append(record)
    return batches
