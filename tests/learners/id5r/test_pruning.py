"""Error-based pruning beside a second, slow implementation: collapsing, pruning, and raising of subtrees."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from learners.rebuilt._batch import added_errors
from learners.rebuilt.table import Floats, Table
from learners.rebuilt.trees import UNPRUNED, BatchC45, BatchNaiveTree, BatchTree, Pruning

CLASSES = 3
ROWS = 120


@dataclass
class Slow:
    """A subtree that is pruned record by record; a leaf if it has no branches."""

    attribute: int = -1
    threshold: float = 0.0
    is_number: bool = False
    branches: list["Slow"] = field(default_factory=list)

    def parts(self, x: Floats, inside: list[int]) -> list[list[int]]:
        parts: list[list[int]] = [[] for _ in self.branches]
        for i in inside:
            value = x[i, self.attribute]
            parts[int(value > self.threshold) if self.is_number else int(value)].append(i)
        return parts


def unpruned(tree: BatchTree, node: int = 0) -> Slow:
    attribute, first = int(tree.attribute[node]), int(tree.first[node])
    if attribute < 0:
        return Slow()
    below = [unpruned(tree, first + b) for b in range(tree.branches[node])]
    return Slow(attribute, float(tree.threshold[node]), bool(tree.numeric[attribute]), below)


class SlowPruning:
    """Quinlan's pruning, as Weka does it, in its own words."""

    def __init__(self, x: Floats, labels: list[int], pruning: Pruning) -> None:
        self.x, self.labels, self.pruning = x, labels, pruning
        self.raised = 0

    def counts(self, inside: list[int]) -> list[int]:
        return [sum(self.labels[i] == c for i in inside) for c in range(CLASSES)]

    def wrong(self, inside: list[int]) -> int:
        return len(inside) - max(self.counts(inside))

    def as_leaf(self, inside: list[int]) -> float:
        wrong = self.wrong(inside)
        return wrong + added_errors(len(inside), wrong, self.pruning.confidence, self.pruning.z)

    def collapse(self, node: Slow, inside: list[int]) -> int:
        if not node.branches:
            return self.wrong(inside)
        parts = node.parts(self.x, inside)
        below = sum(self.collapse(*pair) for pair in zip(node.branches, parts, strict=True))
        if below < self.wrong(inside):
            return below
        node.branches = []
        return self.wrong(inside)

    def expected(self, node: Slow, inside: list[int]) -> float:
        if not node.branches or not inside:
            return self.as_leaf(inside)
        parts = node.parts(self.x, inside)
        return sum(self.expected(*pair) for pair in zip(node.branches, parts, strict=True))

    def prune(self, node: Slow, inside: list[int]) -> float:
        while node.branches:
            parts = node.parts(self.x, inside)
            below = sum(self.prune(*pair) for pair in zip(node.branches, parts, strict=True))
            sizes = [len(part) for part in parts]
            largest = node.branches[sizes.index(max(sizes))]
            raised = self.expected(largest, inside) if self.pruning.raising else float("inf")
            if self.as_leaf(inside) <= min(below, raised) + 0.1:
                node.branches = []
            elif raised > below + 0.1:
                return below
            else:
                self.raised += 1
                node.attribute, node.threshold = largest.attribute, largest.threshold
                node.is_number, node.branches = largest.is_number, largest.branches
        return self.as_leaf(inside)

    def told(self, node: Slow, inside: list[int]) -> object:
        if not node.branches:
            return self.counts(inside)
        parts = node.parts(self.x, inside)
        below = [self.told(*pair) for pair in zip(node.branches, parts, strict=True)]
        return [node.attribute, node.threshold if node.is_number else None, below]


def told(tree: BatchTree, node: int = 0) -> object:
    attribute, first = int(tree.attribute[node]), int(tree.first[node])
    if attribute < 0:
        return [round(n) for n in tree.counts[node].tolist()]
    below = [told(tree, first + b) for b in range(tree.branches[node])]
    return [attribute, float(tree.threshold[node]) if tree.numeric[attribute] else None, below]


def noisy(seed: int) -> tuple[Floats, list[int], list[int]]:
    """Return rows, labels and kinds: a concept of three of six attributes, two of them numbers; noise."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, (ROWS, 6)).astype(float)
    x[:, 4:] = np.round(rng.normal(size=(ROWS, 2)), 1)
    truth = (x[:, 0] + (x[:, 4] > 0) + (x[:, 1] == 2)) % CLASSES
    labels = np.where(rng.random(ROWS) < 0.3, rng.integers(0, CLASSES, ROWS), truth).astype(int)
    return x, labels.tolist(), [3, 3, 3, 3, 0, 0]


@pytest.mark.parametrize("raising", [True, False])
@pytest.mark.parametrize("confidence", [0.05, 0.25, 0.5])
@pytest.mark.parametrize("name", ["nt", "c45"])
def test_a_tree_is_pruned_as_the_books_say(name: str, confidence: float, raising: bool) -> None:
    raised = 0
    for seed in range(25):
        x, labels, arity = noisy(seed)
        table = Table.of(x, labels, CLASSES, arity)
        pruning = Pruning(confidence, raising=raising)
        grower = BatchNaiveTree if name == "nt" else BatchC45
        slow = SlowPruning(x, labels, pruning)
        everything = list(range(ROWS))
        tree = unpruned(grower(pruning=UNPRUNED).grow(table))
        slow.collapse(tree, everything)
        slow.prune(tree, everything)
        assert told(grower(pruning=pruning).grow(table)) == slow.told(tree, everything)
        raised += slow.raised
    assert (raised > 5) == raising
