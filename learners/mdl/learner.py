"""The incremental MDL tree as a learner: names, numbers, settings, answers and snapshots."""

from collections import deque
from collections.abc import Sequence
from operator import le, sub
from typing import ClassVar, Self, cast

import msgspec
import numpy as np

from learners.change import ChangeKind, TreeChange, change_of_all, diff
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
from learners.mdl.bits import ONE
from learners.mdl.classes import TwoClassCodes, refusal_of
from learners.mdl.forms import Names, dump_form, load_form, sizes_for
from learners.mdl.options import CODES, MDLOptions
from learners.mdl.records import Node
from learners.mdl.scales import Scales
from learners.mdl.state import State, ops_of, set_counted
from learners.mdl.tree import Tree
from learners.ops import OpCounts
from learners.outline import Outline, Path
from learners.schema import Instance, Limits, Schema, Values
from learners.snapshot import SnapshotError, pack, unpack

UNSEEN = (1 << 64) - 1
"""What stands in an array of codes for a value that nothing has been learned about."""
MOST_LEARNED = 1 << 12


class MDL:
    """The tree that describes the records retained in few bits. See `learners.learner.Learner`.

    Example:
        >>> from learners.schema import Instance
        >>> tree = MDL()
        >>> for n in range(32):
        ...     _ = tree.learn_one(Instance({"a": str(n % 2), "b": str(n // 8)}, "yes" if n % 2 else "no"))
        >>> tree.predict_one({"a": "1", "b": "0"}).answer
        'yes'
    """

    name: ClassVar[str] = "mdl"
    options_type: ClassVar[type[Options]] = MDLOptions
    takes_arrays: ClassVar[bool] = True
    takes_numbers: ClassVar[bool] = True

    def __init__(
        self, schema: Schema | None = None, options: Options | None = None, limits: Limits | None = None
    ) -> None:
        settings = MDLOptions() if options is None else options
        if not isinstance(settings, MDLOptions):
            raise TypeError(f"{self.name} takes MDLOptions, not {type(settings).__name__}")
        self.options: MDLOptions = settings
        self.schema = schema or Schema()
        kind = Codes if settings.code == "additive" else TwoClassCodes
        self.codes = kind(self.schema, limits, reject_missing=settings.missing == "reject", numbers=True)
        self.tree = Tree(
            CODES[settings.code],
            settings.tree_weight,
            settings.deep,
            settings.retry,
            settings.restructure == "pull-up",
        )
        self._classes = max(2, len(self.schema.classes))
        self._width = len(self.codes.attributes)
        self._scales = Scales(self.schema, settings.bins)
        self._names = Names(self.codes, self._scales.cuts)
        self._room_for = -1
        self._sizes: list[int] = []
        self._published: Outline | None = None
        self._version = 0
        self._learned: dict[tuple[int, ...], Learned] = {}
        self._make_room(self._width, -1)
        self._lay_out()

    @classmethod
    def refusal(cls, schema: Schema, options: Options) -> str | None:
        """Return why a schema does not go with the settings, or None."""
        if isinstance(options, MDLOptions) and options.code != "additive":
            return refusal_of(schema.classes)
        return None

    # ---- learning

    @property
    def ops(self) -> OpCounts:
        """What learning has cost so far; `e_scores` are tests judged."""
        return ops_of(self.tree.counted())

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
        changed: list[int] = []
        before = self.tree.counted()
        for place, (row, label) in enumerate(zip(given, named, strict=True)):
            predictions.append(self._answer(row))
            if label < 0:
                learned.append(None)
                continue
            changes = self._learn(row, label)
            after = self.tree.counted()
            spent = tuple(map(sub, after, before))
            before = after
            if changes:
                learned.append(Learned.of(changes, ops_of(spent), self._published))
                changed.append(place)
            else:
                learned.append(self._nothing_told(spent))
        return BatchResult(predictions, learned, changed)

    def _nothing_told(self, spent: tuple[int, ...]) -> Learned:
        """Return what learning a record did that changed nothing. Few different costs come over and over."""
        known = self._learned.get(spent)
        if known is None:
            if len(self._learned) > MOST_LEARNED:
                self._learned.clear()
            known = self._learned[spent] = Learned([], ops_of(spent))
        return known

    def _learn(self, row: list[int], label: int) -> list[TreeChange]:
        tree = self.tree
        if self.codes.grown != self._room_for or len(row) > self._width or label >= self._classes:
            self._make_room(len(row), label)
        scales = self._scales
        scales.keep(row)
        tree.put(scales.binned(row, self._width) if scales.numeric else row, label)
        tree.saved = 0
        tree.learn()
        window = self.options.window
        if window is not None:
            while tree.next - tree.first > window:
                tree.forget_oldest()
                scales.drop_oldest()
        if scales.numeric and scales.are_new():
            self._recut()
            return self._publish(recut=True)
        return self._publish() if tree.changed else []

    def _publish(self, *, recut: bool = False) -> list[TreeChange]:
        """Return how the tree has changed since the last call."""
        self.tree.changed = False
        before, now = self._published, self._names.shape(self.tree.root)
        if before is now:
            return []
        self._published = now
        if recut:
            changes = change_of_all(before, now, ChangeKind.RECUT)
        else:
            changes = diff(before, now, ChangeKind.PULLED_UP)
        self._version += 1
        saved = self.tree.saved / ONE if self.tree.saved else None
        return [
            TreeChange(one.kind, one.path, one.old_test, one.new_test, self._now_at(one), saved)
            for one in changes
        ]

    def _now_at(self, change: TreeChange) -> Outline | None:
        """Return the subtree of a change with the counts of now."""
        if change.subtree is None:
            return None
        return self._names.told(self._node_at(change.path))

    def _node_at(self, path: Path) -> Node:
        node = self.tree.root
        for test, text in path:
            assert node is not None
            node = node.branches[self._names.value(test, text)]
        assert node is not None
        return node

    # ---- room for names

    def _make_room(self, width: int, label: int) -> None:
        """Give the tree room for names that were met since the last time.

        How many classes and attributes there are counts only as far as records that were learned have them:
        it must not depend on how a stream is cut into batches.
        """
        width, classes = max(width, self._width), max(self._classes, label + 1)
        scales = self._scales
        new = [a for a in range(width) if a not in scales.cuts and self.codes.is_numeric(a)]
        for a in new:
            scales.welcome(a)
        lengths = [scales.room(a) if a in scales.cuts else len(self.codes.values[a]) for a in range(width)]
        fits = len(self._sizes) == width and all(map(le, lengths, self._sizes))
        self._room_for = self.codes.grown
        if not fits or classes != self._classes or new:
            self._width, self._classes = width, classes
            self._sizes = sizes_for(lengths)
            self._lay_out(new)
        else:
            self.tree.rename(self._ranks(), self._in_order_of_texts())

    def _lay_out(self, new: Sequence[int] = ()) -> None:
        """Lay the tree out for all names; numbers that are new lack in all records so far."""
        tree, before = self.tree, self.tree.additions
        self._names.classes = self._classes
        tree.lay_out(
            self._sizes,
            [int(a in self._scales.cuts) for a in range(self._width)],
            [len(self._scales.cuts.get(a, ())) for a in range(self._width)],
            sorted(range(self._width), key=self._tie_rank),
            self._classes,
            self._ranks(),
            self._in_order_of_texts(),
        )
        for a in new:
            for place in range(tree.first, tree.next):
                tree.set_value(place, a, self._scales.medians[a])
        if tree.root is not None:
            tree.recount(tree.root, bytes(self._width))
        tree.additions = before

    def _ranks(self) -> list[int]:
        """Return for each class its place among equally frequent ones."""
        ordered = sorted(range(min(self._classes, len(self.codes.classes))), key=self.codes.class_order)
        ranks = list(range(self._classes))
        for place, code in enumerate(ordered):
            ranks[code] = place
        return ranks

    def _in_order_of_texts(self) -> list[list[int]]:
        values = self.codes.values
        return [sorted(range(len(values[a])), key=values[a].__getitem__) for a in range(self._width)]

    def _tie_rank(self, attribute: int) -> tuple[int, int]:
        """Return the place of an attribute in the order in which ties are broken."""
        first, name = self.options.tie_order, self.codes.attributes[attribute]
        return first.index(name) if name in first else len(first), attribute

    def _recut(self) -> None:
        """Build the tree anew with the cuts of now."""
        tree = self.tree
        for place, attribute, found in self._scales.all_bins():
            tree.set_value(tree.first + place, attribute, found)
        root, tree.root = tree.root, None
        self._lay_out()
        tree.root = root
        tree.rebuild()

    # ---- reading

    def predict_one(self, values: Values) -> Prediction:
        """Answer a description."""
        return self.answer(self.codes.look_up(values))

    def answer(self, row: Row) -> Prediction:
        """Answer a description given as codes."""
        return self._answer(list(row))

    def _answer(self, row: list[int]) -> Prediction:
        tree = self.tree
        if tree.root is None:
            return Prediction(None)
        lacking: list[int] = []
        if self._scales.numeric:
            lacking = self._scales.lacking(row)
            row = [-1 if code == UNSEEN else code for code in self._scales.binned(row, self._width)]
        node, stuck = tree.find(row)
        path = self._path(node, row)
        flags: tuple[str, ...] = ()
        if lacking and any(self.codes.attribute_code(step.attribute) in lacking for step in path):
            flags = (FLAG_MISSING,)
        if not stuck:
            return Prediction(self.codes.classes[node.same], self._names.counts(node), path, flags)
        missing = node.test >= len(row) or row[node.test] == MISSING_CODE
        flag = FLAG_MISSING if missing else FLAG_UNSEEN
        best = self.codes.classes[tree.most_frequent(node.counts, 0)]
        return Prediction(best, self._names.counts(node), path, flags if flag in flags else (*flags, flag))

    def _path(self, last: Node, row: list[int]) -> tuple[Step, ...]:
        """Return the decisions on the way to a node; they are told once for each tree."""
        known = cast("tuple[int, tuple[Step, ...]] | None", last.explained)
        if known is not None and known[0] == self._version:
            return known[1]
        steps: list[Step] = []
        node = self.tree.root
        while node is not last:
            assert node is not None
            value = row[node.test] if node.test < len(row) else MISSING_CODE
            if node.test in self._scales.cuts:
                value = int(value > node.cut)
            steps.append(self._names.step(node, value))
            node = node.branches[value]
        path = tuple(steps)
        last.explained = (self._version, path)
        return path

    def outline(self) -> Outline | None:
        """Return the tree as data; None while nothing has been learned."""
        return self._names.told(self.tree.root)

    @property
    def outline_lately(self) -> Outline | None:
        """The tree as data, whose counts may be older."""
        return self._published

    @property
    def retained(self) -> int:
        """How many instances the tree stands for."""
        return self.tree.next - self.tree.first

    @property
    def description_bits(self) -> tuple[float, float]:
        """The bits for the tree and those for the exceptions; together the description length.

        In the additive code what is kept short is `tree_weight` times the one and the other.
        """
        tree, root = self.tree, self.tree.root
        if root is None:
            return 0.0, 0.0
        if self.options.code == "additive":
            return root.nodes + root.tests / ONE, root.data / ONE
        data = tree.length(root.n, root.wrong) if self.options.code == "paper-root" else root.data
        return (tree.bits(root) - data) / ONE, data / ONE

    # ---- snapshots

    def snapshot(self) -> bytes:
        """Return everything that is needed to go on exactly as if nothing had happened."""
        tree = self.tree
        rows, labels = tree.dumped()
        return pack(
            self.name,
            State(
                schema=self.schema,
                options=msgspec.to_builtins(self.options),
                codes=list(self.codes.dump()),
                width=self._width,
                classes=self._classes,
                numeric=self._scales.numeric,
                cuts=self._scales.dump(),
                cut_age=self._scales.age,
                first=tree.first,
                rows=np.array(rows, dtype="<i4").tobytes(),
                labels=np.array(labels, dtype="<i4").tobytes(),
                numbers=list(self._scales.kept) if self._scales.numeric else [],
                form=dump_form(tree.root),
                ops=list(tree.counted()),
            ),
        )

    @classmethod
    def restore(cls, data: bytes, limits: Limits | None = None) -> Self:
        """Return the learner that `snapshot` described."""
        state = unpack(data, cls.name, State)
        try:
            learner = cls(state.schema, msgspec.convert(state.options, MDLOptions), limits)
            learner.codes.grow(growth_from(state.codes))
            learner._load(state)
        except (msgspec.ValidationError, ValueError, TypeError, LookupError, OverflowError) as error:
            raise SnapshotError(f"the snapshot does not make a learner: {error}") from error
        return learner

    def _load(self, state: State) -> None:
        names = self.codes
        if not 0 <= state.width <= len(names.attributes) or not 2 <= state.classes <= max(
            2, len(names.classes)
        ):
            raise SnapshotError("the snapshot has attributes or classes it does not name")
        self._make_room(state.width, state.classes - 1)
        self._scales.load(state.numeric, state.cuts)
        self._lay_out()
        labels = np.frombuffer(state.labels, dtype="<i4").tolist()
        rows = np.frombuffer(state.rows, dtype="<i4").reshape(len(labels), state.width).tolist()
        sizes = self._sizes
        for row, label in zip(rows, labels, strict=True):
            if not 0 <= label < self._classes or any(not 0 <= c < s for c, s in zip(row, sizes, strict=True)):
                raise SnapshotError("the snapshot has values or classes it does not name")
        self.tree.load(rows, labels, state.first)
        self._scales.kept = deque(state.numbers if state.numeric else [() for _ in labels])
        load_form(self.tree, state.form)
        set_counted(self.tree, state.ops)
        self._scales.age = state.cut_age
        self._publish()
