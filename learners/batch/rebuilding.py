"""A batch tree in the stream: records are kept, and now and then the tree is built anew and swapped whole.

When that happens is a function of the records and not of a clock, so that a replay gives the same trees: work
is counted in values looked at. A build stands for the records that were there when it began. Large ones are
begun some records before their tree is needed; whoever owns the learner may have them done meanwhile
(`background`), and gets the same tree if not.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Annotated, ClassVar, Literal, NamedTuple, Self

import msgspec
import numpy as np

from learners.batch.reading import UNSEEN, Reading
from learners.batch.retained import Retained
from learners.batch.state import State, dumped, loaded
from learners.batch.table import Floats, Ints, Sparse, Table
from learners.batch.trees import BatchTree
from learners.batch.values import numbers_of, stored, unsigned, with_zeros
from learners.change import TreeChange, diff
from learners.codes import MISSING_CODE, Codes, Row, growth_from
from learners.learner import BatchResult, Labels, Learned, Options, Prediction, Rows
from learners.ops import OpCounts
from learners.outline import Outline
from learners.schema import Instance, Limits, Schema, Values
from learners.snapshot import SnapshotError, pack, unpack

RECORD_WORK = 256
VALUE_WORK = 8
"""What a record and each of its values cost in the stream, counted in values that a build looks at."""
BYTES = 8
"""How much memory a value takes that is kept."""
SMALL = 1_000
"""Trees of at most so many records are built at once."""
AHEAD = 8
"""Larger builds are begun when an eighth of the time to the next is still to come."""
Positive = Annotated[int, msgspec.Meta(ge=1)]
Job = Callable[[], BatchTree]


class RebuildingOptions(Options, frozen=True):
    """Settings of a batch tree in the stream.

    Attributes:
        window: How many records a tree is built from, the last ones; none: as many as are kept.
        max_instances: How many records are kept at the most.
        max_bytes: How much memory they may take; wide records are fewer.
        absent: What a number that a record does not have stands for: it is missing, or it is zero, as counts
            of words are, which are then learned from without their zeros.
        rebuild_share: The share of all work that goes into building trees; a tree is built anew at the latest
            when there are twice as many records. Work is counted, not timed.
        rebuild_every: A tree is built every so many records, whatever it costs; none: by its share.
        confidence: C4.5's CF: the lower, the more is pruned; none: nothing is.
        min_records: How many records at least two branches of a test have.
    """

    window: Positive | None = None
    max_instances: Positive = 100_000
    max_bytes: Annotated[int, msgspec.Meta(ge=1_000_000)] = 1_000_000_000
    absent: Literal["missing", "zero"] = "missing"
    rebuild_share: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.2
    rebuild_every: Positive | None = None
    confidence: Annotated[float, msgspec.Meta(gt=0, le=0.5)] | None = 0.25
    min_records: Positive = 2


class Grown(NamedTuple):
    """A tree in use, and which of the codes' classes are its own."""

    tree: BatchTree
    classes: list[int]
    reading: Reading


class Rebuilding(ABC):
    """A learner whose tree is that of a batch learner, built anew from time to time."""

    name: ClassVar[str]
    options_type: ClassVar[type[Options]] = RebuildingOptions
    takes_arrays: ClassVar[bool] = True
    takes_numbers: ClassVar[bool] = True

    def __init__(
        self, schema: Schema | None = None, options: Options | None = None, limits: Limits | None = None
    ) -> None:
        settings = self.options_type() if options is None else options
        if not isinstance(settings, RebuildingOptions) or not isinstance(settings, self.options_type):
            raise TypeError(f"{self.name} takes {self.options_type.__name__}, not {type(settings).__name__}")
        self.options: RebuildingOptions = settings
        self.schema = schema or Schema()
        self.codes = Codes(self.schema, limits, numbers=True)
        self.ops = OpCounts()
        self.background: Callable[[Job], Job] | None = None
        """Begins a build and returns what waits for it; None: builds are done when they are needed."""
        self._kept = Retained(len(self.codes.attributes))
        self._grown: Grown | None = None
        self._since = 0  # records since the last build began
        self._begins = 1  # how many there are to be when the next one begins
        self._due = 1  # how many there are to be when its tree is swapped in
        self._building = 0  # how many of the kept records the tree being built stands for; 0: none is
        self._job: Job | None = None

    @abstractmethod
    def _grow(self, table: Table) -> BatchTree:
        """Return the batch tree of a table."""

    # ---- learning

    def learn_one(self, instance: Instance) -> list[TreeChange]:
        """Learn from an instance and return how the tree changed."""
        return self.learn(*self.codes.encode(instance.values, instance.label))

    def learn(self, row: Row, label: int) -> list[TreeChange]:
        """Learn from an instance given as codes."""
        return self._learn_some(self._as_x([row]), np.array([label], dtype=np.int32))

    def learn_batch(self, rows: Rows, labels: Labels) -> BatchResult:
        """Answer each record, then learn from it."""
        if not len(rows):
            return BatchResult([], [], [])
        x = self._as_x(rows)
        named = np.asarray(labels, dtype=np.int32)
        predictions: list[Prediction] = []
        learned: list[Learned | None] = []
        changed: list[int] = []
        stored = Learned([], OpCounts(instances_stored=1))
        while len(predictions) < len(named):
            start = len(predictions)
            # Nothing happens to the tree before the next build begins or ends.
            known = np.flatnonzero(named[start:] >= 0)
            quiet = self._quiet()
            end = start + (int(known[quiet - 1]) + 1 if len(known) >= quiet else len(named) - start)
            predictions += self._answers(x[start:end])
            chosen = start + known[:quiet]
            learned += [stored if label >= 0 else None for label in named[start:end].tolist()]
            if len(chosen):
                before = self.ops.copy()
                changes = self._learn_some(x[chosen], named[chosen])
                spent = self.ops - before
                spent.instances_stored = 1
                last = int(chosen[-1])
                learned[last] = Learned.of(changes, spent, self.outline())
                if changes:
                    changed.append(last)
        return BatchResult(predictions, learned, changed)

    def _quiet(self) -> int:
        """Return how many records can be learned, the last one included, until something happens."""
        return (self._due if self._building else self._begins) - self._since

    def _learn_some(self, x: Floats, labels: Ints) -> list[TreeChange]:
        """Keep records, no more than `_quiet` of them; then begin or end a build if it is time."""
        self._kept.add(x, labels)
        self.ops.instances_stored += len(x)
        self._since += len(x)
        if not self._building:
            self._kept.drop(max(0, len(self._kept) - self._most))
            if self._since >= self._begins:
                self._begin()
        return self._swap() if self._building and self._since >= self._due else []

    @property
    def _most(self) -> int:
        """How many records a tree is built from at the most."""
        fitting = max(1, self.options.max_bytes // (BYTES * (self._kept.width + 1)))
        return min(self.options.window or fitting, self.options.max_instances, fitting)

    def _begin(self) -> None:
        """Begin a build of the records that are kept now."""
        gone = self.ops.instances_stored - len(self._kept)
        self.ops.instances_forgotten = gone
        self._building = len(self._kept)
        self._start_job()

    def _start_job(self) -> None:
        x, labels = self._kept.x[: self._building], self._kept.labels[: self._building]
        if self.background is not None:
            # Rows may move while it builds.
            x, labels = x.copy(), labels.copy()
        classes, job = self._job_of(x, labels)
        self._classes = classes
        self._job = job if self.background is None else self.background(job)

    def _job_of(self, x: Floats, labels: Ints) -> tuple[list[int], Job]:
        """Return the classes of a build, and what does it. Only these records decide what comes of it."""
        classes = sorted(np.unique(labels).tolist(), key=self.codes.class_order)
        places = np.zeros(max(classes) + 1, dtype=np.int32)
        places[classes] = np.arange(len(classes))
        known = np.isfinite(x)
        top = np.where(known, x, -1).max(axis=0).astype(np.int64) + 1 if x.shape[1] else np.zeros(0, np.int64)
        numeric = [self.codes.is_numeric(attribute) for attribute in range(x.shape[1])]
        arity = np.where(numeric, 0, top).astype(np.int32)
        rows: Floats | Sparse = np.ascontiguousarray(x)
        if self.options.absent == "zero":
            whole = with_zeros(x, arity == 0)
            rows = whole if arity.any() else stored(whole)
        table = Table(rows, places[labels], len(classes), np.ascontiguousarray(arity))
        return classes, partial(self._grow, table)

    def _swap(self) -> list[TreeChange]:
        """Put the tree that was built in the place of the one in use."""
        assert self._job is not None
        tree = self._job()
        self.ops.rebuilds += 1
        self.ops.instance_count_additions += tree.looked
        records, self._building, self._job = self._building, 0, None
        self._since = len(self._kept) - records
        every = self.options.rebuild_every or self._pays_after(tree.looked, records)
        self._due = max(self._since + 1, every)
        # A large tree is begun ahead of the time, but not before this one has come.
        ahead = 0 if len(self._kept) <= SMALL else min(self._due // AHEAD, self._most)
        self._begins = max(self._since + 1, self._due - ahead)
        self._kept.drop(max(0, len(self._kept) - self._most))
        before = self.outline()
        self._grown = self._named(tree, self._classes)
        return diff(before, self._grown.reading.outline)

    def _pays_after(self, work: int, records: int) -> int:
        """Return after how many records the next build has no more than its share of all work.

        Args:
            work: What the last build has cost.
            records: How many records it was of. The next one costs as much for each record.
        """
        share = self.options.rebuild_share
        saved = (RECORD_WORK + VALUE_WORK * self._kept.width) * share / (1 - share)
        cost = work / records
        waits = cost * self._most / saved
        if records < self._most:
            # Early trees are worth more than their share: none stays beyond twice its records, and the first
            # ones, which cost next to nothing, not beyond a tenth more.
            longest = records / 10 if records <= SMALL else records
            waits = min(waits, longest, cost * records / (saved - cost) if saved > cost else waits)
        return 1 + int(waits)

    # ---- from codes to numbers

    def _as_x(self, rows: Rows) -> Floats:
        """Return rows as numbers: nominal values count from 0; what is missing is NaN."""
        codes = unsigned(rows)
        x = codes.astype(np.float64) - 1
        x[codes == MISSING_CODE] = np.nan
        x[codes == np.iinfo(codes.dtype).max] = UNSEEN
        for attribute in range(x.shape[1]):
            if self.codes.is_numeric(attribute):
                x[:, attribute] = numbers_of(codes[:, attribute].astype(np.uint64))
        return x

    # ---- reading

    def predict_one(self, values: Values) -> Prediction:
        """Answer a description."""
        return self.answer(self.codes.look_up(values))

    def answer(self, row: Row) -> Prediction:
        """Answer a description given as codes."""
        return self._answers(self._as_x([row]))[0]

    def _answers(self, x: Floats) -> list[Prediction]:
        if self._grown is None:
            return [Prediction(None)] * len(x)
        width = len(self._grown.tree.numeric)
        if x.shape[1] < width:
            x = np.hstack([x, np.full((len(x), width - x.shape[1]), np.nan)])
        x = np.ascontiguousarray(x[:, :width])
        if self.options.absent == "zero":
            x = with_zeros(x, self._grown.tree.numeric > 0)
        return self._grown.reading.answers(x)

    def outline(self) -> Outline | None:
        """Return the tree as data; None while nothing has been learned."""
        return None if self._grown is None else self._grown.reading.outline

    @property
    def outline_lately(self) -> Outline | None:
        """The tree as data."""
        return self.outline()

    @property
    def retained(self) -> int:
        """How many instances are kept: those that the next tree is built from, at the most."""
        return len(self._kept)

    def _named(self, tree: BatchTree, classes: list[int]) -> Grown:
        names = [self.codes.classes[code] for code in classes]
        reading = Reading(tree, self.codes.attributes, lambda a, v: self.codes.values[a][v + 1], names)
        return Grown(tree, classes, reading)

    # ---- snapshots

    def snapshot(self) -> bytes:
        """Return everything that is needed to go on exactly as if nothing had happened."""
        return pack(
            self.name,
            State(
                schema=self.schema,
                options=msgspec.to_builtins(self.options),
                codes=list(self.codes.dump()),
                ops=list(self.ops.as_tuple()),
                width=self._kept.width,
                x=self._kept.x.astype("<f8").tobytes(),
                labels=self._kept.labels.astype("<i4").tobytes(),
                tree=None if self._grown is None else dumped(self._grown.tree, self._grown.classes),
                since=self._since,
                begins=self._begins,
                due=self._due,
                building=self._building,
            ),
        )

    @classmethod
    def restore(cls, data: bytes, limits: Limits | None = None) -> Self:
        """Return the learner that `snapshot` described."""
        state = unpack(data, cls.name, State)
        try:
            learner = cls(state.schema, msgspec.convert(state.options, cls.options_type), limits)
            learner.codes.grow(growth_from(state.codes))
            learner.ops = OpCounts(*state.ops)
            labels = np.frombuffer(state.labels, dtype="<i4").astype(np.int32)
            x = np.frombuffer(state.x, dtype="<f8").astype(np.float64).reshape(len(labels), state.width)
            if len(labels) and not 0 <= labels.min() <= labels.max() < len(learner.codes.classes):
                raise SnapshotError("the snapshot has classes it does not name")
            if not 0 <= state.width <= len(learner.codes.attributes):
                raise SnapshotError(f"the snapshot has rows of {state.width} attributes it does not name")
            if not 0 <= state.building <= len(labels):
                raise SnapshotError(f"the snapshot builds from {state.building} of {len(labels)} instances")
            learner._kept = Retained(state.width)
            learner._kept.add(x, labels)
            learner._since, learner._building = state.since, state.building
            learner._begins, learner._due = state.begins, state.due
            if state.tree is not None:
                learner._grown = learner._named(*loaded(state.tree))
            if state.building:
                learner._start_job()
        except (msgspec.ValidationError, ValueError, TypeError, LookupError) as error:
            raise SnapshotError(f"the snapshot does not make a learner: {error}") from error
        return learner
