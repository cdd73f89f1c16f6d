"""How a worker takes part in an agent's consumer group: who works on what, and where it reads on.

`ExclusiveMembership`: one model learns from all partitions. The workers subscribe to the one-partition
journal of the agent, and whoever is assigned it is active: it assigns itself all input partitions by hand
and fences its predecessor by the agent's transactional id. The others stand by. Offsets are committed in
the same group.

`SharedMembership`: a model for each partition, spread over the workers by the group.
"""

import contextlib
import time
from collections.abc import Callable
from typing import ClassVar, Protocol

from confluent_kafka import Consumer, KafkaException

from stream.config import Batch, Kafka, Timeouts
from stream.errors import StreamError
from stream.kafka.batch_poller import IDLE_SECONDS
from stream.kafka.clients import ClientSettings, consumer_settings
from stream.model.ports import Unit
from stream.records.record import Partition, Record

LEAVE_LOOK_SECONDS = 0.02


class Membership(Protocol):
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


def group_settings(kafka: Kafka, group: str) -> ClientSettings:
    """Return the settings of a consumer that is a member of its group."""
    settings: ClientSettings = {
        "partition.assignment.strategy": "cooperative-sticky",
        **consumer_settings(kafka, group),
        # Where to read is what the state says; an input that no longer reaches back must not be skipped over.
        "auto.offset.reset": "error",
    }
    if settings.get("group.protocol") == "consumer":
        # With KIP-848 the broker decides these, and the client refuses them.
        for name in ("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"):
            settings.pop(name, None)
    return settings


def _leave(consumer: Consumer) -> None:
    """Leave the group, and close the client once it has no changes of the group left to tell.

    A client that is closed with such changes waiting tells them while its own end is under way. The answer it
    then waits for may have been thrown away by that end: it waits for ever, and no thread of the process goes
    on, for it holds the interpreter meanwhile. So they are told first.
    """
    deadline = time.monotonic() + Timeouts().leave_seconds
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


def _nothing() -> None:
    pass
