"""The tree as plain lists, for snapshots, and as data, for people."""

from typing import cast

import msgspec

from learners.canonical import number_code
from learners.codes import Codes
from learners.iidt._tree import Forest, Node
from learners.learner import Step
from learners.outline import AttributeTest, Counts, Leaf, Outline, Split
from learners.snapshot import SnapshotError

YES, NO = "true", "false"
"""The branches of a number: at most the threshold, or above it."""

# ---- plain lists


def dump_form(root: Node | None) -> list[object]:
    """Return the nodes in pre-order, without what follows from the records."""
    form: list[object] = []
    stack = [] if root is None else [root]
    while stack:
        node = stack.pop()
        tries = [node.last_r, node.tried, node.tests, node.stuck]
        if node.test < 0:
            form.append([tries])
            continue
        values = list(node.branches)
        form.append([tries, node.test, node.at_most if node.numeric else None, values])
        stack.extend(node.branches[value] for value in reversed(values))
    return form


def load_form(forest: Forest, form: list[object]) -> None:
    """Give records the tree that was dumped.

    Raises:
        SnapshotError: The form is not that of a tree, or a record finds no place in it.
    """
    forest.root = None
    if not form:
        return
    forms = iter(form)
    root = Node()
    stack = [root]
    leaves: list[Node] = []
    while stack:
        node = stack.pop()
        match next(forms, None):
            case [[int(last_r), int(tried), int(tests), bool(stuck)], *rest]:
                node.last_r, node.tried, node.tests, node.stuck = last_r, tried, tests, stuck
            case other:
                raise SnapshotError(f"not a node of a tree: {str(other)[:80]}")
        match rest:
            case []:
                leaves.append(node)
            case [int(test), float() | None as at_most, [*values]] if 0 <= test < forest.width and values:
                node.test = test
                if at_most is not None:
                    node.numeric, node.at_most, node.key = True, at_most, number_code(at_most) - 1
                for value in values:
                    node.branches[int(cast("int", value))] = Node()
                stack.extend(reversed(node.branches.values()))
            case other:
                raise SnapshotError(f"not a node of a tree: {str(other)[:80]}")
    if next(forms, None) is not None:
        raise SnapshotError("the tree has more nodes than places")
    for number in range(forest.first, forest.next):
        if forest.path_to_leaf(root, number)[-1].test >= 0:
            raise SnapshotError("a record finds no branch in the tree")
        forest.insert(root, number)
    if not all(leaf.n for leaf in leaves):
        raise SnapshotError("the tree has a leaf without records")
    forest.root = root


# ---- data


class Names:
    """The names behind a tree's codes."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes

    def counts(self, node: Node) -> Counts:
        """Return how many records of each class a node has."""
        here = zip(self._codes.classes, node.counts, strict=False)
        return tuple(sorted([one for one in here if one[1]]))

    def branch(self, node: Node, value: int) -> str:
        """Return what a branch is called."""
        if node.numeric:
            return NO if value else YES
        return self._codes.values[node.test][value]

    def step(self, node: Node, value: int) -> Step:
        """Return a decision on the way to an answer."""
        at_most = node.at_most if node.numeric else msgspec.UNSET
        return Step(self._codes.attributes[node.test], self.branch(node, value), at_most=at_most)

    def shape(self, root: Node | None) -> Outline | None:
        """Return the tree as data; what looks as it did may have older counts."""
        if root is None:
            return None
        stack = [root]
        while stack:
            node = stack[-1]
            if node.shape is None:
                waiting = [below for below in node.branches.values() if below.shape is None]
                if waiting:
                    stack.extend(waiting)
                    continue
                below = {value: cast("Outline", one.shape) for value, one in node.branches.items()}
                node.shape, node.shown = self._made(node, below), node.label
            stack.pop()
        return cast("Outline", root.shape)

    def told(self, root: Node | None) -> Outline | None:
        """Return the tree as data, with the counts of now."""
        if root is None:
            return None
        order = [root]
        for node in order:
            order.extend(node.branches.values())
        made: dict[int, Outline] = {}
        for node in reversed(order):
            made[id(node)] = self._made(node, {v: made[id(one)] for v, one in node.branches.items()})
        return made[id(root)]

    def _made(self, node: Node, below: dict[int, Outline]) -> Outline:
        if node.test < 0:
            return Leaf(self._codes.classes[node.label], self.counts(node))
        branches = sorted(((self.branch(node, value), one) for value, one in below.items()), key=_text)
        test = AttributeTest(self._codes.attributes[node.test], node.at_most if node.numeric else None)
        return Split(test, self.counts(node), tuple(branches))


def _text(branch: tuple[str, Outline]) -> str:
    return branch[0]
