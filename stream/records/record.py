"""What comes from a broker and what goes to one: bytes and positions, nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

Headers = tuple[tuple[str, bytes | None], ...]

UNREADABLE: Headers = (("(the name of a header is not UTF-8)", None),)
"""In the place of headers that the client cannot read. Compare by identity: any record may spell the same."""


class Partition(NamedTuple):
    """One partition of a topic."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.number}"


class Record(NamedTuple):
    """A record as it was consumed."""

    partition: Partition
    offset: int
    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp_ms: int = -1


class Output(NamedTuple):
    """A record to be produced. The partition is that of the input where order matters; None: by key."""

    topic: str
    value: bytes | None
    key: bytes | None = None
    partition: int | None = None
    headers: Headers = ()


@dataclass(slots=True)
class OutputColumn:
    """Records for one topic, without headers, kept as columns: an object for each would cost too much."""

    topic: str
    values: list[bytes] = field(default_factory=list)
    keys: list[bytes | None] = field(default_factory=list)
    partitions: list[int] = field(default_factory=list)

    def __iter__(self) -> Iterator[Output]:
        return map(Output, [self.topic] * len(self.values), self.values, self.keys, self.partitions)


@dataclass(slots=True)
class Outputs:
    """Everything a batch came to. The order holds within a topic; among topics it means nothing."""

    answers: OutputColumn
    others: list[Output] = field(default_factory=list)

    def __iter__(self) -> Iterator[Output]:
        yield from self.answers
        yield from self.others
