"""LSID3 (Esmeir and Markovitch 2004) in the stream: a contract of r samples for each branch, built again."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType
from typing import Annotated, ClassVar

import msgspec
import numpy as np

from learners.learner import Options, Removed
from learners.lookahead._errors import expected_errors
from learners.lookahead._lookahead import Job
from learners.rebuilt.options import PeriodicRebuildOptions
from learners.rebuilt.periodic import PeriodicRebuild
from learners.rebuilt.table import Filling, Floats, Ints, Sparse, Table
from learners.rebuilt.trees import BatchTree

UNIT_VALUES = 256
"""How many values looked at a unit stands for."""
MARGIN = 0.1
"""C4.5 takes a leaf that is worse by no more than this."""


@dataclass(frozen=True)
class BatchLSID3:
    """LSID3(r): a test is as good as the smallest of r trees that are drawn below each of its branches.

    Attributes:
        repeats: r; 0: ID3.
        confidence: C4.5's CF for pruning (LSID3-p); None: the tree is right about every record.
        seed: What random numbers are made from.
    """

    repeats: int = 5
    confidence: float | None = None
    seed: int = 0

    def grow(self, table: Table) -> BatchTree:
        """Return the tree of a table."""
        filling = Filling.of(table)
        x = filling.fill(table.x)
        if isinstance(x, Sparse):
            x = _dense(x)
        codes, levels, values = _coded(x, table.arity)
        job = Job(codes, table.labels, levels, table.arity, table.classes, self.repeats, self.seed)
        job.run((1 << 63) - 1)
        nodes, order = job.tree()
        return self._tree(table, filling, codes, values, nodes, order, job.spent)

    def _tree(
        self,
        table: Table,
        filling: Filling,
        codes: Ints,
        values: list[Floats],
        nodes: Ints,
        order: Ints,
        spent: int,
    ) -> BatchTree:
        counts = np.zeros((len(nodes), table.classes))
        for node, (_, _, lo, hi, *_) in enumerate(nodes.tolist()):
            counts[node] = np.bincount(table.labels[order[lo:hi]], minlength=table.classes)
        below: list[dict[int, int]] = [{} for _ in nodes]
        for node, (_, _, _, _, parent, branch, _) in enumerate(nodes.tolist()):
            if parent >= 0:
                below[parent][branch] = node
        leaves = self._pruned(nodes, counts, below)
        # Children are neighbours, and a nominal test has one for each value, with records or without.
        attribute, threshold, first, branches, told = [], [], [], [], []
        queue = [0]
        for node in queue:
            told.append(counts[node] if node >= 0 else np.zeros(table.classes))
            test = -1 if node < 0 or node in leaves else int(nodes[node, 0])
            attribute.append(test)
            cut = 0.0
            count = 0
            if test >= 0:
                count = int(table.arity[test]) or 2
                if not table.arity[test]:
                    lo, hi = nodes[node, 2:4]
                    ranks = codes[test][order[lo:hi]]
                    rank = int(nodes[node, 1])
                    cut = _between(values[test][rank], values[test][ranks[ranks > rank].min()])
                queue.extend(below[node].get(value, -1) for value in range(count))
            threshold.append(cut)
            first.append(len(queue) - count)
            branches.append(count)
        return BatchTree(
            np.array(attribute, dtype=np.int32),
            np.array(threshold),
            np.array(first, dtype=np.int32),
            np.array(branches, dtype=np.int32),
            np.ascontiguousarray(told),
            table.numeric,
            filling,
            spent * UNIT_VALUES,
        )

    def _pruned(self, nodes: Ints, counts: Floats, below: list[dict[int, int]]) -> set[int]:
        """Return the nodes that become leaves."""
        if self.confidence is None:
            return set()
        z = NormalDist().inv_cdf(1 - self.confidence)
        leaves: set[int] = set()
        errors = [0.0] * len(nodes)
        for node in range(len(nodes) - 1, -1, -1):
            total = float(counts[node].sum())
            errors[node] = expected_errors(total, total - float(counts[node].max()), self.confidence, z)
            if nodes[node, 0] >= 0:
                branches = sum(errors[one] for one in below[node].values())
                if errors[node] <= branches + MARGIN:
                    leaves.add(node)
                else:
                    errors[node] = branches
        return leaves


def _dense(x: Sparse) -> Floats:
    """Return rows with their zeros: trees are drawn by looking at every value."""
    rows = np.zeros((len(x), x.width))
    rows[np.repeat(np.arange(len(x)), np.diff(x.start)), x.columns] = x.values
    return rows


def _coded(x: Floats, arity: Ints) -> tuple[Ints, Ints, list[Floats]]:
    """Return the codes of each attribute, how many there are, and the numbers behind ranks."""
    codes = np.zeros((x.shape[1], x.shape[0]), dtype=np.int32)
    levels = np.ones(x.shape[1], dtype=np.int32)
    values: list[Floats] = []
    for a in range(x.shape[1]):
        if arity[a]:
            codes[a], levels[a] = x[:, a].astype(np.int32), arity[a]
            values.append(np.zeros(0))
        else:
            distinct, ranks = np.unique(x[:, a], return_inverse=True)
            codes[a], levels[a] = ranks, len(distinct)
            values.append(distinct)
    return codes, levels, values


def _between(low: float, high: float) -> float:
    """Return a threshold between two numbers that a record can hold."""
    limit = float(np.finfo(np.float64).max)
    low, high = max(float(low), -limit), min(float(high), limit)
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


class LSID3Options(PeriodicRebuildOptions, frozen=True):
    """Settings of LSID3.

    Attributes:
        repeats: The paper's r: how many trees are drawn to judge a branch; 0: ID3. It buys better trees of
            hard concepts with time.
        confidence: C4.5's CF: the lower, the more is pruned; none: nothing is, as in the paper's LSID3.
        seed: What random numbers are made from.
    """

    removed: ClassVar[Mapping[str, Removed]] = MappingProxyType({"min_records": Removed(1, before="repeats")})

    repeats: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 5
    confidence: Annotated[float, msgspec.Meta(gt=0, le=0.5)] | None = None
    seed: Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)] = 0


class LSID3(PeriodicRebuild):
    """LSID3's tree of the records kept, as of the last build. See `learners.learner.Learner`.

    Example:
        >>> from learners.schema import Instance
        >>> tree = LSID3()
        >>> for n in range(256):
        ...     values = {name: n >> place & 1 for place, name in enumerate("abcdefgh")}
        ...     odd = values["a"] != values["d"]
        ...     _ = tree.learn_one(Instance({k: str(v) for k, v in values.items()}, "yes" if odd else "no"))
        >>> tree.predict_one({name: "0" for name in "abcdefgh"}).answer
        'no'
    """

    name: ClassVar[str] = "lsid3"
    options_type: ClassVar[type[Options]] = LSID3Options
    options: LSID3Options

    def _grow(self, table: Table) -> BatchTree:
        options = self.options
        return BatchLSID3(options.repeats, options.confidence, options.seed).grow(table)
