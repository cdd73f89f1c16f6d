"""C4.5 (Quinlan 1993) in the stream: gain ratio, numeric cuts, missing values, pruning."""

from typing import ClassVar

from learners.learner import Options
from learners.rebuilt.options import SplitOptions
from learners.rebuilt.periodic import PeriodicRebuild
from learners.rebuilt.table import Table
from learners.rebuilt.trees import BatchC45, BatchTree, Pruning


class C45(PeriodicRebuild):
    """C4.5's tree of the records kept, as of the last build. See `learners.learner.Learner`.

    Example:
        >>> from learners.schema import Instance
        >>> tree = C45()
        >>> for n in range(16):
        ...     _ = tree.learn_one(Instance({"a": str(n % 2), "b": str(n // 8)}, "yes" if n % 2 else "no"))
        >>> tree.predict_one({"a": "1", "b": "0"}).answer
        'yes'
    """

    name: ClassVar[str] = "c45"
    options_type: ClassVar[type[Options]] = SplitOptions
    options: SplitOptions

    def _grow(self, table: Table) -> BatchTree:
        options = self.options
        pruning = Pruning(confidence=options.confidence or 1.0, collapse=options.confidence is not None)
        return BatchC45(options.min_records, pruning).grow(table)
