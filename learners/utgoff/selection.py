"""Which attribute is best at a node: lowest E-score or highest gain ratio, if it is significant at all."""

from collections.abc import Callable, Mapping
from typing import Literal

from learners.merit import ROUNDING, Table, Tally, e_score, gain_ratios, is_significant, remaining_disorder
from learners.ops import OpCounts
from learners.outline import Evidence
from learners.utgoff.node import Node

SelectionName = Literal["e-score", "gain-ratio"]


class Selection:
    """A way of choosing.

    Args:
        by: The paper's E-score, or Quinlan's gain ratio (section 5.3).
        significance: The level of the chi-square test (sections 3.1 and 6); None: any attribute may be used.
        pearsons: Whether the statistic is Pearson's or G.
        rounding: Whether scores are rounded before they are compared, as in the paper's experiments.
        records_per_value: How many instances for each value present an attribute needs to be significant:
            without such a rule identifiers pass any test. 0: no such rule.
    """

    def __init__(
        self,
        by: SelectionName = "e-score",
        significance: float | None = None,
        *,
        pearsons: bool = True,
        rounding: bool = True,
        records_per_value: int = 0,
    ) -> None:
        self.by = by
        self.significance = significance
        self.pearsons = pearsons
        self.rounding = rounding
        self.records_per_value = records_per_value

    def choose(self, node: Node, ops: OpCounts) -> int | None:
        """Return the best attribute of a node with counts; None where none may be used.

        Ties go to the order of the node's attributes, never to the test that is there already.
        """
        ops.e_scores += len(node.attributes)
        return self.best(self.scores(node), node)

    def best(self, scores: Mapping[int, int | None], node: Node) -> int | None:
        """Return the best of the attributes scored, by the order of the node's attributes."""
        assert node.counts is not None
        return best(scores, self._gate(node.counts, node.classes))

    def scores(self, node: Node) -> dict[int, int | None]:
        """Return a node's scores, the lower the better; None: not to be used."""
        if node.scores is None:
            assert node.counts is not None
            node.scores = self.score(node.counts, node.classes, node.attributes)
        return node.scores

    def score(
        self, tables: Mapping[int, Table], classes: Tally, attributes: tuple[int, ...]
    ) -> dict[int, int | None]:
        """Return the score of each attribute, the lower the better; None: below the mean gain."""
        if self.by == "gain-ratio":
            ratios = gain_ratios({a: tables[a] for a in attributes}, classes)
            return {a: None if ratio is None else -ratio for a, ratio in ratios.items()}
        score: Callable[[Table], int] = e_score if self.rounding else remaining_disorder
        return {a: score(tables[a]) for a in attributes}

    def choose_from(
        self,
        tables: Mapping[int, Table],
        classes: Tally,
        attributes: tuple[int, ...],
        cuts: Mapping[int, int] | None = None,
    ) -> tuple[int | None, dict[int, int | None]]:
        """Return the best of some attributes and all their scores, from bare counts.

        Args:
            tables: The counts of each attribute.
            classes: The counts of the classes.
            attributes: Those to choose from, in the order in which ties are broken.
            cuts: Of each attribute that is a number, how many cuts its table is the best of.
        """
        scores = self.score(tables, classes, attributes)
        return best(scores, self._gate(tables, classes, cuts)), scores

    def _gate(
        self, tables: Mapping[int, Table], classes: Tally, cuts: Mapping[int, int] | None = None
    ) -> Callable[[int], bool] | None:
        level = self.significance
        if level is None:
            return None
        n = sum(classes.values())

        def may_be_used(attribute: int) -> bool:
            table = tables[attribute]
            tests = cuts.get(attribute) if cuts else None
            enough = tests is not None or n >= self.records_per_value * len(table)
            return enough and is_significant(table, classes, level / (tests or 1), pearsons=self.pearsons)

        return may_be_used

    def evidence(
        self,
        scores: Mapping[int, int | None],
        test: int,
        names: list[str],
        tables: Mapping[int, Table],
        classes: Tally,
        cuts: Mapping[int, int] | None = None,
    ) -> Evidence:
        """Return how clearly a test was chosen among those that may be used."""
        usable = self._gate(tables, classes, cuts)
        others = {
            a: score
            for a, score in scores.items()
            if a != test and score is not None and (usable is None or usable(a))
        }
        unit = ROUNDING if self.rounding or self.by == "gain-ratio" else 1
        mine = scores[test] or 0
        sign = -1 if self.by == "gain-ratio" else 1
        if not others:
            return Evidence(sign * mine / unit, None, None)
        runner_up = min(others, key=others.__getitem__)
        return Evidence(sign * mine / unit, names[runner_up], (others[runner_up] - mine) / unit)


def best(scores: Mapping[int, int | None], may_be_used: Callable[[int], bool] | None = None) -> int | None:
    """Return the attribute with the lowest score, the first among equals."""
    chosen: int | None = None
    lowest: int | None = None
    for attribute, score in scores.items():
        better = score is not None and (lowest is None or score < lowest)
        if better and (may_be_used is None or may_be_used(attribute)):
            chosen, lowest = attribute, score
    return chosen
