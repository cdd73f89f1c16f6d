"""Whole batches through the compiled tree: it runs until something must be told, and goes on.

Explanations are made once for each leaf and kept until the tree changes or a test is chosen again, so that a
rich prediction costs little more than a bare one.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from learners.change import TreeChange
from learners.id5r import _core
from learners.learner import FLAG_MISSING, FLAG_UNSEEN, BatchResult, Learned, Prediction, Rows, Step
from learners.ops import OpCounts
from learners.outline import Size, digest, size
from learners.vocabulary import Row

if TYPE_CHECKING:
    from learners.id5r.learner import ID5R

MOST_PATHS = 50_000
Told = tuple[list[TreeChange], str, Size]
FLAGS: dict[int, tuple[str, ...]] = {
    _core.PLAIN: (),
    _core.UNSEEN: (FLAG_UNSEEN,),
    _core.MISSING: (FLAG_MISSING,),
}
"""The flags of a prediction, by how it came about."""


class Explanations:
    """The paths to the leaves that have answered. The tree knows which of them still hold."""

    def __init__(self) -> None:
        self._paths: dict[int, tuple[Step, ...]] = {0: ()}

    def paths(self, nodes: Iterable[int]) -> Iterable[tuple[Step, ...]]:
        """Return the paths to nodes that the tree says have been explained."""
        return map(self._paths.__getitem__, nodes)

    def add(self, learner: "ID5R", node: int) -> bool:
        """Keep the path to the node that answers the row at hand; return whether it holds for other rows."""
        if len(self._paths) > MOST_PATHS:
            # Most are of nodes that are gone. Beginning again costs one explanation for each leaf in use.
            self._paths = {0: ()}
            learner.tree.unexplain()
        path = learner.tree.explain(learner.codes)
        if path is None:
            return False
        self._paths[node] = path
        return True


class Answers(Sequence[Prediction]):
    """What each row was answered. A prediction is made when it is asked for; the arrays say the same faster.

    Attributes:
        classes: The class answered, as a code; -1: none.
        counts: How many instances of each class were behind the answer.
        paths: The decisions that led to it.
        special: Answers to values that are missing or were never seen, by row: these stand for themselves.
        by: Who answered, where there is a choice; otherwise None.
        shares: How probable each class is, by whoever answered.
    """

    def __init__(
        self, learner: "ID5R", classes: NDArray[np.int32], counts: NDArray[np.uint32], batch: _core.Batch
    ) -> None:
        self.by: NDArray[np.int8] | None = None
        self.shares: NDArray[np.float64] | None = None
        if learner.voices is not None:
            self.by, self.shares = batch.voices()
        self.classes = classes
        self.counts = counts
        self.paths: list[tuple[Step, ...]] = []
        self.special: dict[int, Prediction] = {}
        self._learner = learner

    def __len__(self) -> int:
        return len(self.paths)

    @overload
    def __getitem__(self, index: int) -> Prediction: ...
    @overload
    def __getitem__(self, index: slice) -> list[Prediction]: ...
    def __getitem__(self, index: int | slice) -> Prediction | list[Prediction]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        special = self.special.get(index)
        if special is not None:
            return special
        path, answer, counts = self.paths[index], int(self.classes[index]), self.counts[index].tolist()
        if self.by is None or self.shares is None:
            return self._learner.prediction(answer, counts, path, ())
        return self._learner.prediction(
            answer, counts, path, (), int(self.by[index]), self.shares[index].tolist()
        )


class _LearnedRecords(Sequence[Learned | None]):
    """What learning each record did; made when asked for, since most did nothing that is told."""

    def __init__(
        self,
        labels: NDArray[np.int32],
        spent: NDArray[np.uint64],
        changes: dict[int, Told],
    ) -> None:
        self._labels = labels
        self._spent = spent
        self._changes = changes

    def __len__(self) -> int:
        return len(self._labels)

    @overload
    def __getitem__(self, index: int) -> Learned | None: ...
    @overload
    def __getitem__(self, index: slice) -> "list[Learned | None]": ...
    def __getitem__(self, index: int | slice) -> "Learned | list[Learned | None] | None":
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if self._labels[index] < 0:
            return None
        ops = (self._spent[index + 1] - self._spent[index]).tolist()
        spent = OpCounts(**dict(zip(_core.OPERATIONS, ops, strict=True)))
        told = self._changes.get(index)
        return Learned([], spent) if told is None else Learned(told[0], spent, told[1], told[2])


def run_batch(
    learner: "ID5R", codes: NDArray[np.uint32] | NDArray[np.uint64], labels: NDArray[np.int32]
) -> BatchResult:
    """Answer each row, then learn it, in order."""
    tree = learner.tree
    each = learner.publishes_each
    stop = _core.STOP_AT_UNEXPLAINED | (_core.STOP_AT_CHANGES if each else 0)
    batch = _core.Batch(len(labels), len(learner.codes.classes), learner.voices is not None)
    classes, _, nodes, counts, spent = batch.arrays()
    answers = Answers(learner, classes, counts, batch)
    run = tree.run if learner.voices is None else learner.voices.run
    changes: dict[int, Told] = {}
    start = 0

    def tell(index: int) -> None:
        told = learner.publish() if each else []
        if told:
            changes[index] = (told, digest(learner.outline_lately), size(learner.outline_lately))

    while start < len(labels):
        reached, why = run(codes, labels, start, stop, batch)
        answers.paths.extend(learner.explanations.paths(nodes[start:reached].tolist()))
        start = reached
        if why == _core.CHANGED:
            tell(reached - 1)
        elif why == _core.UNEXPLAINED and not learner.explanations.add(learner, int(nodes[reached])):
            row = _signed(codes[reached])
            spent[reached] = _learn_special(learner, row, int(labels[reached]), answers)
            tell(reached)
            start += 1
    _tell_flagged(learner, batch, answers)
    after = np.vstack([spent, np.asarray([tree.operations()], dtype=np.uint64)])
    return BatchResult(answers, _LearnedRecords(labels, after, changes), sorted(changes))


def run_quietly(
    learner: "ID5R", codes: NDArray[np.uint32] | NDArray[np.uint64], labels: NDArray[np.int32]
) -> None:
    """Learn each row, in order, and keep nothing of what was answered.

    Where each change is published, repairs are done as often as they are then: the same operations are spent.
    """
    batch = _core.Batch(len(labels), len(learner.codes.classes), learner.voices is not None)
    run = learner.tree.run if learner.voices is None else learner.voices.run
    stop = _core.STOP_AT_CHANGES if learner.publishes_each else 0
    reached = 0
    while reached < len(labels):
        reached, why = run(codes, labels, reached, stop, batch)
        if why == _core.CHANGED:
            learner.tree.settle()


def _tell_flagged(learner: "ID5R", batch: _core.Batch, answers: Answers) -> None:
    """Make the predictions that ended at a decision node: a value is missing there, or was never seen."""
    classes, how, _, counts, _ = batch.arrays()
    for index in np.flatnonzero(how).tolist():
        if index in answers.special:
            continue
        answer, told, path = int(classes[index]), counts[index].tolist(), answers.paths[index]
        why = int(how[index])
        if answers.by is None or answers.shares is None:
            special = learner.tree_prediction(answer, told, path, why, batch.scores_of(index))
        else:
            by, shares = int(answers.by[index]), answers.shares[index].tolist()
            special = learner.prediction(answer, told, path, FLAGS[why], by, shares)
        answers.special[index] = special


def _learn_special(learner: "ID5R", row: Row, label: int, answers: Answers) -> tuple[int, ...]:
    """Answer a row with a value missing or never seen, then learn it; return what was spent before."""
    prediction = learner.answer(row)
    answers.special[len(answers)] = prediction
    answers.paths.append(prediction.path)
    before = learner.tree.operations()
    if label < 0:
        return before
    if learner.voices is not None:
        learner.voices.learn(row, label)
    elif learner.options.train != "errors" or not learner.is_right(prediction, label):
        learner.tree.learn(row, label)
    else:
        learner.note_names(row, label)
    return before


def _signed(codes: NDArray[np.uint32] | NDArray[np.uint64]) -> Row:
    """Return a row whose unknown values are -1 again."""
    most = int(np.iinfo(codes.dtype).max)
    return tuple(-1 if code == most else code for code in codes.tolist())


def as_array(
    rows: Rows, width: int, tree_width: int, *, wide: bool
) -> NDArray[np.uint32] | NDArray[np.uint64]:
    """Return rows as an array as wide as the tree; a code of -1 is one that no value has."""
    if isinstance(rows, np.ndarray) and width == tree_width and (rows.dtype == np.uint64) == wide:
        return rows if rows.flags.c_contiguous else rows.copy()
    if not wide:
        narrow = np.zeros((len(rows), tree_width), dtype=np.int64)
        if len(rows):
            narrow[:, :width] = rows
        return narrow.astype(np.uint32)
    codes = np.zeros((len(rows), tree_width), dtype=np.uint64)
    if isinstance(rows, np.ndarray):
        codes[:, :width] = rows
    else:
        for place, row in enumerate(rows):
            codes[place, :width] = [code if code >= 0 else 2**64 - 1 for code in row]
    return codes
