"""ID5R for production, as a learner: the compiled tree, its names, its settings and its snapshots.

The tree is the one `learners.utgoff.id5r` builds with the same settings, after every record. What differs is
how clearly a test was chosen: the readable learner tells it as of now, this one as of the moment the test
was chosen, which costs nothing and does not depend on how a stream is cut into batches.
"""

from collections.abc import Sequence
from typing import ClassVar, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.change import ChangeKind, TreeChange, change_of_all, diff
from learners.codes import Codes, Row, growth_from
from learners.core import _core
from learners.core.batches import Explanations, run_batch
from learners.core.making import make_tree, make_voices
from learners.core.options import CoreOptions
from learners.core.state import State, dump, load
from learners.core.without import Without
from learners.cuts import Cuts
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
from learners.merit import ROUNDING
from learners.ops import OpCounts
from learners.outline import Outline
from learners.schema import AttributeType, Instance, InstanceError, Limits, Misfit, Schema, Values
from learners.snapshot import SnapshotError, pack, unpack
from learners.texts import number_code, number_of
from learners.utgoff.selection import Selection

CodeStep = tuple[int, int, int, int, int]
"""A decision as codes: attribute, value or branch, runner-up or -1, margin, cut or -1."""
ANSWERERS = (
    "root-bayes",
    "leaf-bayes",
    "leaf",
    "recent-root-bayes",
    "recent-leaf-bayes",
    "recent-leaf",
    "blend",
)
"""Who may answer."""


class ID5R:
    """The tree ID3 would build from every instance retained. See `learners.learner.Learner`.

    Example:
        >>> from learners.schema import Instance
        >>> tree = ID5R(options=CoreOptions(significance=None))
        >>> for n in range(8):
        ...     _ = tree.learn_one(Instance({"a": n % 2, "b": n // 4}, "yes" if n % 2 else "no"))
        >>> tree.predict_one({"a": 1, "b": 0}).answer
        'yes'
    """

    name: ClassVar[str] = "id5r"
    options_type: ClassVar[type[Options]] = CoreOptions
    takes_arrays: ClassVar[bool] = True
    takes_numbers: ClassVar[bool] = True
    wears_hat: ClassVar[bool] = True

    def __init__(
        self, schema: Schema | None = None, options: Options | None = None, limits: Limits | None = None
    ) -> None:
        settings = CoreOptions() if options is None else options
        if not isinstance(settings, CoreOptions):
            raise TypeError(f"{self.name} takes CoreOptions, not {type(settings).__name__}")
        self.options: CoreOptions = settings
        self.schema = schema or Schema()
        self.codes = Codes(self.schema, limits, reject_missing=settings.missing == "reject", numbers=True)
        effective = settings.in_effect()
        self.tree = make_tree(effective, ordered=effective.drift is not None)
        self.voices = make_voices(effective, self.tree)
        self._selection = Selection(
            settings.selection,
            settings.significance,
            pearsons=settings.significance_test == "chi2",
            records_per_value=settings.min_records_per_value if settings.significance is not None else 0,
        )
        self.width = len(self.codes.attributes)
        self.numeric: list[int] = []
        self._room_for = -1
        self._published: Outline | None = None
        self.explanations = Explanations()
        for attribute in self.schema.attributes:
            if attribute.name == settings.time and attribute.type is not AttributeType.NUMERIC:
                raise ValueError(f'attribute "{settings.time}" is a time and must be numeric')
        self.make_room(self.width, [a for a in range(self.width) if self.codes.is_numeric(a)])
        for place, attribute in enumerate(self.schema.attributes):
            if attribute.cuts:
                for tree in self._trees():
                    tree.set_cuts(place, list(map(number_code, attribute.cuts)), 1, True)

    # ---- learning

    @property
    def ops(self) -> OpCounts:
        """What learning has cost so far: the operations really performed."""
        return OpCounts(**dict(zip(_core.OPERATIONS, self.tree.operations(), strict=True)))

    def learn_one(self, instance: Instance) -> list[TreeChange]:
        """Learn from an instance and return how the tree changed."""
        return self.learn(*self.codes.encode(instance.values, instance.label))

    def learn(self, row: Row, label: int) -> list[TreeChange]:
        """Learn from an instance given as codes."""
        if self.voices is None and self.options.train == "errors" and self.is_right(self.answer(row), label):
            return []
        self.make_room(len(row), self._new_numbers(row))
        (self.voices or self.tree).learn(row, label)
        return self.publish()

    def forget_one(self, instance: Instance) -> list[TreeChange]:
        """Forget one instance that was learned before, as if it had never come."""
        row = self.codes.recall(instance.values)
        label = self.codes.class_code(instance.label)
        keeper = self.voices or self.tree
        if row is None or label < 0 or any(row[self.width :]) or not keeper.forget(row, label):
            raise InstanceError(Misfit.UNKNOWN_VALUE, "instance", "no such instance is retained")
        return self.publish()

    def learn_batch(self, rows: Rows, labels: Labels) -> BatchResult:
        """Answer each record, then learn from it."""
        width = len(rows[0]) if len(rows) else 0
        predictions: list[Prediction] = []
        learned: list[Learned | None] = []
        # An attribute is taken up when the first row that has it is learned, and not before it is answered.
        while (width > self.width or self._awaits_numbers(width)) and len(predictions) < len(rows):
            row, label = tuple(map(int, rows[len(predictions)])), int(labels[len(predictions)])
            predictions.append(self.answer(row))
            ops = self.ops
            changes = self.learn(row, label) if label >= 0 else []
            learned.append(Learned.of(changes, self.ops - ops, self.outline_lately) if label >= 0 else None)
        done = len(predictions)
        if done == len(rows):
            return BatchResult.of(predictions, learned)
        self.make_room(self.width)
        result = run_batch(
            self, self._as_array(rows[done:], width), np.asarray(labels[done:], dtype=np.int32)
        )
        if not done:
            return result
        return BatchResult.of([*predictions, *result.predictions], [*learned, *result.learned])

    def _as_array(self, rows: Rows, width: int) -> NDArray[np.uint32] | NDArray[np.uint64]:
        """Return rows as an array as wide as the tree; a code of -1 is one that no value has."""
        wide = bool(self.numeric)
        if isinstance(rows, np.ndarray) and width == self.width and (rows.dtype == np.uint64) == wide:
            return rows if rows.flags.c_contiguous else rows.copy()
        if not wide:
            narrow = np.zeros((len(rows), self.width), dtype=np.int64)
            if len(rows):
                narrow[:, :width] = rows
            return narrow.astype(np.uint32)
        codes = np.zeros((len(rows), self.width), dtype=np.uint64)
        if isinstance(rows, np.ndarray):
            codes[:, :width] = rows
        else:
            for place, row in enumerate(rows):
                codes[place, :width] = [code if code >= 0 else 2**64 - 1 for code in row]
        return codes

    def _new_numbers(self, row: Row) -> list[int]:
        """Return the attributes that turn out to be numbers with this row, in which they have a value."""
        return [
            a for a, code in enumerate(row) if code > 0 and a not in self.numeric and self.codes.is_numeric(a)
        ]

    def _awaits_numbers(self, width: int) -> bool:
        """Whether an attribute is known to be a number, but none has been learned yet."""
        if self.codes.grown == self._room_for:
            return False
        return any(self.codes.is_numeric(a) and a not in self.numeric for a in range(width))

    def is_right(self, prediction: Prediction, label: int) -> bool:
        """Return whether an answer needs no learning under `train = "errors"`."""
        return prediction.answer == self.codes.classes[label] and FLAG_UNSEEN not in prediction.flags

    def make_room(self, width: int, numbers: Sequence[int] = ()) -> None:
        """Give the tree room for names that were met since the last time, and for rows of some width.

        Args:
            width: How many attributes a row has.
            numbers: Attributes that have turned out to be numbers.
        """
        if self.codes.grown == self._room_for and width <= self.width and not numbers:
            return
        self.width = max(width, self.width)
        self.numeric.extend(numbers)
        order = sorted(range(self.width), key=self._tie_rank)
        ordered = sorted(range(len(self.codes.classes)), key=self.codes.class_order)
        ranks = [0] * len(ordered)
        for place, code in enumerate(ordered):
            ranks[code] = place
        places = [-1] * self.width
        sizes = [len(self.codes.values[a]) for a in range(self.width)]
        for place, a in enumerate(self.numeric):
            places[a] = place
            declared = self.schema.attributes[a].cuts if a < len(self.schema.attributes) else ()
            sizes[a] = max(self.options.bins, len(declared) + 1) + 1
        for tree in self._trees():
            tree.reserve(sizes, order, ranks, places)
            for a in numbers:
                if self.codes.attributes[a] == self.options.time:
                    tree.set_cuts(a, (), 1, True)
                    tree.set_time(a)
        self._room_for = self.codes.grown

    def _trees(self) -> list[_core.CoreTree]:
        """Return all trees: that of what is retained, and those beside it."""
        beside = () if self.voices is None else (self.voices.recent, self.voices.candidate)
        return [self.tree, *(tree for tree in beside if tree is not None)]

    def _tie_rank(self, attribute: int) -> tuple[int, int]:
        """Return the place of an attribute in the order in which ties are broken."""
        first, name = self.options.tie_order, self.codes.attributes[attribute]
        return first.index(name) if name in first else len(first), attribute

    def publish(self) -> list[TreeChange]:
        """Return how the tree has changed since the last call."""
        before = self._published
        now = self._published = self.tree.outline(self.codes, self._by_ratio, False)
        recut = self.tree.take_recut()
        if self.tree.take_dropped():
            return change_of_all(before, now, ChangeKind.DROPPED)
        if recut:
            return change_of_all(before, now, ChangeKind.RECUT)
        changes = diff(before, now, ChangeKind.PULLED_UP)
        # What looks the same as before was told with the counts of then; a change tells those of now.
        return [
            self._with_counts_of_now(change) if change.subtree is not None else change for change in changes
        ]

    def _with_counts_of_now(self, change: TreeChange) -> TreeChange:
        path: list[tuple[int, int]] = []
        for test, value in change.path:
            attribute = self.codes.attribute_code(test.attribute)
            branch = self.codes.value_code(attribute, value) if test.at_most is None else int(value != "true")
            path.append((attribute, branch))
        subtree = self.tree.subtree(path, self.codes, self._by_ratio)
        return TreeChange(change.kind, change.path, change.old_test, change.new_test, subtree)

    @property
    def outline_lately(self) -> Outline | None:
        """The tree as of the last `publish`, whose counts may be older."""
        return self._published

    @property
    def _by_ratio(self) -> bool:
        return self.options.selection == "gain-ratio"

    # ---- reading

    def predict_one(self, values: Values) -> Prediction:
        """Answer a description."""
        return self.answer(self.codes.look_up(values))

    def answer(self, row: Row) -> Prediction:
        """Answer a description given as codes."""
        answer, how, counts, steps, below = self.tree.answer(row, self.voices is None)
        path = self.steps(steps)
        if self.voices is not None:
            found, by, shares = self.voices.answer(row)
            flags = {_core.MISSING: (FLAG_MISSING,), _core.UNSEEN: (FLAG_UNSEEN,)}.get(how, ())
            return self.prediction(found, counts, path, flags, by, shares)
        if how == _core.MISSING:
            assert below is not None
            used = {step[0] for step in steps if step[4] < 0}
            return self._without().answer(below, counts, row, used, list(path))
        return self.prediction(answer, counts, path, (FLAG_UNSEEN,) if how == _core.UNSEEN else ())

    def prediction(
        self,
        answer: int,
        counts: Sequence[int],
        path: tuple[Step, ...],
        flags: tuple[str, ...],
        by: int = -1,
        shares: Sequence[float] = (),
    ) -> Prediction:
        """Return an answer in names; `by` is one of `ANSWERERS`, where there is a choice."""
        names = self.codes.classes
        told = tuple(sorted((names[code], int(n)) for code, n in enumerate(counts) if n))
        if answer < 0:
            return Prediction(None, told, path, flags)
        if by < 0:
            return Prediction(names[answer], told, path, flags)
        likely = tuple(sorted((names[code], share) for code, share in enumerate(shares) if share))
        return Prediction(names[answer], told, path, flags, ANSWERERS[by], likely)

    def steps(self, steps: Sequence[CodeStep]) -> tuple[Step, ...]:
        """Return the decisions on the way to an answer in names."""
        return tuple(self._step(*step) for step in steps)

    def _step(self, attribute: int, branch: int, runner_up: int, margin: int, cut: int) -> Step:
        names = self.codes.attributes
        rival = names[runner_up] if runner_up >= 0 else None
        behind = margin / ROUNDING if runner_up >= 0 else None
        if cut < 0:
            return Step(names[attribute], self.codes.values[attribute][branch], rival, behind)
        at_most = number_of(self.tree.cuts(attribute)[0][cut - 1])
        return Step(names[attribute], "false" if branch else "true", rival, behind, at_most)

    def _without(self) -> Without:
        """Return what answers where a value is missing."""
        cuts = {
            a: Cuts(tuple(map(number_of, at)), median)
            for a in self.numeric
            for at, median in [self.tree.cuts(a)]
        }
        order = sorted(range(self.width), key=self._tie_rank)
        return Without(self.codes, self._selection, cuts, order)

    def outline(self) -> Outline | None:
        """Return the tree as data; None while nothing has been learned."""
        return self.tree.outline(self.codes, self._by_ratio)

    @property
    def retained(self) -> int:
        """How many instances the tree stands for."""
        return self.tree.retained

    @property
    def model_bytes(self) -> int:
        """How much memory the trees hold."""
        return sum(tree.bytes for tree in self._trees())

    @property
    def drops(self) -> int:
        """How often the past was dropped."""
        return 0 if self.voices is None else self.voices.drops

    @property
    def past_drops(self) -> tuple[str, int] | None:
        """By which rule and how often the past was dropped; None where nobody watches for it."""
        rule = self.options.in_effect().drift
        return None if rule is None else (rule, self.drops)

    # ---- snapshots

    def snapshot(self) -> bytes:
        """Return everything that is needed to go on exactly as if nothing had happened."""
        return pack(self.name, dump(self))

    def photograph(self) -> bytes:
        """Return a snapshot that changes nothing about what the learner does next, to the last operation.

        After `snapshot` it goes on as the restored one does, which does some of the work in another way.
        """
        return pack(self.name, dump(self, let_go=False))

    @classmethod
    def restore(cls, data: bytes, limits: Limits | None = None) -> Self:
        """Return the learner that `snapshot` described."""
        state = unpack(data, cls.name, State)
        try:
            learner = cls(state.schema, msgspec.convert(state.options, CoreOptions), limits)
            learner.codes.grow(growth_from(state.codes))
            if not 0 <= state.width <= len(learner.codes.attributes):
                raise SnapshotError(f"the snapshot has rows of {state.width} attributes it does not name")
            load(learner, state)
        except (msgspec.ValidationError, ValueError, TypeError, LookupError, OverflowError) as error:
            raise SnapshotError(f"the snapshot does not make a learner: {error}") from error
        learner.publish()
        return learner
