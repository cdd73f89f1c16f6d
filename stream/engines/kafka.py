"""Talking to a broker: clients set up as our promises need, topics, and reading a topic to its end."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from stream.config import Kafka
from stream.errors import BrokerUnavailable, ConfigError, EngineError, Problem
from stream.record import Headers, Output, Partition, Record

ClientSettings = dict[str, str | int | float | bool]

MAX_MESSAGE_BYTES = 32 << 20
"""The largest message we write; `espalier topics create` makes topics that take it."""
REQUEST_SECONDS = 15.0
"""How long one question to a broker may take. A client asks a dead broker for minutes unless it is told."""


class TopicPlan(NamedTuple):
    """A topic to be made."""

    name: str
    partitions: int
    settings: Mapping[str, str]


class TopicFacts(NamedTuple):
    """A topic as it is."""

    name: str
    partitions: int
    replicas: int


def base_settings(kafka: Kafka) -> ClientSettings:
    """Return the settings of every client: the address and what the user wants, and quiet logs."""
    return {"bootstrap.servers": kafka.bootstrap_servers, "log_level": 3, **kafka.properties}


def consumer_settings(kafka: Kafka, group: str) -> ClientSettings:
    """Return the settings of a consumer whose offsets go into transactions."""
    return {
        "auto.offset.reset": "earliest",
        # Bounded: what the client fetches ahead is memory of ours.
        "queued.max.messages.kbytes": 32_768,
        "fetch.wait.max.ms": 100,
        **base_settings(kafka),
        "group.id": group,
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "enable.partition.eof": False,
    }


def producer_settings(kafka: Kafka, transactional_id: str) -> ClientSettings:
    """Return the settings of a transactional producer."""
    return {
        "linger.ms": 5,
        "compression.type": "lz4",
        "queue.buffering.max.kbytes": 131_072,
        "message.max.bytes": MAX_MESSAGE_BYTES,
        # After a commit the coordinator refuses the next transaction until its markers are written. The
        # client's default of 100 ms between tries would make every small transaction that slow.
        "retry.backoff.ms": 1,
        "retry.backoff.max.ms": 1_000,
        "transaction.timeout.ms": 15_000,
        "message.timeout.ms": 15_000,
        **base_settings(kafka),
        "transactional.id": transactional_id,
        "enable.idempotence": True,
        "acks": "all",
        # A commit fails if any message did; reports of success would cost a call for each message.
        "delivery.report.only.error": True,
    }


C = TypeVar("C")


def client(kind: Callable[..., C], settings: Mapping[str, object], **more: object) -> C:
    """Return a client with these settings.

    Raises:
        ConfigError: The client does not take them.
    """
    try:
        return kind(dict(settings), **more)
    except (KafkaException, TypeError, ValueError) as error:
        told = error.args[0].str() if isinstance(error, KafkaException) else str(error)
        raise ConfigError(
            [Problem("[kafka.properties]", f"the Kafka client refuses them: {told}")]
        ) from error


def record_of(message: Message) -> Record:
    """Return a consumed message as a record."""
    headers: Iterable[tuple[str, bytes | None]] = message.headers() or ()  # type: ignore[assignment]
    return Record(
        Partition(message.topic() or "", message.partition() or 0),
        message.offset() or 0,
        message.value(),
        message.key(),
        tuple(headers),
        message.timestamp()[1],
    )


def send(producer: Producer, output: Output, partition: int = -1) -> None:
    """Produce an output, waiting where the client's queue is full."""
    deadline = time.monotonic() + REQUEST_SECONDS
    while True:
        try:
            if output.headers:
                producer.produce(
                    output.topic, output.value, output.key, partition, headers=list(output.headers)
                )
            else:
                producer.produce(output.topic, output.value, output.key, partition)
            return
        except BufferError:
            if time.monotonic() > deadline:
                raise
            producer.poll(0.05)


class Topics:
    """The topics of a cluster."""

    def __init__(self, kafka: Kafka) -> None:
        self._kafka = kafka
        self._admin = client(AdminClient, base_settings(kafka))

    def describe(
        self, names: Iterable[str] | None = None, seconds: float = REQUEST_SECONDS
    ) -> dict[str, TopicFacts]:
        """Return the topics that exist, of those named or of all.

        Raises:
            BrokerUnavailable: No broker answers.
        """
        try:
            told = self._admin.list_topics(timeout=seconds).topics
        except KafkaException as error:
            raise unavailable(self._kafka, error) from error
        wanted = set(told) if names is None else set(names)
        return {
            name: TopicFacts(
                name, len(t.partitions), max((len(p.replicas) for p in t.partitions.values()), default=0)
            )
            for name, t in told.items()
            if name in wanted and t.error is None
        }

    def create(self, plans: Sequence[TopicPlan], replicas: int | None = None) -> list[str]:
        """Make the topics that are not there yet and return their names; wait until all can be used.

        Raises:
            EngineError: The broker refused one.
        """
        existing = self.describe([plan.name for plan in plans])
        missing = [plan for plan in plans if plan.name not in existing]
        if not missing:
            return []
        new = [
            NewTopic(
                plan.name, plan.partitions, -1 if replicas is None else replicas, config=dict(plan.settings)
            )
            for plan in missing
        ]
        for name, future in self._admin.create_topics(new, operation_timeout=REQUEST_SECONDS).items():
            try:
                future.result(timeout=2 * REQUEST_SECONDS)
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise EngineError(
                        f'the broker did not create topic "{name}": {error.args[0].str()}'
                    ) from error
        self._wait_for([plan.name for plan in missing])
        return [plan.name for plan in missing]

    def _wait_for(self, names: Sequence[str]) -> None:
        """Wait until topics just made are known to the broker that is asked."""
        deadline = time.monotonic() + REQUEST_SECONDS
        while len(self.describe(names)) < len(names):
            if time.monotonic() > deadline:
                raise EngineError(f"the topics {', '.join(names)} were created but do not appear")
            time.sleep(0.05)


_MOVING = frozenset({KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE})
"""What a broker says of a partition whose leader is changing, or that was made a moment ago."""


def ends_of(consumer: Consumer, topic: str, partition: int) -> tuple[int, int]:
    """Return where a partition begins and ends; a leader that is just changing is waited for.

    Raises:
        KafkaException: It cannot be told in time.
    """
    place = TopicPartition(topic, partition)
    deadline = time.monotonic() + REQUEST_SECONDS
    while True:
        try:
            return consumer.get_watermark_offsets(place, timeout=REQUEST_SECONDS)
        except KafkaException as error:
            if error.args[0].code() not in _MOVING or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def unavailable(kafka: Kafka, error: KafkaException) -> BrokerUnavailable:
    """Return the error of a broker that does not answer."""
    return BrokerUnavailable(
        f'no broker answers at "{kafka.bootstrap_servers}": {error.args[0].str()}. '
        'Start one ("espalier broker start") or correct bootstrap_servers in [kafka]'
    )


def read_to_end(
    kafka: Kafka,
    partition: Partition,
    start: int = 0,
    alive: Iterator[None] | None = None,
    group: str | None = None,
) -> Iterator[Record]:
    """Yield the committed records of a partition up to its end at the time of reading.

    The end is where the broker says it is: markers and aborted records occupy offsets, so that the last
    record's offset tells nothing.

    Args:
        kafka: The cluster.
        partition: What to read.
        start: The offset to begin with.
        alive: Advanced now and then, for callers that must show a sign of life.
        group: The group whose rights are used. The reader does not join it.
    """
    settings = consumer_settings(kafka, group or f"{partition.topic}.reader")
    consumer = client(Consumer, {**settings, "enable.partition.eof": True})
    try:
        consumer.assign([TopicPartition(partition.topic, partition.number, start)])
        deadline = time.monotonic() + 2 * REQUEST_SECONDS
        while True:
            for message in consumer.consume(500, 0.05):
                error = message.error()
                if error is None:
                    deadline = time.monotonic() + 2 * REQUEST_SECONDS
                    yield record_of(message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    return
                else:
                    raise EngineError(f"{partition} cannot be read: {error.str()}")
            if alive is not None:
                next(alive, None)
            if time.monotonic() > deadline:
                raise BrokerUnavailable(f"{partition} could not be read to its end in time")
    finally:
        consumer.close()


def follow(
    kafka: Kafka, topics: Sequence[str], *, from_beginning: bool, until_end: bool
) -> Iterator[Record | None]:
    """Yield the committed records of some topics as they come; None whenever there is nothing new.

    Args:
        kafka: The cluster.
        topics: Their names.
        from_beginning: Whether to begin with what is there already.
        until_end: Whether to stop where the topics ended when asked.
    """
    known = Topics(kafka).describe(topics)
    consumer = client(Consumer, {**consumer_settings(kafka, "espalier.tail"), "enable.partition.eof": True})
    start = -2 if from_beginning else -1  # the client's words for beginning and end
    open_ends = {(name, n) for name, facts in known.items() for n in range(facts.partitions)}
    try:
        consumer.assign([TopicPartition(name, n, start) for name, n in sorted(open_ends)])
        while open_ends or not until_end:
            messages = consumer.consume(500, 0.1)
            for message in messages:
                error = message.error()
                if error is None:
                    yield record_of(message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    open_ends.discard((message.topic() or "", message.partition() or 0))
                else:
                    raise EngineError(f"{message.topic()} cannot be read: {error.str()}")
            if not messages:
                yield None
    finally:
        consumer.close()


class Sender:
    """A plain producer for people's own instances: idempotent, not transactional."""

    def __init__(self, kafka: Kafka) -> None:
        self._failed: list[str] = []
        settings = {
            "linger.ms": 5,
            **base_settings(kafka),
            "enable.idempotence": True,
            "message.timeout.ms": 30_000,
            "delivery.report.only.error": True,
            "on_delivery": self._note,
        }
        self._producer = client(Producer, settings)

    def _note(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failed.append(f"{message.topic()}: {error.str()}")

    def send(self, topic: str, value: bytes | None, key: bytes | None = None, headers: Headers = ()) -> None:
        """Produce a record."""
        send(self._producer, Output(topic, value, key, headers=headers))
        self._producer.poll(0)

    def flush(self) -> None:
        """Wait until everything has been delivered.

        Raises:
            EngineError: Something has not.
        """
        left = self._producer.flush(2 * REQUEST_SECONDS)
        if self._failed or left:
            first = self._failed[0] if self._failed else "no broker took them in time"
            raise EngineError(f"{len(self._failed) + left} records were not delivered: {first}")
