"""Table 4: pulling an attribute up to the root of a subtree."""

from learners.ops import OpCounts
from learners.utgoff.node import Node, add_to, expand, tabulate


def pull_up(node: Node, new: int, ops: OpCounts) -> None:
    """Restructure a subtree so that the attribute `new` is tested at its root.

    Only the structure changes: the level-zero counts are right already and stay as they are.
    """
    # 1. If the attribute to be pulled up is already at the root, then stop.
    if node.test == new:
        return
    # 2(a) Recursively pull the attribute to the root of each immediate subtree, converting any unexpanded
    # tree to expanded form as necessary.
    for branch in node.branches.values():
        if branch.test is None:
            expand(branch, new, ops)
        else:
            pull_up(branch, new, ops)
    # 2(b) Transpose the tree.
    transpose(node, new, ops)


def transpose(node: Node, new: int, ops: OpCounts) -> None:
    """Exchange the test of a node with the test `new` that all its branches have.

    The counts of the old test move down with their instances; those of all other attributes are summed from
    level two. A branch of the new test appears for each value that some instance below has; the value of an
    instance that is being learned may have none yet, and that of one being forgotten still has its own.
    """
    old = node.test
    assert old is not None
    left = tuple(attribute for attribute in node.attributes if attribute != new)
    branches: dict[int, Node] = {}
    # By value and not by age: what the merging costs would depend on how the tree came about.
    for old_value, level_one in sorted(node.branches.items()):
        assert level_one.counts is not None
        for new_value, level_two in sorted(level_one.branches.items()):
            branch = branches.get(new_value)
            if branch is None:
                branch = branches[new_value] = Node(left)
                branch.test = old
                branch.counts = {attribute: {} for attribute in left}
            branch.branches[old_value] = level_two
            _sum_into(branch, old, old_value, level_two, ops)
    node.test = new
    node.branches = branches
    node.cached = None
    ops.transpositions += 1


def _sum_into(branch: Node, old: int, old_value: int, level_two: Node, ops: OpCounts) -> None:
    """Add the counts of a level-two tree to those of the new level-one tree above it."""
    assert branch.counts is not None
    for label, number in level_two.classes.items():
        add_to(branch.classes, label, number)
    branch.counts[old][old_value] = dict(level_two.classes)
    if level_two.counts is None:
        # An unexpanded tree contributes its instances. Its own counts are not kept: it stays unexpanded.
        tabulate(level_two, ops)
        _merge(branch, level_two, OpCounts())
        level_two.counts = None
    else:
        _merge(branch, level_two, ops)


def _merge(branch: Node, level_two: Node, ops: OpCounts) -> None:
    """Merge counts: the first arrival of a value is a copy and free, what is added to it costs one a cell."""
    assert branch.counts is not None
    assert level_two.counts is not None
    for attribute, tallies in level_two.counts.items():
        merged = branch.counts[attribute]
        for value, tally in tallies.items():
            there = merged.get(value)
            if there is None:
                merged[value] = dict(tally)
            else:
                ops.instance_count_additions += len(tally)
                for label, number in tally.items():
                    there[label] = there.get(label, 0) + number
