"""The instances a learner stands for, in the order they came: for windows and for forgetting."""

from collections import deque
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from learners.vocabulary import MISSING_CODE, Row


class Kept(NamedTuple):
    """An instance as it came and as it is in the tree, where a missing value may have been filled in."""

    given: Row
    stored: Row
    label: int


class Retention:
    """Instances in order of arrival, findable by what they say; of identical ones the oldest goes first."""

    def __init__(self) -> None:
        self._kept: dict[int, Kept] = {}
        self._places: dict[tuple[Row, int], deque[int]] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Kept]:
        return iter(self._kept.values())

    def add(self, given: Row, stored: Row, label: int) -> None:
        """Keep an instance as the newest."""
        self._kept[self._next] = Kept(given, stored, label)
        self._places.setdefault((given, label), deque()).append(self._next)
        self._next += 1

    def take(self, given: Row, label: int) -> Kept | None:
        """Let the oldest such instance go and return it; None where there is none."""
        places = self._places.get((given, label))
        if places is None:
            return None
        place = places.popleft()
        if not places:
            del self._places[given, label]
        return self._kept.pop(place)

    def oldest(self) -> Kept:
        """Return the instance that has been kept longest."""
        return next(iter(self._kept.values()))

    def count(self, given: Row, label: int) -> int:
        """Return how many such instances are kept."""
        return len(self._places.get((given, label), ()))

    def widen(self, width: int) -> None:
        """Make room for attributes that appear for the first time: no instance so far has them."""

        def padded(row: Row) -> Row:
            return row + (MISSING_CODE,) * (width - len(row))

        self._replace(padded)

    def blank(self, attributes: Collection[int]) -> None:
        """Let no instance have a value of some attributes."""

        def blanked(row: Row) -> Row:
            return tuple(MISSING_CODE if place in attributes else value for place, value in enumerate(row))

        self._replace(blanked)

    def _replace(self, new: Callable[[Row], Row]) -> None:
        kept = [Kept(new(k.given), new(k.stored), k.label) for k in self]
        self._kept, self._places = {}, {}
        for one in kept:
            self.add(*one)
