"""The incremental MDL tree as a learner: names, numbers, settings, answers and snapshots."""

from collections.abc import Sequence
from dataclasses import replace
from operator import le
from typing import ClassVar, cast

from learners.change import ChangeKind, TreeChange, change_of_all
from learners.codes import Codes
from learners.learner import FLAG_MISSING, FLAG_UNSEEN, Options, Prediction, Step
from learners.mdl.bits import ONE
from learners.mdl.classes import TwoClassCodes, refusal_of
from learners.mdl.forms import Names, in_order_of_texts, sizes_for
from learners.mdl.options import CODES, MDLOptions
from learners.mdl.records import Node
from learners.mdl.restoring import dump, load
from learners.mdl.scales import Scales
from learners.mdl.state import State, in_order
from learners.mdl.tree import Tree
from learners.ops import OpCounts
from learners.outline import Outline
from learners.schema import Limits, Schema
from learners.tree_learner import LearnerState, TreeLearner
from learners.vocabulary import MISSING_CODE, Row

MOST_CODE = (1 << 31) - 1
"""The highest code that a value can have."""


class MDL(TreeLearner[State]):
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
    state_type: ClassVar[type[LearnerState]] = State
    takes_arrays: ClassVar[bool] = True
    takes_numbers: ClassVar[bool] = True
    retests: ClassVar[ChangeKind] = ChangeKind.PULLED_UP
    options: MDLOptions

    def _make_codes(self, limits: Limits | None) -> Codes:
        kind = Codes if self.options.code == "additive" else TwoClassCodes
        return kind(self.schema, limits, reject_missing=self.options.refuses_missing, numbers=True)

    def _setup(self) -> None:
        settings = self.options
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
        self._met: set[int] = set()
        self._unmet: list[int] = []
        self._room_for = -1
        self._sizes: list[int] = []
        self._recut_now = False
        numbers = [a for a in range(self._width) if self.codes.is_numeric(a)]
        self._make_room(self._width, -1, (), numbers)
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
        return OpCounts(*self.counted())

    def counted(self) -> tuple[int, ...]:
        """Return the operations so far in the order of `learners.ops.OPERATIONS`."""
        return in_order(self.tree.counted())

    def _leave_out(self, attributes: Sequence[int]) -> None:
        """Build the tree again of records that lack the attributes."""
        tree = self.tree
        had = [a for a in attributes if a in self._met]
        if had:
            self._met.difference_update(had)
            self._unmet = sorted({*self._unmet, *had})
            for a in had:
                if a in self._scales.cuts:
                    self._scales.retire(a)
                for place in range(tree.first, tree.next):
                    tree.set_value(place, a, self._scales.medians.get(a, MISSING_CODE))
            self._rebuild()

    def _train(self, row: Row, label: int) -> bool:
        tree, scales = self.tree, self._scales
        met = [a for a in self._unmet if a < len(row) and row[a]]
        if met or self.codes.grown != self._room_for or len(row) > self._width or label >= self._classes:
            met.extend(a for a in range(self._width, len(row)) if row[a])
            numbers = [a for a in met if a not in scales.cuts and self.codes.is_numeric(a)]
            self._make_room(len(row), label, met, numbers)
        values = list(row)
        scales.keep(values)
        tree.put(scales.binned(values, self._width) if scales.numeric else values, label)
        tree.saved = 0
        tree.learn()
        window = self.options.window
        if window is not None:
            while tree.next - tree.first > window:
                tree.forget_oldest()
                scales.drop_oldest()
        self._recut_now = bool(scales.numeric) and scales.are_new()
        if self._recut_now:
            self._recut()
        return self._recut_now or tree.changed

    def _shape(self) -> Outline | None:
        self.tree.changed = False
        return self._names.shape(self.tree.root)

    def _changes(self, before: Outline | None, now: Outline | None) -> list[TreeChange]:
        if self._recut_now:
            changes = change_of_all(before, now, ChangeKind.RECUT)
        else:
            changes = super()._changes(before, now)
        saved = self.tree.saved / ONE if self.tree.saved else None
        return [replace(one, subtree=self._with_counts_of_now(one), saved=saved) for one in changes]

    def _with_counts_of_now(self, change: TreeChange) -> Outline | None:
        if change.subtree is None or self.tree.root is None:
            return None
        return self._names.told(self._names.node_at(self.tree.root, change.path))

    # ---- room for names

    def _make_room(self, width: int, label: int, met: Sequence[int], numbers: Sequence[int]) -> None:
        """Give the tree room for names that were met since the last time.

        How many classes and attributes there are, and which are numbers, counts only as far as records that
        were learned have them: it must not depend on how a stream is cut into batches. An attribute that no
        record has had is none.

        Args:
            width: How many attributes a record has.
            label: Its class.
            met: The attributes of which it has the first value.
            numbers: Those of them that are numbers.
        """
        width, classes = max(width, self._width), max(self._classes, label + 1)
        scales = self._scales
        for a in numbers:
            scales.welcome(a)
        lengths = [scales.room(a) if a in scales.cuts else len(self.codes.values[a]) for a in range(width)]
        fits = len(self._sizes) == width and all(map(le, lengths, self._sizes))
        self._room_for = self.codes.grown
        self._met.update(met)
        self._unmet = [a for a in range(width) if a not in self._met]
        if not fits or classes != self._classes or met or numbers:
            self._width, self._classes = width, classes
            self._sizes = sizes_for(lengths)
            self._lay_out(numbers)
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
            self.codes.in_tie_order(range(self._width), self.options.tie_order),
            self._classes,
            self._ranks(),
            self._in_order_of_texts(),
            bytes(a not in self._met for a in range(self._width)),
        )
        for a in new:
            for place in range(tree.first, tree.next):
                tree.set_value(place, a, self._scales.medians[a])
        if tree.root is not None:
            tree.recount(tree.root, tree.barred)
        tree.additions = before

    def _ranks(self) -> list[int]:
        """Return for each class its place among equally frequent ones; there is room for two at least."""
        known = min(self._classes, len(self.codes.classes))
        return [*self.codes.class_ranks(known), *range(known, self._classes)]

    def _in_order_of_texts(self) -> list[list[int]]:
        """Return the codes of each attribute in the order of their texts.

        A batch gives codes to all its values before the first record is learned; for values that no record
        had so far there may be no room yet, and they count nowhere.
        """
        values = self.codes.values[: self._width]
        return in_order_of_texts([texts[:size] for texts, size in zip(values, self._sizes, strict=True)])

    def _recut(self) -> None:
        """Build the tree again with the cuts of now."""
        for place, attribute, found in self._scales.all_bins():
            self.tree.set_value(self.tree.first + place, attribute, found)
        self._rebuild()

    def _rebuild(self) -> None:
        """Build the tree again from its records."""
        tree = self.tree
        root, tree.root = tree.root, None
        self._lay_out()
        tree.root = root
        tree.rebuild()

    # ---- reading

    def answer(self, row: Row) -> Prediction:
        """Predict the class of a description given as codes."""
        return self._answer(list(row))

    def _answer(self, row: list[int]) -> Prediction:
        tree = self.tree
        if tree.root is None:
            return Prediction(None)
        lacking: list[int] = []
        if self._scales.numeric:
            lacking = self._scales.lacking(row)
            row = self._scales.binned(row, self._width)
        if row and max(row) > MOST_CODE:
            # An unseen value, or a number of an attribute of which none has been learned.
            row = [code if code <= MOST_CODE else -1 for code in row]
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
        if known is not None and known[0] == self.version:
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
        last.explained = (self.version, path)
        return path

    def outline(self) -> Outline | None:
        """Return the tree as data; None while nothing has been learned."""
        return self._names.told(self.tree.root)

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

    def _dump(self) -> State:
        return dump(self)

    def _load(self, state: State) -> None:
        load(self, state)
