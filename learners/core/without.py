"""Answers where the value tested is missing (section 6).

The best attribute whose value is known is used, as if the tree were restructured; the majority at the last
node answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from learners.codes import MISSING_CODE, Codes, Row
from learners.cuts import Cuts
from learners.learner import FLAG_MISSING, FLAG_UNSEEN, Prediction, Step
from learners.merit import majority, remaining_disorder
from learners.texts import number_of
from learners.utgoff.selection import Selection

Tallies = dict[int, dict[int, int]]
Below = list[tuple[Row, int, int]]
"""Instances as the tree keeps them, numbers as their bins: row, class, how often."""


class _Known(NamedTuple):
    """A test whose outcome is known: what it leads to for each value, and the value at hand."""

    table: Tallies
    value: int
    cut: int = 0  # of a number
    tests: int = 1  # of how many it is the best


class Without:
    """Answers descriptions that lack a value.

    Args:
        codes: The names.
        selection: Which test is best.
        cuts: The cuts of each number.
        order: The attributes in the order in which ties are broken.
    """

    def __init__(
        self, codes: Codes, selection: Selection, cuts: Mapping[int, Cuts], order: Sequence[int]
    ) -> None:
        self._codes = codes
        self._selection = selection
        self._cuts = cuts
        self._order = order

    def answer(
        self, below: Below, counts: Sequence[int], row: Row, used: set[int], path: list[Step]
    ) -> Prediction:
        """Answer a row from the instances below the node where its value is missing."""
        classes = {code: n for code, n in enumerate(counts) if n}
        flags = [FLAG_MISSING]
        left = [a for a in self._order if a not in used and a < len(row) and row[a] != MISSING_CODE]
        while left and len(classes) > 1 and below:
            known = self._tests(below, left, row)
            best = self._best(known, classes)
            if best is None:
                break
            test = known[best]
            if test.value not in test.table:
                flags.append(FLAG_UNSEEN)
                break
            path.append(self._step(best, test, known, classes))
            below = [one for one in below if self._value(one[0], best, test.cut) == test.value]
            classes = test.table[test.value]
            if not test.cut:
                left = [a for a in left if a != best]
        names = self._codes.classes
        found = majority(classes, {code: self._codes.class_order(code) for code in classes})
        told = tuple(sorted((names[code], n) for code, n in classes.items()))
        return Prediction(None if found is None else names[found], told, tuple(path), tuple(flags))

    # ---- tests

    def _tests(self, below: Below, left: Iterable[int], row: Row) -> dict[int, _Known]:
        """Return the test of each attribute; of a number, that of its best cut, if any cut divides."""
        tests: dict[int, _Known] = {}
        for attribute in left:
            table: Tallies = {}
            for one, label, times in below:
                tally = table.setdefault(self._bin(one, attribute), {})
                tally[label] = tally.get(label, 0) + times
            if attribute not in self._cuts:
                tests[attribute] = _Known(table, row[attribute])
            elif len(table) > 1:
                here = self._cuts[attribute].bin_of(number_of(row[attribute]))
                tests[attribute] = _best_cut(table, here)
        return tests

    def _bin(self, row: Row, attribute: int) -> int:
        code = row[attribute]
        return self._cuts[attribute].median if not code and attribute in self._cuts else code

    def _value(self, row: Row, attribute: int, cut: int) -> int:
        return int(self._bin(row, attribute) > cut) if cut else row[attribute]

    def _best(self, known: Mapping[int, _Known], classes: Mapping[int, int]) -> int | None:
        if not known:
            return None
        tests = {a: one.tests for a, one in known.items() if one.cut}
        tables = {a: one.table for a, one in known.items()}
        return self._selection.choose_from(tables, classes, tuple(known), tests)[0]

    def _step(self, best: int, test: _Known, known: Mapping[int, _Known], classes: Mapping[int, int]) -> Step:
        tables = {a: one.table for a, one in known.items()}
        tests = {a: one.tests for a, one in known.items() if one.cut}
        scores = self._selection.score(tables, classes, tuple(known))
        names = self._codes.attributes
        evidence = self._selection.evidence(scores, best, names, tables, classes, tests)
        if not test.cut:
            return Step(
                names[best], self._codes.values[best][test.value], evidence.runner_up, evidence.margin
            )
        at_most = self._cuts[best].at[test.cut - 1]
        value = "false" if test.value else "true"
        return Step(names[best], value, evidence.runner_up, evidence.margin, at_most=at_most)


def _best_cut(bins: Tallies, here: int) -> _Known:
    """Return the test that leaves the least disorder, the lowest cut among equals."""
    ordered = sorted(bins)
    best: tuple[int, int, Tallies] | None = None
    for cut in ordered[:-1]:
        table: Tallies = {0: {}, 1: {}}
        for place, tally in bins.items():
            side = table[int(place > cut)]
            for label, n in tally.items():
                side[label] = side.get(label, 0) + n
        score = remaining_disorder(table)
        if best is None or score < best[0]:
            best = score, cut, table
    assert best is not None
    return _Known(best[2], int(here > best[1]), best[1], len(ordered) - 1)
