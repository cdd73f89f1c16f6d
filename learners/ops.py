"""What learning costs, in the units of the papers rather than in seconds."""

import dataclasses
from dataclasses import dataclass


@dataclass(slots=True)
class OpCounts:
    """Operations performed so far. Two counts can be subtracted; none ever falls.

    Attributes:
        instance_count_additions: Utgoff's first cost: an instance added to a count of an attribute's value.
        e_scores: Utgoff's second cost: attributes scored.
        expansions: Unexpanded nodes turned into decision nodes.
        pull_ups: Attributes pulled up to the root of a subtree (Table 4), however deep it went.
        transpositions: Single transpositions of two levels, of which a pull-up may need many.
        discards: Subtrees thrown away.
        collapses: Subtrees folded into a list of instances.
        repairs: Subtrees whose best test was established again after a restructuring above them.
        rebuilds: Trees built from all their instances.
        instances_stored: Instances put into the tree.
        instances_forgotten: Instances taken out again.
    """

    instance_count_additions: int = 0
    e_scores: int = 0
    expansions: int = 0
    pull_ups: int = 0
    transpositions: int = 0
    discards: int = 0
    collapses: int = 0
    repairs: int = 0
    rebuilds: int = 0
    instances_stored: int = 0
    instances_forgotten: int = 0

    def __sub__(self, earlier: "OpCounts") -> "OpCounts":
        return OpCounts(*(getattr(self, name) - getattr(earlier, name) for name in OPERATIONS))

    def __add__(self, other: "OpCounts") -> "OpCounts":
        return OpCounts(*(getattr(self, name) + getattr(other, name) for name in OPERATIONS))

    def copy(self) -> "OpCounts":
        """Return the counts of this moment."""
        return OpCounts(*self.as_tuple())

    def as_tuple(self) -> tuple[int, ...]:
        """Return the counts in the order of `OPERATIONS`."""
        return tuple(getattr(self, name) for name in OPERATIONS)

    def spent(self) -> dict[str, int]:
        """Return the counts that are not zero, by name."""
        return {name: count for name in OPERATIONS if (count := getattr(self, name))}


OPERATIONS: tuple[str, ...] = tuple(field.name for field in dataclasses.fields(OpCounts))
