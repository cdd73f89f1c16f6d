"""What can be wrong with the topics of an agent, and how it is told."""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """What is wrong."""

    MISSING = "missing"
    """An input offset has no disposition: neither a prediction nor a dead letter, nor the journal has it."""
    DOUBLED = "doubled"
    """Something is there twice: a prediction, a dead letter, a tree change, an instance, a journal entry."""
    REORDERED = "reordered"
    """A record stands behind one that came after it."""
    AHEAD = "ahead"
    """A record is about an offset that the journal does not reach."""
    INVENTED = "invented"
    """A record is about an offset at which the input holds nothing."""
    ALTERED = "altered"
    """A dead letter is not what the input holds."""
    UNLEARNED = "unlearned"
    """A prediction has a label, but the journal does not have its instance; or the other way round."""
    CHAIN_GAP = "chain_gap"
    """Tree changes are missing: `seq` has a gap."""
    CHAIN_FORK = "chain_fork"
    """Two different tree changes have the same `seq`."""
    CHAIN_BROKEN = "chain_broken"
    """A tree change does not follow on the digest before it."""
    WRONG_DIGEST = "wrong_digest"
    """A prediction or a journal entry names another digest than the chain has for that version."""
    TORN = "torn"
    """A record does not fit the transaction of its offset: it names versions of the tree from outside it."""
    JOURNAL_GAP = "journal_gap"
    """Journal entries are missing: their numbers have a gap."""
    JOURNAL_FORK = "journal_fork"
    """Two different journal entries have the same number."""
    UNREADABLE = "unreadable"
    """A record is not of the form that it should have."""
    WRONG_TREE = "wrong_tree"
    """Recomputing leads to another tree than was written."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong, and where.

    Attributes:
        kind: What.
        topic: The topic that it is about.
        partition: The partition of it.
        first: The first offset that is meant; for tree changes and journal entries their number.
        last: The last one.
        message: For people.
    """

    kind: Kind
    topic: str
    partition: int
    first: int
    last: int
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.topic}/{self.partition}: {self.message}"


class Findings:
    """All that is wrong. Of each kind so many are kept as anybody will read, and the rest is counted.

    Args:
        most: How many of a kind are kept.
    """

    def __init__(self, most: int = 1_000) -> None:
        self.counts: Counter[Kind] = Counter()
        self._kept: list[Finding] = []
        self._most = most

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._kept)

    def add(
        self, kind: Kind, place: tuple[str, int], number: int, message: str, last: int | None = None
    ) -> None:
        """Note something, at one number or at several that follow each other."""
        end = number if last is None else last
        before = self.counts[kind]
        self.counts[kind] += end - number + 1
        if before < self._most:
            self._kept.append(Finding(kind, *place, number, end, message))

    def add_each(self, kind: Kind, place: tuple[str, int], numbers: Iterable[int], message: str) -> None:
        """Note something at several offsets; those that follow each other become one finding."""
        for first, last in _runs(numbers):
            where = f"offset {first}" if first == last else f"offsets {first} to {last} ({last - first + 1})"
            self.add(kind, place, first, f"{where} {message}", last)


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each row of numbers that follow each other.

    >>> list(_runs([1, 2, 3, 7]))
    [(1, 3), (7, 7)]
    """
    first = last = None
    for number in numbers:
        if first is not None and last is not None and number != last + 1:
            yield first, last
            first = number
        elif first is None:
            first = number
        last = number
    if first is not None and last is not None:
        yield first, last
