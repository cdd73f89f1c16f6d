"""Test, then train, without Kafka: what a learner predicts for each instance before it learns from it."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import msgspec

from learners.codes import Coded
from learners.learner import Labels, Learner
from learners.ops import OPERATIONS
from learners.outline import digest, size
from learners.schema import Instance, InstanceError
from learners.vocabulary import Row
from stream.errors import RejectedRecord
from stream.files.records import FileRecord
from stream.model.row_decoder import Codings, RowDecoder, Segment
from stream.native.rows import RowReader
from stream.records.json_decoder import Decoder
from stream.records.record import Partition, Record

BATCH = 256
"""How many rows go to the learner in one call; it answers and learns them one by one all the same."""


T = TypeVar("T")
_NO_TOPIC = Partition("file", 0)


class Evaluation(msgspec.Struct, frozen=True):
    """The result of a run; the object that `espalier evaluate --json` prints.

    Attributes:
        records: How many instances were predicted and learned; others are counted below.
        correct: How many of the predictions were right.
        accuracy: The share of those; None where there was no record.
        nodes: The nodes of the tree at the end.
        leaves: Its leaves.
        depth: The tests on its longest path.
        digest: Its name; equal trees have equal digests.
        operations: What was spent on learning, in the papers' units.
        changes: How many changes of the tree there were, those of counts alone not among them.
        retained: How many instances the tree stands for.
        seconds: CPU time spent on decoding, predicting and learning.
        unlabelled: How many records had no label and were only predicted; unset where all had one.
        dead_letters: How many records an agent would refuse, by reason; unset where there is none.
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
    unlabelled: int | msgspec.UnsetType = msgspec.UNSET
    dead_letters: dict[str, int] | msgspec.UnsetType = msgspec.UNSET


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
        advance: Told now and then how many more rows have been processed.

    Example:
        >>> from learners.registry import make_learner
        >>> sky = [({"sky": "blue"}, "dry"), ({"sky": "grey"}, "rain"), ({"sky": "blue"}, "dry")]
        >>> result = evaluate([Instance(*one) for one in 4 * sky], make_learner("id5r"))
        >>> result.records, result.correct, result.nodes
        (12, 9, 3)
    """
    run = _Run(learner, each)
    for batch in _in_batches(enumerate(rows, start=1)):
        waiting = _Waiting(run)
        for number, (values, label) in batch:
            try:
                with run.stopwatch:
                    coded = learner.codes.encode(values, label)
            except InstanceError as error:
                if refused is not None:
                    refused(number, error)
            else:
                waiting.add(number, coded)
        waiting.learn()
        if advance is not None:
            advance(len(batch))
    return run.result()


def evaluate_records(
    records: Iterable[FileRecord],
    learner: Learner,
    decoder: Decoder,
    *,
    each: Callable[[Judged], object] | None = None,
    refused: Callable[[FileRecord, RejectedRecord], object] | None = None,
    noted: Callable[[FileRecord, str, str], object] | None = None,
    retired: Callable[[FileRecord, str], object] | None = None,
    advance: Callable[[int], object] | None = None,
) -> Evaluation:
    """Predict and learn records in order, read exactly as a worker reads those of a topic.

    Args:
        records: The records.
        learner: A learner, usually a new one.
        decoder: How they are taken apart: the label, the id, and what else an agent is configured with.
        each: Called with every record that has a label.
        refused: Called with every record that would become a dead letter.
        noted: Called with a record, a field of it that is read as missing, and the flag that says why.
        retired: Called with a record that brings one value too many, and the attribute that is given up.
        advance: Called now and then with how many more records have been processed.

    Example:
        >>> from learners.registry import make_learner
        >>> values = [b'{"x": 1, "class": "a"}', b'{"x": 2}', b"[]", b"{"]
        >>> records = [FileRecord(*pair) for pair in enumerate(values, start=1)]
        >>> result = evaluate_records(records, make_learner("id5r"), Decoder("class", "id", 1000, 8))
        >>> result.records, result.unlabelled, result.dead_letters
        (1, 1, {'not_object': 1, 'json_syntax': 1})
    """
    run = _Run(learner, each)
    dead: dict[str, int] = {}
    batch: list[FileRecord] = []
    first = 0

    def refuse(record: Record, error: RejectedRecord) -> None:
        dead[error.reason] = dead.get(error.reason, 0) + 1
        if refused is not None:
            refused(batch[record.offset - first], error)

    def note(record: Record, field: str, flag: str) -> None:
        if noted is not None:
            noted(batch[record.offset - first], field, flag)

    intake = RowDecoder(learner.codes, decoder, _reader_of(learner, decoder), refuse, note)
    for batch in _in_batches(iter(records)):
        segments = intake.segments(
            [Record(_NO_TOPIC, first + place, one.value) for place, one in enumerate(batch)]
        )
        while (segment := run.next_of(segments)) is not None:
            if segment.retired:
                run.retire(segment.retired)
                cause = batch[segment.records[0].offset - first]
                if retired is not None:
                    for attribute in segment.retired:
                        retired(cause, learner.codes.attributes[attribute])
            # A learner that keeps what it is given must not get numbers of numpy, which no snapshot can hold.
            labels = segment.labels if learner.takes_arrays else segment.labels.tolist()
            run.take(segment.rows, labels, [record.offset + 1 for record in segment.records])
        first += len(batch)
        if advance is not None:
            advance(len(batch))
    return msgspec.structs.replace(run.result(), dead_letters=dead or msgspec.UNSET)


def _reader_of(learner: Learner, decoder: Decoder) -> RowReader | None:
    if not learner.takes_arrays:
        return None
    return RowReader(learner.codes, decoder.label, decoder.id_field, decoder.max_bytes, decoder.max_depth)


def _in_batches(rows: Iterator[T]) -> Iterator[list[T]]:
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
    """What has been predicted and learned so far."""

    def __init__(self, learner: Learner, each: Callable[[Judged], object] | None) -> None:
        self.stopwatch = _Stopwatch()
        self._learner = learner
        self._each = each
        self._records = 0
        self._correct = 0
        self._unlabelled = 0
        self._changes = 0
        self._digest = digest(learner.outline())
        self._ops = learner.ops.copy()

    def next_of(self, segments: Iterator[Segment]) -> Segment | None:
        """Return the next segment, or None at the end; the time it takes to decode it counts."""
        with self.stopwatch:
            return next(segments, None)

    def retire(self, attributes: Sequence[int]) -> None:
        """Give up attributes that have too many values."""
        with self.stopwatch:
            self._changes += len(self._learner.retire(attributes))
        self._digest = digest(self._learner.outline())

    def take(self, rows: Sequence[Row] | Codings, labels: Labels, numbers: Sequence[int]) -> None:
        """Predict and learn rows of one width; a label of -1 is only predicted."""
        with self.stopwatch:
            result = self._learner.learn_batch(rows, labels)
        classes = self._learner.codes.classes
        for number, code, prediction, learned in zip(
            numbers, labels, result.predictions, result.learned, strict=True
        ):
            if learned is None:
                self._unlabelled += 1
                continue
            label = classes[code]
            self._records += 1
            self._correct += prediction.answer == label
            self._changes += len(learned.changes)
            self._digest = learned.digest or self._digest
            if self._each is not None:
                self._each(Judged(number, prediction.answer, label, self._digest))

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
            unlabelled=self._unlabelled or msgspec.UNSET,
        )


class _Waiting:
    """Encoded rows of one width that are to be learned in one call."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._rows: list[Row] = []
        self._labels: list[int] = []
        self._numbers: list[int] = []

    def add(self, number: int, coded: Coded) -> None:
        """Add a row; those before it are learned first where it is wider or retires an attribute."""
        if coded.retired or (self._rows and len(coded.row) != len(self._rows[-1])):
            self.learn()
        if coded.retired:
            self._run.retire(coded.retired)
        self._rows.append(coded.row)
        self._labels.append(coded.label)
        self._numbers.append(number)

    def learn(self) -> None:
        """Learn the rows that wait."""
        if self._rows:
            self._run.take(self._rows, self._labels, self._numbers)
        self._rows, self._labels, self._numbers = [], [], []
