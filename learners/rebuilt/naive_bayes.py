"""Naive Bayes as the naive tree's tables have it: normal distributions for numbers, Laplace for the rest."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learners.rebuilt._batch import normal_logs, sparse_normal_logs
from learners.rebuilt.table import Floats, Sparse, Table

USUAL_PRECISION = 0.01


@dataclass(frozen=True)
class NaiveBayes:
    """Naive Bayes of a table.

    A numeric value stands for the interval between it and its neighbours: its probability is that of an
    interval as wide as the values of the attribute are apart on average.

    Attributes:
        prior: Logarithms of the classes' probabilities.
        nominal: For each nominal attribute the logarithms of its values' probabilities by class.
        columns: The numeric attributes.
        mean: Of each numeric attribute in each class.
        deviation: The same.
        precision: How far apart the values of each numeric attribute are.
    """

    prior: Floats
    nominal: dict[int, Floats]
    columns: NDArray[np.intp]
    mean: Floats
    deviation: Floats
    precision: Floats

    @classmethod
    def fit(cls, table: Table) -> "NaiveBayes":
        """Return the naive Bayes of a table."""
        sizes = np.bincount(table.labels, minlength=table.classes)
        prior = np.log((sizes + 1) / (len(table) + table.classes))
        if isinstance(table.x, Sparse):
            precision = _sparse_precision(table.x)
            mean, deviation = _sparse_moments(table, table.x, precision)
            return cls(prior, {}, np.arange(table.width), mean, deviation, precision)
        nominal: dict[int, Floats] = {}
        for attribute in np.flatnonzero(table.arity):
            column, values = table.x[:, attribute], int(table.arity[attribute])
            known = ~np.isnan(column)
            cells = table.labels[known].astype(np.intp) * values + column[known].astype(np.intp)
            counts = np.bincount(cells, minlength=table.classes * values).reshape(table.classes, values) + 1.0
            nominal[int(attribute)] = np.log(counts / counts.sum(axis=1, keepdims=True)).T
        columns = np.flatnonzero(table.arity == 0)
        x = table.x[:, columns]
        precision = np.array([_precision(np.unique(one[np.isfinite(one)])) for one in x.T])
        mean, deviation = _moments(table, x, precision)
        return cls(prior, nominal, columns, mean, deviation, precision)

    def predict(self, x: Floats | Sparse) -> NDArray[np.intp]:
        """Return the likeliest class of each row."""
        numbers = (self.mean, self.deviation, self.precision)
        if isinstance(x, Sparse):
            logs = sparse_normal_logs(x.start, x.columns, x.values, *numbers)
            return np.asarray((logs + self.prior).argmax(axis=1))
        logs = normal_logs(np.ascontiguousarray(_bounded(x[:, self.columns])), *numbers) + self.prior
        for attribute, known in self.nominal.items():
            column = x[:, attribute]
            there = ~np.isnan(column) & (column < len(known))
            logs[there] += known[column[there].astype(np.intp)]
        return np.asarray(logs.argmax(axis=1))


def _bounded(x: Floats) -> Floats:
    """Return numbers without infinities, which no normal distribution has: they count as missing."""
    return np.where(np.isfinite(x), x, np.nan)


def _precision(distinct: Floats) -> float:
    """Return how far apart some values are on average."""
    return float(np.diff(distinct).mean()) if len(distinct) > 1 else USUAL_PRECISION


def _sparse_precision(x: Sparse) -> Floats:
    order = np.lexsort((x.values, x.columns))
    columns, values = x.columns[order], x.values[order]
    new = np.ones(len(columns), dtype=bool)
    new[1:] = (columns[1:] != columns[:-1]) | (values[1:] != values[:-1])
    columns, values = columns[new], values[new]
    low, high = np.full(x.width, np.inf), np.full(x.width, -np.inf)
    np.minimum.at(low, columns, values)
    np.maximum.at(high, columns, values)
    distinct = np.bincount(columns, minlength=x.width)
    # Where not every row is stored, zero is among the values.
    partly = np.bincount(x.columns, minlength=x.width) < len(x)
    low[partly], high[partly] = np.minimum(low[partly], 0), np.maximum(high[partly], 0)
    steps = distinct - 1 + partly
    precision: Floats = np.divide(high - low, steps, out=np.full(x.width, USUAL_PRECISION), where=steps > 0)
    return precision


def _moments(table: Table, x: Floats, precision: Floats) -> tuple[Floats, Floats]:
    known = np.isfinite(x)
    values = np.where(known, np.rint(np.where(known, x, 0) / precision) * precision, 0)
    count, total, square = (np.zeros((x.shape[1], table.classes)) for _ in range(3))
    for c in range(table.classes):
        inside = table.labels == c
        count[:, c] = known[inside].sum(axis=0)
        total[:, c] = values[inside].sum(axis=0)
        square[:, c] = (values[inside] ** 2).sum(axis=0)
    return _normal(count, total, square, precision)


def _sparse_moments(table: Table, x: Sparse, precision: Floats) -> tuple[Floats, Floats]:
    values = np.rint(x.values / precision[x.columns]) * precision[x.columns]
    labels = np.repeat(table.labels, np.diff(x.start)).astype(np.int64)
    cells = x.columns.astype(np.int64) * table.classes + labels
    shape = (x.width, table.classes)
    total, square = np.zeros(shape), np.zeros(shape)
    total += np.bincount(cells, values, minlength=total.size).reshape(shape)
    square += np.bincount(cells, values**2, minlength=total.size).reshape(shape)
    count = np.broadcast_to(np.bincount(table.labels, minlength=table.classes), shape).astype(float)
    return _normal(count, total, square, precision)


def _normal(count: Floats, total: Floats, square: Floats, precision: Floats) -> tuple[Floats, Floats]:
    least = np.broadcast_to(precision[:, None] / 6, count.shape)
    mean = np.divide(total, count, out=np.zeros_like(total), where=count > 0)
    spread = np.divide(np.abs(square - mean * total), count, out=np.zeros_like(total), where=count > 0)
    return np.ascontiguousarray(mean), np.ascontiguousarray(np.maximum(np.sqrt(spread), least))
