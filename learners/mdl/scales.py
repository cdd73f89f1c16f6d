"""The numbers of the records retained, and where they are cut: by the rule of `learners.numbers`."""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator

from learners.canonical import number_code, number_of
from learners.numbers import SHARE, YOUNG, YOUNG_SHARE, Cuts, is_overfull, make_cuts, with_median
from learners.schema import MOST_CUTS, Schema
from learners.snapshot import SnapshotError
from learners.vocabulary import MISSING_CODE


class Scales:
    """The attributes that are numbers.

    Args:
        schema: Where cuts may be declared.
        bins: How many bins the numbers of an attribute are divided into.

    Attributes:
        numeric: The attributes, in the order they were met.
        cuts: For each the codes of its cuts.
        medians: For each the bin of the median, which a missing number has.
        kept: The codes of the numbers of every record retained, the oldest first.
        age: How many records came since the cuts were made, and whether any left.
    """

    def __init__(self, schema: Schema, bins: int) -> None:
        self._schema = schema
        self._bins = bins
        self.numeric: list[int] = []
        self.cuts: dict[int, list[int]] = {}
        self.medians: dict[int, int] = {}
        self.kept: deque[tuple[int, ...]] = deque()
        self.age: tuple[int, bool] = (0, False)

    def _declared(self, attribute: int) -> tuple[float, ...]:
        known = self._schema.attributes
        return known[attribute].cuts if attribute < len(known) else ()

    def welcome(self, attribute: int) -> None:
        """Take an attribute up that has turned out to be a number."""
        self.numeric.append(attribute)
        self.cuts[attribute] = list(map(number_code, self._declared(attribute)))
        self.medians[attribute] = 1

    def room(self, attribute: int) -> int:
        """Return how many bins an attribute can have; there is no bin 0."""
        return max(self._bins, len(self.cuts[attribute]) + 1) + 1

    # ---- records

    def keep(self, row: list[int]) -> None:
        """Keep the numbers of a record."""
        self.kept.append(tuple([row[a] if a < len(row) else 0 for a in self.numeric]) if self.numeric else ())

    def retire(self, attribute: int) -> None:
        """Let no record have a number of an attribute; it has no cuts then."""
        at = self.numeric.index(attribute)
        self.kept = deque((*one[:at], 0, *one[at + 1 :]) if at < len(one) else one for one in self.kept)
        self.cuts[attribute], self.medians[attribute] = [], 1

    def drop_oldest(self) -> None:
        """Let the numbers of the oldest record go."""
        self.kept.popleft()
        self.age = (self.age[0], True)

    def binned(self, row: list[int], width: int) -> list[int]:
        """Return a row with bins for its numbers."""
        row = row + [MISSING_CODE] * (width - len(row))
        for a, cuts in self.cuts.items():
            if a < len(row):
                row[a] = bisect_left(cuts, row[a]) + 1 if row[a] > 0 else self.medians[a]
        return row

    def lacking(self, row: list[int]) -> list[int]:
        """Return the attributes that have no number in a row."""
        return [a for a in self.numeric if a >= len(row) or not row[a]]

    def all_bins(self) -> Iterator[tuple[int, int, int]]:
        """Yield for each record's place and each attribute the bin."""
        for at, a in enumerate(self.numeric):
            cuts, median = self.cuts[a], self.medians[a]
            for place, one in enumerate(self.kept):
                code = one[at] if at < len(one) else 0
                yield place, a, bisect_left(cuts, code) + 1 if code else median

    # ---- cuts

    def are_new(self) -> bool:
        """Count a record; make the cuts again if it is time to, and return whether they are others now."""
        since, aged = self.age
        since, retained = since + 1, len(self.kept)
        self.age = (since, aged)
        young = retained <= YOUNG
        if since * (YOUNG_SHARE if young else SHARE) < retained or not retained:
            return False
        self.age = (0, False)
        others = False
        for at, a in enumerate(self.numeric):
            numbers = [number_of(one[at]) for one in self.kept if at < len(one) and one[at]]
            known = Cuts(tuple(map(number_of, self.cuts[a])))
            if not (young or aged or is_overfull(known, numbers)):
                continue
            declared = self._declared(a)
            made = with_median(declared, numbers) if declared else make_cuts(numbers, self._bins)
            cuts = list(map(number_code, made.at))
            others |= cuts != self.cuts[a] or made.median != self.medians[a]
            self.cuts[a], self.medians[a] = cuts, made.median
        return others

    # ---- snapshots

    def dump(self) -> list[tuple[list[int], int]]:
        """Return the cuts and the median of each attribute."""
        return [(self.cuts[a], self.medians[a]) for a in self.numeric]

    def load(self, numeric: list[int], dumped: Iterable[tuple[list[int], int]]) -> None:
        """Have the cuts that were dumped.

        Raises:
            SnapshotError: They are not cuts of these attributes.
        """
        if sorted(self.numeric) != sorted(numeric):
            raise SnapshotError("the snapshot has numbers where there are none")
        self.numeric = numeric
        for a, (cuts, median) in zip(numeric, dumped, strict=True):
            if len(cuts) > MOST_CUTS or not 1 <= median <= len(cuts) + 1:
                raise SnapshotError("the snapshot has cuts that are none")
            self.cuts[a], self.medians[a] = cuts, median
