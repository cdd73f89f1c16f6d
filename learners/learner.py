"""What a learner promises. The laws behind the promises are in `learners.checks`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol, Self, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.change import TreeChange
from learners.codes import Codes, Row
from learners.ops import OpCounts
from learners.outline import Counts, Outline, Size, digest, size
from learners.schema import Instance, Limits, Schema, Values

Rows = Sequence[Row] | NDArray[np.uint32] | NDArray[np.uint64]
Labels = Sequence[int] | NDArray[np.int32]

FLAG_MISSING = "missing"
FLAG_UNSEEN = "unseen_value"
FLAG_NO_ANSWER = "no_answer"


class Step(msgspec.Struct, frozen=True):
    """One decision on the way to an answer.

    Where a number was compared, `at_most` is the threshold and `value` "true" or "false". `runner_up` is the
    attribute that would have been tested otherwise, `margin` by how much its score is worse; both None where
    there was no choice or the learner does not keep them.
    """

    attribute: str
    value: str
    runner_up: str | None = None
    margin: float | None = None
    at_most: float | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True, slots=True)
class Prediction:
    """An answer and why.

    `answer` is None where nothing has been learned yet, or where the tree has no answer (ID4). `by` says who
    answered, where a learner has several answerers; `shares` are then how probable it thinks each class.
    """

    answer: str | None
    counts: Counts = ()
    path: tuple[Step, ...] = ()
    flags: tuple[str, ...] = ()
    by: str = ""
    shares: tuple[tuple[str, float], ...] = ()

    @property
    def probabilities(self) -> dict[str, float]:
        """How probable each class is, by whoever answered: its share among the instances, or all it knows."""
        if self.shares:
            return {name: share for name, share in self.shares if share}
        total = sum(n for _, n in self.counts)
        return {name: n / total for name, n in self.counts if n}


class Learned(NamedTuple):
    """What learning one record of a batch did: the changes, the operations spent, and the tree after it.

    `digest` and `size` are those of the tree right after the record, which may not be the tree at the end of
    the batch; both are None where nothing changed.
    """

    changes: list[TreeChange]
    spent: OpCounts
    digest: str | None = None
    size: Size | None = None

    @classmethod
    def of(cls, changes: list[TreeChange], spent: OpCounts, outline: Outline | None) -> Self:
        """Return what a record did, given the tree after it."""
        if not changes:
            return cls(changes, spent)
        return cls(changes, spent, digest(outline), size(outline))


class BatchResult(NamedTuple):
    """What a batch came to, record by record: the answer before learning, and what learning did.

    `learned` is None for a record without a label; `changed` are the places of those that changed the tree.
    """

    predictions: Sequence[Prediction]
    learned: Sequence[Learned | None]
    changed: Sequence[int]

    @classmethod
    def of(cls, predictions: Sequence[Prediction], learned: Sequence[Learned | None]) -> Self:
        """Return the result of a batch whose records were learned one by one."""
        changed = [place for place, one in enumerate(learned) if one is not None and one.changes]
        return cls(predictions, learned, changed)


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a learner: those of `[agent.options]` and of `evaluate --set`.

    Attributes:
        train: "all": every instance is learned; "errors": only those that the tree answers wrongly, which
            `learners.hat` sees to for every learner.
    """

    train: Literal["all", "errors"] = "all"


class Learner(Protocol):
    """Something that keeps a decision tree up to date with the instances it is given.

    Every method either does what it says or raises `InstanceError` and leaves the learner as it was.
    """

    name: ClassVar[str]
    options_type: ClassVar[type[Options]]
    takes_arrays: ClassVar[bool]
    """Whether the rows of a batch may come as an array of codes, which is faster: of 32 bits, or of 64 where
    there are numbers."""
    schema: Schema
    codes: Codes

    def __init__(
        self, schema: Schema | None = None, options: Options | None = None, limits: Limits | None = None
    ) -> None: ...

    @property
    def ops(self) -> OpCounts:
        """What learning has cost so far."""
        ...

    @property
    def options(self) -> Options:
        """The settings it was made with."""
        ...

    def learn_one(self, instance: Instance) -> list[TreeChange]:
        """Learn from an instance and return how the tree changed."""
        ...

    def predict_one(self, values: Values) -> Prediction:
        """Answer a description. Nothing changes."""
        ...

    def learn(self, row: Row, label: int) -> list[TreeChange]:
        """Learn from an instance given as codes of `codes`."""
        ...

    def answer(self, row: Row) -> Prediction:
        """Answer a description given as codes of `codes`. Nothing changes."""
        ...

    def learn_batch(self, rows: Rows, labels: Labels) -> BatchResult:
        """Answer each record, then learn from it, in order; a label of -1 is only answered.

        Rows and labels come from `codes`, and all rows have the same width.
        """
        ...

    def outline(self) -> Outline | None:
        """Return the tree as data; None while nothing has been learned."""
        ...

    @property
    def outline_lately(self) -> Outline | None:
        """The tree as data, whose counts may be older: all that its digest and size are made from."""
        ...

    @property
    def retained(self) -> int:
        """How many instances the tree stands for."""
        ...

    def snapshot(self) -> bytes:
        """Return everything that is needed to go on exactly as if nothing had happened."""
        ...

    @classmethod
    def restore(cls, data: bytes, limits: Limits | None = None) -> Self:
        """Return the learner that `snapshot` described.

        Raises:
            SnapshotError: The bytes are not a whole snapshot of this learner.
        """
        ...


@runtime_checkable
class Forgetful(Protocol):
    """A learner that can take an instance back, as if it had never come."""

    def forget_one(self, instance: Instance) -> list[TreeChange]:
        """Forget one instance that was learned before.

        Raises:
            InstanceError: No such instance is retained.
        """
        ...


@runtime_checkable
class Anytime(Protocol):
    """A learner that turns spare time into a better tree.

    A budget is in units of work, not of time, so that whoever knows how many units were granted, and between
    which records, can repeat it: however a budget is divided, the same tree comes of it.
    """

    def improve(self, budget: int) -> list[TreeChange]:
        """Spend units of work on a better tree and return how it changed."""
        ...

    @property
    def can_improve(self) -> bool:
        """Whether a budget could do anything before more is learned."""
        ...

    @property
    def improvements(self) -> int:
        """How many attempts have made the tree better."""
        ...

    @property
    def worth(self) -> float:
        """What improving makes smaller; 0 while nothing has been learned."""
        ...

    @property
    def saved(self) -> float:
        """By how much improving has made it smaller since this learner was made or restored."""
        ...


def make_options(options: type[Options], settings: Mapping[str, object]) -> Options:
    """Return a learner's options from plain settings; the text "none" stands for no value.

    Raises:
        msgspec.ValidationError: A setting is unknown or has a wrong value.
    """
    plain = {name: None if value == "none" else value for name, value in settings.items()}
    return msgspec.convert(plain, options, strict=False)
