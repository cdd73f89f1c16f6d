"""What the systems of 1989 have in common: their settings, how they answer, what they keep and tell.

A subclass says how the tree takes an instance in (`_add`) and, where it can, how it lets one go (`_remove`).
"""

import sys
from abc import ABC, abstractmethod
from typing import Annotated, ClassVar, Literal, Self

import msgspec

from learners.change import ChangeKind, TreeChange, diff
from learners.codes import MISSING_CODE, Codes, Row, growth_from
from learners.learner import BatchResult, Labels, Learned, Options, Prediction, Rows
from learners.ops import OpCounts
from learners.outline import Outline, size
from learners.retention import Retention
from learners.schema import Instance, InstanceError, Limits, Misfit, Schema, Values
from learners.snapshot import SnapshotError, pack, unpack
from learners.utgoff.id3 import id3
from learners.utgoff.node import Node, value_of, widen
from learners.utgoff.reading import Reading
from learners.utgoff.selection import Selection


class FamilyOptions(Options, frozen=True):
    """Settings of every system of the family.

    Attributes:
        selection: "e-score", the paper's, or "gain-ratio" (section 5.3).
        significance: The chi-square level below which an attribute may be tested; none: the bare algorithm.
        min_records_per_value: How many instances for each value present a significant attribute needs.
        significance_test: Pearson's statistic "chi2", the paper's, or "g".
        tie_order: Attributes in the order in which ties are broken; those not named follow in schema order.
        missing: What an instance to be learned without a value is given: a value of its own, the most common
            value so far, or nothing: it is refused.
        rounding: Whether scores are rounded to 1e-5 before they are compared, as in the paper.
    """

    selection: Literal["e-score", "gain-ratio"] = "e-score"
    significance: Annotated[float, msgspec.Meta(gt=0, lt=1)] | None = None
    significance_test: Literal["chi2", "g"] = "chi2"
    min_records_per_value: Annotated[int, msgspec.Meta(ge=0)] = 0
    tie_order: tuple[str, ...] = ()
    missing: Literal["own_value", "most_common", "reject"] = "own_value"
    rounding: bool = True


class RetainingOptions(FamilyOptions, frozen=True):
    """Settings of the systems that keep their instances.

    Attributes:
        window: How many instances are retained; none: all. Exactly the last so many count.
        on_contradiction: What happens when a description comes again with another class: both are kept, the
            newer replaces the older, or that one stays which gives the smaller tree (section 6).
    """

    window: Annotated[int, msgspec.Meta(ge=1)] | None = None
    on_contradiction: Literal["keep", "replace", "smaller"] = "keep"


class State(msgspec.Struct):
    """The body of a snapshot."""

    schema: Schema
    options: dict[str, object]
    codes: list[object]
    ops: list[int]
    kept: list[tuple[Row, Row | None, int]]
    tree: list[object]
    width: int


class Family(ABC):
    """A learner of 1989. See `learners.learner.Learner` for what its methods promise."""

    name: ClassVar[str]
    options_type: ClassVar[type[Options]] = RetainingOptions
    takes_arrays: ClassVar[bool] = False
    retests: ClassVar[ChangeKind] = ChangeKind.REPLACED

    def __init__(
        self, schema: Schema | None = None, options: Options | None = None, limits: Limits | None = None
    ) -> None:
        settings = self.options_type() if options is None else options
        if not isinstance(settings, self.options_type) or not isinstance(settings, FamilyOptions):
            raise TypeError(f"{self.name} takes {self.options_type.__name__}, not {type(settings).__name__}")
        self.options: FamilyOptions = settings
        # The tables are written as the paper has them: they call themselves once a level of the tree, which
        # can have as many levels as there are attributes.
        deep = 10 * (limits or Limits()).max_attributes + 1_000
        sys.setrecursionlimit(max(sys.getrecursionlimit(), deep))
        self.schema = schema or Schema()
        self.codes = Codes(self.schema, limits, reject_missing=settings.missing == "reject")
        self.ops = OpCounts()
        self._selection = Selection(
            settings.selection,
            settings.significance,
            pearsons=settings.significance_test == "chi2",
            rounding=settings.rounding,
            records_per_value=settings.min_records_per_value,
        )
        self._reading = self._make_reading()
        self._retention = Retention()
        self._width = len(self.codes.attributes)
        self._root = Node(self._ordered())
        self._window = settings.window if isinstance(settings, RetainingOptions) else None
        self._contradictions = settings.on_contradiction if isinstance(settings, RetainingOptions) else "keep"

    # ---- what a subclass says

    @abstractmethod
    def _add(self, row: Row, label: int) -> None:
        """Take an instance into the tree."""

    @abstractmethod
    def _remove(self, row: Row, label: int) -> None:
        """Let an instance that is in the tree go."""

    @abstractmethod
    def _dump_tree(self) -> list[object]:
        """Return what is needed beside the retained instances to have the same tree again."""

    @abstractmethod
    def _load_tree(self, tree: list[object]) -> None:
        """Restore what `_dump_tree` returned; the retained instances are there already."""

    def _widened(self) -> None:  # noqa: B027 - most have nothing to do here
        """Do what is needed after attributes have been added to every node."""

    def _make_reading(self) -> Reading:
        return Reading(self.codes, self._selection)

    # ---- learning

    def learn_one(self, instance: Instance) -> list[TreeChange]:
        """Learn from an instance and return how the tree changed."""
        return self.learn(*self.codes.encode(instance.values, instance.label))

    def forget_one(self, instance: Instance) -> list[TreeChange]:
        """Forget one instance that was learned before, as if it had never come."""
        known = self.codes.recall(instance.values)
        row = () if known is None else self._fitted(known)
        label = self.codes.class_code(instance.label)
        if known is None or not self._retention.count(row, label):
            raise InstanceError(Misfit.UNKNOWN_VALUE, "instance", "no such instance is retained")
        before = self.outline()
        self._forget(row, label)
        return diff(before, self.outline(), self.retests)

    def learn(self, row: Row, label: int) -> list[TreeChange]:
        """Learn from an instance given as codes."""
        before = self.outline()
        self._make_room(len(row))
        row = self._padded(row)
        # A missing value stands for what is commonest when it comes, before anything makes way for it.
        stored = self._as_stored(row)
        if self._is_welcome(row, stored, label):
            self._learn(row, stored, label)
            while self._window is not None and len(self._retention) > self._window:
                oldest = self._retention.oldest()
                self._forget(oldest.given, oldest.label)
        return diff(before, self.outline(), self.retests)

    def learn_batch(self, rows: Rows, labels: Labels) -> BatchResult:
        """Answer each record, then learn from it."""
        predictions: list[Prediction] = []
        learned: list[Learned | None] = []
        for row, label in zip(rows, labels, strict=True):
            predictions.append(self.answer(row))
            if label < 0:
                learned.append(None)
                continue
            ops = self.ops.copy()
            changes = self.learn(row, label)
            learned.append(Learned.of(changes, self.ops - ops, self.outline()))
        return BatchResult.of(predictions, learned)

    def _learn(self, row: Row, stored: Row, label: int) -> None:
        if issubclass(self.options_type, RetainingOptions):
            self._retention.add(row, stored, label)
        self._add(stored, label)

    def _forget(self, row: Row, label: int) -> None:
        kept = self._retention.take(row, label)
        assert kept is not None
        self._remove(kept.stored, kept.label)

    def _is_welcome(self, row: Row, stored: Row, label: int) -> bool:
        """Make way for an instance that contradicts older ones, or decide that they stay (section 6)."""
        if self._contradictions == "keep":
            return True
        rivals = [
            other
            for other in range(len(self.codes.classes))
            if other != label
            for _ in range(self._retention.count(row, other))
        ]
        if rivals and self._contradictions == "smaller":
            kept = [(one.stored, one.label) for one in self._retention]
            replaced = [
                (one.stored, one.label)
                for one in self._retention
                if one.given != row or one.label not in rivals
            ]
            if self._batch_size([*replaced, (stored, label)]) >= self._batch_size(kept):
                return False
        for rival in rivals:
            self._forget(row, rival)
        return True

    def _batch_size(self, instances: list[tuple[Row, int]]) -> int:
        """Return how many nodes the batch tree of some instances has."""
        tree = id3(((one, 1) for one in instances), self._ordered(), self._selection, OpCounts())
        return size(self._reading.outline(tree)).nodes

    def _as_stored(self, row: Row) -> Row:
        return self._filled_in(row) if self.options.missing == "most_common" else row

    def _filled_in(self, row: Row) -> Row:
        """Return the row with each missing value replaced by the commonest so far, the first by name."""
        filled = list(row)
        for attribute, value in enumerate(row):
            if value != MISSING_CODE:
                continue
            seen: dict[int, int] = {}
            for kept in self._retention:
                there = value_of(kept.stored, attribute)
                seen[there] = seen.get(there, 0) + 1
            seen.pop(MISSING_CODE, None)
            names = self.codes.values[attribute]
            filled[attribute] = min(seen, key=lambda v: (-seen[v], names[v]), default=MISSING_CODE)
        return tuple(filled)

    def _make_room(self, width: int) -> None:
        if width > self._width:
            self._width = width
            self._retention.widen(width)
            widen(self._root, self._ordered(), width)
            self._widened()

    def _fitted(self, row: Row) -> Row:
        """Return a row as it would have been learned: attributes met since then are missing in it."""
        return row[: self._width] if not any(row[self._width :]) else row

    def _padded(self, row: Row) -> Row:
        return row + (MISSING_CODE,) * (self._width - len(row))

    def _ordered(self) -> tuple[int, ...]:
        """Return all attributes in the order in which ties are broken."""
        rank = {name: place for place, name in enumerate(self.options.tie_order)}
        names = self.codes.attributes
        return tuple(sorted(range(self._width), key=lambda a: (rank.get(names[a], len(rank)), a)))

    # ---- reading

    def predict_one(self, values: Values) -> Prediction:
        """Answer a description."""
        return self.answer(self.codes.look_up(values))

    def answer(self, row: Row) -> Prediction:
        """Answer a description given as codes."""
        return self._reading.answer(self._root, row)

    def outline(self) -> Outline | None:
        """Return the tree as data; None while nothing has been learned."""
        return self._reading.outline(self._root)

    @property
    def outline_lately(self) -> Outline | None:
        """The tree as data; keeping it up to date costs only what has changed."""
        return self.outline()

    @property
    def retained(self) -> int:
        """How many instances the tree stands for."""
        return self._root.size

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
                kept=[
                    (kept.given, None if kept.stored == kept.given else kept.stored, kept.label)
                    for kept in self._retention
                ],
                tree=self._dump_tree(),
                width=self._width,
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
            learner._width = state.width
            learner._root = Node(learner._ordered())
            for given, stored, label in state.kept:
                if not 0 <= label < len(learner.codes.classes):
                    raise SnapshotError(f"the snapshot names class {label}, which it does not declare")
                learner._retention.add(given, given if stored is None else stored, label)
            learner._load_tree(state.tree)
        except (msgspec.ValidationError, TypeError, LookupError) as error:
            raise SnapshotError(f"the snapshot does not make a learner: {error}") from error
        return learner
