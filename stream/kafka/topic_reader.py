"""Reading whole topics as they are at a moment: for audits, which must not miss what is about to appear."""

import time
from collections.abc import Iterator
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from stream.config import Kafka, Timeouts
from stream.errors import EngineError
from stream.kafka.clients import consumer_settings, record_of, unavailable
from stream.kafka.reading import ends_of
from stream.kafka.topics import TopicAdmin
from stream.records.record import Partition, Record


class Extent(NamedTuple):
    """Where a partition begins and ends; undecided transactions count."""

    begin: int
    end: int


class TopicReader:
    """Reads topics from their beginning to where they end when it is asked.

    What belongs to a transaction that is still open then is waited for: a reader who stops in front of it
    would see half of what another topic shows whole.
    """

    def __init__(self, kafka: Kafka) -> None:
        self._kafka = kafka
        self._patience_seconds = Timeouts.of(kafka.properties).open_transaction_seconds

    def extents(self, topic: str) -> dict[int, Extent]:
        """Return where the partitions of a topic begin and end.

        Raises:
            EngineError: There is no such topic.
        """
        facts = TopicAdmin(self._kafka).describe([topic])
        if topic not in facts:
            raise EngineError(f'there is no topic "{topic}". Make it with "espalier topics create"')
        settings = consumer_settings(self._kafka, "espalier.reader")
        consumer = Consumer({**settings, "isolation.level": "read_uncommitted"})
        try:
            return {
                number: Extent(*ends_of(consumer, topic, number)) for number in range(facts[topic].partitions)
            }
        except KafkaException as error:
            raise unavailable(self._kafka, error) from error
        finally:
            consumer.close()

    def read(self, topic: str, extents: dict[int, Extent]) -> Iterator[Record]:
        """Yield the committed records between the given offsets of a topic's partitions, in their order.

        Raises:
            EngineError: A partition cannot be read.
        """
        left = {number: extent.end for number, extent in extents.items() if extent.end > extent.begin}
        settings = consumer_settings(self._kafka, "espalier.reader")
        consumer = Consumer({**settings, "enable.partition.eof": True, "queued.min.messages": 10_000})
        try:
            consumer.assign([TopicPartition(topic, number, extents[number].begin) for number in left])
            deadline = time.monotonic() + self._patience_seconds
            while left:
                for message in consumer.consume(1_000, 0.2):
                    error, number, offset = message.error(), message.partition() or 0, message.offset() or 0
                    if error is not None and error.code() != KafkaError._PARTITION_EOF:
                        raise EngineError(f"{Partition(topic, number)} cannot be read: {error.str()}")
                    if error is None:
                        if number in left and offset < left[number]:
                            yield record_of(message)
                        # From here on: what is done with a record may take its time.
                        deadline = time.monotonic() + self._patience_seconds
                    # The end may be a marker of a transaction, which no reader ever sees.
                    if number in left and offset + (error is None) >= left[number]:
                        del left[number]
                if time.monotonic() > deadline:
                    raise EngineError(
                        f"{topic} has no end to read to: a transaction has been open for "
                        f"{self._patience_seconds:.0f} s. "
                        "A worker may hang; try again when it has ended"
                    )
        finally:
            consumer.close()
