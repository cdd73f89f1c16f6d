"""The incremental MDL tree as a learner: names, numbers, settings, answers and snapshots."""

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from operator import le, sub
from typing import Annotated, ClassVar, Literal, Self, cast

import msgspec
import numpy as np

from learners.change import ChangeKind, TreeChange, change_of_all, diff
from learners.codes import MISSING_CODE, Codes, Row, growth_from, number_code, number_of
from learners.cuts import SHARE, YOUNG, YOUNG_SHARE, is_overfull, make_cuts, with_median
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
from learners.mdl.judging import ADDITIVE, DATA, PAPER, ROOT
from learners.mdl.records import Node
from learners.mdl.tree import Tree
from learners.ops import OpCounts
from learners.outline import Outline, Path
from learners.schema import MOST_CUTS, Instance, Limits, Schema, Values
from learners.snapshot import SnapshotError, pack, unpack

CODES = {"additive": ADDITIVE, "paper": PAPER, "paper-data": DATA, "paper-root": ROOT}
UNSEEN = (1 << 64) - 1
"""What stands in an array of codes for a value that nothing has been learned about."""
MOST_LEARNED = 1 << 12
Positive = Annotated[int, msgspec.Meta(ge=1)]


class MDLOptions(Options, frozen=True):
    """Settings of the MDL tree.

    Attributes:
        code: How bits are counted. "additive": a bit a node, the tests, and the classes of each leaf by an
            estimator, for any number of classes; see `learners.mdl.bits`. "paper": as Bhatia and Schuch
            have it, for two classes; "paper-data": of these only the exceptions; "paper-root": with the
            exceptions of all leaves as one set.
        tree_weight: How much a bit for the tree counts against one for the exceptions, in the additive code.
            Trees are described wastefully: with 1, many that would answer better are too dear.
        deep: Whether a test is judged by the whole subtree that could grow below it, and not by its leaves:
            finds what two tests show only together, at a price.
        retry: How many times as many records there must be before a test that did not pay is tried again;
            1: it is tried with every record, as in the paper.
        restructure: How a test is exchanged: by pulling it up, or by building the subtree anew. The tree is
            the same.
        bins: How many bins the numbers of an attribute are divided into.
        tie_order: Attributes in the order in which ties are broken; those not named follow in schema order.
        missing: What an instance to be learned without a value is given: a value of its own (a number goes
            where the median goes), or nothing: it is refused.
        window: How many instances are retained; none: all. Exactly the last so many count.
    """

    code: Literal["additive", "paper", "paper-data", "paper-root"] = "additive"
    tree_weight: Annotated[float, msgspec.Meta(ge=0, le=16)] = 0.25
    deep: bool = False
    retry: Annotated[float, msgspec.Meta(ge=1, le=100)] = 1.25
    restructure: Literal["pull-up", "rebuild"] = "pull-up"
    bins: Annotated[int, msgspec.Meta(ge=2, le=100)] = 32
    tie_order: tuple[str, ...] = ()
    missing: Literal["own_value", "reject"] = "own_value"
    window: Positive | None = None


class State(msgspec.Struct):
    """The body of a snapshot. Rows and labels are little-endian arrays of 32 bits."""

    schema: Schema
    options: dict[str, object]
    codes: list[object]
    width: int
    classes: int
    numeric: list[int]
    cuts: list[tuple[list[int], int]]
    cut_age: tuple[int, bool]
    first: int
    rows: bytes
    labels: bytes
    numbers: list[tuple[int, ...]]
    form: list[object]
    ops: list[int]


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
        self._numeric: list[int] = []
        self._cuts: dict[int, list[int]] = {}
        self._medians: dict[int, int] = {}
        self._since_cuts, self._aged = 0, False
        self._numbers: deque[tuple[int, ...]] = deque()
        self._names = Names(self.codes, self._cuts)
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
        return _ops(self.tree.counted())

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
                learned.append(Learned.of(changes, _ops(spent), self._published))
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
            known = self._learned[spent] = Learned([], _ops(spent))
        return known

    def _learn(self, row: list[int], label: int) -> list[TreeChange]:
        tree = self.tree
        if self.codes.grown != self._room_for or len(row) > self._width or label >= self._classes:
            self._make_room(len(row), label)
        numeric = self._numeric
        self._numbers.append(tuple([row[a] if a < len(row) else 0 for a in numeric]) if numeric else ())
        tree.put(self._binned(row) if numeric else row, label)
        tree.saved = 0
        tree.learn()
        window = self.options.window
        if window is not None:
            while tree.next - tree.first > window:
                tree.forget_oldest()
                self._numbers.popleft()
                self._aged = True
        if numeric:
            self._since_cuts += 1
            if self._is_recut():
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
        new = [a for a in range(width) if a not in self._cuts and self.codes.is_numeric(a)]
        for a in new:
            declared = self.schema.attributes[a].cuts if a < len(self.schema.attributes) else ()
            self._cuts[a] = list(map(number_code, declared))
            self._medians[a] = 1
            self._numeric.append(a)
        lengths = [self.options.bins if a in self._cuts else len(self.codes.values[a]) for a in range(width)]
        for a, cuts in self._cuts.items():
            lengths[a] = max(self.options.bins, len(cuts) + 1) + 1
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
            [int(a in self._cuts) for a in range(self._width)],
            [len(self._cuts.get(a, ())) for a in range(self._width)],
            sorted(range(self._width), key=self._tie_rank),
            self._classes,
            self._ranks(),
            self._in_order_of_texts(),
        )
        for a in new:
            for place in range(tree.first, tree.next):
                tree.set_value(place, a, self._medians[a])
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

    # ---- numbers

    def _binned(self, row: list[int]) -> list[int]:
        """Return a row with the bins of its numbers; a missing one has that of the median."""
        row = row + [MISSING_CODE] * (self._width - len(row))
        for a, cuts in self._cuts.items():
            if a < len(row):
                row[a] = bisect_left(cuts, row[a]) + 1 if row[a] > 0 else self._medians[a]
        return row

    def _is_recut(self) -> bool:
        """Make the cuts anew if it is time to, and the tree with them; return whether that was so."""
        retained = self.retained
        young = retained <= YOUNG
        if self._since_cuts * (YOUNG_SHARE if young else SHARE) < retained or not retained:
            return False
        others = False
        for at, a in enumerate(self._numeric):
            numbers = [number_of(one[at]) for one in self._numbers if at < len(one) and one[at]]
            declared = self.schema.attributes[a].cuts if a < len(self.schema.attributes) else ()
            known = with_median(list(map(number_of, self._cuts[a])), ())
            if not (young or self._aged or is_overfull(known, numbers)):
                continue
            made = with_median(declared, numbers) if declared else make_cuts(numbers, self.options.bins)
            cuts = list(map(number_code, made.at))
            others |= cuts != self._cuts[a] or made.median != self._medians[a]
            self._cuts[a], self._medians[a] = cuts, made.median
        self._since_cuts, self._aged = 0, False
        if not others:
            return False
        tree = self.tree
        for at, a in enumerate(self._numeric):
            cuts, median = self._cuts[a], self._medians[a]
            for place, one in enumerate(self._numbers, tree.first):
                code = one[at] if at < len(one) else 0
                tree.set_value(place, a, bisect_left(cuts, code) + 1 if code else median)
        root, tree.root = tree.root, None
        self._lay_out()
        tree.root = root
        tree.rebuild()
        return True

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
        if self._numeric:
            lacking = [a for a in self._numeric if a >= len(row) or not row[a]]
            row = [-1 if code == UNSEEN else code for code in self._binned(row)]
        else:
            lacking = []
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
            if node.test in self._cuts:
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
                numeric=self._numeric,
                cuts=[(self._cuts[a], self._medians[a]) for a in self._numeric],
                cut_age=(self._since_cuts, self._aged),
                first=tree.first,
                rows=np.array(rows, dtype="<i4").tobytes(),
                labels=np.array(labels, dtype="<i4").tobytes(),
                numbers=list(self._numbers) if self._numeric else [],
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
        if sorted(self._numeric) != sorted(state.numeric):
            raise SnapshotError("the snapshot has numbers where there are none")
        self._numeric = state.numeric
        for a, (cuts, median) in zip(state.numeric, state.cuts, strict=True):
            if len(cuts) > MOST_CUTS or not 1 <= median <= len(cuts) + 1:
                raise SnapshotError("the snapshot has cuts that are none")
            self._cuts[a], self._medians[a] = cuts, median
        self._lay_out()
        labels = np.frombuffer(state.labels, dtype="<i4").tolist()
        rows = np.frombuffer(state.rows, dtype="<i4").reshape(len(labels), state.width).tolist()
        sizes = self._sizes
        for row, label in zip(rows, labels, strict=True):
            if not 0 <= label < self._classes or any(not 0 <= c < s for c, s in zip(row, sizes, strict=True)):
                raise SnapshotError("the snapshot has values or classes it does not name")
        self.tree.load(rows, labels, state.first)
        self._numbers = deque(state.numbers if state.numeric else [() for _ in labels])
        load_form(self.tree, state.form)
        (
            self.tree.additions,
            self.tree.scores,
            self.tree.expansions,
            self.tree.pull_ups,
            self.tree.collapses,
            self.tree.rebuilds,
            _,
            _,
        ) = state.ops
        self._since_cuts, self._aged = state.cut_age
        self._publish()


def _ops(counted: tuple[int, ...]) -> OpCounts:
    additions, scores, expansions, pull_ups, collapses, rebuilds, stored, forgotten = counted
    return OpCounts(
        instance_count_additions=additions,
        e_scores=scores,
        expansions=expansions,
        pull_ups=pull_ups,
        collapses=collapses,
        rebuilds=rebuilds,
        instances_stored=stored,
        instances_forgotten=forgotten,
    )
