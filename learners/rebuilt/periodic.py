"""A batch tree in the stream: records are kept, and now and then the tree is built again and swapped whole.

When that happens is a function of the records and not of a clock, so that a replay gives the same trees: work
is counted in values looked at. A build stands for the records that were there when it began. Large ones are
begun some records before their tree is needed; whoever owns the learner may have them done meanwhile
(`background`), and gets the same tree if not.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learners.learner import BatchResult, Labels, Learned, Options, Prediction, Rows
from learners.ops import OpCounts
from learners.outline import Outline
from learners.rebuilt.options import PeriodicRebuildOptions
from learners.rebuilt.reading import UNSEEN, Reading
from learners.rebuilt.retained import Retained
from learners.rebuilt.state import State, dumped, loaded
from learners.rebuilt.table import Floats, Ints, Sparse, Table
from learners.rebuilt.trees import BatchTree
from learners.rebuilt.values import Codes, numbers_of, stored, unsigned, with_zeros
from learners.tree_learner import LearnerState, TreeLearner
from learners.vocabulary import MISSING_CODE, Row

RECORD_WORK = 256
VALUE_WORK = 8
"""What a record and each of its values cost in the stream, counted in values that a build looks at."""
BYTES = 8
"""How much memory a value takes that is kept."""
SMALL = 1_000
"""Trees of at most N records are built at once."""
AHEAD = 8
"""Larger builds are begun when an eighth of the time to the next is still to come."""
Job = Callable[[], BatchTree]


class Grown(NamedTuple):
    """A tree in use, and which of the codes' classes are its own."""

    tree: BatchTree
    classes: list[int]
    reading: Reading


class PeriodicRebuild(TreeLearner[State]):
    """A learner whose tree is that of a batch learner, built again from time to time."""

    options_type: ClassVar[type[Options]] = PeriodicRebuildOptions
    state_type: ClassVar[type[LearnerState]] = State
    takes_arrays: ClassVar[bool] = True
    takes_numbers: ClassVar[bool] = True
    options: PeriodicRebuildOptions

    def _setup(self) -> None:
        self.background: Callable[[Job], Job] | None = None
        """Begins a build and returns what waits for it; None: builds are done when they are needed."""
        self._kept = Retained(len(self.codes.attributes))
        self._width = self._kept.width  # up to the last attribute that is declared or learned with a value
        self._grown: Grown | None = None
        self._since = 0  # records since the last build began
        self._begins = 1  # how many there are to be when the next one begins
        self._due = 1  # how many there are to be when its tree is swapped in
        self._building = 0  # how many of the kept records the tree being built stands for; 0: none is
        self._job: Job | None = None
        self._classes: list[int] = []  # of the tree being built
        self._columns = 0  # how many attributes it has

    @abstractmethod
    def _grow(self, table: Table) -> BatchTree:
        """Return the batch tree of a table."""

    # ---- learning

    def _train(self, row: Row, label: int) -> bool:
        return self._learn_some(self._as_x(unsigned([row])), np.array([label], dtype=np.int32))

    def _leave_out(self, attributes: Sequence[int]) -> None:
        """Build the tree again at once, of records that lack the attributes."""
        if self._kept.blank(attributes):
            # A build that is under way is of records that still have them.
            self._building, self._job = 0, None
            self._kept.drop(max(0, len(self._kept) - self._most))
            self._begin()
            self._swap()

    def _checked(self, rows: Rows, labels: Labels) -> tuple[Codes, Sequence[int]]:
        codes, classes = unsigned(rows), np.asarray(labels, dtype=np.int32)
        self.codes.check_batch(codes, classes)
        return codes, classes.tolist()

    def _learn_all(self, rows: Rows, labels: Sequence[int]) -> BatchResult:
        x, named = self._as_x(unsigned(rows)), np.asarray(labels, dtype=np.int32)
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
                changes = self.publish() if self._learn_some(x[chosen], named[chosen]) else []
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

    def _learn_some(self, x: Floats, labels: Ints) -> bool:
        """Keep records, no more than `_quiet` of them; return whether the tree was swapped.

        A build is begun or ended after the last of them, if it is time.
        """
        self._kept.add(x, labels)
        # Rows are as wide as their batch, which may name attributes that only a later record has.
        present = np.flatnonzero(~np.isnan(x[:, self._width :]).all(axis=0))
        self._width += int(present[-1]) + 1 if len(present) else 0
        self.ops.instances_stored += len(x)
        self._since += len(x)
        if not self._building:
            self._kept.drop(max(0, len(self._kept) - self._most))
            if self._since >= self._begins:
                self._begin()
        ends = self._building > 0 and self._since >= self._due
        if ends:
            self._swap()
        return ends

    @property
    def _most(self) -> int:
        """How many records a tree is built from at the most."""
        fitting = max(1, self.options.max_bytes // (BYTES * (self._width + 1)))
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
        classes, columns, job = self._job_of(x, labels)
        self._classes, self._columns = classes, len(columns)
        self._job = job if self.background is None else self.background(job)

    def _job_of(self, x: Floats, labels: Ints) -> tuple[list[int], NDArray[np.intp], Job]:
        """Return the classes and attributes of a build, and what does it.

        Only these records decide what comes of it: an attribute that none of them has is none.
        """
        classes = sorted(np.unique(labels).tolist(), key=self.codes.class_order)
        places = np.zeros(max(classes) + 1, dtype=np.int32)
        places[classes] = np.arange(len(classes))
        columns = np.flatnonzero(~np.isnan(x).all(axis=0))
        there = np.ascontiguousarray(x[:, columns])
        arity = np.zeros(len(columns), dtype=np.int32)
        for place, attribute in enumerate(columns.tolist()):
            if not self.codes.is_numeric(attribute):
                arity[place] = np.nanmax(there[:, place]) + 1
        rows: Floats | Sparse = there
        if self.options.absent == "zero":
            whole = with_zeros(there, arity == 0)
            rows = whole if arity.any() else stored(whole)
        table = Table(rows, places[labels], len(classes), arity)
        return classes, columns, partial(self._grow_wide, table, columns, int(x.shape[1]))

    def _grow_wide(self, table: Table, columns: NDArray[np.intp], width: int) -> BatchTree:
        """Return the batch tree of a table that has some of the attributes, as one of all."""
        return self._grow(table).widened(columns, width)

    def _swap(self) -> None:
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
        self._grown = self._named(tree, self._classes)

    def _pays_after(self, work: int, records: int) -> int:
        """Return after how many records the next build has no more than its share of all work.

        Args:
            work: What the last build has cost.
            records: How many records it was of. The next one costs as much for each record.
        """
        share = self.options.rebuild_share
        saved = (RECORD_WORK + VALUE_WORK * self._columns) * share / (1 - share)
        cost = work / records
        waits = cost * self._most / saved
        if records < self._most:
            # Early trees are worth more than their share: none stays beyond twice its records, and the first
            # ones, which cost next to nothing, not beyond a tenth more.
            longest = records / 10 if records <= SMALL else records
            waits = min(waits, longest, cost * records / (saved - cost) if saved > cost else waits)
        return 1 + int(waits)

    def _as_x(self, codes: Codes) -> Floats:
        """Return rows as numbers: nominal values count from 0; what is missing is NaN."""
        x = codes.astype(np.float64) - 1
        x[codes == MISSING_CODE] = np.nan
        x[codes == np.iinfo(codes.dtype).max] = UNSEEN
        for attribute in range(x.shape[1]):
            if self.codes.is_numeric(attribute):
                x[:, attribute] = numbers_of(codes[:, attribute].astype(np.uint64))
        return x

    # ---- reading

    def answer(self, row: Row) -> Prediction:
        """Predict the class of a description given as codes."""
        return self._predict_rows([row])[0]

    def _predict_rows(self, rows: Rows) -> list[Prediction]:
        return self._answers(self._as_x(unsigned(rows)))

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
    def retained(self) -> int:
        """How many instances are kept: those that the next tree is built from, at the most."""
        return len(self._kept)

    def _named(self, tree: BatchTree, classes: list[int]) -> Grown:
        names = [self.codes.classes[code] for code in classes]
        reading = Reading(tree, self.codes.attributes, lambda a, v: self.codes.values[a][v + 1], names)
        return Grown(tree, classes, reading)

    # ---- snapshots

    def _dump(self) -> State:
        return State(
            *self._header(),
            ops=list(self.ops.as_tuple()),
            width=self._kept.width,
            x=self._kept.x.astype("<f8").tobytes(),
            labels=self._kept.labels.astype("<i4").tobytes(),
            tree=None if self._grown is None else dumped(self._grown.tree, self._grown.classes),
            since=self._since,
            begins=self._begins,
            due=self._due,
            building=self._building,
            learned_width=self._width,
        )

    def _load(self, state: State) -> None:
        self._ops = OpCounts(*state.ops)
        x, labels = state.records(len(self.codes.attributes), len(self.codes.classes))
        self._width = state.width if state.learned_width is None else state.learned_width
        self._kept = Retained(state.width)
        self._kept.add(x, labels)
        self._since, self._building = state.since, state.building
        self._begins, self._due = state.begins, state.due
        if state.tree is not None:
            self._grown = self._named(*loaded(state.tree))
        if state.building:
            self._start_job()
