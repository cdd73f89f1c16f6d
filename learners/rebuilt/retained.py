"""The instances a batch learner stands for, in order of arrival, as arrays that grow."""

from collections.abc import Sequence

import numpy as np

from learners.rebuilt.table import Floats, Ints


class Retained:
    """Rows and labels. The oldest can leave; an attribute can be added, which no row so far has."""

    def __init__(self, width: int = 0) -> None:
        self._x = np.zeros((0, width))
        self._labels = np.zeros(0, dtype=np.int32)
        self._start = self._end = 0

    def __len__(self) -> int:
        return self._end - self._start

    @property
    def width(self) -> int:
        """How many attributes the rows have."""
        return int(self._x.shape[1])

    @property
    def x(self) -> Floats:
        """The rows; they stay as they are only until the next call."""
        return self._x[self._start : self._end]

    @property
    def labels(self) -> Ints:
        """The classes; they stay as they are only until the next call."""
        return self._labels[self._start : self._end]

    def add(self, x: Floats, labels: Ints) -> None:
        """Keep some rows as the newest."""
        if x.shape[1] > self.width:
            self._move(len(self) + len(x), int(x.shape[1]))
        elif self._end + len(x) > len(self._x):
            self._move(len(self) + len(x), self.width)
        self._x[self._end : self._end + len(x), : x.shape[1]] = x
        self._x[self._end : self._end + len(x), x.shape[1] :] = np.nan
        self._labels[self._end : self._end + len(x)] = labels
        self._end += len(x)

    def drop(self, count: int) -> None:
        """Let the oldest go."""
        self._start += count
        # What was given up is given back once it is more than what is kept.
        if self._start > 2 * len(self) + 1024:
            self._move(len(self), self.width)

    def blank(self, attributes: Sequence[int]) -> bool:
        """Let no row have a value of some attributes; return whether any had."""
        there = [attribute for attribute in attributes if attribute < self.width]
        had = bool(there) and not np.isnan(self.x[:, there]).all()
        self.x[:, there] = np.nan
        return had

    def _move(self, needed: int, width: int) -> None:
        """Make room, with as much again so that a row costs the same however many there are."""
        room = max(needed + needed // 2, 64)
        x = np.full((room, width), np.nan)
        labels = np.zeros(room, dtype=np.int32)
        x[: len(self), : self.width] = self.x
        labels[: len(self)] = self.labels
        self._x, self._labels, self._start, self._end = x, labels, 0, len(self)
