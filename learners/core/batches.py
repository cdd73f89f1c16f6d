"""Whole batches through the compiled tree: it runs until something must be told, and goes on.

Explanations are made once for each leaf and kept until the tree changes or a test is chosen anew, so that a
rich prediction costs little more than a bare one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from learners.change import TreeChange
from learners.core import _core
from learners.learner import BatchResult, Learned, Prediction, Step
from learners.ops import OpCounts
from learners.outline import Size, digest, size

if TYPE_CHECKING:
    from learners.core.id5r import ID5R

_STOP = _core.STOP_AT_CHANGES | _core.STOP_AT_UNEXPLAINED


class Explanations:
    """The paths to the leaves that have answered since the tree last changed its tests."""

    def __init__(self) -> None:
        self._paths: dict[int, tuple[Step, ...]] = {0: ()}
        self._epoch = 0

    def path(self, node: int) -> tuple[Step, ...]:
        """Return the path to a node that the tree says has been explained."""
        return self._paths[node]

    def add(self, node: int, path: tuple[Step, ...], epoch: int) -> None:
        """Keep the path to a node; those of an earlier epoch are out of date, and the tree knows it."""
        if epoch != self._epoch:
            self._paths = {0: ()}
            self._epoch = epoch
        self._paths[node] = path


class _LearnedRecords(Sequence[Learned | None]):
    """What learning each record did; made when asked for, since most did nothing that is told."""

    def __init__(
        self,
        labels: NDArray[np.int32],
        spent: NDArray[np.uint64],
        changes: dict[int, tuple[list[TreeChange], str, Size]],
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


def run_batch(learner: "ID5R", codes: NDArray[np.uint32], labels: NDArray[np.int32]) -> BatchResult:
    """Answer each row, then learn it, in order."""
    tree = learner.tree
    batch = _core.Batch(len(labels), len(learner.codes.classes))
    answers, _, nodes, counts, spent = batch.arrays()
    predictions: list[Prediction] = []
    changes: dict[int, tuple[list[TreeChange], str, Size]] = {}
    paths = learner.explanations
    start = 0

    def tell(index: int) -> None:
        told = learner.publish()
        if told:
            changes[index] = (told, digest(learner.published), size(learner.published))

    while start < len(labels):
        reached, why = tree.run(codes, labels, start, _STOP, batch)
        for i in range(start, reached):
            path = paths.path(int(nodes[i]))
            predictions.append(learner.prediction(int(answers[i]), counts[i].tolist(), path, ()))
        start = reached
        if why == _core.CHANGED:
            tell(reached - 1)
        elif why == _core.UNEXPLAINED:
            start += _explain(learner, codes, labels, reached, (spent, nodes, predictions))
            if start > reached:
                tell(reached)
    after = np.vstack([spent, np.asarray([tree.operations()], dtype=np.uint64)])
    return BatchResult(predictions, _LearnedRecords(labels, after, changes))


def _explain(
    learner: "ID5R",
    codes: NDArray[np.uint32],
    labels: NDArray[np.int32],
    index: int,
    results: tuple[NDArray[np.uint64], NDArray[np.uint64], list[Prediction]],
) -> int:
    """Explain the answer to a row; return 1 where the row has been dealt with altogether.

    An ordinary answer is explained once and for all; one to a value that is missing or was never seen, for
    this row only.
    """
    spent, nodes, predictions = results
    row = tuple(codes[index].astype(np.int32).tolist())
    _, how, _, steps, _ = learner.tree.answer(row)
    if how == _core.PLAIN:
        learner.explanations.add(int(nodes[index]), learner.steps(steps), learner.tree.epoch)
        learner.tree.explained()
        return 0
    prediction = learner.answer(row)
    predictions.append(prediction)
    spent[index] = learner.tree.operations()
    label = int(labels[index])
    if label >= 0 and not (learner.options.train == "errors" and learner.is_right(prediction, label)):
        learner.tree.learn(row, label)
    return 1
