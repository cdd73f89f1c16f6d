"""The form of a tree without its counts: those follow from the instances, which are kept elsewhere.

Restoring from it gives the very nodes that were there, also where several trees have one interpretation, so
that the costs of what is learned next are those of an uninterrupted run.
"""

from collections.abc import Iterable

from learners.snapshot import SnapshotError
from learners.utgoff.node import Node, count, store, value_of
from learners.vocabulary import Row

_UNEXPANDED, _COUNTED, _TESTED = range(3)


def dump_skeleton(root: Node) -> list[object]:
    """Return the nodes in pre-order: form; test and the values of its branches."""
    skeleton: list[object] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if node.test is not None:
            values = list(node.branches)
            skeleton.append([_TESTED, node.test, values])
            stack.extend(node.branches[value] for value in reversed(values))
        else:
            skeleton.append([_UNEXPANDED if node.counts is None else _COUNTED])
    return skeleton


def load_skeleton(root: Node, skeleton: list[object], instances: Iterable[tuple[Row, int]]) -> None:
    """Give an empty tree the form that was dumped and fill it with instances.

    Raises:
        SnapshotError: The form is not that of a tree, or an instance finds no place in it.
    """
    forms = iter(skeleton)
    stack = [root]
    while stack:
        node = stack.pop()
        match next(forms, None):
            case [0]:
                pass
            case [1]:
                node.counts = {attribute: {} for attribute in node.attributes}
            case [2, int(test), [*values]] if test in node.attributes:
                node.counts = {attribute: {} for attribute in node.attributes}
                node.test = test
                left = tuple(attribute for attribute in node.attributes if attribute != test)
                node.branches = {value: Node(left) for value in values if isinstance(value, int)}
                stack.extend(reversed(node.branches.values()))
            case other:
                raise SnapshotError(f"not a node of a tree: {str(other)[:80]}")
    if next(forms, None) is not None:
        raise SnapshotError("the tree has more nodes than places")
    for row, label in instances:
        _place(root, row, label)


def _place(root: Node, row: Row, label: int) -> None:
    node = root
    while node.test is not None:
        node.classes[label] = node.classes.get(label, 0) + 1
        count(node, row, label, 1)
        branch = node.branches.get(value_of(row, node.test))
        if branch is None:
            raise SnapshotError("an instance finds no branch in the tree")
        node = branch
    if node.counts is not None:
        count(node, row, label, 1)
    store(node, row, label)
