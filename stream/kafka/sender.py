"""A plain producer for commands: what it sends is counted when the broker has it."""

from confluent_kafka import (
    KafkaError,
    Message,
    Producer,
)

from stream.config import Kafka, Timeouts
from stream.config.timeouts import LINGER_MS
from stream.errors import EngineError
from stream.kafka.clients import base_settings, client, send
from stream.records.record import Headers, Output


class Sender:
    """A plain producer for people's own instances: idempotent, not transactional."""

    def __init__(self, kafka: Kafka) -> None:
        self._failed: list[str] = []
        self._timeouts = Timeouts.of(kafka.properties)
        settings = {
            "linger.ms": LINGER_MS,
            **base_settings(kafka),
            "enable.idempotence": True,
            "message.timeout.ms": self._timeouts.sender_ms,
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
        left = self._producer.flush(self._timeouts.sender_ms / 1_000)
        if self._failed or left:
            first = self._failed[0] if self._failed else "no broker took them in time"
            raise EngineError(f"{len(self._failed) + left} records were not delivered: {first}")
