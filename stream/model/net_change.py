"""The net change of a tree over a transaction, where not every single change is published."""

from learners.capabilities import Deferring
from learners.change import TreeChange, diff
from learners.learner import Learner
from learners.ops import OpCounts
from learners.outline import Outline
from stream.model.row_decoder import Segment


class NetChange:
    """What has happened since a tree was last published.

    Attributes:
        records: How many records were predicted since then.
        last: The segment with the last of them; None: there are none.
        ops: What learning had cost by then.
    """

    def __init__(self) -> None:
        self.records = 0
        self.last: Segment | None = None
        self.ops = OpCounts()
        self._before: Outline | None = None

    def begin(self, learner: Learner) -> None:
        """Begin with the tree as it is now, which has just been published."""
        self.records, self.last = 0, None
        self.ops, self._before = learner.ops, learner.outline_lately

    def add(self, segment: Segment) -> None:
        """Count the records of a segment."""
        self.records += len(segment.records)
        self.last = segment

    def changes(self, learner: Learner, deferring: Deferring | None) -> list[TreeChange]:
        """Return how the tree has changed since the beginning."""
        return diff(self._before, learner.outline_lately) if deferring is None else deferring.publish()
