"""One model for the whole input: the worker that holds the one-partition journal reads all partitions."""

import time
from typing import ClassVar

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from stream.config import Agent, Batch, Kafka, Timeouts
from stream.errors import Abortable, StateError
from stream.events import Rebalanced
from stream.kafka.batch_poller import IDLE_SECONDS, BatchPoller, error_of, gone
from stream.kafka.clients import CONFLUENT, Clients, client
from stream.kafka.membership import _leave, _nothing, group_settings
from stream.kafka.offsets import lag_of, stable_offsets
from stream.kafka.topics import TopicAdmin
from stream.model.number_hints import Observe
from stream.model.ports import Unit, unit_of
from stream.records.record import Partition, Record

LOOK_AGAIN_SECONDS = 30.0
"""How often a worker looks whether the input has got more partitions."""


class ExclusiveMembership:
    """Active or standing by for the one model of a topic."""

    has_own_id: ClassVar[bool] = False

    def __init__(self, kafka: Kafka, agent: Agent, observe: Observe, clients: Clients = CONFLUENT) -> None:
        self.transactional_id = agent.group
        self.before_leaving = _nothing
        self._kafka = kafka
        self._clients = clients
        self._agent = agent
        self._observe = observe
        self._unit = unit_of(agent.input, None)
        self._has_lock = False
        self._is_leaving = False
        self._assigned: list[Unit] = []
        self._revoked: list[Unit] = []
        self._inputs = self._input_partitions()
        self._look_again = time.monotonic() + LOOK_AGAIN_SECONDS
        self._lock = client(clients.consumer, group_settings(kafka, agent.group))
        self._lock.subscribe(
            [agent.topics.journal],
            on_assign=self._on_assign,
            on_revoke=self._on_revoke,
            on_lost=self._on_lost,
        )
        self._reader: Consumer | None = None
        self._intake = BatchPoller()

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
        partitions = [TopicPartition(self._agent.input, number) for number in range(self._inputs)]
        return stable_offsets(self._lock, partitions, Timeouts.of(self._kafka.properties))

    def start(self, unit: Unit, next_offsets: dict[int, int]) -> None:
        """Assign ourselves all input partitions, by hand: the group knows only the lock."""
        if not self._has_lock:
            return
        if self._reader is not None:
            self._reader.close()
        self._intake = BatchPoller()
        self._reader = client(self._clients.consumer, group_settings(self._kafka, self._agent.group))
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
        known = TopicAdmin(self._kafka, self._clients).describe([self._agent.input])
        if self._agent.input not in known:
            raise StateError(gone(self._agent.input))
        return known[self._agent.input].partitions

    def lag(self, partition: Partition, next_offset: int) -> int:
        return 0 if self._reader is None else lag_of(self._reader, partition, next_offset)

    def group_metadata(self) -> object:
        return self._lock.consumer_group_metadata()

    def close(self) -> None:
        self._is_leaving = True
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        _leave(self._lock)
