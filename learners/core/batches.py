"""Whole batches through the compiled tree: it runs until something must be told, and goes on.

Explanations are made once for each leaf and kept until the tree changes or a test is chosen anew, so that a
rich prediction costs little more than a bare one.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from learners.change import TreeChange
from learners.codes import Row
from learners.core import _core
from learners.learner import BatchResult, Learned, Prediction, Step
from learners.ops import OpCounts
from learners.outline import Size, digest, size

if TYPE_CHECKING:
    from learners.core.id5r import ID5R

MOST_PATHS = 50_000
Told = tuple[list[TreeChange], str, Size]
_STOP = _core.STOP_AT_CHANGES | _core.STOP_AT_UNEXPLAINED


class Explanations:
    """The paths to the leaves that have answered. The tree knows which of them still hold."""

    def __init__(self) -> None:
        self._paths: dict[int, tuple[Step, ...]] = {0: ()}

    def paths(self, nodes: Iterable[int]) -> Iterable[tuple[Step, ...]]:
        """Return the paths to nodes that the tree says have been explained."""
        return map(self._paths.__getitem__, nodes)

    def add(self, tree: _core.CoreTree, node: int, path: tuple[Step, ...]) -> None:
        """Keep the path to the node that has answered the row at hand."""
        if len(self._paths) > MOST_PATHS:
            # Most are of nodes that are gone. Beginning anew costs one explanation for each leaf in use.
            self._paths = {0: ()}
            tree.unexplain()
        self._paths[node] = path
        tree.explained()


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
    batch = _core.Batch(len(labels), len(learner.codes.classes), learner.voices is not None)
    classes, _, nodes, counts, spent = batch.arrays()
    answers = Answers(learner, classes, counts, batch)
    run = tree.run if learner.voices is None else learner.voices.run
    changes: dict[int, Told] = {}
    start = 0

    def tell(index: int) -> None:
        told = learner.publish()
        if told:
            changes[index] = (told, digest(learner.outline_lately), size(learner.outline_lately))

    while start < len(labels):
        reached, why = run(codes, labels, start, _STOP, batch)
        answers.paths.extend(learner.explanations.paths(nodes[start:reached].tolist()))
        start = reached
        if why == _core.CHANGED:
            tell(reached - 1)
        elif why == _core.UNEXPLAINED:
            row = _signed(codes[reached])
            _, how, _, steps, _ = tree.answer(row, False)
            if how == _core.PLAIN:
                # Explained once and for all: the same row goes on from here.
                learner.explanations.add(tree, int(nodes[reached]), learner.steps(steps))
            else:
                spent[reached] = _learn_special(learner, row, int(labels[reached]), answers)
                tell(reached)
                start += 1
    after = np.vstack([spent, np.asarray([tree.operations()], dtype=np.uint64)])
    return BatchResult(answers, _LearnedRecords(labels, after, changes), sorted(changes))


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
    return before


def _signed(codes: NDArray[np.uint32] | NDArray[np.uint64]) -> Row:
    """Return a row whose unknown values are -1 again."""
    most = int(np.iinfo(codes.dtype).max)
    return tuple(-1 if code == most else code for code in codes.tolist())
