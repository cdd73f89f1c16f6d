"""Table 1: the basic ID3 tree construction algorithm.

The result is a tree of the same nodes as ID5R keeps, expanded where a test was made; `id3prime` calls it
after every instance, and it is what all exact learners are compared with.
"""

from collections.abc import Iterable

from learners.ops import OpCounts
from learners.utgoff.node import Node, distribute, store, tabulate
from learners.utgoff.selection import Selection
from learners.vocabulary import Row


def id3(
    instances: Iterable[tuple[tuple[Row, int], int]],
    attributes: tuple[int, ...],
    selection: Selection,
    ops: OpCounts,
) -> Node:
    """Return the decision tree of a set of instances.

    Args:
        instances: ((row, class), how often) of each.
        attributes: Those that may be tested, in the order in which ties are broken.
        selection: Which attribute is best.
        ops: Where the costs are counted, by the convention that reproduces the paper's Table 7: additions at
            every mixed node with attributes left, scores where there is more than one to choose from.
    """
    root = Node(attributes)
    for (row, label), number in instances:
        store(root, row, label, number)
    pending = [root]
    while pending:
        node = pending.pop()
        # 1. If all the instances are from exactly one class, then the tree is an answer node. With no
        # attribute left it is one too, and answers the majority.
        if node.is_pure or not node.attributes:
            continue
        # 2(a) Define a_best to be an attribute with the lowest E-score.
        tabulate(node, ops)
        best = selection.best(selection.scores(node), node)
        if len(node.attributes) > 1:
            ops.e_scores += len(node.attributes)
        if best is None:
            continue
        # 2(b) For each value of a_best, grow a branch to a tree constructed from the instances with it.
        distribute(node, best, ops)
        pending.extend(node.branches.values())
    return root
