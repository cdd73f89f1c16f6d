"""The state of the production learner in a snapshot."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.clock import ClockState
from learners.id5r import _core
from learners.schema import MOST_CUTS
from learners.snapshot import SnapshotError
from learners.tree_learner import LearnerState

if TYPE_CHECKING:
    from learners.id5r.learner import ID5R


Budget = tuple[int, int, list[int], int]
"""What `max_bytes` needs to know of the past: see `CoreTree.budget`."""


class TreeState(msgspec.Struct):
    """A tree in a snapshot: little-endian arrays, and the cuts of its numbers."""

    cuts: list[tuple[list[int], int]]
    cut_age: tuple[int, bool]
    newest: float
    rows: bytes
    numbers: bytes
    labels: bytes
    times: bytes
    ring: bytes
    form: bytes | None
    ops: list[int]
    confirmed: bool = True
    budget: Budget | None = None


Learned = list[tuple[float, float]]


class State(LearnerState):
    """The body of a snapshot; `width` is how wide the rows are, `numeric` which attributes are numbers."""

    width: int
    numeric: list[int]
    tree: TreeState
    recent: TreeState | None
    candidate: TreeState | None
    voices: tuple[list[list[float]], list[int], list[float], list[int]] | None
    blend: tuple[Learned, Learned, tuple[float, float]] | None
    retired: list[int] = msgspec.field(default_factory=list)
    suspects: tuple[float, int] = (0.0, 0)
    clock: ClockState | None = None


def dump(learner: "ID5R", *, let_go: bool = True) -> State:
    """Return everything there is to know of a learner; see `CoreTree.dump`."""
    voices, numeric = learner.voices, learner.numeric
    recent = None if voices is None else voices.recent
    candidate = None if voices is None else voices.candidate
    return State(
        *learner._header(),
        width=learner.width,
        numeric=numeric,
        tree=_dump(learner.tree, numeric, whole=True, let_go=let_go),
        recent=None if recent is None else _dump(recent, numeric, let_go=let_go),
        candidate=None if candidate is None else _dump(candidate, numeric, let_go=let_go),
        voices=None if voices is None else voices.state,
        blend=None if voices is None else voices.blend,
        retired=sorted(learner.retired),
        clock=None if learner.clock is None else learner.clock.state,
    )


def _dump(
    tree: _core.CoreTree, numeric: Sequence[int], *, whole: bool = False, let_go: bool = True
) -> TreeState:
    """Return a tree as it is; one of those beside it as its instances alone, which say everything."""
    tree.settle()
    rows, numbers, labels, times, ring, form, ops = tree.dump(let_go)
    return TreeState(
        cuts=[tree.cuts(a) for a in numeric],
        cut_age=tree.cut_age,
        newest=tree.newest,
        rows=rows.tobytes(),
        numbers=numbers.tobytes(),
        labels=labels.tobytes(),
        times=times.tobytes(),
        ring=ring.tobytes(),
        form=form.tobytes() if whole else None,
        ops=list(ops) if whole else [],
        confirmed=tree.confirmed,
        budget=tree.budget if whole else None,
    )


def load(learner: "ID5R", state: State) -> None:
    """Give a fresh learner the state of another.

    Raises:
        SnapshotError: It is not a state that such a learner could have.
    """
    new = [a for a in state.numeric if a not in learner.numeric]
    if [*learner.numeric, *new] != state.numeric or not all(map(learner.codes.is_numeric, new)):
        raise SnapshotError("the snapshot has numbers where there are none")
    learner.retired = set(state.retired)
    learner.make_room(state.width, new)
    if state.tree.form is None:
        raise SnapshotError("the snapshot has no tree")
    load_trees(learner, state)
    if learner.clock is not None:
        # Snapshots of earlier versions have the times of the tree and what was refused, and no clock.
        learner.clock.state = state.clock or (learner.tree.newest, learner.tree.confirmed, *state.suspects)


def load_trees(learner: "ID5R", state: State) -> None:
    """Give the fresh trees of a learner, which have room, the state of others."""
    _load_tree(learner, learner.tree, state.tree, state.width)
    voices = learner.voices
    if (voices is None) != (state.voices is None) or (voices is None) != (state.blend is None):
        raise SnapshotError("the snapshot has voices that its settings do not ask for")
    if voices is None or state.voices is None or state.blend is None:
        return
    for tree, beside in ((voices.recent, state.recent), (voices.candidate, state.candidate)):
        if (tree is None) != (beside is None):
            raise SnapshotError("the snapshot has a tree that its settings do not ask for")
        if tree is not None and beside is not None:
            _load_tree(learner, tree, beside, state.width)
    records, monitor, lowest, trial = state.voices
    if [*map(len, records), len(monitor), len(lowest), len(trial)] != [4, 4, 4, 3, 2, 4]:
        raise SnapshotError("the snapshot has records of answerers that are none")
    voices.state = state.voices
    voices.blend = state.blend


def _load_tree(learner: "ID5R", tree: _core.CoreTree, state: TreeState, width: int) -> None:
    for attribute, (cuts, median) in zip(learner.numeric, state.cuts, strict=True):
        declared = attribute < len(learner.schema.attributes) and bool(
            learner.schema.attributes[attribute].cuts
        )
        fixed = declared or learner.codes.attributes[attribute] == learner.options.time
        in_order = all(0 < low < high for low, high in pairwise([*cuts, 2**64]))
        if not in_order or len(cuts) > MOST_CUTS or not 1 <= median <= len(cuts) + 1:
            raise SnapshotError("the snapshot has cuts that are none")
        tree.set_cuts(attribute, cuts, median, fixed)
    tree.cut_age = state.cut_age
    tree.newest = state.newest
    tree.confirmed = state.confirmed
    labels = np.frombuffer(state.labels, dtype="<u2")
    rows: NDArray[np.uint16] = np.frombuffer(state.rows, dtype="<u2")
    rows = rows.reshape(len(labels), width)
    sizes = [len(learner.codes.values[a]) for a in range(width)]
    if len(labels) and width and (rows.max(axis=0) >= np.array(sizes)).any():
        raise SnapshotError("the snapshot has values it does not name")
    tree.load(
        rows,
        np.frombuffer(state.numbers, dtype="<u8").reshape(len(labels), len(learner.numeric)),
        labels,
        np.frombuffer(state.times, dtype="<u4"),
        np.frombuffer(state.ring, dtype="<u4"),
        None if state.form is None else np.frombuffer(state.form, dtype="<i8"),
        tuple(state.ops),
    )
    if state.budget is not None and tree.budget is not None:
        tree.budget = state.budget
    elif tree.budget is not None:
        tree.count_known_names()  # the snapshot is older than budgets


# ---- without some attributes


def without_attributes(state: State, attributes: Collection[int]) -> State:
    """Return a state in which no instance has a value of some attributes, with trees to be made again."""
    trees = {
        name: None if tree is None else _without(tree, state.width, state.numeric, attributes)
        for name, tree in (("tree", state.tree), ("recent", state.recent), ("candidate", state.candidate))
    }
    return msgspec.structs.replace(state, **trees)


def _without(tree: TreeState, width: int, numeric: Sequence[int], attributes: Collection[int]) -> TreeState:
    labels = np.frombuffer(tree.labels, dtype="<u2")
    times = np.frombuffer(tree.times, dtype="<u4")
    rows = np.frombuffer(tree.rows, dtype="<u2").reshape(len(labels), width).copy()
    numbers = np.frombuffer(tree.numbers, dtype="<u8").reshape(len(labels), len(numeric)).copy()
    rows[:, [a for a in attributes if a < width]] = 0
    numbers[:, [place for place, a in enumerate(numeric) if a in attributes]] = 0
    # Instances that differed in nothing else are one now; each is where the oldest of them was.
    whole = np.column_stack([rows, numbers, labels])
    _, firsts, same = np.unique(whole, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    kept = firsts[order]
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    place = places[same.reshape(-1)]
    ring = np.frombuffer(tree.ring, dtype="<u4")
    return msgspec.structs.replace(
        tree,
        cuts=[([], 1) if a in attributes else cuts for a, cuts in zip(numeric, tree.cuts, strict=True)],
        rows=rows[kept].tobytes(),
        numbers=numbers[kept].tobytes(),
        labels=labels[kept].tobytes(),
        times=np.bincount(place, times, len(order)).astype("<u4").tobytes(),
        ring=place[ring].astype("<u4").tobytes(),
        form=None,
    )
