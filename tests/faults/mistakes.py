"""The mistakes behind the seeded bugs: each function puts one into this process."""

import contextlib
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from stream.config import Kafka
from stream.kafka import checkpoints
from stream.kafka.checkpoints import CheckpointManager
from stream.kafka.clients import base_settings, consumer_settings, record_of
from stream.kafka.exclusive import ExclusiveMembership
from stream.kafka.shared import SharedMembership
from stream.kafka.transactions import TransactionalWriter
from stream.model import processor
from stream.model.processor import LearningProcessor
from stream.records.record import Partition, Record
from stream.state import snapshots
from tests.faults.producers import derive_producer


def _plain(writer: TransactionalWriter) -> Producer:
    """Return a producer without transactions, one for each writer."""
    made: Producer | None = getattr(writer, "_plain", None)
    if made is None:
        made = writer._plain = Producer({**base_settings(writer._kafka), "linger.ms": 0})  # type: ignore[attr-defined]
    return made


def b1() -> None:
    write = TransactionalWriter.write

    def early(
        writer: TransactionalWriter, outputs: Any, next_offsets: Any, group: Any, committed: Any
    ) -> None:
        write(writer, [], next_offsets, group, lambda seconds: None)
        write(writer, outputs, [], group, committed)

    TransactionalWriter.write = early  # type: ignore[assignment, method-assign]


def b2() -> None:
    def outside(writer: TransactionalWriter, run: Any) -> None:
        for value, key, partition in zip(run.values, run.keys, run.partitions, strict=True):
            _plain(writer).produce(run.topic, value, key, writer._partition(run.topic, partition))
        _plain(writer).flush(10)

    TransactionalWriter._produce_run = outside  # type: ignore[assignment, method-assign]


def b3() -> None:
    """Everything at least once: no transactions, offsets committed when the rest has been delivered."""

    class Untransacted:
        def __init__(self, settings: dict[str, Any], logger: Any = None) -> None:
            kept = {n: v for n, v in settings.items() if n not in ("transactional.id", "debug", "log_level")}
            self._producer = Producer({**kept, "transaction.timeout.ms": 60_000})
            self._group = settings["transactional.id"]
            self._settings = kept

        def produce(self, *args: Any, **named: Any) -> None:
            self._producer.produce(*args, **named)
            self._producer.flush(10)

        def poll(self, seconds: float = 0) -> int:
            return self._producer.poll(seconds)

        def init_transactions(self, *args: Any) -> None: ...

        def begin_transaction(self, *args: Any) -> None: ...

        def send_offsets_to_transaction(self, offsets: Any, group: Any, *args: Any) -> None:
            # All is written before the offsets are: whoever dies in between has said it, and says it again.
            self._producer.flush(10)
            self._offsets = offsets

        def commit_transaction(self, *args: Any) -> None:
            self._producer.flush(10)
            servers = {"bootstrap.servers": self._settings["bootstrap.servers"], "group.id": self._group}
            consumer = Consumer(servers)
            consumer.commit(offsets=self._offsets, asynchronous=False)
            consumer.close()

    derive_producer(lambda kind: Untransacted)


def b4() -> None:
    init = TransactionalWriter.__init__

    def nameless(writer: TransactionalWriter, kafka: Any, transactional_id: str, *args: Any) -> None:
        init(writer, kafka, f"{transactional_id}.{uuid.uuid4().hex}", *args)

    TransactionalWriter.__init__ = nameless  # type: ignore[assignment, method-assign]

    def unfenced(member: Any) -> object:
        settings = consumer_settings(
            member._kafka if hasattr(member, "_kafka") else _kafka, member._agent.group
        )
        return Consumer(settings).consumer_group_metadata()

    _kafka = Kafka()
    made = SharedMembership.__init__

    def noted(member: Any, kafka: Any, *args: Any) -> None:
        member._kafka = kafka
        made(member, kafka, *args)

    SharedMembership.__init__ = noted  # type: ignore[assignment, method-assign]
    ExclusiveMembership.group_metadata = unfenced  # type: ignore[assignment, method-assign]
    SharedMembership.group_metadata = unfenced  # type: ignore[assignment, method-assign]


def b5() -> None:
    write = TransactionalWriter.write

    def ahead(
        writer: TransactionalWriter, outputs: Any, next_offsets: Sequence[Any], group: Any, committed: Any
    ) -> None:
        further = [TopicPartition(p.topic, p.partition, p.offset + 1) for p in next_offsets]
        write(writer, outputs, further, group, committed)

    TransactionalWriter.write = ahead  # type: ignore[assignment, method-assign]


def _reading(isolation: str, *, by_record: bool) -> Callable[..., Iterator[Record]]:
    def read(
        kafka: Kafka, partition: Partition, start: int = 0, alive: Any = None, *others: Any
    ) -> Iterator[Record]:
        settings = {**consumer_settings(kafka, "bug"), "isolation.level": isolation}
        consumer = Consumer({**settings, "enable.partition.eof": True})
        place = TopicPartition(partition.topic, partition.number, start)
        end = consumer.get_watermark_offsets(place, timeout=10)[1]
        consumer.assign([place])
        try:
            while end > start:
                for message in consumer.consume(100, 0.05):
                    if message.error() is None:
                        yield record_of(message)
                        if by_record and (message.offset() or 0) >= end - 1:
                            return
                    elif not by_record:
                        return
                if alive is not None:
                    next(alive, None)
        finally:
            consumer.close()

    return read


def b6() -> None:
    checkpoints.read_to_end = _reading("read_committed", by_record=True)  # type: ignore[assignment, attr-defined]


def b7() -> None:
    begin = CheckpointManager.begin

    def trimming(keeper: CheckpointManager, processors: Any) -> None:
        begin(keeper, processors)
        for unit, kept in keeper._kept.items():
            if kept.running is not None:
                keeper._trim(unit, keeper._journal_end(unit))

    CheckpointManager.begin = trimming  # type: ignore[assignment, method-assign]


def b8() -> None:
    snapshots.Snapshots.next_slot = property(lambda told: "A")  # type: ignore[assignment]
    committed = CheckpointManager.committed

    def one_slot(keeper: CheckpointManager, finished: Any) -> None:
        committed(keeper, finished)
        for unit, manifest in finished:
            keeper._kept[unit].slot = "A"
            keeper._trim(unit, manifest.journal_offset)

    CheckpointManager.committed = one_slot  # type: ignore[assignment, method-assign]


def keep_state() -> None:
    kept: dict[Any, Any] = {}
    restore = CheckpointManager.restore

    def remembered(keeper: CheckpointManager, unit: Any) -> Any:
        fresh = restore(keeper, unit)
        if fresh is None:
            return None
        known = kept.setdefault(unit, fresh)
        if known is not fresh:
            keeper._member.start(unit, known.next_offsets)
        return known

    CheckpointManager.restore = remembered  # type: ignore[assignment, method-assign]


def b11() -> None:
    def careless(kind: Any) -> Any:
        class Careless(kind):  # type: ignore[misc]
            def produce(self, *args: Any, **named: Any) -> None:
                with contextlib.suppress(BufferError):
                    super().produce(*args, **named)

        return Careless

    derive_producer(careless)


def b12() -> None:
    produce = TransactionalWriter._produce

    def outside(writer: TransactionalWriter, output: Any) -> None:
        if not output.topic.endswith(".dead-letters"):
            produce(writer, output)
            return
        partition = writer._partition(output.topic, output.partition)
        _plain(writer).produce(
            output.topic, output.value, output.key, partition, headers=list(output.headers)
        )
        _plain(writer).flush(10)

    TransactionalWriter._produce = outside  # type: ignore[assignment, method-assign]


def b13() -> None:
    restore = LearningProcessor.restore

    def forgetful(model: LearningProcessor, state: bytes) -> None:
        restore(model, state)
        model.version = 0

    LearningProcessor.restore = forgetful  # type: ignore[assignment, method-assign]


def b14() -> None:
    digest = processor.digest  # type: ignore[attr-defined]
    processor.digest = lambda outline: f"{hash(digest(outline)) % 2**64:064x}"  # type: ignore[attr-defined]


def b15() -> None:
    def reuse(writer: TransactionalWriter) -> None:
        writer._disturbances.seen = ""

    TransactionalWriter._renew = reuse  # type: ignore[assignment, method-assign]


def b16() -> None:
    checkpoints.read_to_end = _reading("read_uncommitted", by_record=False)  # type: ignore[assignment, attr-defined]
