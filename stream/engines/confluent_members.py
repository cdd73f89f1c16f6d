"""How a worker takes part in an agent's consumer group: who works on what, and where it reads on.

`TopicMember`: one model learns from all partitions. The workers subscribe to the agent's one-partition
journal, and whoever is assigned it is active: it assigns itself all input partitions by hand and fences its
predecessor by the agent's transactional id. The others stand by. Offsets are committed in the same group.

`PartitionMember`: a model for each partition, spread over the workers by the group.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, TopicPartition

from stream.config import Agent, Batch, Kafka
from stream.engine import Unit, unit_of
from stream.engines.confluent_errors import classify
from stream.engines.confluent_intake import IDLE_SECONDS, Intake, error_of, gone
from stream.engines.kafka import REQUEST_SECONDS, Topics, client, consumer_settings
from stream.errors import Abortable, StateError, StreamError
from stream.events import Rebalanced
from stream.processor import Observe
from stream.record import Partition, Record

LOOK_AGAIN_SECONDS = 30.0
"""How often a worker looks whether the input has got more partitions."""
LEAVE_SECONDS = 3.0
"""How long leaving a group may take; whoever is still of it then is given up by its session."""
LEAVE_LOOK_SECONDS = 0.02


class Member(Protocol):
    """A worker's place in its group."""

    transactional_id: str
    has_own_id: ClassVar[bool]
    """Whether no other worker writes under the transactional id, not even one that stands by."""
    before_leaving: Callable[[], None]
    """Called while partitions are being given back, as long as what was read from them can be committed."""

    @property
    def is_active(self) -> bool:
        """Whether there is anything to work on."""
        ...

    def keep_alive(self, seconds: float | None = None) -> None:
        """Show the group a sign of life and hear of changes; wait a little where there is nothing to do."""
        ...

    def next_assigned(self) -> Unit | None:
        """Return a model that has come and must be restored; None: there is none left."""
        ...

    def has_lost(self, unit: Unit) -> bool:
        """Whether a model has gone since it was last asked which have."""
        ...

    def take_revoked(self) -> list[Unit]:
        """Return the models that have gone."""
        ...

    def unit_of(self, partition: Partition) -> Unit:
        """Return the model that learns from a partition."""
        ...

    def committed(self, unit: Unit) -> dict[int, int]:
        """Return the group's stable offsets of a model's partitions, of those that have any."""
        ...

    def start(self, unit: Unit, next_offsets: dict[int, int]) -> None:
        """Begin to read a model's partitions where its state stands."""
        ...

    def poll(self, batch: Batch, seconds: float = IDLE_SECONDS) -> list[Record]:
        """Return the next records; wait so long for the first, and no longer than it lingers for more."""
        ...

    def lag(self, partition: Partition, next_offset: int) -> int:
        """Return how many offsets a partition is ahead."""
        ...

    def group_metadata(self) -> object:
        """Return what fences a worker that is no longer of the group."""
        ...

    def close(self) -> None:
        """Leave the group."""
        ...


def _group_settings(kafka: Kafka, group: str) -> dict[str, object]:
    told: dict[str, object] = {
        # How soon a dead worker is noticed. Brokers allow no less than 6 s unless told otherwise.
        "session.timeout.ms": 6_000,
        "heartbeat.interval.ms": 2_000,
        "partition.assignment.strategy": "cooperative-sticky",
        **consumer_settings(kafka, group),
        # Where to read is what the state says; an input that no longer reaches back must not be skipped over.
        "auto.offset.reset": "error",
    }
    if told.get("group.protocol") == "consumer":
        # With KIP-848 the broker decides these, and the client refuses to be told.
        for name in ("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"):
            del told[name]
    return told


def _stable_offsets(consumer: Consumer, partitions: Sequence[TopicPartition]) -> dict[int, int]:
    try:
        told = consumer.committed(list(partitions), timeout=2 * REQUEST_SECONDS)
    except KafkaException as error:
        raise classify(error) from error
    return {place.partition: place.offset for place in told if place.offset >= 0}


def _lag(consumer: Consumer, partition: Partition, next_offset: int) -> int:
    marks = consumer.get_watermark_offsets(TopicPartition(*partition), cached=True)
    return max(0, marks[1] - next_offset) if marks else 0


def _leave(consumer: Consumer) -> None:
    """Leave the group, and close the client once it has no changes of the group left to tell.

    A client that is closed with such changes waiting tells them while its own end is under way. The answer it
    then waits for may have been thrown away by that end: it waits for ever, and no thread of the process goes
    on, for it holds the interpreter meanwhile. So they are told first.
    """
    deadline = time.monotonic() + LEAVE_SECONDS
    # What a change comes to does not matter any more, nor does an error of the broker's.
    with contextlib.suppress(KafkaException):
        consumer.unsubscribe()
    while True:
        with contextlib.suppress(StreamError, KafkaException):
            consumer.consume(1_000, LEAVE_LOOK_SECONDS)
        # Who has left has no name in the group.
        if not consumer.memberid() or time.monotonic() > deadline:
            break
    consumer.close()


class TopicMember:
    """Active or standing by for the one model of a topic."""

    has_own_id: ClassVar[bool] = False

    def __init__(self, kafka: Kafka, agent: Agent, observe: Observe) -> None:
        self.transactional_id = agent.group
        self.before_leaving = _nothing
        self._kafka = kafka
        self._agent = agent
        self._observe = observe
        self._unit = unit_of(agent.input, None)
        self._has_lock = False
        self._is_leaving = False
        self._assigned: list[Unit] = []
        self._revoked: list[Unit] = []
        self._inputs = self._input_partitions()
        self._look_again = time.monotonic() + LOOK_AGAIN_SECONDS
        self._lock = client(Consumer, _group_settings(kafka, agent.group))
        self._lock.subscribe(
            [agent.topics.journal],
            on_assign=self._on_assign,
            on_revoke=self._on_revoke,
            on_lost=self._on_lost,
        )
        self._reader: Consumer | None = None
        self._intake = Intake()

    @property
    def is_active(self) -> bool:
        return self._has_lock

    def keep_alive(self, seconds: float | None = None) -> None:
        """Hear whether the lock has come or gone. The lock itself is paused: it has nothing to read."""
        message = self._lock.poll((0 if self._has_lock else 2 * IDLE_SECONDS) if seconds is None else seconds)
        if message is not None and message.error() is not None:
            raise error_of(message)

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if not partitions or self._is_leaving:
            return
        consumer.incremental_assign(
            [TopicPartition(p.topic, p.partition, OFFSET_BEGINNING) for p in partitions]
        )
        consumer.pause(partitions)
        self._has_lock = True
        self._assigned = [self._unit]
        self._observe(
            Rebalanced(self._agent.name, tuple((self._agent.input, p) for p in range(self._inputs)), ())
        )

    def _on_revoke(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if partitions:
            self.before_leaving()
            self._on_lost(consumer, partitions)

    def _on_lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if not partitions:
            return
        self._has_lock = False
        self._assigned = []
        self._revoked = [self._unit]
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self._observe(
            Rebalanced(self._agent.name, (), tuple((self._agent.input, p) for p in range(self._inputs)))
        )

    def next_assigned(self) -> Unit | None:
        # One at a time: while it is being restored, those after it may go and come again.
        return self._assigned.pop(0) if self._assigned else None

    def has_lost(self, unit: Unit) -> bool:
        return unit in self._revoked

    def take_revoked(self) -> list[Unit]:
        taken, self._revoked = self._revoked, []
        return taken

    def unit_of(self, partition: Partition) -> Unit:
        return self._unit

    def committed(self, unit: Unit) -> dict[int, int]:
        places = [TopicPartition(self._agent.input, number) for number in range(self._inputs)]
        return _stable_offsets(self._lock, places)

    def start(self, unit: Unit, next_offsets: dict[int, int]) -> None:
        """Assign ourselves all input partitions, by hand: the group knows only the lock."""
        if not self._has_lock:
            return
        if self._reader is not None:
            self._reader.close()
        self._intake = Intake()
        self._reader = client(Consumer, _group_settings(self._kafka, self._agent.group))
        self._reader.assign(
            [
                TopicPartition(self._agent.input, number, next_offsets.get(number, OFFSET_BEGINNING))
                for number in range(self._inputs)
            ]
        )

    def poll(self, batch: Batch, seconds: float = IDLE_SECONDS) -> list[Record]:
        if self._reader is None:
            return []
        if time.monotonic() > self._look_again:
            self._look_again = time.monotonic() + LOOK_AGAIN_SECONDS
            if self._input_partitions() > self._inputs:
                raise Abortable(f'"{self._agent.input}" has got more partitions')
        return self._intake.take(self._reader, batch, seconds)

    def _input_partitions(self) -> int:
        known = Topics(self._kafka).describe([self._agent.input])
        if self._agent.input not in known:
            raise StateError(gone(self._agent.input))
        return known[self._agent.input].partitions

    def lag(self, partition: Partition, next_offset: int) -> int:
        return 0 if self._reader is None else _lag(self._reader, partition, next_offset)

    def group_metadata(self) -> object:
        return self._lock.consumer_group_metadata()

    def close(self) -> None:
        self._is_leaving = True
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        _leave(self._lock)


class PartitionMember:
    """One of the workers among which the partitions of a topic are spread."""

    has_own_id: ClassVar[bool] = True

    def __init__(self, kafka: Kafka, agent: Agent, instance: str, observe: Observe) -> None:
        self.transactional_id = f"{agent.group}.{instance}"
        self.before_leaving = _nothing
        self._agent = agent
        self._observe = observe
        self._assigned: list[Unit] = []
        self._revoked: list[Unit] = []
        self._owned: set[int] = set()
        self._is_leaving = False
        self._intake = Intake()
        self._consumer = client(Consumer, _group_settings(kafka, agent.group))
        self._consumer.subscribe(
            [agent.input], on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
        )

    @property
    def is_active(self) -> bool:
        return bool(self._owned)

    def keep_alive(self, seconds: float | None = None) -> None:
        """Hear of partitions that come and go; a record that comes along is kept for `poll`."""
        message = self._consumer.poll(
            (0 if self._owned else 2 * IDLE_SECONDS) if seconds is None else seconds
        )
        if message is not None:
            self._intake.waiting.append(message)

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if not partitions or self._is_leaving:
            return
        stable = _stable_offsets(consumer, partitions)
        places = [
            TopicPartition(p.topic, p.partition, stable.get(p.partition, OFFSET_BEGINNING))
            for p in partitions
        ]
        consumer.incremental_assign(places)
        # Nothing is read before the model has been restored.
        consumer.pause(places)
        numbers = [p.partition for p in partitions]
        self._owned.update(numbers)
        self._assigned += [unit_of(self._agent.input, number) for number in numbers]
        self._observe(Rebalanced(self._agent.name, tuple((self._agent.input, n) for n in numbers), ()))

    def _on_revoke(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if partitions:
            self.before_leaving()
            self._on_lost(consumer, partitions)

    def _on_lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        numbers = {p.partition for p in partitions}
        gone = [unit_of(self._agent.input, number) for number in sorted(numbers)]
        self._owned -= numbers
        self._assigned = [unit for unit in self._assigned if unit not in gone]
        self._revoked += gone
        self._intake.forget(numbers)
        self._observe(
            Rebalanced(self._agent.name, (), tuple((self._agent.input, n) for n in sorted(numbers)))
        )

    def next_assigned(self) -> Unit | None:
        # One at a time: while it is being restored, those after it may go and come again.
        return self._assigned.pop(0) if self._assigned else None

    def has_lost(self, unit: Unit) -> bool:
        return unit in self._revoked

    def take_revoked(self) -> list[Unit]:
        taken, self._revoked = self._revoked, []
        return taken

    def unit_of(self, partition: Partition) -> Unit:
        return unit_of(self._agent.input, partition.number)

    def committed(self, unit: Unit) -> dict[int, int]:
        return _stable_offsets(self._consumer, [TopicPartition(self._agent.input, unit.journal_partition)])

    def start(self, unit: Unit, next_offsets: dict[int, int]) -> None:
        """Go to where the state stands, or to the beginning: what was read before may have been dropped."""
        number = unit.journal_partition
        if number not in self._owned:
            return
        self._intake.forget({number})
        place = TopicPartition(self._agent.input, number, next_offsets.get(number, OFFSET_BEGINNING))
        _seek(self._consumer, place)
        self._consumer.resume([place])

    def poll(self, batch: Batch, seconds: float = IDLE_SECONDS) -> list[Record]:
        return self._intake.take(self._consumer, batch, seconds)

    def lag(self, partition: Partition, next_offset: int) -> int:
        return _lag(self._consumer, partition, next_offset)

    def group_metadata(self) -> object:
        return self._consumer.consumer_group_metadata()

    def close(self) -> None:
        self._is_leaving = True
        _leave(self._consumer)


def _nothing() -> None:
    pass


def _seek(consumer: Consumer, place: TopicPartition) -> None:
    """Seek, which a partition assigned a moment ago refuses until its reading has been set up."""
    deadline = time.monotonic() + REQUEST_SECONDS
    while True:
        try:
            consumer.seek(place)
            return
        except KafkaException as error:
            if time.monotonic() > deadline:
                raise classify(error) from error
            time.sleep(0.02)
