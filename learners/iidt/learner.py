"""IIDT in the stream: names, settings, answers, budgets and snapshots."""

from collections import deque
from collections.abc import Sequence
from statistics import NormalDist
from typing import ClassVar, cast

import msgspec
import numpy as np

from learners.change import TreeChange
from learners.iidt._choosing import Policy
from learners.iidt._tree import Node
from learners.iidt.forms import Names, dump_form, load_form
from learners.iidt.growing import Growing
from learners.iidt.options import IIDTEEOptions, IIDTOptions
from learners.iidt.state import State, WorkState
from learners.learner import FLAG_MISSING, FLAG_UNSEEN, Options, Prediction, Step
from learners.ops import OpCounts
from learners.outline import Outline
from learners.snapshot import SnapshotError
from learners.tree_learner import LearnerState, TreeLearner
from learners.vocabulary import MISSING_CODE, Row


class IIDT(TreeLearner[State]):
    """What IIDT-TS and IIDT-EE share. See `learners.capabilities.Anytime`."""

    state_type: ClassVar[type[LearnerState]] = State
    takes_arrays: ClassVar[bool] = True
    takes_numbers: ClassVar[bool] = True
    improves: ClassVar[bool] = True
    options: IIDTOptions

    def _setup(self) -> None:
        settings = self.options
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

    def _train(self, row: Row, label: int) -> bool:
        growing, values = self.growing, list(row)
        self._seen += 1
        if self.codes.grown != self._room_for or len(values) > growing.forest.width:
            self._make_room(len(values))
        if self._every and self._seen % self._every == 0:
            growing.held.append((values, label))
            if len(growing.held) <= self.options.max_held:
                return False
            values, label = growing.held.popleft()
        forest = growing.forest
        growing.learn(forest.put(values, label))
        while forest.next - forest.first > self._most:
            growing.evict()
        return growing.changed

    def _leave_out(self, attributes: Sequence[int]) -> None:
        """Build the tree again of records that lack the attributes.

        An attempt to improve the tree that is under way is given up; what was granted for it stays.
        """
        self.growing.retire(attributes)

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
        forest.ranks = self.codes.class_ranks(len(self.codes.classes))

    def _shape(self) -> Outline | None:
        self.growing.changed = False
        return self._names.shape(self.growing.forest.root)

    # ---- improving

    def improve(self, budget: int) -> list[TreeChange]:
        """Spend units of work on a better tree and return how it changed."""
        if budget > 0:
            self.growing.improve(budget)
        return self.publish() if self.growing.changed else []

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

    def answer(self, row: Row) -> Prediction:
        """Predict the class of a description given as codes."""
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
        if known is None or known[0] != self.version:
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
            known = last.explained = (self.version, tuple(steps), numbers)
        return known[1], any(a >= len(row) or row[a] == MISSING_CODE for a in known[2])

    def outline(self) -> Outline | None:
        """Return the tree as data; None while nothing has been learned."""
        return self._names.told(self.growing.forest.root)

    @property
    def retained(self) -> int:
        """How many instances are kept: those in the tree and those held out."""
        forest = self.growing.forest
        return forest.next - forest.first + len(self.growing.held)

    # ---- snapshots

    def _dump(self) -> State:
        growing = self.growing
        forest, work = growing.forest, growing.work
        start = forest.first if work is None else min(forest.first, work.first)
        rows, labels = forest.dumped(start)
        return State(
            *self._header(),
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
                work.path, work.r, work.first, work.next, work.width, work.domain, *work.made.job.position()
            ),
        )

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


MISSING_ABOVE = (1 << 64) - 1
"""What stands for a nominal value that nothing has been learned about."""


class IIDTTS(IIDT):
    """I-IIDT-TS: the smallest tree that time has found among those that are right about every record.

    Example:
        >>> from random import Random
        >>> from learners.schema import Instance
        >>> tree, rng = IIDTTS(), Random(1)
        >>> for _ in range(200):
        ...     values = {name: rng.choice("01") for name in "abcdefg"}
        ...     ones = [values[name] for name in "abc"].count("1")
        ...     _ = tree.learn_one(Instance(values, "odd" if ones % 2 else "even"))
        >>> before = tree.worth
        >>> _ = tree.improve(100_000)
        >>> before > tree.worth == 8
        True
    """

    name: ClassVar[str] = "iidt-ts"
    options_type: ClassVar[type[Options]] = IIDTOptions


class IIDTEE(IIDT):
    """I-IIDT-EE: the tree of which time has found that the fewest errors are to be expected."""

    name: ClassVar[str] = "iidt-ee"
    options_type: ClassVar[type[Options]] = IIDTEEOptions
