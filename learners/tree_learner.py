"""What every learner does alike, written once; an algorithm adds what is its own.

A subclass of `TreeLearner` implements `_setup`, `_train`, `answer`, `outline`, `retained`, `_dump` and
`_load`. If it tests attributes, it also implements `_leave_out`. docs/architecture.md has a complete learner.

Other methods are overridden only where an algorithm has a faster way (`_predict_rows`, `_learn_all`,
`_shape`, `counted`), publishes more (`_changes`) or has a capability.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from operator import sub
from typing import ClassVar, Generic, Self, TypeVar, cast

import msgspec
import numpy as np

from learners.change import ChangeKind, TreeChange, changes_of_retiring, diff
from learners.codes import Codes
from learners.learner import FLAG_UNSEEN, BatchResult, Labels, Learned, Options, Prediction, Rows
from learners.ops import OpCounts
from learners.outline import Outline
from learners.schema import Instance, Limits, Schema, Values
from learners.snapshot import WRONG_STATE, SnapshotError, pack, unpack
from learners.vocabulary import Row, growth_from

MOST_AT_ONCE = 256
"""With `train = "errors"`, at most this many records are predicted at once."""


class LearnerState(msgspec.Struct):
    """What the snapshot of every learner begins with. A learner's own state is a subclass."""

    schema: Schema
    options: dict[str, object]
    codes: list[object]


State = TypeVar("State", bound=LearnerState)


class TreeLearner(ABC, Generic[State]):
    """A learner. `learners.learner.Learner` says what its methods promise."""

    name: ClassVar[str]
    options_type: ClassVar[type[Options]] = Options
    state_type: ClassVar[type[LearnerState]]
    takes_arrays: ClassVar[bool] = False
    takes_numbers: ClassVar[bool] = False
    exact: ClassVar[bool] = False
    forgets: ClassVar[bool] = False
    improves: ClassVar[bool] = False
    retests: ClassVar[ChangeKind] = ChangeKind.REPLACED
    """What a change is called that puts another test in the place of one."""
    options: Options  # a subclass annotates it with its own type

    def __init__(
        self, schema: Schema | None = None, options: Options | None = None, limits: Limits | None = None
    ) -> None:
        settings = self.options_type() if options is None else options
        if not isinstance(settings, self.options_type):
            raise TypeError(f"{self.name} takes {self.options_type.__name__}, not {type(settings).__name__}")
        self.options = settings
        self.schema = schema or Schema()
        self.codes = self._make_codes(limits)
        self.version = 0  # how many times the published tree was replaced, for whoever caches parts of it
        self._ops = OpCounts()
        self._published: Outline | None = None
        self._setup()

    # ---- what an algorithm implements

    @abstractmethod
    def _setup(self) -> None:
        """Make the empty tree. Options, schema and codes are there."""

    @abstractmethod
    def _train(self, row: Row, label: int) -> bool:
        """Learn from an instance; return whether the tree may look different now."""

    @abstractmethod
    def answer(self, row: Row) -> Prediction:
        """Predict the class of a description given as codes. Nothing changes."""

    @abstractmethod
    def outline(self) -> Outline | None:
        """Return the tree as data; None while nothing has been learned."""

    @property
    @abstractmethod
    def retained(self) -> int:
        """How many instances the tree stands for."""

    @abstractmethod
    def _dump(self) -> State:
        """Return the state for a snapshot: a `state_type` whose first fields are `_header()`."""

    @abstractmethod
    def _load(self, state: State) -> None:
        """Take over the state of another learner; options, schema and codes are there.

        Raises:
            SnapshotError: Such a learner could not have this state. Other `WRONG_STATE` errors become one.
        """

    def _leave_out(self, attributes: Sequence[int]) -> None:
        """Make the tree as if no instance had ever had some attributes."""

    # ---- what an algorithm may add to

    def _make_codes(self, limits: Limits | None) -> Codes:
        refuses = self.options.refuses_missing
        return Codes(self.schema, limits, reject_missing=refuses, numbers=self.takes_numbers)

    @classmethod
    def refusal(cls, schema: Schema, options: Options) -> str | None:
        """Return why a schema does not go with the settings, or None."""
        return None

    @property
    def ops(self) -> OpCounts:
        """What learning has cost so far."""
        return self._ops

    def counted(self) -> tuple[int, ...]:
        """Return the operations so far in the order of `learners.ops.OPERATIONS`."""
        return self.ops.as_tuple()

    @property
    def model_bytes(self) -> int | None:
        """How much memory the model holds; None where it is not counted."""
        return None

    @property
    def description_bits(self) -> tuple[float, float] | None:
        """The bits for the tree and for the exceptions; None where they are not counted."""
        return None

    @property
    def past_drops(self) -> tuple[str, int] | None:
        """By which rule and how often the past was dropped; None where no rule drops it."""
        return None

    # ---- learning

    def learn_one(self, instance: Instance) -> list[TreeChange]:
        """Learn from an instance and return how the tree changed."""
        coded = self.codes.encode(instance.values, instance.label)
        changes = self.retire(coded.retired) if coded.retired else []
        return [*changes, *self.learn(coded.row, coded.label)]

    def learn(self, row: Row, label: int) -> list[TreeChange]:
        """Learn from an instance given as codes."""
        self.codes.check(row, label)
        if self.options.train == "errors" and self.is_right(self.answer(row), label):
            return []
        return self._learn(row, label)

    def retire(self, attributes: Sequence[int]) -> list[TreeChange]:
        """Leave attributes out from now on, as if no instance had ever had them."""
        before = self._published
        self._leave_out(attributes)
        self.publish()
        names = [self.codes.attributes[attribute] for attribute in attributes]
        return changes_of_retiring(before, self.outline(), names)

    def learn_batch(self, rows: Rows, labels: Labels) -> BatchResult:
        """Predict each record, then learn from it."""
        if not len(rows) and not len(labels):
            return BatchResult([], [], [])
        known, classes = self._checked(rows, labels)
        if self.options.train == "errors":
            return self._learn_errors(known, classes)
        return self._learn_all(known, classes)

    def is_right(self, prediction: Prediction, label: int) -> bool:
        """Return whether a prediction leaves nothing to learn with `train = "errors"`.

        A tested value that was never learned makes a prediction wrong, whatever it is.
        """
        return prediction.answer == self.codes.classes[label] and FLAG_UNSEEN not in prediction.flags

    def _learn(self, row: Row, label: int) -> list[TreeChange]:
        return self.publish() if self._train(row, label) else []

    def _checked(self, rows: Rows, labels: Labels) -> tuple[Rows, Sequence[int]]:
        """Return rows and labels as the methods below take them.

        Raises:
            CodeError: They are not codes of these names. Nothing has been learned.
        """
        plain = [tuple(row) for row in rows.tolist()] if isinstance(rows, np.ndarray) else rows
        classes = labels.tolist() if isinstance(labels, np.ndarray) else labels
        self.codes.check_all(cast("Sequence[Row]", plain), classes)
        return plain, classes

    def _learn_all(self, rows: Rows, labels: Sequence[int]) -> BatchResult:
        predictions: list[Prediction] = []
        learned: list[Learned | None] = []
        for row, label in zip(rows, labels, strict=True):
            predictions.append(self.answer(row))
            learned.append(None if label < 0 else self._learn_row(row, label))
        return BatchResult.of(predictions, learned)

    def _learn_errors(self, rows: Rows, labels: Sequence[int]) -> BatchResult:
        """Predict each record, then learn from it if the prediction is wrong (the article's section 5.1).

        Nothing changes as long as predictions are right, so that more and more are made at once.
        """
        predictions: list[Prediction] = []
        learned: list[Learned | None] = []
        ahead = 1
        while len(predictions) < len(labels):
            some = slice(len(predictions), len(predictions) + ahead)
            ahead = min(2 * ahead, MOST_AT_ONCE)
            for prediction, label in zip(self._predict_rows(rows[some]), labels[some], strict=True):
                predictions.append(prediction)
                if label < 0:
                    learned.append(None)
                elif self.is_right(prediction, label):
                    learned.append(_unchanged(NOTHING_SPENT))
                else:
                    learned.append(self._learn_row(rows[len(predictions) - 1], label))
                    ahead = 1
                    break
        return BatchResult.of(predictions, learned)

    def _predict_rows(self, rows: Rows) -> Sequence[Prediction]:
        return [self.answer(row) for row in rows]

    def _learn_row(self, row: Row, label: int) -> Learned:
        before = self.counted()
        changes = self._learn(row, label)
        spent = tuple(map(sub, self.counted(), before))
        return Learned.of(changes, OpCounts(*spent), self._published) if changes else _unchanged(spent)

    # ---- publishing

    def publish(self) -> list[TreeChange]:
        """Return how the tree has changed since the last call."""
        before, now = self._published, self._shape()
        if now is before:
            return []
        self._published = now
        self.version += 1
        return self._changes(before, now)

    def _shape(self) -> Outline | None:
        """Return the tree as data; what looks as it did may have older counts."""
        return self.outline()

    def _changes(self, before: Outline | None, now: Outline | None) -> list[TreeChange]:
        return diff(before, now, self.retests)

    @property
    def outline_lately(self) -> Outline | None:
        """The tree as it was last published, whose counts may be older."""
        return self._published

    # ---- predicting

    def predict_one(self, values: Values) -> Prediction:
        """Predict the class of a description."""
        coded = self.codes.look_up(values)
        return self.answer(coded.row).with_flags(coded.flags)

    # ---- snapshots

    def snapshot(self) -> bytes:
        """Return everything that is needed to go on exactly as if nothing had happened."""
        return pack(self.name, self._dump())

    def _header(self) -> tuple[Schema, dict[str, object], list[object]]:
        """Return the fields of `LearnerState`."""
        return self.schema, msgspec.to_builtins(self.options), list(self.codes.dump())

    @classmethod
    def restore(cls, data: bytes, limits: Limits | None = None) -> Self:
        """Return the learner that `snapshot` described."""
        state = unpack(data, cls.name, cls.state_type)
        removed = cls.options_type.removed
        options = {name: value for name, value in state.options.items() if name not in removed}
        try:
            learner = cls(state.schema, msgspec.convert(options, cls.options_type), limits)
            learner.codes.grow(growth_from(state.codes))
            learner._load(cast("State", state))
            learner.publish()
        except WRONG_STATE as error:
            raise SnapshotError(f"the snapshot does not make a learner: {error}") from error
        return learner


NOTHING_SPENT = OpCounts().as_tuple()


@lru_cache(maxsize=4096)
def _unchanged(spent: tuple[int, ...]) -> Learned:
    """Return what learning a record did that changed nothing: few costs occur again and again."""
    return Learned([], OpCounts(*spent))
