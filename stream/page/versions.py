"""Older versions of a tree: the last ones whole, those before them ever further apart."""

import bisect
import zlib
from collections.abc import Sequence
from typing import NamedTuple

MOST = 200
FAST = 1
"""The level of compression: names and counts repeat so much that more is not worth its time."""


class HistoryEntry(NamedTuple):
    """One version, as a page gets it, and what was done to the tree since the stop before."""

    version: int
    at: float
    nodes: int
    kind: str
    changes: int
    body: bytes


class TreeHistory:
    """A bounded number of versions of one tree, kept as the bytes that a page is sent.

    When there are too many, every second one of the older half is left out: what is recent can be looked at
    version by version, and the way from the first to the last can still be seen.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._stops: list[HistoryEntry] = []

    @property
    def stops(self) -> Sequence[HistoryEntry]:
        """The versions there are, oldest first."""
        return self._stops

    def add(self, version: int, at: float, nodes: int, kind: str, changes: int, body: bytes) -> None:
        """Keep a version. One that is not newer than the last ends what was there: the model began again."""
        if self._stops and version <= self._stops[-1].version:
            self._stops = [stop for stop in self._stops if stop.version < version]
        self._stops.append(HistoryEntry(version, at, nodes, kind, changes, zlib.compress(body, FAST)))
        if len(self._stops) > self._most:
            half = self._most // 2
            self._stops = self._stops[:half:2] + self._stops[half:]

    def body(self, version: int) -> bytes | None:
        """Return the newest version that is kept and not newer than one that is asked for."""
        if not self._stops:
            return None
        place = bisect.bisect_right(self._stops, version, key=lambda stop: stop.version)
        return zlib.decompress(self._stops[max(0, place - 1)].body)
