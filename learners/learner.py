"""What every learner promises. `learners.capabilities`: what only some can do; `learners.laws`: the laws."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Literal, NamedTuple, Protocol, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.change import TreeChange
from learners.codes import Codes
from learners.ops import OpCounts
from learners.outline import Counts, Outline, Size, digest, size
from learners.schema import Instance, Limits, Schema, Values
from learners.vocabulary import Row

Rows = Sequence[Row] | NDArray[np.uint32] | NDArray[np.uint64]
Labels = Sequence[int] | NDArray[np.int32]

FLAG_MISSING = "missing"
FLAG_UNSEEN = "unseen_value"
FLAG_NO_ANSWER = "no_answer"
BY_BAYES = "leaf-bayes"
"""Who predicts where a tested value is missing: naive Bayes from the counts of that node."""


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

    def with_flags(self, flags: tuple[str, ...]) -> "Prediction":
        """Return the same answer with flags of what was wrong with the description."""
        return dataclasses.replace(self, flags=(*self.flags, *flags)) if flags else self

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


class Removed(NamedTuple):
    """An option that earlier versions had and that changed nothing.

    Attributes:
        usual: What it was where nobody set it.
        before: The option that it came before.
    """

    usual: object
    before: str


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a learner: those of `[agent.options]` and of `evaluate --set`.

    Attributes:
        train: "all": every instance is learned; "errors": only those that the tree predicts wrongly.
    """

    removed: ClassVar[Mapping[str, Removed]] = MappingProxyType({})
    """Options that state of earlier versions may name. They cannot be set."""

    train: Literal["all", "errors"] = "all"

    @property
    def refuses_missing(self) -> bool:
        """Whether an instance to be learned must have a value for every attribute."""
        return False

    def tree_settings(self) -> dict[str, object]:
        """Return the settings that decide the tree, as plain values; others may be changed at any time."""
        settings: dict[str, object] = msgspec.to_builtins(self)
        return settings


class Learner(Protocol):
    """Something that keeps a decision tree up to date with the instances it is given.

    Every method either does what it says or raises `InstanceError` and leaves the learner as it was.
    """

    name: ClassVar[str]
    options_type: ClassVar[type[Options]]
    takes_arrays: ClassVar[bool]
    """Whether the rows of a batch may come as an array of codes, which is faster: of 32 bits, or of 64 where
    there are numbers."""
    takes_numbers: ClassVar[bool]
    """Whether numbers are compared with thresholds. Otherwise each is a value of its own, compared for
    equality alone, and an attribute with more of them than the limits allow is retired."""
    exact: ClassVar[bool]
    """Whether the tree is that of a batch learner, and so depends on nothing but the instances retained."""
    forgets: ClassVar[bool]
    """Whether it is `learners.capabilities.Forgetful`."""
    improves: ClassVar[bool]
    """Whether it is `learners.capabilities.Anytime`."""
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

    @classmethod
    def refusal(cls, schema: Schema, options: Options) -> str | None:
        """Return why a schema does not go with the settings, or None."""
        ...

    @property
    def model_bytes(self) -> int | None:
        """How much memory the model holds; None where it is not counted."""
        ...

    @property
    def description_bits(self) -> tuple[float, float] | None:
        """The bits for the tree and for the exceptions; None where they are not counted."""
        ...

    @property
    def past_drops(self) -> tuple[str, int] | None:
        """By which rule and how often the past was dropped; None where no rule drops it."""
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

    def retire(self, attributes: Sequence[int]) -> list[TreeChange]:
        """Leave attributes out from now on, as if no instance had ever had them.

        Returns one change of kind "retired" for each, in order, with the whole tree as it is now, even where
        it looks the same. An attribute may be retired again, or before an instance that has it was learned.
        In rows that are learned later its code is 0, and it says nothing.
        """
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


def make_options(options: type[Options], settings: Mapping[str, object]) -> Options:
    """Return a learner's options from plain settings; the text "none" stands for no value.

    Raises:
        msgspec.ValidationError: A setting is unknown or has a wrong value.
    """
    plain = {name: None if value == "none" else value for name, value in settings.items()}
    return msgspec.convert(plain, options, strict=False)
