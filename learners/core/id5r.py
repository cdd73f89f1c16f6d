"""ID5R for production, as a learner: the compiled tree, its names, its settings and its snapshots.

The tree is the one `learners.utgoff.id5r` builds with the same settings, after every record. What differs is
how clearly a test was chosen: the readable learner tells it as of now, this one as of the moment the test
was chosen, which costs nothing and does not depend on how a stream is cut into batches.
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, ClassVar, Literal, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.change import ChangeKind, TreeChange, diff
from learners.codes import Codes, Row, growth_from
from learners.core import _core
from learners.core.batches import Explanations, run_batch
from learners.learner import FLAG_UNSEEN, BatchResult, Labels, Learned, Options, Prediction, Rows, Step
from learners.merit import ROUNDING, chi_square_threshold, critical_gain
from learners.ops import OpCounts
from learners.outline import Outline
from learners.schema import Instance, InstanceError, Limits, Misfit, Schema, Values
from learners.snapshot import SnapshotError, pack, unpack
from learners.utgoff.node import Node
from learners.utgoff.reading import Reading
from learners.utgoff.selection import Selection

CodeStep = tuple[int, int, int, int]
"""A decision as codes: attribute, value, runner-up or -1, margin."""
SMALL = 256
"""Subtrees of at most so many instances are made anew instead of being transposed: measured, not critical."""
Positive = Annotated[int, msgspec.Meta(ge=1)]


class CoreOptions(Options, frozen=True):
    """Settings of the production learner.

    Attributes:
        selection: "e-score", the paper's and the fast one, or "gain-ratio" (section 5.3), which is worth
            trying where attributes have many values.
        significance: The level at which an attribute must depend on the class to be tested. It keeps noise
            out of the tree and its cost flat; none: the bare algorithm.
        significance_test: The statistic: "g", which comes almost free, or Pearson's "chi2", the paper's.
        min_records_per_value: How many instances for each value present a significant attribute needs, so
            that identifiers are not tested. 0: no such rule.
        tie_order: Attributes in the order in which ties are broken; those not named follow in schema order.
        missing: What an instance to be learned without a value is given: a value of its own, or nothing: it
            is refused.
        window: How many instances are retained; none: all. Exactly the last so many count.
        max_instances: A cap on the instances retained; the oldest leave. If there is a window, the smaller
            of the two holds.
        max_bytes: A cap on the memory of the model; the oldest instances leave.
        on_contradiction: What happens when a description comes again with another class: both are kept, or
            the newer replaces the older (section 6).
    """

    selection: Literal["e-score", "gain-ratio"] = "e-score"
    significance: Annotated[float, msgspec.Meta(gt=0, lt=1)] | None = 0.01
    significance_test: Literal["g", "chi2"] = "g"
    min_records_per_value: Annotated[int, msgspec.Meta(ge=0)] = 2
    tie_order: tuple[str, ...] = ()
    missing: Literal["own_value", "reject"] = "own_value"
    window: Positive | None = None
    max_instances: Positive | None = None
    max_bytes: Annotated[int, msgspec.Meta(ge=1_000_000)] | None = None
    on_contradiction: Literal["keep", "replace"] = "keep"


class State(msgspec.Struct):
    """The body of a snapshot: little-endian arrays, and how wide the rows are."""

    schema: Schema
    options: dict[str, object]
    codes: list[object]
    width: int
    rows: bytes
    labels: bytes
    times: bytes
    ring: bytes
    form: bytes
    ops: list[int]


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
    wears_hat: ClassVar[bool] = True

    def __init__(
        self, schema: Schema | None = None, options: Options | None = None, limits: Limits | None = None
    ) -> None:
        settings = CoreOptions() if options is None else options
        if not isinstance(settings, CoreOptions):
            raise TypeError(f"{self.name} takes CoreOptions, not {type(settings).__name__}")
        self.options: CoreOptions = settings
        self.schema = schema or Schema()
        self.codes = Codes(self.schema, limits, reject_missing=settings.missing == "reject")
        self.tree = _make_tree(settings)
        self._selection = Selection(
            settings.selection,
            settings.significance,
            pearsons=settings.significance_test == "chi2",
            records_per_value=settings.min_records_per_value if settings.significance is not None else 0,
        )
        self._reading = Reading(self.codes, self._selection)
        self._width = len(self.codes.attributes)
        self._room_for = -1
        self._published: Outline | None = None
        self.explanations = Explanations()
        self.make_room(self._width)

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
        if self.options.train == "errors" and self.is_right(self.answer(row), label):
            return []
        self.make_room(len(row))
        self.tree.learn(row, label)
        return self.publish()

    def forget_one(self, instance: Instance) -> list[TreeChange]:
        """Forget one instance that was learned before, as if it had never come."""
        row = self.codes.recall(instance.values)
        label = self.codes.class_code(instance.label)
        if row is None or label < 0 or any(row[self._width :]) or not self.tree.forget(row, label):
            raise InstanceError(Misfit.UNKNOWN_VALUE, "instance", "no such instance is retained")
        return self.publish()

    def learn_batch(self, rows: Rows, labels: Labels) -> BatchResult:
        """Answer each record, then learn from it."""
        width = len(rows[0]) if len(rows) else 0
        predictions: list[Prediction] = []
        learned: list[Learned | None] = []
        # An attribute is taken up when the first row that has it is learned, and not before it is answered.
        while width > self._width and len(predictions) < len(rows):
            row, label = tuple(map(int, rows[len(predictions)])), int(labels[len(predictions)])
            predictions.append(self.answer(row))
            ops = self.ops
            changes = self.learn(row, label) if label >= 0 else []
            learned.append(Learned.of(changes, self.ops - ops, self.outline_lately) if label >= 0 else None)
        done = len(predictions)
        self.make_room(self._width)
        result = run_batch(
            self, self._as_array(rows[done:], width), np.asarray(labels[done:], dtype=np.int32)
        )
        if not done:
            return result
        return BatchResult.of([*predictions, *result.predictions], [*learned, *result.learned])

    def _as_array(self, rows: Rows, width: int) -> NDArray[np.uint32]:
        """Return rows as an array as wide as the tree; a code of -1 is one that no value has."""
        if isinstance(rows, np.ndarray) and width == self._width:
            return np.ascontiguousarray(rows)
        codes = np.zeros((len(rows), self._width), dtype=np.int64)
        if len(codes):
            codes[:, :width] = rows
        return codes.astype(np.uint32)

    def is_right(self, prediction: Prediction, label: int) -> bool:
        """Return whether an answer needs no learning under `train = "errors"`."""
        return prediction.answer == self.codes.classes[label] and FLAG_UNSEEN not in prediction.flags

    def make_room(self, width: int) -> None:
        """Give the tree room for names that were met since the last time, and for rows of some width."""
        if self.codes.grown == self._room_for and width <= self._width:
            return
        self._width = max(width, self._width)
        rank = {name: place for place, name in enumerate(self.options.tie_order)}
        names = self.codes.attributes
        order = sorted(range(self._width), key=lambda a: (rank.get(names[a], len(rank)), a))
        ordered = sorted(range(len(self.codes.classes)), key=self.codes.class_order)
        ranks = [0] * len(ordered)
        for place, code in enumerate(ordered):
            ranks[code] = place
        self.tree.reserve([len(self.codes.values[a]) for a in range(self._width)], order, ranks)
        self._room_for = self.codes.grown

    def publish(self) -> list[TreeChange]:
        """Return how the tree has changed since the last call."""
        before = self._published
        now = self._published = self.tree.outline(self.codes, self._by_ratio, False)
        changes = diff(before, now, ChangeKind.PULLED_UP)
        # What looks the same as before was told with the counts of then; a change tells those of now.
        return [
            self._with_counts_of_now(change) if change.subtree is not None else change for change in changes
        ]

    def _with_counts_of_now(self, change: TreeChange) -> TreeChange:
        path: list[tuple[int, int]] = []
        for test, value in change.path:
            attribute = self.codes.attribute_code(test.attribute)
            path.append((attribute, self.codes.value_code(attribute, value)))
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
        answer, how, counts, steps, below = self.tree.answer(row)
        path = self.steps(steps)
        if how == _core.MISSING:
            assert below is not None
            return self._reading.answer_without(self._node_of(steps, counts, below), row, list(path))
        return self.prediction(answer, counts, path, (FLAG_UNSEEN,) if how == _core.UNSEEN else ())

    def prediction(
        self, answer: int, counts: Sequence[int], path: tuple[Step, ...], flags: tuple[str, ...]
    ) -> Prediction:
        """Return an answer in names."""
        names = self.codes.classes
        told = tuple(sorted((names[code], int(n)) for code, n in enumerate(counts) if n))
        return Prediction(None if answer < 0 else names[answer], told, path, flags)

    def steps(self, steps: Sequence[CodeStep]) -> tuple[Step, ...]:
        """Return the decisions on the way to an answer in names."""
        names, values = self.codes.attributes, self.codes.values
        return tuple(
            Step(names[a], values[a][v], names[r], m / ROUNDING) if r >= 0 else Step(names[a], values[a][v])
            for a, v, r, m in steps
        )

    def _node_of(
        self, steps: Sequence[CodeStep], counts: Sequence[int], below: list[tuple[Row, int, int]]
    ) -> Node:
        """Return a node as the readable learner has it, for answering where a value is missing."""
        used = {step[0] for step in steps}
        node = Node(tuple(a for a in range(self._width) if a not in used))
        node.classes = {code: n for code, n in enumerate(counts) if n}
        node.instances = {(row, label): times for row, label, times in below}
        return node

    def outline(self) -> Outline | None:
        """Return the tree as data; None while nothing has been learned."""
        return self.tree.outline(self.codes, self._by_ratio)

    @property
    def retained(self) -> int:
        """How many instances the tree stands for."""
        return self.tree.retained

    @property
    def model_bytes(self) -> int:
        """How much memory the tree holds."""
        return self.tree.bytes

    # ---- snapshots

    def snapshot(self) -> bytes:
        """Return everything that is needed to go on exactly as if nothing had happened."""
        self.tree.settle()
        rows, labels, times, ring, form, ops = self.tree.dump()
        return pack(
            self.name,
            State(
                schema=self.schema,
                options=msgspec.to_builtins(self.options),
                codes=list(self.codes.dump()),
                width=self._width,
                rows=rows.tobytes(),
                labels=labels.tobytes(),
                times=times.tobytes(),
                ring=ring.tobytes(),
                form=form.tobytes(),
                ops=list(ops),
            ),
        )

    @classmethod
    def restore(cls, data: bytes, limits: Limits | None = None) -> Self:
        """Return the learner that `snapshot` described."""
        state = unpack(data, cls.name, State)
        try:
            learner = cls(state.schema, msgspec.convert(state.options, CoreOptions), limits)
            learner.codes.grow(growth_from(state.codes))
            if not 0 <= state.width <= len(learner.codes.attributes):
                raise SnapshotError(f"the snapshot has rows of {state.width} attributes it does not name")
            learner.make_room(state.width)
            learner._load(state)
        except (msgspec.ValidationError, ValueError, TypeError, LookupError, OverflowError) as error:
            raise SnapshotError(f"the snapshot does not make a learner: {error}") from error
        learner.publish()
        return learner

    def _load(self, state: State) -> None:
        labels = np.frombuffer(state.labels, dtype="<u2")
        rows: NDArray[np.uint16] = np.frombuffer(state.rows, dtype="<u2")
        rows = rows.reshape(len(labels), state.width)
        sizes = [len(self.codes.values[a]) for a in range(state.width)]
        if len(labels) and state.width and (rows.max(axis=0) >= np.array(sizes)).any():
            raise SnapshotError("the snapshot has values it does not name")
        self.tree.load(
            rows,
            labels,
            np.frombuffer(state.times, dtype="<u4"),
            np.frombuffer(state.ring, dtype="<u4"),
            np.frombuffer(state.form, dtype="<i8"),
            tuple(state.ops),
        )


def _make_tree(settings: CoreOptions) -> _core.CoreTree:
    """Return the tree that some settings ask for."""
    level = settings.significance
    pearsons = level is not None and settings.significance_test == "chi2"
    caps = [cap for cap in (settings.window, settings.max_instances) if cap is not None]
    return _core.CoreTree(
        gain_ratio=settings.selection == "gain-ratio",
        critical=partial(critical_gain, level) if level is not None and not pearsons else None,
        critical_pearson=partial(chi_square_threshold, level) if level is not None and pearsons else None,
        records_per_value=settings.min_records_per_value,
        hat=settings.train == "errors",
        replace=settings.on_contradiction == "replace",
        window=min(caps, default=0),
        max_bytes=settings.max_bytes or 0,
        small=SMALL,
    )
