"""A node of an ID5R tree, in unexpanded or in expanded form (section 3.2).

An unexpanded node holds instances; an expanded one holds, for its test and for every attribute not tested
above it, how many instances of each class took each value, and a branch for each value of the test. One
class serves for both, so that a node can change its form in place.
"""

from collections.abc import Iterator

from learners.ops import OpCounts
from learners.outline import Outline
from learners.vocabulary import MISSING_CODE, Row

Tallies = dict[int, dict[int, int]]
"""The counts of one attribute: value -> class -> instances."""


class Node:
    """A subtree.

    Attributes:
        attributes: Those not tested above, in the order in which ties are broken.
        classes: How many instances of each class are in the subtree.
        instances: (row, class) -> how often; identical instances are kept once. Empty where there is a test.
        counts: attribute -> value -> class -> instances; None while unexpanded.
        test: The attribute tested; None in a node without branches.
        branches: value of the test -> subtree.
        scores: The scores of the attributes as of the last choice; None where counts have changed since.
        cached: The outline of the subtree, None where it has changed since.
    """

    __slots__ = ("attributes", "branches", "cached", "classes", "counts", "instances", "scores", "test")

    def __init__(self, attributes: tuple[int, ...]) -> None:
        self.attributes = attributes
        self.classes: dict[int, int] = {}
        self.instances: dict[tuple[Row, int], int] = {}
        self.counts: dict[int, Tallies] | None = None
        self.test: int | None = None
        self.branches: dict[int, Node] = {}
        self.scores: dict[int, int | None] | None = None
        self.cached: Outline | None = None

    @property
    def size(self) -> int:
        """How many instances are in the subtree."""
        return sum(self.classes.values())

    @property
    def is_pure(self) -> bool:
        """Whether all instances are of one class: such a node is an answer, whatever is below it."""
        return len(self.classes) < 2

    def touch(self) -> None:
        """Note that counts have changed: what was derived from them is out of date."""
        self.cached = None
        self.scores = None


def value_of(row: Row, attribute: int) -> int:
    """Return the value of an attribute, which is missing where it was met later than the row."""
    return row[attribute] if attribute < len(row) else MISSING_CODE


def add_to(tally: dict[int, int], name: int, number: int) -> None:
    """Add to a count that may not be there yet, and drop it when it comes to nothing."""
    total = tally.get(name, 0) + number
    if total:
        tally[name] = total
    else:
        tally.pop(name, None)


def count(node: Node, row: Row, label: int, number: int) -> None:
    """Add an instance `number` times to the counts of an expanded node; a negative number takes it out."""
    assert node.counts is not None
    for attribute in node.attributes:
        tallies = node.counts[attribute]
        value = value_of(row, attribute)
        tally = tallies.setdefault(value, {})
        add_to(tally, label, number)
        if not tally:
            del tallies[value]


def store(node: Node, row: Row, label: int, number: int = 1) -> None:
    """Add an instance to an unexpanded node."""
    add_to(node.classes, label, number)
    add_to(node.instances, (row, label), number)  # type: ignore[arg-type]
    node.touch()


def tabulate(node: Node, ops: OpCounts) -> None:
    """Give a node without counts the counts of its instances, at the cost of one addition for each value."""
    node.counts = {attribute: {} for attribute in node.attributes}
    for (row, label), number in node.instances.items():
        count(node, row, label, number)
    ops.instance_count_additions += node.size * len(node.attributes)
    node.scores = None


def distribute(node: Node, test: int, ops: OpCounts) -> None:
    """Give a node with counts a test: its instances go down into unexpanded branches."""
    left = tuple(attribute for attribute in node.attributes if attribute != test)
    node.test = test
    for (row, label), number in node.instances.items():
        value = value_of(row, test)
        branch = node.branches.get(value)
        if branch is None:
            branch = node.branches[value] = Node(left)
        store(branch, row, label, number)
    node.instances = {}
    node.cached = None
    ops.expansions += 1


def expand(node: Node, test: int, ops: OpCounts) -> None:
    """Convert an unexpanded node to expanded form with the given test."""
    if node.counts is None:
        tabulate(node, ops)
    distribute(node, test, ops)


def collapse(node: Node, ops: OpCounts) -> None:
    """Take all instances up into the node and drop what was below; the counts stay as they are."""
    node.instances = dict(collect(node))
    node.branches = {}
    node.test = None
    node.cached = None
    ops.collapses += 1


def collect(node: Node) -> Iterator[tuple[tuple[Row, int], int]]:
    """Yield the instances of a subtree, each with how often it is there."""
    stack = [node]
    while stack:
        here = stack.pop()
        yield from here.instances.items()
        stack.extend(here.branches.values())


def nodes_of(node: Node) -> Iterator[Node]:
    """Yield every node of a subtree."""
    stack = [node]
    while stack:
        here = stack.pop()
        yield here
        stack.extend(here.branches.values())


def widen(root: Node, ordered: tuple[int, ...], width: int) -> None:
    """Make room for attributes that appear for the first time: every instance so far lacks them.

    Args:
        root: The tree.
        ordered: All attributes, in the order in which ties are broken.
        width: How many attributes rows have from now on.
    """
    known = set(root.attributes)
    new = [attribute for attribute in ordered if attribute not in known]
    for node in nodes_of(root):
        left = {*node.attributes, *new}
        node.attributes = tuple(attribute for attribute in ordered if attribute in left)
        if node.counts is not None:
            for attribute in new:
                node.counts[attribute] = {MISSING_CODE: dict(node.classes)}
        if node.instances:
            padding = (MISSING_CODE,) * width
            node.instances = {
                (row + padding[len(row) :], label): number for (row, label), number in node.instances.items()
            }
        node.touch()
