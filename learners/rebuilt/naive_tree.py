"""The naive tree (Su and Zhang 2006) in the stream: for data too wide to keep counts of in every node."""

from typing import ClassVar, Literal

from learners.learner import Options
from learners.rebuilt.options import SplitOptions
from learners.rebuilt.periodic import PeriodicRebuild
from learners.rebuilt.table import Table
from learners.rebuilt.trees import BatchNaiveTree, BatchTree, Pruning


class NTOptions(SplitOptions, frozen=True):
    """Settings of the naive tree.

    Attributes:
        bins: Whether the bins of a numeric attribute have the same number of records or the same width.
    """

    bins: Literal["frequency", "width"] = "frequency"


class NT(PeriodicRebuild):
    """The naive tree of the records kept, as of the last build. See `learners.learner.Learner`.

    Example:
        >>> from learners.schema import Instance
        >>> tree = NT()
        >>> for n in range(16):
        ...     _ = tree.learn_one(Instance({"a": str(n % 2), "b": str(n // 8)}, "yes" if n % 2 else "no"))
        >>> tree.predict_one({"a": "1", "b": "0"}).answer
        'yes'
    """

    name: ClassVar[str] = "nt"
    options_type: ClassVar[type[Options]] = NTOptions
    options: NTOptions

    def _grow(self, table: Table) -> BatchTree:
        options = self.options
        pruning = Pruning(confidence=options.confidence or 1.0, collapse=options.confidence is not None)
        return BatchNaiveTree(options.min_records, pruning, options.bins).grow(table)
