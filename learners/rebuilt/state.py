"""A batch tree in a snapshot: little-endian arrays, checked when they are read."""

import msgspec
import numpy as np

from learners.rebuilt.table import Filling, Floats, Ints
from learners.rebuilt.trees import BatchTree
from learners.snapshot import SnapshotError
from learners.tree_learner import LearnerState


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


class State(LearnerState):
    """The body of a snapshot."""

    ops: list[int]
    width: int
    x: bytes
    labels: bytes
    tree: TreeState | None
    since: int
    begins: int
    due: int
    building: int
    learned_width: int | None = None

    def records(self, attributes: int, classes: int) -> tuple[Floats, Ints]:
        """Return the rows and labels of the records that are kept.

        Args:
            attributes: How many attributes are named.
            classes: How many classes are named.

        Raises:
            SnapshotError: There are others, or numbers of records that cannot be.
        """
        labels = np.frombuffer(self.labels, dtype="<i4").astype(np.int32)
        x = np.frombuffer(self.x, dtype="<f8").astype(np.float64).reshape(len(labels), self.width)
        if len(labels) and not 0 <= labels.min() <= labels.max() < classes:
            raise SnapshotError("the snapshot has classes it does not name")
        if not 0 <= self.width <= attributes:
            raise SnapshotError(f"the snapshot has rows of {self.width} attributes it does not name")
        if not 0 <= self.building <= len(labels):
            raise SnapshotError(f"the snapshot builds from {self.building} of {len(labels)} instances")
        if self.learned_width is not None and not 0 <= self.learned_width <= self.width:
            raise SnapshotError(f"the snapshot has no values of {self.learned_width} attributes")
        return x, labels


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
