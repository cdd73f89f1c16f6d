"""A model for each partition, spread over the workers by the group."""

from typing import ClassVar

from confluent_kafka import Consumer, TopicPartition

from stream.config import Agent, Batch, Kafka, Timeouts
from stream.events import Rebalanced
from stream.kafka.batch_poller import IDLE_SECONDS, BatchPoller
from stream.kafka.clients import CONFLUENT, Clients, client
from stream.kafka.membership import _leave, _nothing, group_settings
from stream.kafka.offsets import beginning, lag_of, seek, stable_offsets
from stream.model.number_hints import Observe
from stream.model.ports import Unit, unit_of
from stream.records.record import Partition, Record


class SharedMembership:
    """One of the workers among which the partitions of a topic are spread."""

    has_own_id: ClassVar[bool] = True

    def __init__(
        self, kafka: Kafka, agent: Agent, instance: str, observe: Observe, clients: Clients = CONFLUENT
    ) -> None:
        self.transactional_id = f"{agent.group}.{instance}"
        self.before_leaving = _nothing
        self._agent = agent
        self._timeouts = Timeouts.of(kafka.properties)
        self._observe = observe
        self._assigned: list[Unit] = []
        self._revoked: list[Unit] = []
        self._owned: set[int] = set()
        self._is_leaving = False
        self._intake = BatchPoller()
        self._consumer = client(clients.consumer, group_settings(kafka, agent.group))
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
        stable = stable_offsets(consumer, partitions, self._timeouts)
        places = [TopicPartition(p.topic, p.partition, self._place(stable, p.partition)) for p in partitions]
        consumer.incremental_assign(places)
        # Nothing is read before the model has been restored.
        consumer.pause(places)
        numbers = [p.partition for p in partitions]
        self._owned.update(numbers)
        self._assigned += [unit_of(self._agent.input, number) for number in numbers]
        self._observe(Rebalanced(self._agent.name, tuple((self._agent.input, n) for n in numbers), ()))

    def _place(self, offsets: dict[int, int], number: int) -> int:
        """Return the offset to read a partition from, as a number.

        `OFFSET_BEGINNING` must not be used here. The client (librdkafka 2.16) resolves it with a request,
        drops a response that arrives after a pause or a seek, repeats the request, and then reads from the
        beginning although it was sent elsewhere meanwhile.
        """
        known = offsets.get(number)
        return beginning(self._consumer, self._agent.input, number) if known is None else known

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
        partitions = [TopicPartition(self._agent.input, unit.journal_partition)]
        return stable_offsets(self._consumer, partitions, self._timeouts)

    def start(self, unit: Unit, next_offsets: dict[int, int]) -> None:
        """Go to where the state stands, or to the beginning: what was read before may have been dropped."""
        number = unit.journal_partition
        if number not in self._owned:
            return
        self._intake.forget({number})
        place = TopicPartition(self._agent.input, number, self._place(next_offsets, number))
        seek(self._consumer, place)
        self._consumer.resume([place])

    def poll(self, batch: Batch, seconds: float = IDLE_SECONDS) -> list[Record]:
        return self._intake.take(self._consumer, batch, seconds)

    def lag(self, partition: Partition, next_offset: int) -> int:
        return lag_of(self._consumer, partition, next_offset)

    def group_metadata(self) -> object:
        return self._consumer.consumer_group_metadata()

    def close(self) -> None:
        self._is_leaving = True
        _leave(self._consumer)
