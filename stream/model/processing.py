"""What an engine knows of a model: records in, records out."""

from typing import Protocol

from stream.records.record import Outputs, Record


class Processor(Protocol):
    """All an engine knows of us."""

    next_offsets: dict[int, int]
    """For each input partition the offset to read next, as far as this model knows."""

    def process(self, records: list[Record]) -> Outputs:
        """Answer and learn from some records; what it returns must be committed in this order."""
        ...

    @property
    def point(self) -> tuple[int, str]:
        """How many entries the journal has, and the digest of the tree that came of them."""
        ...

    @property
    def retained(self) -> int:
        """How many instances the model stands for."""
        ...

    @property
    def can_improve(self) -> bool:
        """Whether spare time could make the tree better."""
        ...

    def improve(self, units: int) -> None:
        """Spend units of work on a better tree; what comes of it is written with the next batch."""
        ...

    def improved(self) -> Outputs | None:
        """Return what has come of spare time and is to be committed; None where none was spent."""
        ...

    def replay(self, entry: bytes) -> int:
        """Take over a message of the journal; return how many instances it held."""
        ...

    def snapshot(self) -> bytes:
        """Return the whole state."""
        ...

    def restore(self, state: bytes) -> None:
        """Take over the state that `snapshot` returned."""
        ...
