"""What comes from a broker and what goes to one: bytes and positions, nothing else."""

from typing import NamedTuple

Headers = tuple[tuple[str, bytes | None], ...]


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
