"""What the systems of 1989 have in common: their settings, their nodes, and how these are read.

A subclass says how the tree takes an instance in (`_add`). `retaining.py` has what those share that keep
their instances.
"""

import sys
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import msgspec

from learners.learner import Options, Prediction
from learners.ops import OpCounts
from learners.outline import Outline
from learners.tree_learner import LearnerState, TreeLearner
from learners.utgoff.node import Node, widen
from learners.utgoff.reading import Reading
from learners.utgoff.selection import Selection
from learners.vocabulary import MISSING_CODE, Row

Kept = tuple[Row, Row | None, int]
"""A retained instance in a snapshot: as it came; as it is in the tree, where that differs; its class."""
FRAMES_A_LEVEL = 3
FRAMES_OF_OTHERS = 700
"""How many calls there may be under way above the learner."""


def make_stack_for(levels: int) -> None:
    """See to it that a tree of so many levels can be walked: the tables of the paper call themselves.

    The limit is the process's own. It is raised for trees that need it and for no others.
    """
    needed = FRAMES_A_LEVEL * levels + FRAMES_OF_OTHERS
    if needed > sys.getrecursionlimit():
        sys.setrecursionlimit(needed)


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

    @property
    def refuses_missing(self) -> bool:
        """Whether an instance to be learned must have a value for every attribute."""
        return self.missing == "reject"


class State(LearnerState):
    """The body of a snapshot."""

    ops: list[int]
    kept: list[Kept]
    tree: list[object]
    width: int
    retired: list[int] = msgspec.field(default_factory=list)


class UtgoffLearner(TreeLearner[State]):
    """A learner of 1989. See `learners.learner.Learner` for what its methods promise."""

    options_type: ClassVar[type[Options]] = FamilyOptions
    state_type: ClassVar[type[LearnerState]] = State
    options: FamilyOptions

    def _setup(self) -> None:
        settings = self.options
        self._selection = Selection(
            settings.selection,
            settings.significance,
            pearsons=settings.significance_test == "chi2",
            rounding=settings.rounding,
            records_per_value=settings.min_records_per_value,
        )
        self._reading = self._make_reading()
        self._retired: set[int] = set()
        self._width = len(self.codes.attributes)
        make_stack_for(self._width)
        self._root = Node(self._ordered())

    # ---- what a subclass says

    @abstractmethod
    def _add(self, row: Row, label: int) -> None:
        """Take an instance into the tree."""

    @abstractmethod
    def _filled_in(self, row: Row) -> Row:
        """Return the row with each missing value replaced by the commonest so far, the first by name."""

    @abstractmethod
    def _retire(self) -> None:
        """Make the tree that of the instances so far, now that some attributes are not tested any more."""

    @abstractmethod
    def _dump_tree(self) -> list[object]:
        """Return what is needed beside the retained instances to have the same tree again."""

    @abstractmethod
    def _load_tree(self, tree: list[object]) -> None:
        """Restore what `_dump_tree` returned; the retained instances are there already."""

    def _widened(self) -> None:
        """Do what is needed after attributes have been added to every node."""

    def _make_reading(self) -> Reading:
        return Reading(self.codes, self._selection)

    # ---- learning

    def _train(self, row: Row, label: int) -> bool:
        self._make_room(len(row))
        self._add(self._as_stored(self._padded(row)), label)
        return True

    def _leave_out(self, attributes: Sequence[int]) -> None:
        new = {*attributes} - self._retired
        self._retired |= new
        if any(attribute < self._width for attribute in new):
            self._retire()

    def _as_stored(self, row: Row) -> Row:
        return self._filled_in(row) if self.options.missing == "most_common" else row

    def _make_room(self, width: int) -> None:
        if width > self._width:
            self._width = width
            make_stack_for(width)
            widen(self._root, self._ordered(), width)
            self._widened()

    def _padded(self, row: Row) -> Row:
        return row + (MISSING_CODE,) * (self._width - len(row))

    def _ordered(self) -> tuple[int, ...]:
        """Return the attributes that may be tested in the order in which ties are broken."""
        there = (attribute for attribute in range(self._width) if attribute not in self._retired)
        return tuple(self.codes.in_tie_order(there, self.options.tie_order))

    # ---- reading

    def answer(self, row: Row) -> Prediction:
        """Predict the class of a description given as codes."""
        return self._reading.answer(self._root, row)

    def outline(self) -> Outline | None:
        """Return the tree as data. Only what has changed is made again."""
        return self._reading.outline(self._root)

    @property
    def retained(self) -> int:
        """How many instances the tree stands for."""
        return self._root.size

    # ---- snapshots

    def _dump(self) -> State:
        return State(
            *self._header(),
            ops=list(self.ops.as_tuple()),
            kept=self._dump_kept(),
            tree=self._dump_tree(),
            width=self._width,
            retired=sorted(self._retired),
        )

    def _load(self, state: State) -> None:
        self._ops = OpCounts(*state.ops)
        self._width = state.width
        make_stack_for(min(state.width, len(self.codes.attributes)))
        self._retired = set(state.retired)
        self._root = Node(self._ordered())
        self._load_kept(state.kept)
        self._load_tree(state.tree)

    def _dump_kept(self) -> list[Kept]:
        return []

    def _load_kept(self, kept: list[Kept]) -> None:
        """Restore the retained instances."""
