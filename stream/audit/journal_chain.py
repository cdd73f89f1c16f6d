"""The journal of one model: which offsets each transaction took, and which trees it led to."""

from bisect import bisect_right
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream.audit.findings import Findings, Kind
from stream.records.journal import JournalEntry
from stream.records.record import Record


class TreeVersions(NamedTuple):
    """The versions of the tree that a transaction began and ended with, and its number."""

    first: int
    last: int
    entry: int


class JournalChain:
    """The entries of one model in the order of the journal.

    Args:
        findings: What is wrong goes there.
        repeats: Whether an entry that comes again, the same, is passed over.
        cut: Whether the oldest entries have been deleted, behind a snapshot.
    """

    def __init__(self, findings: Findings, *, repeats: bool, cut: bool) -> None:
        self.next_offsets: dict[int, int] = {}
        self.known_from: dict[int, int] = {}
        """Where the first entry that is left begins, by input partition: below it the journal was deleted."""
        self.first: int | None = None
        self.version = 0
        self.digest = ""
        self._findings = findings
        self._repeats = repeats
        self._cut = cut
        self._last = -1
        self.trees: list[tuple[int, int, str]] = []
        """Of each entry its number, and the version and digest of the tree after it."""
        self._seen: dict[int, str] = {}
        self._ends: dict[int, list[int]] = {}
        self._versions: dict[int, list[TreeVersions]] = {}

    def take(self, entry: JournalEntry, record: Record) -> bool:
        """Look at the next entry; return whether it is one more, and not one that was there before."""
        place, number = record.partition, entry.sequence
        gist = f"{entry.digest} {entry.version} {sorted(entry.next_offsets.items())}"
        if number in self._seen:
            if self._seen[number] != gist:
                told = f"entry {number} is there twice and says two things: the journal forks"
                self._findings.add(Kind.JOURNAL_FORK, place, number, told)
            elif not self._repeats:
                self._findings.add(Kind.DOUBLED, place, number, f"journal entry {number} is there twice")
            return False
        self._seen[number] = gist
        if self.first is None:
            self.first = number
            if self._cut and number > 0:
                # Where this entry began is not known any more.
                self.known_from = dict(entry.next_offsets)
                self._note(entry)
                return False
        if number <= self._last:
            told = f"journal entry {number} stands behind entry {self._last}"
            self._findings.add(Kind.REORDERED, place, number, told)
            return True
        if number > self._last + 1:
            told = f"journal entries {self._last + 1} to {number - 1} are missing"
            self._findings.add(Kind.JOURNAL_GAP, place, self._last + 1, told, number - 1)
        for partition, end in entry.next_offsets.items():
            before = self.next_offsets.get(partition, 0)
            if end < before:
                told = (
                    f"entry {number} goes back from offset {before} of input partition {partition} to {end}"
                )
                self._findings.add(Kind.REORDERED, place, number, told)
            elif end > before:
                self._ends.setdefault(partition, []).append(end)
                versions = TreeVersions(self.version, entry.version, number)
                self._versions.setdefault(partition, []).append(versions)
        self._note(entry)
        return True

    def _note(self, entry: JournalEntry) -> None:
        self._last, self.version, self.digest = entry.sequence, entry.version, entry.digest
        self.next_offsets = dict(entry.next_offsets)
        self.trees.append((entry.sequence, entry.version, entry.digest))

    def transaction_of(self, partition: int, offset: int) -> TreeVersions | None:
        """Return the transaction that took an input offset; None where it is not known."""
        if offset < self.known_from.get(partition, 0):
            return None
        ends = self._ends.get(partition, [])
        index = bisect_right(ends, offset)
        return self._versions[partition][index] if index < len(ends) else None


def places_of(entry: JournalEntry) -> list[tuple[int, NDArray[np.int64]]]:
    """Return the instances an entry holds: input partitions and the offsets in them, in order."""
    told: list[tuple[int, NDArray[np.int64]]] = []
    for block in entry.blocks:
        places = np.frombuffer(block.places, dtype="<i8").reshape(-1, 2)
        told += [(int(number), places[places[:, 0] == number, 1]) for number in np.unique(places[:, 0])]
    return told
