"""What a snapshot of an anytime tree holds."""

import msgspec

from learners.tree_learner import LearnerState


class WorkState(msgspec.Struct, array_like=True):
    """An attempt under way; see `learners.iidt.growing.Work`."""

    path: list[int]
    r: int
    first: int
    next: int
    width: int
    domain: list[int]
    position: list[int]
    decisions: list[int]


class State(LearnerState):
    """The body of a snapshot. Rows are little-endian arrays of 64 bits, labels of 32.

    `start` is the number of the first row, `first` that of the first which is in the tree: those before it
    are there for an attempt that began with them.
    """

    width: int
    known: list[int]
    lacking: list[bool]
    start: int
    first: int
    rows: bytes
    labels: bytes
    form: list[object]
    held: list[tuple[list[int], int]]
    seen: int
    credit: int
    idle: bool
    counters: list[int]
    work: WorkState | None
