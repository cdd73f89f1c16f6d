"""IIDT in the stream: names, settings, answers, budgets and snapshots."""

from collections import deque
from statistics import NormalDist
from typing import ClassVar, Self, cast

import msgspec
import numpy as np

from learners.anytime._choosing import Policy
from learners.anytime._tree import Node
from learners.anytime.forms import Names, dump_form, load_form
from learners.anytime.growing import Growing
from learners.anytime.options import IIDTEEOptions, IIDTOptions
from learners.anytime.state import State, WorkState
from learners.change import TreeChange, diff
from learners.codes import MISSING_CODE, Codes, Row, growth_from
from learners.learner import (
    FLAG_MISSING,
    FLAG_UNSEEN,
    BatchResult,
    Labels,
    Learned,
    Options,
    Prediction,
    Rows,
    Step,
)
from learners.ops import OpCounts
from learners.outline import Outline
from learners.schema import Instance, Limits, Schema, Values
from learners.snapshot import SnapshotError, pack, unpack


class IIDT:
    """What IIDT-TS and IIDT-EE share. See `learners.learner.Anytime`."""

    name: ClassVar[str]
    options_type: ClassVar[type[Options]]
    takes_arrays: ClassVar[bool] = True
    takes_numbers: ClassVar[bool] = True

    def __init__(
        self, schema: Schema | None = None, options: Options | None = None, limits: Limits | None = None
    ) -> None:
        settings = self.options_type() if options is None else options
        if not isinstance(settings, IIDTOptions) or not isinstance(settings, self.options_type):
            raise TypeError(f"{self.name} takes {self.options_type.__name__}, not {type(settings).__name__}")
        self.options: IIDTOptions = settings
        self.schema = schema or Schema()
        self.codes = Codes(self.schema, limits, numbers=True)
        by_errors = isinstance(settings, IIDTEEOptions)
        confidence = settings.confidence if isinstance(settings, IIDTEEOptions) else 0.25
        policy = Policy(
            by_errors,
            settings.granularity,
            settings.max_repeats,
            settings.retry,
            confidence,
            NormalDist().inv_cdf(1 - confidence),
        )
        regrow = settings.regrow if isinstance(settings, IIDTEEOptions) else None
        self.growing = Growing(policy, settings.seed, regrow)
        self._every = round(1 / settings.hold_out) if settings.hold_out else 0
        self._seen = 0
        self._names = Names(self.codes)
        self._room_for = -1
        self._published: Outline | None = None
        self._version = 0
        self._declared = [len(values) - 1 for values in self.codes.values]
        self._make_room(len(self.codes.attributes))

    # ---- learning

    @property
    def ops(self) -> OpCounts:
        """What learning has cost so far; `rebuilds` are attempts to improve, `discards` those adopted."""
        growing = self.growing
        return OpCounts(
            instance_count_additions=growing.additions,
            expansions=growing.expansions,
            discards=growing.discards,
            collapses=growing.collapses,
            rebuilds=growing.iteration,
            instances_stored=self._seen,
            instances_forgotten=growing.forest.first,
        )

    def learn_one(self, instance: Instance) -> list[TreeChange]:
        """Learn from an instance and return how the tree changed."""
        return self.learn(*self.codes.encode(instance.values, instance.label))

    def learn(self, row: Row, label: int) -> list[TreeChange]:
        """Learn from an instance given as codes."""
        return self._learn(list(row), label)

    def learn_batch(self, rows: Rows, labels: Labels) -> BatchResult:
        """Answer each record, then learn from it."""
        given = rows.tolist() if isinstance(rows, np.ndarray) else [list(row) for row in rows]
        named = labels.tolist() if isinstance(labels, np.ndarray) else labels
        predictions: list[Prediction] = []
        learned: list[Learned | None] = []
        for row, label in zip(given, named, strict=True):
            predictions.append(self._answer(row))
            if label < 0:
                learned.append(None)
                continue
            before = self.ops
            changes = self._learn(row, label)
            learned.append(Learned.of(changes, self.ops - before, self._published))
        return BatchResult.of(predictions, learned)

    def _learn(self, row: list[int], label: int) -> list[TreeChange]:
        growing = self.growing
        self._seen += 1
        if self.codes.grown != self._room_for or len(row) > growing.forest.width:
            self._make_room(len(row))
        if self._every and self._seen % self._every == 0:
            growing.held.append((row, label))
            if len(growing.held) <= self.options.max_held:
                return []
            row, label = growing.held.popleft()
        forest = growing.forest
        growing.learn(forest.put(row, label))
        while forest.next - forest.first > self._most:
            growing.evict()
        return self._publish()

    @property
    def _most(self) -> int:
        window = self.options.window
        return self.options.max_instances if window is None else min(window, self.options.max_instances)

    def _make_room(self, width: int) -> None:
        """Make room for names that were met since the last time, as far as learned records have them."""
        self._room_for = self.codes.grown
        forest = self.growing.forest
        width = max(width, forest.width)
        declared = [*self._declared, *([0] * (width - len(self._declared)))]
        forest.widen(width, declared, [self.codes.is_numeric(a) for a in range(width)])
        classes = len(self.codes.classes)
        forest.ranks = [0] * classes
        for place, code in enumerate(sorted(range(classes), key=self.codes.class_order)):
            forest.ranks[code] = place

    def _publish(self) -> list[TreeChange]:
        """Return how the tree has changed since the last call."""
        if not self.growing.changed:
            return []
        self.growing.changed = False
        before, now = self._published, self._names.shape(self.growing.forest.root)
        self._published = now
        changes = diff(before, now)
        self._version += 1
        return changes

    # ---- improving

    def improve(self, budget: int) -> list[TreeChange]:
        """Spend units of work on a better tree and return how it changed."""
        if budget > 0:
            self.growing.improve(budget)
        return self._publish()

    @property
    def can_improve(self) -> bool:
        """Whether a budget could do anything before more is learned."""
        return self.growing.forest.root is not None and not self.growing.idle

    @property
    def improvements(self) -> int:
        """How many attempts have made the tree better."""
        return self.growing.improvements

    @property
    def worth(self) -> float:
        """What is kept small: leaves, or errors to be expected; 0 while nothing has been learned."""
        root = self.growing.forest.root
        return 0.0 if root is None else self.growing.policy.worth(self.growing.forest, root)

    @property
    def saved(self) -> float:
        """By how much improving has made it smaller since this learner was made or restored."""
        return self.growing.saved

    # ---- reading

    def predict_one(self, values: Values) -> Prediction:
        """Answer a description."""
        return self.answer(self.codes.look_up(values))

    def answer(self, row: Row) -> Prediction:
        """Answer a description given as codes."""
        return self._answer(list(row))

    def _answer(self, row: list[int]) -> Prediction:
        forest = self.growing.forest
        if forest.root is None:
            return Prediction(None)
        if row and min(row) < 0:
            row = [MISSING_ABOVE if code < 0 else code for code in row]
        node, stuck = forest.find(forest.root, row)
        path, lacks = self._path(node, row)
        flags: tuple[str, ...] = (FLAG_MISSING,) if lacks else ()
        if stuck and (node.test >= len(row) or row[node.test] == MISSING_CODE):
            flags = (FLAG_MISSING,)
        elif stuck:
            flags = (*flags, FLAG_UNSEEN)
        return Prediction(self.codes.classes[node.label], self._names.counts(node), path, flags)

    def _path(self, last: Node, row: list[int]) -> tuple[tuple[Step, ...], bool]:
        """Return the decisions on the way to a node, and whether a number was lacking at one of them."""
        known = cast("tuple[int, tuple[Step, ...], list[int]] | None", last.explained)
        if known is None or known[0] != self._version:
            steps: list[Step] = []
            numbers: list[int] = []
            node = self.growing.forest.root
            while node is not last:
                assert node is not None
                code = row[node.test] if node.test < len(row) else MISSING_CODE
                if node.numeric:
                    numbers.append(node.test)
                    code = int(code == MISSING_CODE or code - 1 > node.key)
                steps.append(self._names.step(node, code))
                node = node.branches[code]
            known = last.explained = (self._version, tuple(steps), numbers)
        return known[1], any(a >= len(row) or row[a] == MISSING_CODE for a in known[2])

    def outline(self) -> Outline | None:
        """Return the tree as data; None while nothing has been learned."""
        return self._names.told(self.growing.forest.root)

    @property
    def outline_lately(self) -> Outline | None:
        """The tree as data, whose counts may be older."""
        return self._published

    @property
    def retained(self) -> int:
        """How many instances are kept: those in the tree and those held out."""
        forest = self.growing.forest
        return forest.next - forest.first + len(self.growing.held)

    # ---- snapshots

    def snapshot(self) -> bytes:
        """Return everything that is needed to go on exactly as if nothing had happened."""
        growing = self.growing
        forest, work = growing.forest, growing.work
        start = forest.first if work is None else min(forest.first, work.first)
        rows, labels = forest.dumped(start)
        return pack(
            self.name,
            State(
                schema=self.schema,
                options=msgspec.to_builtins(self.options),
                codes=list(self.codes.dump()),
                width=forest.width,
                known=forest.known,
                lacking=forest.lacking,
                start=start,
                first=forest.first,
                rows=rows,
                labels=labels,
                form=dump_form(forest.root),
                held=list(growing.held),
                seen=self._seen,
                credit=growing.credit,
                idle=growing.idle,
                counters=growing.counted(),
                work=None
                if work is None
                else WorkState(
                    work.path,
                    work.r,
                    work.first,
                    work.next,
                    work.width,
                    work.domain,
                    *work.made.job.position(),
                ),
            ),
        )

    @classmethod
    def restore(cls, data: bytes, limits: Limits | None = None) -> Self:
        """Return the learner that `snapshot` described."""
        state = unpack(data, cls.name, State)
        try:
            learner = cls(state.schema, msgspec.convert(state.options, cls.options_type), limits)
            learner.codes.grow(growth_from(state.codes))
            learner._load(state)
        except (msgspec.ValidationError, ValueError, TypeError, LookupError, OverflowError) as error:
            raise SnapshotError(f"the snapshot does not make a learner: {error}") from error
        return learner

    def _load(self, state: State) -> None:
        growing, forest = self.growing, self.growing.forest
        if not forest.width <= state.width <= len(self.codes.attributes):
            raise SnapshotError("the snapshot has attributes it does not name")
        if not state.width == len(state.known) == len(state.lacking):
            raise SnapshotError("the snapshot does not say of every attribute which values it has")
        self._make_room(state.width)
        labels = np.frombuffer(state.labels, dtype="<i4").astype(np.int32)
        rows = np.frombuffer(state.rows, dtype="<u8").astype(np.uint64).reshape(len(labels), state.width)
        if len(labels) and not 0 <= labels.min() <= labels.max() < len(self.codes.classes):
            raise SnapshotError("the snapshot has classes it does not name")
        for attribute, known in enumerate(state.known):
            values = len(self.codes.values[attribute])
            if not 0 <= known < values:
                raise SnapshotError("the snapshot has values it does not name")
            if not forest.numeric[attribute] and len(rows) and int(rows[:, attribute].max()) > known:
                raise SnapshotError("the snapshot has values it does not name")
        forest.known, forest.lacking = list(state.known), list(state.lacking)
        forest.domain = [max(1, n + lacks) for n, lacks in zip(forest.known, forest.lacking, strict=True)]
        forest.load(rows, labels, state.start)
        if not state.start <= state.first <= forest.next:
            raise SnapshotError("the snapshot's tree begins with a record that is not there")
        forest.first = state.first
        load_form(forest, state.form)
        growing.held = deque((list(row), label) for row, label in state.held)
        self._seen, growing.credit, growing.idle = state.seen, state.credit, state.idle
        growing.set_counted(state.counters)
        if state.work is not None:
            growing.resume(*msgspec.structs.astuple(state.work))
        growing.changed = True
        self._publish()


MISSING_ABOVE = (1 << 64) - 1
"""What stands for a nominal value that nothing has been learned about."""


class IIDTTS(IIDT):
    """I-IIDT-TS: the smallest tree that time has found among those that are right about every record.

    Example:
        >>> from learners.schema import Instance
        >>> tree = IIDTTS()
        >>> for n in range(64):
        ...     values = {name: n >> place & 1 for place, name in enumerate("abcdef")}
        ...     odd = values["a"] != values["d"]
        ...     _ = tree.learn_one(Instance({k: str(v) for k, v in values.items()}, "yes" if odd else "no"))
        >>> before = tree.worth
        >>> _ = tree.improve(100_000)
        >>> before > tree.worth == 4
        True
    """

    name: ClassVar[str] = "iidt-ts"
    options_type: ClassVar[type[Options]] = IIDTOptions


class IIDTEE(IIDT):
    """I-IIDT-EE: the tree of which time has found that the fewest errors are to be expected."""

    name: ClassVar[str] = "iidt-ee"
    options_type: ClassVar[type[Options]] = IIDTEEOptions
