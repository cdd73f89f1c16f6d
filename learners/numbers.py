"""Where a number is cut, and into which bin it falls: the rule, for every learner that compares numbers.

Numbers are divided into bins of about the same size; a test asks whether a number is at most the cut above
some bin. Equal numbers are never divided. Few different numbers have a bin each; of many, a bin is closed as
soon as it has its share of those that are left, so that a number which is there very often takes a bin and
leaves the rest to be divided as well as before. A cut lies in the middle between two numbers. Infinities have
bins of their own at the ends.

The compiled core has the same rule in C (`learners/id5r/cuts.c`); they are tested to be the same.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

YOUNG = 1_024
"""Up to so many instances, cuts are made again whenever half of them are new: the last time from so many."""
YOUNG_SHARE = 2
SHARE = 2
"""With more, they are looked at when half of them are."""
OVERFULL = 4
"""A bin with more than so many times its share calls for new cuts."""
LARGEST = 1.7976931348623157e308


class Cuts(NamedTuple):
    """The cuts of one attribute.

    Attributes:
        at: The cuts, ascending.
        median: The bin with the median of all numbers they were made from; where a number is missing, it is
            taken to be there, which at the root of a tree is the larger branch of every test.
    """

    at: tuple[float, ...] = ()
    median: int = 1

    def bin_of(self, number: float | None) -> int:
        """Return the bin of a number; the first is 1. A missing one has that of the median."""
        return self.median if number is None else bisect_left(self.at, number) + 1


def make_cuts(numbers: Sequence[float], bins: int) -> Cuts:
    """Return cuts that divide some numbers.

    >>> make_cuts([1, 1, 1, 2, 3, 4, 5, 6], 3)
    Cuts(at=(1.5, 4.5), median=2)
    >>> make_cuts([7, 7], 3)
    Cuts(at=(), median=1)
    """
    ordered = sorted(numbers)
    if not ordered:
        return Cuts()
    at = tuple(_between(ordered[end - 1], ordered[end]) for end in _ends(ordered, bins))
    return Cuts(at, Cuts(at).bin_of(ordered[(len(ordered) - 1) // 2]))


def with_median(at: Sequence[float], numbers: Sequence[float]) -> Cuts:
    """Return cuts that are declared, with the bin of the median of some numbers."""
    ordered = sorted(numbers)
    found = Cuts(tuple(at))
    return Cuts(found.at, found.bin_of(ordered[(len(ordered) - 1) // 2])) if ordered else found


def is_overfull(cuts: Cuts, numbers: Sequence[float]) -> bool:
    """Return whether a bin holds far more than its share, and of different numbers."""
    held: dict[int, list[float]] = {}
    for number in numbers:
        held.setdefault(cuts.bin_of(number), []).append(number)
    share = len(numbers) / (len(cuts.at) + 1)
    return any(len(here) > OVERFULL * share and min(here) < max(here) for here in held.values())


def _ends(ordered: Sequence[float], bins: int) -> list[int]:
    """Return the places at which a new bin begins."""
    count = len(ordered)
    changes = [i for i in range(1, count) if ordered[i] != ordered[i - 1]]
    if len(changes) < bins:
        return changes
    ends: list[int] = []
    done = 0
    while len(ends) < bins - 1:
        left = bins - len(ends)
        end = done + -(-(count - done) // left)
        while end < count and ordered[end] == ordered[end - 1]:
            end += 1
        if end >= count:
            break
        ends.append(end)
        done = end
    return ends


def _between(low: float, high: float) -> float:
    """Return the number between two, which the first is at most and the second is not."""
    if low < -LARGEST:
        return -LARGEST
    if high > LARGEST:
        return float(low)
    middle = low / 2 + high / 2
    return middle if low <= middle < high else float(low)
