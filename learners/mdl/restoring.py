"""A learner to its snapshot and back."""

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from learners.mdl.forms import dump_form, load_form
from learners.mdl.state import State, set_counted
from learners.snapshot import SnapshotError

if TYPE_CHECKING:
    from learners.mdl.learner import MDL


def dump(learner: "MDL") -> State:
    """Return everything there is to know of a learner."""
    tree = learner.tree
    rows, labels = tree.dumped()
    return State(
        *learner._header(),
        width=learner._width,
        classes=learner._classes,
        numeric=learner._scales.numeric,
        cuts=learner._scales.dump(),
        cut_age=learner._scales.age,
        first=tree.first,
        rows=np.array(rows, dtype="<i4").tobytes(),
        labels=np.array(labels, dtype="<i4").tobytes(),
        numbers=list(learner._scales.kept) if learner._scales.numeric else [],
        form=dump_form(tree.root),
        ops=list(tree.counted()),
        met=sorted(learner._met),
    )


def load(learner: "MDL", state: State) -> None:
    """Give a fresh learner the state of another.

    Raises:
        SnapshotError: It is not a state that such a learner could have.
    """
    names = learner.codes
    if not 0 <= state.width <= len(names.attributes) or not 2 <= state.classes <= max(2, len(names.classes)):
        raise SnapshotError("the snapshot has attributes or classes it does not name")
    labels = np.frombuffer(state.labels, dtype="<i4").tolist()
    rows = np.frombuffer(state.rows, dtype="<i4").reshape(len(labels), state.width).tolist()
    new = [a for a in state.numeric if a not in learner._scales.cuts]
    if any(not 0 <= a < state.width or not names.is_numeric(a) for a in new):
        raise SnapshotError("the snapshot has numbers where there are none")
    met = range(state.width) if state.met is None else state.met
    if any(not 0 <= a < state.width for a in met):
        raise SnapshotError("the snapshot has attributes or classes it does not name")
    learner._make_room(state.width, state.classes - 1, met, new)
    learner._scales.load(state.numeric, state.cuts)
    learner._lay_out()
    sizes = learner._sizes
    for row, label in zip(rows, labels, strict=True):
        if not 0 <= label < learner._classes or any(not 0 <= c < s for c, s in zip(row, sizes, strict=True)):
            raise SnapshotError("the snapshot has values or classes it does not name")
    learner.tree.load(rows, labels, state.first)
    learner._scales.kept = deque(state.numbers if state.numeric else [() for _ in labels])
    load_form(learner.tree, state.form)
    set_counted(learner.tree, state.ops)
    learner._scales.age = state.cut_age
