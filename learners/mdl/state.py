"""What a snapshot of the MDL tree holds, and what learning has cost."""

import msgspec

from learners.mdl.tree import Tree
from learners.ops import OpCounts
from learners.schema import Schema


class State(msgspec.Struct):
    """The body of a snapshot. Rows and labels are little-endian arrays of 32 bits."""

    schema: Schema
    options: dict[str, object]
    codes: list[object]
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


def ops_of(counted: tuple[int, ...]) -> OpCounts:
    """Return what `Tree.counted` counts, by name; `e_scores` are tests judged."""
    additions, scores, expansions, pull_ups, collapses, rebuilds, stored, forgotten = counted
    return OpCounts(
        instance_count_additions=additions,
        e_scores=scores,
        expansions=expansions,
        pull_ups=pull_ups,
        collapses=collapses,
        rebuilds=rebuilds,
        instances_stored=stored,
        instances_forgotten=forgotten,
    )


def set_counted(tree: Tree, counted: list[int]) -> None:
    """Let a restored tree go on counting; how many records came and went follows from the records."""
    tree.additions, tree.scores, tree.expansions, tree.pull_ups, tree.collapses, tree.rebuilds, _, _ = counted
