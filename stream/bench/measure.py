"""How time is taken: by the CPU, contenders in turn, the best of several repeats.

A machine that does other things as well is slower at one moment than at the next. Contenders that take turns
are slowed alike, and the best of several repeats is the one that was disturbed least.
"""

import time
from collections.abc import Callable, Mapping
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


def best_in_turn(contenders: Mapping[str, Pass], repeats: int, tell: Tell, what: str) -> dict[str, Timed]:
    """Return each contender's best pass, where all have taken turns.

    One that has had its share of time is not asked again: of something slow the first pass says enough.
    """
    best: dict[str, Timed] = {}
    spent = dict.fromkeys(contenders, 0.0)
    for turn in range(1, repeats + 1):
        for name, run in contenders.items():
            if spent[name] > PATIENCE:
                continue
            tell(f"{what}: {name} ({turn} of {repeats})")
            told = run()
            spent[name] += told.seconds
            if name not in best or told.seconds < best[name].seconds:
                best[name] = told
    return best


class CpuClock:
    """Counts the CPU seconds of this process, all of its threads, while it runs."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._started
