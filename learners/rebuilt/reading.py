"""How a batch tree is read in the stream: its answers, each made once for a leaf, and the tree as data."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import msgspec
import numpy as np

from learners.learner import FLAG_MISSING, FLAG_UNSEEN, Prediction, Step
from learners.outline import AttributeTest, Counts, Leaf, Outline, Split
from learners.rebuilt.table import Floats
from learners.rebuilt.trees import BatchTree

YES, NO = "true", "false"
"""The branches of a numeric test: at most the threshold, or above it."""
UNSEEN = np.inf
"""What stands in a row for a nominal value that nothing has been learned about."""


class Reading:
    """A tree and the names of what it is about.

    Args:
        tree: The tree.
        attributes: The attributes' names.
        values: Returns the text of a nominal attribute's value.
        classes: The names of the tree's classes, in the order in which ties go.
    """

    def __init__(
        self,
        tree: BatchTree,
        attributes: Sequence[str],
        values: Callable[[int, int], str],
        classes: Sequence[str],
    ) -> None:
        self.tree = tree
        self._attributes = attributes
        self._values = values
        self._classes = classes
        self._answers: dict[int, Prediction] = {}
        self.outline = self._outline()

    def answers(self, x: Floats) -> list[Prediction]:
        """Return the answer to each row."""
        stops = self.tree.stops(x).tolist()
        known = self._answers
        found: list[Prediction] = []
        for place, stop in enumerate(stops):
            answer = known.get(stop) if stop >= 0 else self._stuck(-1 - stop, x[place])
            if answer is None:
                answer = known[stop] = Prediction(*self._told(stop), self._path(stop))
            found.append(answer)
        if self.tree.filling is not None:
            self._flag_missing(x, stops, found)
        return found

    def _flag_missing(self, x: Floats, stops: list[int], found: list[Prediction]) -> None:
        """Say where a value on the path was filled in."""
        for place in np.flatnonzero(np.isnan(x).any(axis=1)).tolist():
            node = stops[place] if stops[place] >= 0 else -1 - stops[place]
            tested = [int(self.tree.attribute[above]) for above in self._above(node)]
            if np.isnan(x[place, tested]).any() and FLAG_MISSING not in found[place].flags:
                old = found[place]
                found[place] = Prediction(old.answer, old.counts, old.path, (FLAG_MISSING, *old.flags))

    def _stuck(self, node: int, row: Floats) -> Prediction:
        """Answer at a node from which there is no way on."""
        attribute = int(self.tree.attribute[node])
        if self.tree.filling is None and np.isnan(row[attribute]):
            # C4.5 goes all ways, as many records at a time as went each.
            shares = self.tree.distributions(row[None, :])[0]
            counts = np.rint(shares * self.tree.totals[node])
            best = int(np.round(shares, 12).argmax())
            counts[best] = max(counts[best], 1)
            return Prediction(self._classes[best], self._counts(counts), self._path(node), (FLAG_MISSING,))
        answer, told = self._told(node)
        return Prediction(answer, told, self._path(node), (FLAG_UNSEEN,))

    def _told(self, node: int) -> tuple[str, Counts]:
        counts = self.tree.counts[node]
        return self._classes[int(np.round(counts, 9).argmax())], self._counts(counts)

    def _counts(self, counts: Floats) -> Counts:
        """Return counts in whole numbers: what is there at all is told as at least one."""
        whole = np.where(counts > 1e-9, np.maximum(np.rint(counts), 1), 0).astype(int).tolist()
        return tuple(sorted((name, n) for name, n in zip(self._classes, whole, strict=True) if n))

    def _above(self, node: int) -> list[int]:
        """Return the nodes on the path, the root first, without the last."""
        path: list[int] = []
        while node:
            node = int(self.tree.parents[node])
            path.append(node)
        return path[::-1]

    def _path(self, node: int) -> tuple[Step, ...]:
        path = [*self._above(node), node]
        return tuple(self._step(above, below) for above, below in pairwise(path))

    def _step(self, node: int, child: int) -> Step:
        attribute = int(self.tree.attribute[node])
        at_most = float(self.tree.threshold[node]) if self.tree.numeric[attribute] else msgspec.UNSET
        return Step(self._attributes[attribute], self._branch(node, child), at_most=at_most)

    def _branch(self, node: int, child: int) -> str:
        attribute, branch = int(self.tree.attribute[node]), child - int(self.tree.first[node])
        if self.tree.numeric[attribute]:
            return NO if branch else YES
        return self._values(attribute, branch)

    # ---- the tree as data

    def _outline(self) -> Outline:
        tree = self.tree
        made: list[Outline | None] = [None] * tree.nodes
        for node in range(tree.nodes - 1, -1, -1):
            if tree.totals[node] <= 1e-9 and node:
                continue
            answer, counts = self._told(node)
            if tree.attribute[node] < 0:
                made[node] = Leaf(answer, counts)
                continue
            children = range(int(tree.first[node]), int(tree.first[node]) + int(tree.branches[node]))
            branches = [
                (self._branch(node, child), below) for child in children if (below := made[child]) is not None
            ]
            attribute = int(tree.attribute[node])
            at_most = float(tree.threshold[node]) if tree.numeric[attribute] else None
            test = AttributeTest(self._attributes[attribute], at_most)
            made[node] = Split(test, counts, tuple(sorted(branches)))
        outline = made[0]
        assert outline is not None
        return outline
