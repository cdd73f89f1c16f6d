"""How time is taken: by the CPU, contenders in turn, the best of several repeats.

A machine that does other things as well is slower at one moment than at the next. Contenders that take turns
are slowed alike, and the best of several repeats is the one that was disturbed least. A short pass finds a
quiet moment more easily than a long one, so that ratios are told turn by turn as well.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from stream.errors import StreamError

PATIENCE = 25.0
"""Seconds of CPU after which a contender has no more turns."""


class PeerFailed(StreamError):  # noqa: N818 - what has happened is said by the name
    """A process that was asked to measure something did not do so."""


class Timed(NamedTuple):
    """One pass over some records: each was answered, then learned."""

    records: int
    seconds: float
    correct: int = 0

    @property
    def rate(self) -> float:
        """Records for each second of CPU."""
        return self.records / self.seconds

    @property
    def micros(self) -> float:
        """Microseconds of CPU for each record."""
        return self.seconds / self.records * 1e6

    @property
    def accuracy(self) -> float:
        """The share of records that were answered rightly before they were learned."""
        return self.correct / self.records


Pass = Callable[[], Timed]
Tell = Callable[[str], None]
"""Told what is being measured, for whoever waits."""


class Passes(NamedTuple):
    """The passes of one contender, a turn each."""

    turns: list[Timed]

    @property
    def best(self) -> Timed:
        """The pass that was disturbed least."""
        return min(self.turns, key=lambda timed: timed.seconds)

    def best_against(self, other: "Passes") -> float:
        """Return how many times as quick the best pass is, of the turns that both have had.

        Whoever has had more turns has had more chances of a quiet moment.
        """
        shared = min(len(self.turns), len(other.turns))
        return Passes(self.turns[:shared]).best.rate / Passes(other.turns[:shared]).best.rate

    def against(self, other: "Passes") -> list[float]:
        """Return how many times as quick this one was in each turn that both have had."""
        return [ours.rate / theirs.rate for ours, theirs in zip(self.turns, other.turns, strict=False)]


def in_turn(contenders: Mapping[str, Pass], repeats: int, tell: Tell, what: str) -> dict[str, Passes]:
    """Return the passes of contenders that take turns.

    One that has had its share of time is not asked again: of something slow the first pass says enough.
    """
    passes = {name: Passes([]) for name in contenders}
    for turn in range(1, repeats + 1):
        for name, run in contenders.items():
            if sum(timed.seconds for timed in passes[name].turns) > PATIENCE:
                continue
            tell(f"{what}: {name} ({turn} of {repeats})")
            passes[name].turns.append(run())
    return passes


def span(numbers: Sequence[float], form: str = ",.1f") -> str:
    """Return the lowest and the highest of some numbers as text.

    >>> span([5.32, 4.1, 4.96])
    '4.1-5.3'
    """
    low, high = f"{min(numbers):{form}}", f"{max(numbers):{form}}"
    return low if low == high else f"{low}-{high}"


class CpuClock:
    """Counts the CPU seconds of this process, all of its threads, while it runs."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._started
