"""The paper's systems on bare nodes: only the algorithm and its costs, no codes, no changes, no outlines.

A run of Table 7 presents up to 30,000 instances to each of them; the learners of the registry, which also
tell what has changed, would take ten times as long.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

from lab.experiments.concepts import Example
from learners.merit import majority
from learners.ops import OpCounts
from learners.utgoff import id4, id5r
from learners.utgoff.id3 import id3
from learners.utgoff.node import Node
from learners.utgoff.selection import Selection
from learners.vocabulary import Row


class System(ABC):
    """A tree that learns.

    Args:
        order: The attributes in the order in which ties are broken.
        selection: Which attribute is best; without one the paper's E-score.
    """

    name: ClassVar[str]

    def __init__(self, order: tuple[int, ...], selection: Selection | None = None) -> None:
        self.order = order
        self.selection = selection or Selection()
        self.root = Node(order)
        self.ops = OpCounts()

    @abstractmethod
    def learn(self, row: Row, label: int) -> None:
        """Learn from an instance."""

    def answer(self, row: Row) -> int | None:
        """Return the class of a description; None where the tree has no answer."""
        return classify(self.root, row)


class ID3Prime(System):
    """ID3 built again after every instance."""

    name = "ID3'"

    def __init__(self, order: tuple[int, ...], selection: Selection | None = None) -> None:
        super().__init__(order, selection)
        self._examples: list[tuple[Example, int]] = []

    def learn(self, row: Row, label: int) -> None:
        """Learn from an instance."""
        self._examples.append(((row, label), 1))
        self.root = id3(self._examples, self.order, self.selection, self.ops)


class ID5R(System):
    """Table 3 with its correction."""

    name = "ID5R"

    def learn(self, row: Row, label: int) -> None:
        """Learn from an instance."""
        id5r.update(self.root, row, label, self.selection, self.ops)


class ID5(System):
    """Table 3 without step 3(c)ii."""

    name = "ID5"

    def learn(self, row: Row, label: int) -> None:
        """Learn from an instance."""
        id5r.update(self.root, row, label, self.selection, self.ops, reestablish=False)


class ID4(System):
    """Table 2."""

    name = "ID4"

    def learn(self, row: Row, label: int) -> None:
        """Learn from an instance."""
        id4.update(self.root, row, label, self.selection, self.ops)


INCREMENTAL: dict[str, type[System]] = {system.name: system for system in (ID3Prime, ID5R, ID5, ID4)}
"""The incremental systems, in the order of the paper's tables."""


def classify(node: Node, row: Row) -> int | None:
    """Return the class that a tree of any of the systems gives a description; None: no answer.

    Where a branch is absent the node's own counts for its value decide if they are of one class. Only ID4 has
    such branches; for the others the value has never been met and there are no counts.
    """
    while node.test is not None and len(node.classes) > 1:
        value = row[node.test]
        branch = node.branches.get(value)
        if branch is None:
            assert node.counts is not None
            tally = node.counts[node.test].get(value)
            return next(iter(tally)) if tally is not None and len(tally) == 1 else None
        node = branch
    return majority(node.classes)


def size(root: Node) -> int:
    """Return the decision and answer nodes of a tree as it is read, those that only answer by counts too."""
    nodes, stack = 0, [root]
    while stack:
        node = stack.pop()
        nodes += 1
        if node.test is not None and not node.is_pure:
            assert node.counts is not None
            nodes += len(node.counts[node.test]) - len(node.branches)
            stack.extend(node.branches.values())
    return nodes


def shape(root: Node) -> object:
    """Return a tree as it is read, as nested tuples that can be compared: tests, values and answers."""
    if root.test is None or root.is_pure:
        return majority(root.classes)
    return (root.test, tuple(sorted((value, shape(branch)) for value, branch in root.branches.items())))
