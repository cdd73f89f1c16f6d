"""Tables as codes: the number of a nominal value, the rank of a numeric one. No more is needed to grow."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learners.rebuilt._batch import Coded
from learners.rebuilt.table import Floats, Ints, Sparse, Table

Grown = tuple[Ints, Ints, Ints, Ints, Floats, int]
"""A tree as `Coded.grow` gives it."""


class Coding(NamedTuple):
    """A coded table, and the values behind the ranks of each numeric attribute."""

    coded: Coded
    values: Floats
    start: NDArray[np.int64]

    def thresholds(self, attributes: NDArray[np.integer], cuts: NDArray[np.integer]) -> Floats:
        """Return the value up to which records go to the first branch; 0 for leaves and nominal tests."""
        inner = attributes >= 0
        places = np.where(inner, self.start[np.where(inner, attributes, 0)] + cuts, 0)
        return np.where(inner, self.values[places], 0.0)


def code(table: Table) -> Coding:
    """Return a table as codes."""
    return _sparse(table, table.x) if isinstance(table.x, Sparse) else _dense(table, table.x)


def _dense(table: Table, x: Floats) -> Coding:
    codes = np.empty((table.width, len(table)), dtype=np.int32)
    levels = np.ones(table.width, dtype=np.int32)
    start = np.zeros(table.width + 1, dtype=np.int64)
    values: list[Floats] = [np.zeros(1)]
    for attribute in range(table.width):
        column = np.ascontiguousarray(x[:, attribute])
        missing = np.isnan(column)
        start[attribute] = start[attribute - 1] + len(values[-1]) if attribute else 0
        if table.arity[attribute]:
            codes[attribute] = np.where(missing, -1, column)
            levels[attribute] = table.arity[attribute]
            values.append(np.zeros(0))
            continue
        known = column[~missing] if missing.any() else column
        distinct, ranks = np.unique(known, return_inverse=True)
        codes[attribute][~missing] = ranks
        codes[attribute][missing] = -1
        levels[attribute] = max(1, len(distinct))
        values.append(distinct if len(distinct) else np.zeros(1))
    behind = np.concatenate([*values[1:], np.zeros(1)])
    coded = Coded(table.labels, table.classes, table.arity, levels, behind, start, codes=codes)
    return Coding(coded, behind, start)


def _sparse(table: Table, x: Sparse) -> Coding:
    stored = x.values != 0
    row_of = np.repeat(np.arange(len(x), dtype=np.int32), np.diff(x.start))[stored]
    columns, values = x.columns[stored], x.values[stored]
    distinct, ranks = np.unique(np.append(values, 0.0), return_inverse=True)
    codes, zero = ranks[:-1].astype(np.int32), int(ranks[-1])
    row_start = np.zeros(len(x) + 1, dtype=np.int64)
    np.cumsum(np.bincount(row_of, minlength=len(x)), out=row_start[1:])
    by_column = np.argsort(columns, kind="stable")
    col_start = np.zeros(x.width + 1, dtype=np.int64)
    np.cumsum(np.bincount(columns, minlength=x.width), out=col_start[1:])
    arrays = (col_start, row_of[by_column], codes[by_column], row_start, columns, codes)
    levels = np.full(x.width, len(distinct), dtype=np.int32)
    start = np.zeros(x.width + 1, dtype=np.int64)
    coded = Coded(
        table.labels,
        table.classes,
        table.arity,
        levels,
        distinct,
        start,
        sparse=tuple(map(np.ascontiguousarray, arrays)),
        zero=zero,
    )
    return Coding(coded, distinct, start)
