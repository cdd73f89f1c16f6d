"""Offsets of a consumer: what its group has committed, where a partition begins, and going to a place."""

import time
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaException, TopicPartition

from stream.config import Timeouts
from stream.kafka.client_errors import classify
from stream.kafka.clients import REQUEST_SECONDS
from stream.kafka.reading import ends_of
from stream.records.record import Partition


def stable_offsets(
    consumer: Consumer, partitions: Sequence[TopicPartition], timeouts: Timeouts
) -> dict[int, int]:
    """Return what the group has committed, of the partitions that have any; wait for open transactions."""
    try:
        committed = consumer.committed(list(partitions), timeout=timeouts.open_transaction_seconds)
    except KafkaException as error:
        raise classify(error) from error
    return {place.partition: place.offset for place in committed if place.offset >= 0}


def beginning(consumer: Consumer, topic: str, number: int) -> int:
    """Return the first offset that a partition still holds."""
    try:
        return ends_of(consumer, topic, number)[0]
    except KafkaException as error:
        raise classify(error) from error


def lag_of(consumer: Consumer, partition: Partition, next_offset: int) -> int:
    """Return how many offsets a partition is ahead, as far as the client knows."""
    marks = consumer.get_watermark_offsets(TopicPartition(*partition), cached=True)
    return max(0, marks[1] - next_offset) if marks else 0


def seek(consumer: Consumer, place: TopicPartition) -> None:
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
