"""When the next snapshot of a model is due."""

IMPROVE_SECONDS = 10.0
"""How much spare time may have to be spent again by a restore."""


class Schedule:
    """Says when a model is due for a snapshot.

    A snapshot holds everything a model retains, so that the larger it is, the more records there are between
    two: not less than the last one held, or an eighth of that once the time has come. What snapshots add to
    the writing of the journal is bounded by that, and so is what a restore has to replay. Spare time that was
    spent on a better tree is spent again by a replay, and so it makes a snapshot due as well.

    Args:
        records: After how many records at the earliest.
        seconds: After how many seconds, where fewer records have come.
    """

    def __init__(self, records: int, seconds: float) -> None:
        self._records = records
        self._seconds = seconds
        self._since = 0
        self._held = 0
        self._last = 0.0
        self._improving = 0.0

    def improved(self, seconds: float) -> None:
        """Note that so much time has been spent on a better tree."""
        self._improving += seconds

    def learned(self, records: int) -> None:
        """Note that records have been learned."""
        self._since += records

    def is_due(self, now: float) -> bool:
        """Whether it is time."""
        if self._improving >= IMPROVE_SECONDS:
            return True
        if self._since >= max(self._records, self._held):
            return True
        return self._since > 0 and now - self._last >= self._seconds and 8 * self._since >= self._held

    def begun(self, now: float, retained: int) -> None:
        """Note that one has begun, of so many instances."""
        self._since = 0
        self._improving = 0.0
        self._held = retained
        self._last = now
