"""Spare time: while no record waits, models are improved in slices so short that none has to wait for long.

How much a slice is comes from a clock, and is only known here. What a model is told is how many units of work
to spend, which go into its journal: a replay needs no clock.
"""

import time
from collections.abc import Mapping
from typing import TypeVar

from stream.model.processing import Processor
from stream.records.record import Outputs

SLICE_SECONDS = 0.002
"""How long a slice is to take: what a record waits for, at the most, before it is noticed."""
WRITE_SECONDS = 1.0
"""How often what has come of spare time is committed, while no batch takes it along."""
FIRST_UNITS = 64
"""The first slice: nothing is known yet about how long a unit takes."""
MOST_UNITS = 1 << 20

U = TypeVar("U")


class IdleScheduler:
    """Spends the spare time of an agent on its models, in turn.

    Args:
        share: The most that slices may have of the time; 0: there are none.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._rate = FIRST_UNITS / SLICE_SECONDS
        self._next = 0.0
        self._turn = 0
        self._write_at = 0.0
        self.seconds = 0.0
        """How long slices have taken since `take_seconds` was last called."""

    def wait(self, processors: Mapping[U, Processor], longest: float) -> float:
        """Return how long a record may be waited for before the next slice."""
        if not self.is_next(processors):
            return longest
        return min(longest, max(0.0, self._next - time.perf_counter()))

    def is_next(self, processors: Mapping[U, Processor]) -> bool:
        """Whether there is anything to spend time on."""
        return self._share > 0 and any(one.can_improve for one in processors.values())

    def spend(self, processors: Mapping[U, Processor]) -> U | None:
        """Spend one slice, if it is time for one; return whose model it was."""
        started = time.perf_counter()
        if not self._share or started < self._next:
            return None
        able = [unit for unit, one in processors.items() if one.can_improve]
        if not able:
            return None
        unit = able[self._turn % len(able)]
        self._turn += 1
        units = max(1, min(MOST_UNITS, int(self._rate * SLICE_SECONDS)))
        processors[unit].improve(units)
        now = time.perf_counter()
        took = max(now - started, 1e-6)
        # A slice that took too long is believed at once, a short one only little by little.
        self._rate = min(units / took, 1.25 * self._rate)
        self._next = now + took * (1 / self._share - 1)
        self.seconds += took
        return unit

    def outputs(self, processors: Mapping[U, Processor], *, now: bool = False) -> list[Outputs]:
        """Return what is to be committed of what has come of spare time.

        Args:
            processors: The models.
            now: Whether everything is, because a snapshot is to be made; else it is once in a while.
        """
        clock = time.perf_counter()
        if not now and clock < self._write_at:
            return []
        found = [
            one for one in (processor.improved() for processor in processors.values()) if one is not None
        ]
        if found:
            self._write_at = clock + WRITE_SECONDS
        return found

    def take_seconds(self) -> float:
        """Return how long slices have taken since the last call."""
        taken, self.seconds = self.seconds, 0.0
        return taken
