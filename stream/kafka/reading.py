"""Reading a partition: where it ends, up to its end, or on and on."""

import time
from collections.abc import Generator, Iterator, Sequence

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaError,
    KafkaException,
    TopicPartition,
)

from stream.config import Kafka, Timeouts
from stream.errors import BrokerUnavailable, EngineError
from stream.kafka.clients import (
    CONFLUENT,
    REQUEST_SECONDS,
    Clients,
    client,
    consumer_settings,
    log,
    record_of,
    unavailable,
)
from stream.kafka.topics import TopicAdmin
from stream.records.record import Partition, Record

_TRANSIENT = frozenset(
    {
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError._UNKNOWN_TOPIC,
    }
)
"""Errors of a partition whose leader is changing, or that was created a moment ago and that the broker asked
does not know yet."""


def ends_of(consumer: Consumer, topic: str, partition: int) -> tuple[int, int]:
    """Return the first offset of a partition and the offset after its last.

    Retries for up to `REQUEST_SECONDS` while the leader changes or the broker does not know the topic yet.

    Raises:
        KafkaException: The broker refuses, or does not reply in time.
    """
    place = TopicPartition(topic, partition)
    deadline = time.monotonic() + REQUEST_SECONDS
    while True:
        try:
            return consumer.get_watermark_offsets(place, timeout=REQUEST_SECONDS)
        except KafkaException as error:
            if error.args[0].code() not in _TRANSIENT or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _stable_end(consumer: Consumer, kafka: Kafka, partition: Partition) -> int:
    """Return the last stable offset of a partition as it is now, which a busy topic leaves behind.

    Raises:
        BrokerUnavailable: No broker says it.
        EngineError: The broker refuses to.
    """
    try:
        return ends_of(consumer, *partition)[1]
    except KafkaException as error:
        told: KafkaError = error.args[0]
        if told.code() in (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN):
            raise unavailable(kafka, error) from error
        raise EngineError(f"{partition} cannot be read: {told.str()}") from error


def read_to_end(
    kafka: Kafka,
    partition: Partition,
    start: int = 0,
    alive: Iterator[None] | None = None,
    group: str | None = None,
    end: int = 0,
    clients: Clients = CONFLUENT,
) -> Generator[Record, None, None]:
    """Yield the committed records of a partition up to its last stable offset at the time of asking.

    The end is where the broker says it is: markers and aborted records occupy offsets, so that the last
    record's offset tells nothing. It is asked for once: where somebody writes all the time, a client never
    reports that it has reached the end.

    The last stable offset is where the first open transaction begins. Whatever follows it may still be
    committed, so a reader that writes next has to give `end`, the high watermark: it waits until every
    transaction before it is decided, which takes the transaction timeout where its producer has died.

    Args:
        kafka: The cluster.
        partition: What to read.
        start: The offset to begin with.
        alive: Advanced now and then, for callers that must show a sign of life.
        group: The group whose rights are used. The reader does not join it.
        end: An offset that must be reached, and what follows is read too; 0: the last stable offset.
        clients: What makes the reader.

    Raises:
        BrokerUnavailable: It could not be read in time.
        EngineError: The broker refused it, or a transaction stays open longer than its timeout.
    """
    settings = consumer_settings(kafka, group or f"{partition.topic}.reader")
    consumer = client(clients.consumer, {**settings, "enable.partition.eof": True})
    timeouts = Timeouts.of(kafka.properties)
    try:
        stop_at = None if end else _stable_end(consumer, kafka, partition)
        # An empty one is read too: who may not read it has to learn so now, and not when it holds something.
        consumer.assign([TopicPartition(partition.topic, partition.number, start)])
        deadline = time.monotonic() + timeouts.read_seconds
        open_at: int | None = None
        while True:
            for message in consumer.consume(500, 0.05):
                error, offset = message.error(), message.offset() or 0
                if error is None:
                    if stop_at is None or offset < stop_at:
                        yield record_of(message)
                    # From here on: however long somebody learned from the record, the broker was not slow.
                    deadline, open_at = time.monotonic() + timeouts.read_seconds, None
                    if stop_at is not None and offset + 1 >= stop_at:
                        return
                elif error.code() == KafkaError._PARTITION_EOF:
                    stable = offset
                    if stable >= (stop_at or end):
                        return
                    deadline, open_at = time.monotonic() + timeouts.open_transaction_seconds, stable
                    log.warning(
                        "%s: a transaction is open at offset %d of %d, waiting for its commit or abort",
                        partition,
                        stable,
                        end,
                    )
                else:
                    raise EngineError(f"{partition} cannot be read: {error.str()}")
            if alive is not None:
                next(alive, None)
            if time.monotonic() <= deadline:
                continue
            if open_at is None:
                raise BrokerUnavailable(f"{partition} could not be read to its end in time")
            raise EngineError(
                f"a transaction has been open at offset {open_at} of {partition} for more than "
                f"{timeouts.open_transaction_seconds:.0f} s, longer than transaction.timeout.ms allows. "
                'Start again; if it stays, find it with "kafka-transactions.sh find-hanging" and abort it'
            )
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
    known = TopicAdmin(kafka).describe(topics)
    consumer = client(Consumer, {**consumer_settings(kafka, "espalier.tail"), "enable.partition.eof": True})
    start = OFFSET_BEGINNING if from_beginning else OFFSET_END
    places = [Partition(name, n) for name, facts in sorted(known.items()) for n in range(facts.partitions)]
    try:
        ends = {place: _stable_end(consumer, kafka, place) for place in places} if until_end else {}
        left = {place for place, end in ends.items() if end and from_beginning}
        consumer.assign([TopicPartition(*place, start) for place in places])
        while left or not until_end:
            messages = consumer.consume(500, 0.1)
            for message in messages:
                place = Partition(message.topic() or "", message.partition() or 0)
                error, offset = message.error(), message.offset() or 0
                if error is not None and error.code() != KafkaError._PARTITION_EOF:
                    raise EngineError(f"{message.topic()} cannot be read: {error.str()}")
                if error is None and (not until_end or offset < ends[place]):
                    yield record_of(message)
                # The end may be a marker of a transaction, which no reader ever sees.
                if until_end and offset + (error is None) >= ends[place]:
                    left.discard(place)
            if not messages:
                yield None
    finally:
        consumer.close()
