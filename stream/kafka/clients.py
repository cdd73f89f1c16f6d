"""Talking to a broker: clients set up as our promises need, topics, and reading a topic to its end."""

import logging
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from confluent_kafka import Consumer, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient

from stream.config import Kafka, Timeouts
from stream.config.timeouts import LINGER_MS
from stream.config.timeouts import REQUEST_SECONDS as REQUEST_SECONDS
from stream.errors import BrokerUnavailable, ConfigError, Problem
from stream.native.messages import headers_of
from stream.records.record import Output, Partition, Record

log = logging.getLogger(__name__)

ClientSettings = dict[str, str | int | float | bool]

MAX_MESSAGE_BYTES = 32 << 20
"""The largest message we write; `espalier topics create` makes topics that take it."""


def base_settings(kafka: Kafka) -> ClientSettings:
    """Return the settings of every client: the address and what the user wants, and quiet logs."""
    return {"bootstrap.servers": kafka.bootstrap_servers, "log_level": 3, **kafka.properties}


def consumer_settings(kafka: Kafka, group: str) -> ClientSettings:
    """Return the settings of a consumer whose offsets go into transactions."""
    return {
        **_group_timeouts(kafka),
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


def _group_timeouts(kafka: Kafka) -> ClientSettings:
    """Return the timeouts of a group's member, which a consumer without a group must agree on as well."""
    timeouts = Timeouts.of(kafka.properties)
    settings: ClientSettings = {"max.poll.interval.ms": timeouts.max_poll_ms}
    if kafka.properties.get("group.protocol") != "consumer":
        # With KIP-848 the broker decides these, and the client refuses them.
        settings["session.timeout.ms"] = timeouts.session_ms
        settings["heartbeat.interval.ms"] = timeouts.heartbeat_ms
    return settings


def producer_settings(kafka: Kafka, transactional_id: str) -> ClientSettings:
    """Return the settings of a transactional producer."""
    timeouts = Timeouts.of(kafka.properties)
    return {
        "linger.ms": LINGER_MS,
        "compression.type": "lz4",
        "queue.buffering.max.kbytes": 131_072,
        "message.max.bytes": MAX_MESSAGE_BYTES,
        # After a commit the coordinator refuses the next transaction until its markers are written. The
        # client's default of 100 ms between tries would make every small transaction that slow.
        "retry.backoff.ms": 1,
        "retry.backoff.max.ms": 1_000,
        "transaction.timeout.ms": timeouts.transaction_ms,
        "message.timeout.ms": timeouts.message_ms,
        **base_settings(kafka),
        "transactional.id": transactional_id,
        "enable.idempotence": True,
        "acks": "all",
        # A commit fails if any message did; reports of success would cost a call for each message.
        "delivery.report.only.error": True,
    }


class Clients(NamedTuple):
    """What makes the clients of an engine: the only way in which it reaches a cluster."""

    consumer: Callable[..., Consumer] = Consumer
    producer: Callable[..., Producer] = Producer
    admin: Callable[..., AdminClient] = AdminClient


CONFLUENT = Clients()
"""The clients of confluent-kafka."""

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
    return Record(
        Partition(message.topic() or "", message.partition() or 0),
        message.offset() or 0,
        message.value(),
        message.key(),
        headers_of(message),
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


def unavailable(kafka: Kafka, error: KafkaException) -> BrokerUnavailable:
    """Return the error of a broker that does not answer."""
    return BrokerUnavailable(
        f'no broker answers at "{kafka.bootstrap_servers}": {error.args[0].str()}. '
        'Start one ("espalier broker start") or correct bootstrap_servers in [kafka]'
    )
