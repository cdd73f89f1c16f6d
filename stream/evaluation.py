"""Test, then train, without Kafka: what a learner answers to each instance before it learns from it."""

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from typing import NamedTuple

import msgspec

from learners.codes import Row
from learners.learner import Learner
from learners.ops import OPERATIONS
from learners.outline import digest, size
from learners.schema import Instance, InstanceError

BATCH = 256
"""How many rows go to the learner in one call; it answers and learns them one by one all the same."""


class Evaluation(msgspec.Struct, frozen=True):
    """What a run came to; the object that `espalier evaluate --json` prints.

    Attributes:
        records: How many instances were answered and learned; those that were refused do not count.
        correct: How many of them were answered rightly, before they were learned.
        accuracy: The share of those; None where there was no record.
        nodes: The nodes of the tree at the end.
        leaves: Its leaves.
        depth: The tests on its longest path.
        digest: Its name; equal trees have equal digests.
        operations: What was spent on learning, in the papers' units.
        changes: How many changes of the tree there were, those of counts alone not among them.
        retained: How many instances the tree stands for.
        seconds: CPU time spent on answering and learning.
    """

    records: int
    correct: int
    accuracy: float | None
    nodes: int
    leaves: int
    depth: int
    digest: str
    operations: dict[str, int]
    changes: int
    retained: int
    seconds: float


class Judged(msgspec.Struct, frozen=True):
    """One record of a run: a line of `espalier evaluate --trace`.

    Attributes:
        n: The place of the row among those that were given; the first is 1.
        prediction: The answer before the row was learned; None where there was none.
        label: The class it belongs to.
        digest: The tree after the row was learned.
    """

    n: int
    prediction: str | None
    label: str
    digest: str


class _Encoded(NamedTuple):
    """A row that fits, as codes."""

    number: int
    row: Row
    label: int


def evaluate(
    rows: Iterable[Instance],
    learner: Learner,
    *,
    each: Callable[[Judged], object] | None = None,
    refused: Callable[[int, InstanceError], object] | None = None,
    advance: Callable[[int], object] | None = None,
) -> Evaluation:
    """Answer each row, then learn from it, in order, and return what that came to.

    Args:
        rows: Descriptions and their classes.
        learner: A learner, usually a new one. It goes on from where it stands.
        each: Told of every record.
        refused: Told the place of a row that does not fit, and why; the run goes on without it.
        advance: Told now and then how many more rows have been worked off.

    Example:
        >>> from learners import make_learner
        >>> sky = [({"sky": "blue"}, "dry"), ({"sky": "grey"}, "rain"), ({"sky": "blue"}, "dry")]
        >>> told = evaluate([Instance(*one) for one in sky], make_learner("id5r"))
        >>> told.records, told.correct, told.nodes
        (3, 1, 3)
    """
    run = _Run(learner, each)
    for batch in _in_batches(enumerate(rows, start=1)):
        encoded: list[_Encoded] = []
        with run.stopwatch:
            for number, (values, label) in batch:
                try:
                    encoded.append(_Encoded(number, *learner.codes.encode(values, label)))
                except InstanceError as error:
                    if refused is not None:
                        refused(number, error)
        # Rows of one call have one width, which grows when an attribute appears.
        for _, alike in groupby(encoded, key=lambda one: len(one.row)):
            run.take(list(alike))
        if advance is not None:
            advance(len(batch))
    return run.result()


def _in_batches(rows: Iterator[tuple[int, Instance]]) -> Iterator[list[tuple[int, Instance]]]:
    while batch := list(islice(rows, BATCH)):
        yield batch


class _Stopwatch:
    """CPU seconds spent inside `with` blocks."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._started


class _Run:
    """What has been answered and learned so far."""

    def __init__(self, learner: Learner, each: Callable[[Judged], object] | None) -> None:
        self.stopwatch = _Stopwatch()
        self._learner = learner
        self._each = each
        self._records = 0
        self._correct = 0
        self._changes = 0
        self._digest = digest(learner.outline())
        self._ops = learner.ops.copy()

    def take(self, batch: list[_Encoded]) -> None:
        """Answer and learn some rows."""
        with self.stopwatch:
            result = self._learner.learn_batch([one.row for one in batch], [one.label for one in batch])
        for one, prediction, learned in zip(batch, result.predictions, result.learned, strict=True):
            assert learned is not None
            label = self._learner.codes.classes[one.label]
            self._records += 1
            self._correct += prediction.answer == label
            self._changes += len(learned.changes)
            self._digest = learned.digest or self._digest
            if self._each is not None:
                self._each(Judged(one.number, prediction.answer, label, self._digest))

    def result(self) -> Evaluation:
        """Return what it all came to."""
        outline = self._learner.outline()
        nodes, leaves, depth = size(outline)
        spent = (self._learner.ops - self._ops).as_tuple()
        return Evaluation(
            records=self._records,
            correct=self._correct,
            accuracy=self._correct / self._records if self._records else None,
            nodes=nodes,
            leaves=leaves,
            depth=depth,
            digest=digest(outline),
            operations=dict(zip(OPERATIONS, spent, strict=True)),
            changes=self._changes,
            retained=self._learner.retained,
            seconds=self.stopwatch.seconds,
        )
