"""Trees grown from a table at once: C4.5 (Quinlan 1993) and the naive tree (Su and Zhang 2006)."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from learners.rebuilt._batch import distributions, stops
from learners.rebuilt.coding import Coding, Grown, code
from learners.rebuilt.table import Filling, Floats, Ints, Sparse, Table


@dataclass(frozen=True)
class Pruning:
    """How a tree is pruned once it is grown.

    Attributes:
        confidence: C4.5's CF: the lower, the more is pruned. 1: nothing is.
        collapse: Whether subtrees that are not better than a leaf even in training become one.
        raising: Whether a subtree may give way to its largest branch.
    """

    confidence: float = 0.25
    collapse: bool = True
    raising: bool = True

    @property
    def z(self) -> float:
        """The quantile of the normal distribution that belongs to the confidence."""
        return NormalDist().inv_cdf(1 - self.confidence) if self.confidence < 1 else 0.0


UNPRUNED = Pruning(confidence=1.0, collapse=False)


@dataclass(frozen=True)
class BatchTree:
    """A tree as arrays, in breadth-first order: the root is node 0 and the children of a node are neighbours.

    Attributes:
        attribute: What each node tests; -1: it is a leaf.
        threshold: Up to what a numeric value goes to the first branch, not beyond to the second.
        first: The first child. That of a nominal test has the children in the order of the values.
        branches: How many children there are; some may have no records.
        counts: The records of each class, of which fractions may be where values are missing.
        numeric: Of each attribute, whether it is.
        filling: What missing values are replaced with before answering; None: they go all ways.
        looked: How many values of records were looked at to grow it: its cost, the same on every machine.
    """

    attribute: Ints
    threshold: Floats
    first: Ints
    branches: Ints
    counts: Floats
    numeric: NDArray[np.uint8]
    filling: Filling | None = None
    looked: int = 0

    @property
    def nodes(self) -> int:
        """How many nodes there are, leaves among them."""
        return len(self.attribute)

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return int((self.attribute < 0).sum())

    @cached_property
    def totals(self) -> Floats:
        """How many records each node has."""
        return np.ascontiguousarray(self.counts.sum(axis=1))

    @cached_property
    def parents(self) -> Ints:
        """The parent of each node; that of the root is itself."""
        parents = np.zeros(self.nodes, dtype=np.int32)
        inner = np.flatnonzero(self.attribute >= 0)
        parents[1:] = np.repeat(inner, self.branches[inner])
        return parents

    @cached_property
    def shares(self) -> Floats:
        """The share of each class at each node; a leaf without records answers as its parent."""
        empty = self.totals <= 0
        counts = np.where(empty[:, None], self.counts[self.parents], self.counts)
        return np.ascontiguousarray(counts / np.maximum(counts.sum(axis=1), 1e-300)[:, None])

    def widened(self, columns: NDArray[np.intp], width: int) -> "BatchTree":
        """Return the same tree for rows with more attributes, of which these are its own."""
        if len(columns) == width:
            return self
        own = np.append(columns, -1).astype(np.int32)
        numeric = np.ones(width, dtype=np.uint8)
        numeric[columns] = self.numeric
        filling = None
        if self.filling is not None:
            filling = Filling(np.zeros(width))
            filling.values[columns] = self.filling.values
        return replace(self, attribute=own[self.attribute], numeric=numeric, filling=filling)

    def distributions(self, x: Floats | Sparse) -> Floats:
        """Return the share of each class for each row."""
        rows = x if self.filling is None else self.filling.fill(x)
        tree = (self.attribute, self.threshold, self.first, self.branches, self.numeric)
        if isinstance(rows, Sparse):
            sparse = (rows.start, rows.columns, rows.values)
            return distributions(*tree, self.shares, self.totals, sparse=sparse)
        return distributions(*tree, self.shares, self.totals, x=np.ascontiguousarray(rows))

    def stops(self, x: Floats) -> Ints:
        """Return the leaf each dense row comes to; -1 - N where at node N its value is unknown or new."""
        rows = np.ascontiguousarray(x if self.filling is None else self.filling.fill(x))
        return stops(
            self.attribute, self.threshold, self.first, self.branches, self.numeric, self.totals, rows
        )

    def predict(self, x: Floats | Sparse) -> NDArray[np.intp]:
        """Return the likeliest class of each row, the first of equally likely ones."""
        return np.asarray(np.round(self.distributions(x), 12).argmax(axis=1))


@dataclass(frozen=True)
class BatchC45:
    """C4.5: gain ratio among the tests of at least mean gain, fractions of records for missing values.

    Attributes:
        min_records: At least two branches of a test have so many.
        pruning: What happens to the tree once it is grown.
    """

    min_records: int = 2
    pruning: Pruning = Pruning()

    def grow(self, table: Table) -> BatchTree:
        """Return the tree of a table."""
        coding = code(table)
        nodes = coding.coded.grow(
            "c45",
            self.min_records,
            min_share=True,
            mdl=True,
            collapse=self.pruning.collapse,
            confidence=self.pruning.confidence,
            z=self.pruning.z,
            raising=self.pruning.raising,
        )
        return _tree(nodes, coding, table, None)


@dataclass(frozen=True)
class BatchNaiveTree:
    """The naive tree: independent information gain, missing values replaced.

    The paper leaves open what the defaults decide; `docs/fidelity.md` has what speaks for them.

    Attributes:
        min_records: At least two branches of a test have so many; 1: as the paper is written.
        pruning: What happens to the tree once it is grown.
        bins: Whether the square root of m bins of a numeric attribute have the same number of records, or the
            same width.
        renormalise: Whether P(x|c) of a numeric attribute tested above is that within the node's interval.
        cut: How the cut of a numeric attribute is found: C4.5's way and its conditions, or the best gain.
    """

    min_records: int = 2
    pruning: Pruning = Pruning()
    bins: Literal["frequency", "width"] = "frequency"
    renormalise: bool = True
    cut: Literal["c45", "gain"] = "c45"

    def grow(self, table: Table) -> BatchTree:
        """Return the tree of a table."""
        filling = Filling.of(table)
        whole = Table(filling.fill(table.x), table.labels, table.classes, table.arity)
        coding = code(whole)
        nodes = coding.coded.grow(
            "naive",
            self.min_records,
            min_share=self.cut == "c45",
            mdl=self.cut == "c45",
            bins=max(1, round(math.sqrt(len(table)))),
            equal_width=self.bins == "width",
            renormalise=self.renormalise,
            collapse=self.pruning.collapse,
            confidence=self.pruning.confidence,
            z=self.pruning.z,
            raising=self.pruning.raising,
        )
        return _tree(nodes, coding, whole, filling)


def _tree(nodes: Grown, coding: Coding, table: Table, filling: Filling | None) -> BatchTree:
    attribute, cut, first, branches, counts, looked = nodes
    by_cut = (attribute >= 0) & (table.numeric[attribute] > 0) if table.width else attribute >= 0
    thresholds = coding.thresholds(np.where(by_cut, attribute, -1), np.where(by_cut, cut, 0))
    # A cut above minus infinity is told as a number, which is all that a record can hold.
    return BatchTree(
        attribute,
        np.maximum(thresholds, np.finfo(np.float64).min),
        first,
        branches,
        counts,
        table.numeric,
        filling,
        looked,
    )
