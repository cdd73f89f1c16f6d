"""Which faults a schedule may have, and how often: drawn once for each schedule."""

import random
from collections import Counter
from collections.abc import Mapping

CLIENT_FAULTS: Mapping[str, float] = {
    "marker delayed": 0.2,
    "queue full": 0.05,
    "coordinator away": 0.1,
    "seek refused": 0.2,
    "offsets timed out": 0.1,
    "error among records": 0.03,
    "records twice": 0.03,
    "produce failed": 0.02,
    "offsets abortable": 0.05,
    "commit abortable": 0.05,
    "commit fenced": 0.03,
    "commit fatal": 0.02,
    "commit request lost": 0.1,
    "commit response lost": 0.1,
    "commit late": 0.1,
    "commit repeated": 0.15,
    "trim failed": 0.5,
}
"""Faults of a request, and how often each strikes where a schedule has it."""
EVENTS: Mapping[str, int] = {
    "feed": 6,
    "kill": 3,
    "freeze": 3,
    "start": 4,
    "stop": 1,
    "rebalance": 2,
    "delete offsets": 1,
    "compact": 1,
    "outage": 1,
}
"""What happens to workers and the cluster, and how often in comparison."""


class Faults:
    """Draws faults, and counts them.

    Args:
        rng: What they are drawn from.
        is_calm: Whether there are none at all.
    """

    def __init__(self, rng: random.Random, *, is_calm: bool = False) -> None:
        self.counts: Counter[str] = Counter()
        self.is_over = is_calm
        self._rng = rng
        # A few kinds at a time: where everything fails at once, little gets far enough to fail in a new way.
        share = rng.choice((0.0, 0.15, 0.3, 0.6))
        self._rates = {
            name: rate * rng.choice((1, 3)) for name, rate in CLIENT_FAULTS.items() if rng.random() < share
        }
        self._events = {name: weight for name, weight in EVENTS.items() if rng.random() < 0.7}
        self._events["feed"] = self._events["start"] = 3

    def happens(self, name: str) -> bool:
        """Whether a fault strikes now."""
        rate = self._rates.get(name)
        if rate is None or self.is_over or self._rng.random() >= rate:
            return False
        self.counts[name] += 1
        return True

    def event(self) -> str:
        """Return what happens next to workers or the cluster."""
        names = list(self._events)
        return self._rng.choices(names, [self._events[name] for name in names])[0]
