"""What the compiled module offers; documented in `messages.pyx`."""

from collections.abc import Callable, Sequence

import numpy as np
from confluent_kafka import Message
from numpy.typing import NDArray

from stream.records.record import Headers, Partition, Record

class Taker:
    def take(self, messages: list[Message]) -> tuple[list[Record], Message | None]: ...

def headers_of(message: Message) -> Headers: ...
def are_plain(records: Sequence[Record], max_bytes: int) -> bool: ...
def places_of(records: list[Record]) -> NDArray[np.int64]: ...
def next_offsets(records: list[Record]) -> dict[Partition, tuple[int, int]]: ...
def first_repeat(records: list[Record]) -> Record | None: ...
def produce_all(
    produce: Callable[..., None],
    topic: str,
    values: Sequence[bytes],
    keys: Sequence[bytes | None],
    partitions: Sequence[int],
    start: int,
) -> int: ...
