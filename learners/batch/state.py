"""A batch tree in a snapshot: little-endian arrays, checked when they are read."""

import msgspec
import numpy as np

from learners.batch.table import Filling
from learners.batch.trees import BatchTree
from learners.schema import Schema
from learners.snapshot import SnapshotError


class TreeState(msgspec.Struct, array_like=True):
    """A tree in a snapshot: little-endian arrays."""

    classes: list[int]
    attribute: bytes
    threshold: bytes
    first: bytes
    branches: bytes
    counts: bytes
    numeric: bytes
    filling: bytes | None


class State(msgspec.Struct):
    """The body of a snapshot."""

    schema: Schema
    options: dict[str, object]
    codes: list[object]
    ops: list[int]
    width: int
    x: bytes
    labels: bytes
    tree: TreeState | None
    since: int
    begins: int
    due: int
    building: int


def dumped(tree: BatchTree, classes: list[int]) -> TreeState:
    """Return a tree as a part of a snapshot."""
    return TreeState(
        classes,
        tree.attribute.astype("<i4").tobytes(),
        tree.threshold.astype("<f8").tobytes(),
        tree.first.astype("<i4").tobytes(),
        tree.branches.astype("<i4").tobytes(),
        tree.counts.astype("<f8").tobytes(),
        tree.numeric.tobytes(),
        None if tree.filling is None else tree.filling.values.astype("<f8").tobytes(),
    )


def loaded(state: TreeState) -> tuple[BatchTree, list[int]]:
    """Return the tree of a snapshot.

    Raises:
        SnapshotError: The arrays do not make a tree.
    """
    attribute, first, branches = (
        np.frombuffer(data, dtype="<i4").astype(np.int32)
        for data in (state.attribute, state.first, state.branches)
    )
    threshold = np.frombuffer(state.threshold, dtype="<f8").astype(np.float64)
    counts = np.frombuffer(state.counts, dtype="<f8").astype(np.float64)
    numeric = np.frombuffer(state.numeric, dtype=np.uint8).copy()
    filling = None
    if state.filling is not None:
        filling = Filling(np.frombuffer(state.filling, dtype="<f8").astype(np.float64))
    inner = np.flatnonzero(attribute >= 0)
    ends = 1 + np.cumsum(branches[inner])
    whole = (
        len(attribute) == len(first) == len(branches) == len(threshold) > 0
        and bool((attribute < len(numeric)).all())
        and bool((branches[inner] > 0).all())
        and np.array_equal(first[inner], ends - branches[inner])
        and (int(ends[-1]) if len(inner) else 1) == len(attribute)
        and bool((first[inner] > inner).all())
        and len(counts) == len(attribute) * len(state.classes)
        and (filling is None or len(filling.values) == len(numeric))
    )
    if not whole:
        raise SnapshotError("the snapshot's arrays do not make a tree")
    counts = np.ascontiguousarray(counts.reshape(len(attribute), len(state.classes)))
    return BatchTree(attribute, threshold, first, branches, counts, numeric, filling), state.classes
