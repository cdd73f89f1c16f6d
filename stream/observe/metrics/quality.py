"""How good the answers are: the last ten thousand of an agent, and how all of them were confused.

A batch is taken in with a few operations on arrays. What is shown is worked out when somebody asks.
"""

import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream.observe.metrics.catalog import ALL, MOST_CLASSES, NONE, OTHER, WINDOWS

Codes = NDArray[np.int32]
SLOTS = MOST_CLASSES + 2
_OTHER, _NONE = MOST_CLASSES, MOST_CLASSES + 1
_LONGEST_NAME = 64


class Quality(NamedTuple):
    """What the answers of an agent came to.

    Attributes:
        accuracy: By window.
        kappa: By window.
        precision: By class.
        recall: By class.
        confusion: Records so far by class and answer.
    """

    accuracy: dict[str, float]
    kappa: dict[str, float]
    precision: dict[str, float]
    recall: dict[str, float]
    confusion: dict[tuple[str, str], int]


class Answers:
    """The answers of one agent."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: list[str] = []
        self._tables: dict[str, NDArray[np.intp]] = {}
        self._matrix = np.zeros((SLOTS, SLOTS), dtype=np.int64)
        self._forgotten = self._matrix.copy()
        self._totals = np.zeros(2, dtype=np.int64)
        self._pairs = np.zeros(WINDOWS[-1], dtype=np.intp)
        self._hits = np.zeros(WINDOWS[-1], dtype=np.bool_)
        self._next = 0
        self._filled = 0

    def add(self, model: str, labels: Codes, answers: Codes, classes: Sequence[str]) -> int:
        """Take in the answers to some records with a label; return how many were right.

        Args:
            model: Whose codes these are.
            labels: The class of each record.
            answers: The class answered; -1: none.
            classes: The names of the codes.
        """
        hits = labels == answers
        right = int(np.count_nonzero(hits))
        table = self._table(model, classes)
        pairs = table[labels] * SLOTS + table[answers]
        counts = np.bincount(pairs, minlength=SLOTS * SLOTS).reshape(SLOTS, SLOTS)
        with self._lock:
            self._matrix += counts
            self._totals += (len(hits), right)
            self._remember(pairs[-len(self._pairs) :], hits[-len(self._hits) :])
        return right

    def _table(self, model: str, classes: Sequence[str]) -> NDArray[np.intp]:
        """Return the slot of each code of a model; that of -1, no answer, is the last."""
        table = self._tables.get(model)
        if table is None or len(table) != len(classes) + 1:
            slots = [self._slot(name[:_LONGEST_NAME]) for name in classes]
            table = self._tables[model] = np.array([*slots, _NONE], dtype=np.intp)
        return table

    def _slot(self, name: str) -> int:
        if name not in self._names:
            if len(self._names) == MOST_CLASSES:
                return _OTHER
            self._names.append(name)
        return self._names.index(name)

    def _remember(self, pairs: NDArray[np.intp], hits: NDArray[np.bool_]) -> None:
        room = len(self._pairs) - self._next
        for ring, new in ((self._pairs, pairs), (self._hits, hits)):
            ring[self._next : self._next + len(new)] = new[:room]
            ring[: max(0, len(new) - room)] = new[room:]
        self._next = (self._next + len(pairs)) % len(self._pairs)
        self._filled = min(len(self._pairs), self._filled + len(pairs))

    def forget(self) -> None:
        """Forget the last answers: the models are kept elsewhere now. What was counted stays."""
        with self._lock:
            self._next = self._filled = 0
            self._totals[:] = 0
            self._forgotten = self._matrix.copy()

    def quality(self) -> Quality:
        """Return what the answers came to so far."""
        with self._lock:
            order = np.arange(self._next - self._filled, self._next)
            pairs, hits = self._pairs[order], self._hits[order]
            matrix, (total, right) = self._matrix.copy(), self._totals.tolist()
            since = matrix - self._forgotten
        accuracy: dict[str, float] = {}
        kappa: dict[str, float] = {}
        for window in WINDOWS if len(hits) else ():
            share = float(hits[-window:].mean())
            accuracy[str(window)] = share
            kappa[str(window)] = _kappa(share, _confusion(pairs[-window:]))
        if total:
            accuracy[ALL] = right / total
            kappa[ALL] = _kappa(right / total, since)
        recent = _confusion(pairs)
        names = [*self._names, OTHER, NONE]
        return Quality(
            accuracy,
            kappa,
            dict(_shares(names, recent.diagonal(), recent.sum(axis=0))),
            dict(_shares(names, recent.diagonal(), recent.sum(axis=1))),
            {
                (names[_placed(row, names)], names[_placed(column, names)]): int(matrix[row, column])
                for row, column in np.argwhere(matrix).tolist()
            },
        )


def _placed(slot: int, names: list[str]) -> int:
    """Return where the name of a slot is: the two for all others stand behind those in use."""
    return slot if slot < MOST_CLASSES else len(names) - 2 + (slot - _OTHER)


def _confusion(pairs: NDArray[np.intp]) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = np.bincount(pairs, minlength=SLOTS * SLOTS).reshape(SLOTS, SLOTS)
    return counts


def _kappa(accuracy: float, confusion: NDArray[np.int64]) -> float:
    """Return Cohen's kappa; 0 where chance alone would always be right."""
    total = confusion.sum()
    chance = float((confusion.sum(axis=0) * confusion.sum(axis=1)).sum() / total**2)
    return (accuracy - chance) / (1 - chance) if chance < 1 else 0.0


def _shares(names: list[str], right: NDArray[np.int64], of: NDArray[np.int64]) -> Iterator[tuple[str, float]]:
    """Yield the share for each class by name of which there is anything to say."""
    for slot in range(len(names) - 2):
        if of[slot]:
            yield names[slot], float(right[slot] / of[slot])
