"""From the codes of a stream to the numbers of a table."""

import numpy as np
from numpy.typing import NDArray

from learners.learner import Rows
from learners.rebuilt.table import Floats, Sparse
from learners.vocabulary import MISSING_CODE

Codes = NDArray[np.uint32] | NDArray[np.uint64]
"""Rows of codes."""


def unsigned(rows: Rows) -> Codes:
    """Return rows as an array; the largest number stands for what nothing has been learned about."""
    if isinstance(rows, np.ndarray):
        return rows
    last = np.iinfo(np.uint64).max
    codes = np.array([[int(code) & int(last) for code in row] for row in rows], dtype=np.uint64)
    return codes.reshape(len(rows), -1)


def numbers_of(codes: NDArray[np.uint64]) -> Floats:
    """Return the numbers that have some codes, as `learners.codes.number_of` does; NaN for a missing one."""
    sign = np.uint64(1 << 63)
    bits = np.where(codes >= sign, codes ^ sign, ~codes)
    return np.where(codes == MISSING_CODE, np.nan, bits.view(np.float64))


def with_zeros(x: Floats, numeric: NDArray[np.bool_]) -> Floats:
    """Return rows whose missing numbers are zero."""
    return np.where(np.isnan(x) & numeric, 0.0, x)


def stored(x: Floats) -> Sparse:
    """Return rows without their zeros."""
    rows, columns = np.nonzero(x)
    start = np.zeros(len(x) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=len(x)), out=start[1:])
    return Sparse(start, columns.astype(np.int32), x[rows, columns], x.shape[1])
