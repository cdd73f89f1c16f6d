"""Instances as arrays: what batch learners are given.

A dense table holds a number for each value: of a nominal attribute that of the value, NaN for a missing one.
A sparse table holds the values that are not zero; its attributes are numeric and nothing is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

MOST_RECORDS = 2**31 - 2


class TableError(ValueError):
    """Arrays do not make a table that a tree can be grown from."""


@dataclass(frozen=True)
class Sparse:
    """Rows of which only the values that are not zero are stored, in the order of the columns.

    Attributes:
        start: Where each row begins, and where the last one ends.
        columns: The column of each value.
        values: The values.
        width: How many columns there are.
    """

    start: NDArray[np.int64]
    columns: Ints
    values: Floats
    width: int

    def __len__(self) -> int:
        return len(self.start) - 1

    def take(self, rows: NDArray[np.intp]) -> "Sparse":
        """Return some of the rows."""
        lengths = np.diff(self.start)[rows]
        start = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=start[1:])
        places = np.repeat(self.start[rows] - start[:-1], lengths) + np.arange(start[-1])
        return Sparse(start, self.columns[places], self.values[places], self.width)

    def dense(self) -> Floats:
        """Return the rows with their zeros."""
        whole = np.zeros((len(self), self.width))
        whole[np.repeat(np.arange(len(self)), np.diff(self.start)), self.columns] = self.values
        return whole


@dataclass(frozen=True)
class Table:
    """Instances, dense or sparse.

    Attributes:
        x: The rows.
        labels: The class of each, as a number.
        classes: How many classes there are.
        arity: How many values each nominal attribute has; 0 for a numeric one.
    """

    x: Floats | Sparse
    labels: Ints
    classes: int
    arity: Ints

    @classmethod
    def of(
        cls, x: ArrayLike | Sparse, labels: ArrayLike, classes: int, arity: Sequence[int] | Ints | None = None
    ) -> "Table":
        """Return a table whose arrays have been checked.

        Args:
            x: The rows: an array of two dimensions, or sparse.
            labels: The class of each row, from 0.
            classes: How many classes there are.
            arity: How many values each nominal attribute has; 0, or nothing said: it is numeric.

        Raises:
            TableError: The arrays do not fit each other, or a number is not that of a value or class.
        """
        rows = x if isinstance(x, Sparse) else np.ascontiguousarray(x, dtype=np.float64)
        if not isinstance(rows, Sparse) and rows.ndim != 2:
            raise TableError(f"a table has two dimensions, not {rows.ndim}")
        width = rows.width if isinstance(rows, Sparse) else rows.shape[1]
        named = np.asarray(labels)
        if named.ndim != 1 or (len(named) and not np.issubdtype(named.dtype, np.integer)):
            raise TableError("labels are whole numbers, one for each row")
        counts = np.zeros(width, dtype=np.int32) if arity is None else np.asarray(arity, dtype=np.int32)
        _check(rows, named, classes, counts, width)
        return cls(rows, np.ascontiguousarray(named, dtype=np.int32), classes, np.ascontiguousarray(counts))

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def width(self) -> int:
        """How many attributes there are."""
        return len(self.arity)

    @cached_property
    def numeric(self) -> NDArray[np.uint8]:
        """Of each attribute, whether it is numeric."""
        return np.ascontiguousarray(self.arity == 0, dtype=np.uint8)

    def take(self, rows: ArrayLike) -> "Table":
        """Return some of the instances."""
        places = np.asarray(rows, dtype=np.intp)
        x = self.x.take(places) if isinstance(self.x, Sparse) else np.ascontiguousarray(self.x[places])
        return Table(x, np.ascontiguousarray(self.labels[places]), self.classes, self.arity)


def _check(x: Floats | Sparse, labels: NDArray[np.integer], classes: int, arity: Ints, width: int) -> None:
    if len(x) != len(labels):
        raise TableError(f"there are {len(labels)} labels for {len(x)} rows")
    if len(labels) == 0:
        raise TableError("there are no instances. A tree needs at least one")
    if len(labels) > MOST_RECORDS:
        raise TableError(f"there are {len(labels)} instances, more than {MOST_RECORDS}")
    if classes < 1 or labels.min() < 0 or labels.max() >= classes:
        raise TableError(f"a label is not one of the {classes} classes")
    if arity.shape != (width,) or (len(arity) and arity.min() < 0):
        raise TableError(f"there are {len(arity)} kinds for {width} attributes")
    if isinstance(x, Sparse):
        if arity.any():
            raise TableError("the attributes of a sparse table are numeric")
        if np.isnan(x.values).any():
            raise TableError("nothing is missing in a sparse table: what is not stored is zero")
        return
    for attribute in np.flatnonzero(arity):
        known = x[:, attribute][~np.isnan(x[:, attribute])]
        if len(known) and (known.min() < 0 or known.max() >= arity[attribute] or (known % 1).any()):
            raise TableError(
                f"attribute {attribute} has a value that is none of its {arity[attribute]} numbers"
            )


@dataclass(frozen=True)
class Filling:
    """What stands for a missing value: the commonest nominal value, the mean of a numeric one.

    Attributes:
        values: One for each attribute.
    """

    values: Floats

    @classmethod
    def of(cls, table: Table) -> "Filling":
        """Return what a table's missing values are to be replaced with; 0 where nothing is known."""
        values = np.zeros(table.width)
        if isinstance(table.x, Sparse):
            return cls(values)
        for attribute in np.flatnonzero(np.isnan(table.x).any(axis=0)):
            column = table.x[:, attribute]
            known = column[~np.isnan(column)]
            if not len(known):
                continue
            if table.arity[attribute]:
                values[attribute] = np.bincount(known.astype(np.intp)).argmax()
            else:
                finite = known[np.isfinite(known)]
                values[attribute] = _mean(finite) if len(finite) else known[0]
        return cls(values)

    def fill(self, x: Floats | Sparse) -> Floats | Sparse:
        """Return rows without missing values."""
        if isinstance(x, Sparse):
            return x
        missing = np.isnan(x)
        return np.where(missing, self.values, x) if missing.any() else x


def _mean(values: Floats) -> float:
    """Return the mean of finite numbers, which is finite even where their sum is not."""
    with np.errstate(over="ignore"):
        mean = float(values.mean())
    return mean if np.isfinite(mean) else float((values / len(values)).sum())
