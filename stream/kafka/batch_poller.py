"""What a consumer hands over: batches that are neither too many records nor too many bytes, and errors."""

from collections.abc import Container

from confluent_kafka import Consumer, KafkaError, KafkaException, Message

from stream.config import Batch
from stream.errors import StateError
from stream.kafka.client_errors import classify
from stream.native.messages import Taker
from stream.records.record import Record

IDLE_SECONDS = 0.1
"""How long a first record is waited for."""


class BatchPoller:
    """Takes records from a consumer, so many and so large at a time."""

    def __init__(self) -> None:
        self.waiting: list[Message] = []
        self._taker = Taker()

    def take(self, consumer: Consumer, batch: Batch, seconds: float = IDLE_SECONDS) -> list[Record]:
        """Wait for one record, then take what else is there: a lone one is not kept waiting for company."""
        messages = self.waiting or consumer.consume(1, seconds)
        if messages and len(messages) < batch.max_batch:
            messages = messages + consumer.consume(batch.max_batch - len(messages), batch.linger_ms / 1_000)
        messages, self.waiting = cut(messages, batch)
        records, wrong = self._taker.take(messages)
        if wrong is not None:
            if not records:
                raise error_of(wrong)
            # What came before it is in order; it is looked at when it comes first.
            self.waiting = messages[len(records) :] + self.waiting
        return records

    def forget(self, numbers: Container[int]) -> None:
        """Drop what was read from partitions that have gone."""
        self.waiting = [message for message in self.waiting if message.partition() not in numbers]


def cut(messages: list[Message], batch: Batch) -> tuple[list[Message], list[Message]]:
    """Return as many messages as make a batch, and the rest."""
    messages, late = messages[: batch.max_batch], messages[batch.max_batch :]
    total = 0
    for index, message in enumerate(messages):
        total += len(message)
        if total > batch.max_batch_bytes and index:
            return messages[:index], messages[index:] + late
    return messages, late


def error_of(message: Message) -> Exception:
    """Return what a message that is an error means."""
    error = message.error()
    assert error is not None
    where = f"{message.topic()}/{message.partition()}"
    if error.code() == KafkaError._AUTO_OFFSET_RESET:
        return StateError(
            f"{where} no longer holds the records that come next: {error.str()}. They were deleted before "
            "they were learned; give the agent another name to begin again with what is left"
        )
    if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
        return StateError(gone(where))
    return classify(KafkaException(error))


def gone(where: str) -> str:
    """Say that something has gone that was there before."""
    return f'{where} does not exist any more. Make it again with "espalier topics create"'
