"""The systems of 1989 that keep their instances: windows, forgetting and contradictions (section 6)."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import msgspec

from learners.change import TreeChange
from learners.learner import Options
from learners.ops import OpCounts
from learners.outline import size
from learners.retention import Retention
from learners.schema import Instance, InstanceError, Misfit
from learners.snapshot import SnapshotError
from learners.utgoff.family import FamilyOptions, Kept, UtgoffLearner
from learners.utgoff.id3 import id3
from learners.utgoff.node import Node, value_of
from learners.vocabulary import MISSING_CODE, Row


class RetainingOptions(FamilyOptions, frozen=True):
    """Settings of the systems that keep their instances.

    Attributes:
        window: How many instances are retained; unset: all. Exactly the last N count.
        on_contradiction: What happens when a description comes again with another class: both are kept, the
            newer replaces the older, or that one stays which gives the smaller tree (section 6).
    """

    window: Annotated[int, msgspec.Meta(ge=1)] | None = None
    on_contradiction: Literal["keep", "replace", "smaller"] = "keep"


class RetainingLearner(UtgoffLearner):
    """A learner of 1989 that keeps its instances, so that it can forget them."""

    options_type: ClassVar[type[Options]] = RetainingOptions
    forgets: ClassVar[bool] = True
    options: RetainingOptions

    def _setup(self) -> None:
        super()._setup()
        self._retention = Retention()

    @abstractmethod
    def _remove(self, row: Row, label: int) -> None:
        """Let an instance that is in the tree go."""

    # ---- learning

    def forget_one(self, instance: Instance) -> list[TreeChange]:
        """Forget one instance that was learned before, as if it had never come."""
        known = self.codes.recall(instance.values)
        row = () if known is None else self._fitted(known)
        label = self.codes.class_code(instance.label)
        if known is None or not self._retention.count(row, label):
            raise InstanceError(Misfit.UNKNOWN_VALUE, "instance", "no such instance is retained")
        self._forget(row, label)
        return self.publish()

    def _train(self, row: Row, label: int) -> bool:
        self._make_room(len(row))
        row = self._padded(row)
        # A missing value stands for what is commonest when it comes, before anything makes way for it.
        stored = self._as_stored(row)
        if self._is_welcome(row, stored, label):
            self._retention.add(row, stored, label)
            self._add(stored, label)
            window = self.options.window
            while window is not None and len(self._retention) > window:
                oldest = self._retention.oldest()
                self._forget(oldest.given, oldest.label)
        return True

    def _forget(self, row: Row, label: int) -> None:
        kept = self._retention.take(row, label)
        assert kept is not None
        self._remove(kept.stored, kept.label)

    def _leave_out(self, attributes: Sequence[int]) -> None:
        here = {attribute for attribute in attributes if attribute < self._width} - self._retired
        if here:
            self._retention.blank(here)
        super()._leave_out(attributes)

    def _retire(self) -> None:
        self._root = Node(self._ordered())
        kept = self.ops.instances_stored
        for one in self._retention:
            self._add(one.stored, one.label)
        self.ops.instances_stored = kept

    def _is_welcome(self, row: Row, stored: Row, label: int) -> bool:
        """Make way for an instance that contradicts older ones, or decide that they stay (section 6)."""
        if self.options.on_contradiction == "keep":
            return True
        rivals = [
            other
            for other in range(len(self.codes.classes))
            if other != label
            for _ in range(self._retention.count(row, other))
        ]
        if rivals and self.options.on_contradiction == "smaller":
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

    def _filled_in(self, row: Row) -> Row:
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
            self._retention.widen(width)
        super()._make_room(width)

    def _fitted(self, row: Row) -> Row:
        """Return a row as it would have been learned: attributes met since then are missing in it."""
        return row[: self._width] if not any(row[self._width :]) else row

    # ---- snapshots

    def _dump_kept(self) -> list[Kept]:
        return [(k.given, None if k.stored == k.given else k.stored, k.label) for k in self._retention]

    def _load_kept(self, kept: list[Kept]) -> None:
        for given, stored, label in kept:
            if not 0 <= label < len(self.codes.classes):
                raise SnapshotError(f"the snapshot names class {label}, which it does not declare")
            self._retention.add(given, given if stored is None else stored, label)
