"""The state of the production learner in a snapshot."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.core import _core
from learners.schema import MOST_CUTS, Schema
from learners.snapshot import SnapshotError

if TYPE_CHECKING:
    from learners.core.id5r import ID5R


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


Learned = list[tuple[float, float]]


class State(msgspec.Struct):
    """The body of a snapshot; `width` is how wide the rows are, `numeric` which attributes are numbers."""

    schema: Schema
    options: dict[str, object]
    codes: list[object]
    width: int
    numeric: list[int]
    tree: TreeState
    recent: TreeState | None
    candidate: TreeState | None
    voices: tuple[list[list[float]], list[int], list[float], list[int]] | None
    blend: tuple[Learned, Learned, tuple[float, float]] | None


def dump(learner: "ID5R", *, let_go: bool = True) -> State:
    """Return everything there is to know of a learner; see `CoreTree.dump`."""
    voices, numeric = learner.voices, learner.numeric
    recent = None if voices is None else voices.recent
    candidate = None if voices is None else voices.candidate
    return State(
        schema=learner.schema,
        options=msgspec.to_builtins(learner.options),
        codes=list(learner.codes.dump()),
        width=learner.width,
        numeric=numeric,
        tree=_dump(learner.tree, numeric, whole=True, let_go=let_go),
        recent=None if recent is None else _dump(recent, numeric, let_go=let_go),
        candidate=None if candidate is None else _dump(candidate, numeric, let_go=let_go),
        voices=None if voices is None else voices.state,
        blend=None if voices is None else voices.blend,
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
    )


def load(learner: "ID5R", state: State) -> None:
    """Give a fresh learner the state of another.

    Raises:
        SnapshotError: It is not a state that such a learner could have.
    """
    new = [a for a in state.numeric if a not in learner.numeric]
    if [*learner.numeric, *new] != state.numeric or not all(map(learner.codes.is_numeric, new)):
        raise SnapshotError("the snapshot has numbers where there are none")
    learner.make_room(state.width, new)
    if state.tree.form is None:
        raise SnapshotError("the snapshot has no tree")
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
