"""ID5R for production, as a learner: the compiled tree, its names, its settings and its snapshots.

The tree is the one `learners.utgoff.id5r` builds with the same settings, after every record. What differs is
how clearly a test was chosen: the readable learner tells it as of now, this one as of the moment the test
was chosen, which costs nothing and does not depend on how a stream is cut into batches.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from learners.bayes import shares_of
from learners.canonical import number_code
from learners.change import ChangeKind, TreeChange, change_of_all
from learners.id5r import _core
from learners.id5r.batches import FLAGS, Explanations, as_array, run_batch, run_quietly
from learners.id5r.making import make_tree, make_voices
from learners.id5r.naming import named_prediction
from learners.id5r.options import BAYES, OUTLINE_BYTES, CoreOptions
from learners.id5r.state import State, dump, load, load_trees, without_attributes
from learners.learner import BatchResult, Labels, Learned, Options, Prediction, Rows, Step
from learners.ops import OpCounts
from learners.outline import Outline
from learners.schema import AttributeType, Instance, InstanceError, Misfit
from learners.snapshot import SnapshotError, pack
from learners.tree_learner import LearnerState, TreeLearner
from learners.vocabulary import Row


class ID5R(TreeLearner[State]):
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
    state_type: ClassVar[type[LearnerState]] = State
    takes_arrays: ClassVar[bool] = True
    takes_numbers: ClassVar[bool] = True
    exact: ClassVar[bool] = True
    forgets: ClassVar[bool] = True
    retests: ClassVar[ChangeKind] = ChangeKind.PULLED_UP
    options: CoreOptions

    def _setup(self) -> None:
        settings = self.options
        self.clock = self.codes.clock = settings.clock()
        self._make_trees()
        self.width = len(self.codes.attributes)
        self.numeric: list[int] = []
        self.retired: set[int] = set()
        self._room_for = -1
        self.publishes_each = True
        self.explanations = Explanations()
        for attribute in self.schema.attributes:
            if attribute.name == settings.time and attribute.type is not AttributeType.NUMERIC:
                raise ValueError(f'attribute "{settings.time}" is a time and must be numeric')
        self.make_room(self.width, [a for a in range(self.width) if self.codes.is_numeric(a)])
        self.tree.count_known_names()
        for place, attribute in enumerate(self.schema.attributes):
            if attribute.cuts:
                for tree in self._trees():
                    tree.set_cuts(place, list(map(number_code, attribute.cuts)), 1, True)

    def _make_trees(self) -> None:
        effective = self.options.in_effect()
        self.tree = make_tree(effective, ordered=effective.drift is not None, outline_bytes=OUTLINE_BYTES)
        self.voices = make_voices(effective, self.tree)

    # ---- learning

    @property
    def ops(self) -> OpCounts:
        """What learning has cost so far: the operations really performed."""
        return OpCounts(**dict(zip(_core.OPERATIONS, self.tree.operations(), strict=True)))

    def learn(self, row: Row, label: int) -> list[TreeChange]:
        """Learn from an instance given as codes."""
        return self.publish() if self._learn_quietly(row, label) else []

    def _learn_quietly(self, row: Row, label: int) -> bool:
        """Learn from an instance; return whether the tree may have changed."""
        if self.voices is None and self.options.train == "errors" and self.is_right(self.answer(row), label):
            self.note_names(row, label)
            self._follow_time(1)
            return False
        return self._train(row, label)

    def _train(self, row: Row, label: int) -> bool:
        self.make_room(len(row), self._new_numbers(row))
        (self.voices or self.tree).learn(row, label)
        self._follow_time(1)
        return True

    def note_names(self, row: Row, label: int) -> None:
        """Count the names in a row that is not learned, where names count towards a limit on memory."""
        if self.options.max_bytes is not None:
            self.make_room(self.width)
            self.tree.note(row, label)

    def _follow_time(self, learned: int) -> None:
        if self.clock is not None:
            self.clock.follow(self.tree.newest, confirmed=self.tree.confirmed, learned=learned)

    def forget_one(self, instance: Instance) -> list[TreeChange]:
        """Forget one instance that was learned before, as if it had never come."""
        row = self.codes.recall(instance.values)
        label = self.codes.class_code(instance.label)
        keeper = self.voices or self.tree
        self.make_room(self.width)  # for names that were met in records which were never learned
        if row is None or label < 0 or any(row[self.width :]) or not keeper.forget(row, label):
            raise InstanceError(Misfit.UNKNOWN_VALUE, "instance", "no such instance is retained")
        return self.publish()

    def _leave_out(self, attributes: Sequence[int]) -> None:
        """Make all trees again from their instances, which is rare enough to cost what it costs."""
        new = {*attributes} - self.retired
        self.retired |= new
        if any(attribute < self.width for attribute in new):
            # The instance that retires them may bring a class, too: first everything has room for it.
            self.make_room(self.width)
            state = without_attributes(dump(self, let_go=False), new)
            numeric, self.numeric, self._room_for = self.numeric, [], -1
            self._make_trees()
            self.explanations = Explanations()
            self.make_room(self.width, numeric)
            load_trees(self, state)

    def learn_batch(self, rows: Rows, labels: Labels) -> BatchResult:
        """Answer each record, then learn from it."""
        predictions: list[Prediction] = []
        learned: list[Learned | None] = []
        while self._brings_attributes(rows, len(predictions)):
            row, label = tuple(map(int, rows[len(predictions)])), int(labels[len(predictions)])
            predictions.append(self.answer(row))
            ops = self.ops
            has_learned = label >= 0 and self._learn_quietly(row, label)
            changes = self.publish() if has_learned and self.publishes_each else []
            learned.append(Learned.of(changes, self.ops - ops, self.outline_lately) if label >= 0 else None)
        done = len(predictions)
        if done == len(rows):
            return BatchResult.of(predictions, learned)
        result = run_batch(self, self._coded(rows, done), np.asarray(labels[done:], dtype=np.int32))
        self._follow_time(int((np.asarray(labels[done:]) >= 0).sum()))
        if not done:
            return result
        return BatchResult.of([*predictions, *result.predictions], [*learned, *result.learned])

    def learn_rows(self, rows: Rows, labels: Labels) -> None:
        """Learn what `learn_batch` would, without predicting, and without saying what has changed."""
        done = 0
        while self._brings_attributes(rows, done):
            row, label = tuple(map(int, rows[done])), int(labels[done])
            if label >= 0 and self._learn_quietly(row, label) and self.publishes_each:
                self.tree.settle()
            done += 1
        if done < len(rows):
            run_quietly(self, self._coded(rows, done), np.asarray(labels[done:], dtype=np.int32))
            self._follow_time(int((np.asarray(labels[done:]) >= 0).sum()))

    def _brings_attributes(self, rows: Rows, place: int) -> bool:
        """Whether a row has to be learned alone.

        An attribute is taken up when the first row that has it is learned, and not before it is answered.
        """
        if place >= len(rows):
            return False
        width = len(rows[place])
        return width > self.width or self._awaits_numbers(width)

    def _coded(self, rows: Rows, start: int) -> NDArray[np.uint32] | NDArray[np.uint64]:
        """Return the rows from one on as the compiled tree takes them."""
        self.make_room(self.width)
        return as_array(rows[start:], len(rows[0]), self.width, wide=bool(self.numeric))

    def _new_numbers(self, row: Row) -> list[int]:
        """Return the attributes that turn out to be numbers with this row, in which they have a value."""
        return [
            a for a, code in enumerate(row) if code > 0 and a not in self.numeric and self.codes.is_numeric(a)
        ]

    def _awaits_numbers(self, width: int) -> bool:
        """Whether an attribute is known to be a number, but none has been learned yet."""
        # Room may have been made since the codes grew, for a row that lacks the number: that says nothing.
        return any(self.codes.is_numeric(a) and a not in self.numeric for a in range(width))

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
        order = self.codes.in_tie_order(range(self.width), self.options.tie_order)
        ranks = self.codes.class_ranks(len(self.codes.classes))
        places = [-1] * self.width
        sizes = [len(self.codes.values[a]) for a in range(self.width)]
        for place, a in enumerate(self.numeric):
            places[a] = place
            declared = self.schema.attributes[a].cuts if a < len(self.schema.attributes) else ()
            sizes[a] = max(self.options.bins, len(declared) + 1) + 1
        for tree in self._trees():
            tree.reserve(sizes, order, ranks, places, [a for a in self.retired if a < self.width])
            for a in numbers:
                if self.codes.attributes[a] == self.options.time:
                    tree.set_cuts(a, (), 1, True)
                    tree.set_time(a)
        self._room_for = self.codes.grown

    def _trees(self) -> list[_core.CoreTree]:
        """Return all trees: that of what is retained, and those beside it."""
        beside = () if self.voices is None else (self.voices.recent, self.voices.candidate)
        return [self.tree, *(tree for tree in beside if tree is not None)]

    def publish(self) -> list[TreeChange]:
        """Return how the tree has changed since the last call."""
        before = self._published
        now = self._published = self.tree.outline(self.codes, fresh=False)
        recut = self.tree.take_recut()
        if self.tree.take_dropped():
            return change_of_all(before, now, ChangeKind.DROPPED)
        if recut:
            return change_of_all(before, now, ChangeKind.RECUT)
        changes = self._changes(before, now)
        # What looks the same as before was told with the counts of then; a change tells those of now.
        return [
            self._with_counts_of_now(change) if change.subtree is not None else change for change in changes
        ]

    def _with_counts_of_now(self, change: TreeChange) -> TreeChange:
        subtree = self.tree.subtree(change.path, self.codes)
        if subtree is change.subtree:
            return change
        return TreeChange(change.kind, change.path, change.old_test, change.new_test, subtree)

    # ---- reading

    def answer(self, row: Row) -> Prediction:
        """Answer a description given as codes."""
        answer, how, counts, path, scores = self.tree.answer(row, self.codes)
        if self.voices is not None:
            found, by, shares = self.voices.answer(row)
            return self.prediction(found, counts, path, FLAGS[how], by, shares)
        return self.tree_prediction(answer, counts, path, how, scores)

    def tree_prediction(
        self,
        answer: int,
        counts: Sequence[int],
        path: tuple[Step, ...],
        how: int,
        scores: Sequence[int] | None,
    ) -> Prediction:
        """Return the answer of the tree in names; `scores` are those where a value is missing."""
        if how != _core.MISSING or scores is None:
            return self.prediction(answer, counts, path, FLAGS[how])
        return self.prediction(answer, counts, path, FLAGS[how], BAYES, shares_of(scores))

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
        return named_prediction(self.codes.classes, answer, counts, path, flags, by, shares)

    def outline(self) -> Outline | None:
        """Return the tree as data; None while nothing has been learned."""
        return self.tree.outline(self.codes)

    def check(self) -> str | None:
        """Return what is wrong inside; None where every count is that of the instances retained."""
        return next((wrong for tree in self._trees() if (wrong := tree.check())), None)

    @property
    def retained(self) -> int:
        """How many instances the tree stands for."""
        return self.tree.retained

    @property
    def model_bytes(self) -> int:
        """How much memory the trees hold; with `max_bytes`, what they weigh, which the records decide."""
        if self.options.max_bytes is None:
            return sum(tree.bytes for tree in self._trees())
        return self.tree.weight + sum(tree.weigh(self.tree) for tree in self._trees()[1:])

    @property
    def drops(self) -> int:
        """How often the past was dropped."""
        return 0 if self.voices is None else self.voices.drops

    @property
    def past_drops(self) -> tuple[str, int] | None:
        """By which rule and how often the past was dropped; None where nobody watches for it."""
        rule = self.options.in_effect().drift
        return None if rule is None else (rule, self.drops)

    def answer_as(self, options: CoreOptions) -> None:
        """Go on with settings that differ in who answers: the tree is the same, trust begins again.

        Raises:
            ValueError: They would grow another tree.
        """
        if options.tree_settings() != self.options.tree_settings():
            raise ValueError("these settings would grow another tree")
        before = self.voices
        self.options = options
        recent = None if before is None else before.recent
        self.voices = make_voices(options.in_effect(), self.tree, recent)
        self._room_for = -1
        self.make_room(self.width)

    # ---- snapshots

    def _dump(self) -> State:
        return dump(self)

    def photograph(self) -> bytes:
        """Return a snapshot that changes nothing about what the learner does next, to the last operation.

        After `snapshot` it goes on as the restored one does, which does some of the work in another way.
        """
        return pack(self.name, dump(self, let_go=False))

    def _load(self, state: State) -> None:
        if not 0 <= state.width <= len(self.codes.attributes):
            raise SnapshotError(f"the snapshot has rows of {state.width} attributes it does not name")
        load(self, state)
