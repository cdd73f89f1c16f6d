"""One input partition: what became of each of its offsets."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stream.audit.findings import Findings, Kind

_Counts = NDArray[np.uint8]


class OffsetColumn:
    """Small counts by offset, which grow as they are needed."""

    def __init__(self) -> None:
        self._data: _Counts = np.zeros(1_024, dtype=np.uint8)

    def add(self, offset: int) -> int:
        """Count one more at an offset; return how many there are now."""
        self._grow(offset + 1)
        if self._data[offset] < 255:
            self._data[offset] += 1
        return int(self._data[offset])

    def add_all(self, offsets: NDArray[Any]) -> None:
        """Count one more at each of some offsets."""
        if len(offsets):
            self._grow(int(offsets.max()) + 1)
            np.add.at(self._data, offsets, 1)

    def upto(self, length: int) -> _Counts:
        """Return the counts of the first so many offsets."""
        self._grow(length)
        return self._data[:length]

    def ends(self) -> int:
        """Return one more than the highest offset that was counted."""
        found = np.flatnonzero(self._data)
        return int(found[-1]) + 1 if len(found) else 0

    def _grow(self, length: int) -> None:
        if length > len(self._data):
            more = np.zeros(max(length, 2 * len(self._data)) - len(self._data), dtype=np.uint8)
            self._data = np.concatenate([self._data, more])


class PartitionOffsets:
    """What is known about the offsets of an input partition.

    Args:
        topic: The input.
        number: The partition.
    """

    def __init__(self, topic: str, number: int) -> None:
        self.place = topic, number
        self.there = OffsetColumn()
        self.predicted = OffsetColumn()
        self.labelled = OffsetColumn()
        self.learned = OffsetColumn()
        self.dead = OffsetColumn()
        self.other = OffsetColumn()
        """Records that are neither answered nor dead letters: the journal says what they were."""
        self.begin = 0
        """The first offset that the input still holds."""
        self.told_from = 0
        """The first offset of which the outputs still tell."""

    def check(self, end: int, reach: int, known_from: int, findings: Findings) -> dict[str, int]:
        """Compare everything, and return how many offsets have which disposition.

        Args:
            end: The offset that the journal said came next when it was read.
            reach: The same, when everything had been read: an agent may be at work meanwhile.
            known_from: Where the journal begins; below it, it was deleted.
            findings: What is wrong goes there.
        """
        there, predicted, dead = self.there.upto(end), self.predicted.upto(end), self.dead.upto(end)
        learned, labelled, other = self.learned.upto(end), self.labelled.upto(end), self.other.upto(end)
        # Sums of counts of at most 255 each.
        total = predicted.astype(np.uint16) + dead + other
        offsets = np.arange(end)
        known = offsets >= known_from

        def find(kind: Kind, where: NDArray[np.bool_], message: str) -> None:
            findings.add_each(kind, self.place, np.flatnonzero(where).tolist(), message)

        held = there > 0
        gone = held & (total == 0) & (offsets >= self.told_from)
        find(Kind.MISSING, gone & (learned > 0), "of the input: learned from, but there is no prediction")
        find(Kind.MISSING, gone & (learned == 0), "of the input: no prediction and no dead letter")
        find(Kind.DOUBLED, (total > 1) & (predicted > 1), "of the input: predicted more than once")
        find(Kind.DOUBLED, (total > 1) & (dead > 1), "of the input: more than one dead letter")
        mixed = (predicted > 0).astype(np.uint8) + (dead > 0) + (other > 0)
        find(Kind.DOUBLED, mixed > 1, "of the input: predicted, and rejected or passed over too")
        find(Kind.DOUBLED, learned > 1, "of the input: learned from more than once")
        empty = ~held & (offsets >= self.begin)
        find(Kind.INVENTED, empty & (total > 0), "of the input: nothing is there, but something came of it")
        twice_known = known & (predicted > 0)
        find(
            Kind.UNLEARNED,
            twice_known & (labelled > 0) & (learned == 0),
            "of the input: predicted with a label, but not in the journal",
        )
        find(
            Kind.UNLEARNED,
            twice_known & (labelled == 0) & (learned > 0),
            "of the input: in the journal, but predicted without a label",
        )
        ahead = max(self.predicted.ends(), self.dead.ends())
        if ahead > reach:
            early = self.predicted.upto(ahead)[reach:].astype(np.uint16) + self.dead.upto(ahead)[reach:]
            told = "of the input: told of, but the journal ends before"
            findings.add_each(Kind.AHEAD, self.place, (np.flatnonzero(early) + reach).tolist(), told)
        return {
            "predicted": int((predicted > 0).sum()),
            "learned": int((learned > 0).sum()),
            "dead_letters": int((dead > 0).sum()),
            "other": int((other > 0).sum()),
        }
