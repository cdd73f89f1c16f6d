"""What a snapshot of the MDL tree holds, and what learning has cost."""

from learners.mdl.tree import Tree
from learners.tree_learner import LearnerState


class State(LearnerState):
    """The body of a snapshot. Rows and labels are little-endian arrays of 32 bits."""

    width: int
    classes: int
    numeric: list[int]
    cuts: list[tuple[list[int], int]]
    cut_age: tuple[int, bool]
    first: int
    rows: bytes
    labels: bytes
    numbers: list[tuple[int, ...]]
    form: list[object]
    ops: list[int]
    met: list[int] | None = None


def in_order(counted: tuple[int, ...]) -> tuple[int, ...]:
    """Return what `Tree.counted` counts in the order of `learners.ops.OPERATIONS`."""
    additions, scores, expansions, pull_ups, collapses, rebuilds, stored, forgotten = counted
    return additions, scores, expansions, pull_ups, 0, 0, collapses, 0, rebuilds, stored, forgotten


def set_counted(tree: Tree, counted: list[int]) -> None:
    """Let a restored tree go on counting; how many records came and went follows from the records."""
    tree.additions, tree.scores, tree.expansions, tree.pull_ups, tree.collapses, tree.rebuilds, _, _ = counted
