"""The tree as plain lists, for snapshots, and as data, for people."""

from collections.abc import Sequence
from typing import cast

import msgspec

from learners.canonical import number_of
from learners.codes import Codes
from learners.learner import Step
from learners.mdl.bits import ONE
from learners.mdl.records import Node
from learners.mdl.tree import Tree
from learners.outline import AttributeTest, Counts, Evidence, Leaf, Outline, Path, Split
from learners.snapshot import SnapshotError

YES, NO = "true", "false"
"""The branches of a number: at most the threshold, or above it."""

# ---- plain lists


def dump_form(root: Node | None) -> list[object]:
    """Return the nodes in pre-order, without the counts, which follow from the records."""
    form: list[object] = []
    stack = [] if root is None else [root]
    while stack:
        node = stack.pop()
        if node.test < 0:
            form.append([node.label, node.tried])
            continue
        values = list(node.branches)
        chosen = [node.saved, node.runner, node.margin]
        form.append([node.test, node.cut, [node.tried, node.lead], chosen, values])
        stack.extend(node.branches[value] for value in reversed(values))
    return form


def load_form(tree: Tree, form: list[object]) -> None:
    """Give a tree that has only its records the form that was dumped.

    Raises:
        SnapshotError: The form is not that of a tree, or a record finds no place in it.
    """
    tree.root = None
    if not form:
        return
    forms = iter(form)
    root = tree.new_root()
    stack = [root]
    while stack:
        node = stack.pop()
        match next(forms, None):
            case [int(label), int(tried)] if 0 <= label < tree.k:
                node.label, node.tried = label, tried
            case [
                int(test),
                int(cut),
                [int(tried), int(lead)],
                [int(saved), int(runner), int(margin)],
                [*values],
            ] if 0 <= test < tree.width and -1 <= runner < tree.width:
                node.test, node.cut, node.tried, node.lead = test, cut, tried, lead
                node.saved, node.runner, node.margin = saved, runner, margin
                for value in values:
                    node.branches[int(cast("int", value))] = tree.new_node(node.used, node.available)
                stack.extend(reversed(node.branches.values()))
            case other:
                raise SnapshotError(f"not a node of a tree: {str(other)[:80]}")
    if next(forms, None) is not None:
        raise SnapshotError("the tree has more nodes than places")
    for place in range(tree.first, tree.next):
        node = root
        while node.test >= 0:
            below = node.branches.get(tree.branch_of(node, place))
            if below is None:
                raise SnapshotError("a record finds no branch in the tree")
            node = below
        node.ids.append(place)
    tree.reshaped = False
    tree.recount(root, tree.barred)
    tree.root = root


# ---- data


class Names:
    """The names behind a tree's codes.

    Args:
        codes: The names.
        cuts: The cuts of each number, as codes of numbers.
    """

    def __init__(self, codes: Codes, cuts: dict[int, list[int]]) -> None:
        self._codes = codes
        self._cuts = cuts
        self.classes = 2
        """How many classes the tree counts."""

    def counts(self, node: Node) -> Counts:
        """Return how many records of each class a node has."""
        here = zip(self._codes.classes, node.class_counts(self.classes), strict=False)
        return tuple(sorted([one for one in here if one[1]]))

    def test(self, node: Node) -> AttributeTest:
        """Return what a node asks."""
        name = self._codes.attributes[node.test]
        return AttributeTest(name, self._threshold(node) if node.test in self._cuts else None)

    def _threshold(self, node: Node) -> float:
        return number_of(self._cuts[node.test][node.cut - 1])

    def branch(self, node: Node, value: int) -> str:
        """Return what a branch is called."""
        if node.test in self._cuts:
            return NO if value else YES
        return self._codes.values[node.test][value]

    def value(self, test: AttributeTest, text: str) -> int:
        """Return the value of a branch that is called so."""
        if test.at_most is not None:
            return 0 if text == YES else 1
        return self._codes.value_code(self._codes.attribute_code(test.attribute), text)

    def node_at(self, root: Node, path: Path) -> Node:
        """Return the node that a path leads to."""
        node = root
        for test, text in path:
            node = node.branches[self.value(test, text)]
        return node

    def evidence(self, node: Node) -> Evidence:
        """Return the bits that a test saved when it was chosen, and how many more the next best had left."""
        if node.runner < 0:
            return Evidence(node.saved / ONE, None, None)
        return Evidence(node.saved / ONE, self._codes.attributes[node.runner], node.margin / ONE)

    def step(self, node: Node, value: int) -> Step:
        """Return a decision on the way to an answer."""
        evidence = self.evidence(node)
        at_most = self._threshold(node) if node.test in self._cuts else msgspec.UNSET
        name = self._codes.attributes[node.test]
        return Step(name, self.branch(node, value), evidence.runner_up, evidence.margin, at_most)

    def shape(self, root: Node | None) -> Outline | None:
        """Return the tree as data; what looks as it did may have older counts."""
        return self._outline(root, exact=False)

    def told(self, root: Node | None) -> Outline | None:
        """Return the tree as data, with the counts of now."""
        return self._outline(root, exact=True)

    def _outline(self, root: Node | None, *, exact: bool) -> Outline | None:
        """Return the contracted tree: where all leaves below a node answer the same, it is a leaf."""
        if root is None:
            return None
        stack = [root]
        while stack:
            node = stack[-1]
            if _known(node, exact=exact) is None and node.same < 0:
                waiting = [below for below in node.branches.values() if _known(below, exact=exact) is None]
                if waiting:
                    stack.extend(waiting)
                    continue
            stack.pop()
            if _known(node, exact=exact) is None:
                made = self._made(node, exact=exact)
                if exact:
                    node.told = made
                else:
                    node.shape = made
        return _known(root, exact=exact)

    def _made(self, node: Node, *, exact: bool) -> Outline:
        if node.same >= 0:
            return Leaf(self._codes.classes[node.same], self.counts(node))
        branches: list[tuple[str, Outline]] = []
        for value, below in node.branches.items():
            known = _known(below, exact=exact)
            assert known is not None
            branches.append((self.branch(node, value), known))
        branches.sort(key=_text)
        return Split(self.test(node), self.counts(node), tuple(branches), self.evidence(node))


def _text(branch: tuple[str, Outline]) -> str:
    return branch[0]


def _known(node: Node, *, exact: bool) -> Outline | None:
    return cast("Outline | None", node.told if exact else node.shape)


def sizes_for(lengths: Sequence[int]) -> list[int]:
    """Return how much room to keep for so many codes, with some to spare so that it lasts."""
    return [max(4, 1 << (length - 1).bit_length()) if length else 4 for length in lengths]


def in_order_of_texts(values: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return the codes of each attribute in the order of their texts."""
    return [sorted(range(len(texts)), key=texts.__getitem__) for texts in values]
