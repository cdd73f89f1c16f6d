"""How far the time of the records may go forward at one record, where records are retained by their time.

One record from the far future would otherwise end learning: all that is retained is before its window, and so
is all that follows. Such a record is refused. When time really has gone on, after an outage or a quiet night,
the records that follow agree with each other: the tenth in a row is believed.
"""

import math

import numpy as np
from numpy.typing import NDArray

from learners.canonical import number_code, number_of
from learners.schema import InstanceError, Misfit, Value

BELIEVED = 10
"""The number of records in a row, all agreeing with each other, of which the last is believed."""

ClockState = tuple[float, bool, float, int]


class Clock:
    """The time of the records learned so far, and whether another may come next; tree.c keeps the same.

    Args:
        attribute: The attribute that holds the time.
        window: For how long records are retained.
        max_jump: How far time may go forward at one record.

    Attributes:
        newest: The latest time learned; minus infinity before any.
        confirmed: Whether a second record learned agrees with it. Before that nothing says which of two is
            right, and the later arrival is believed: the first record may be the one from the future.
        suspect: The time of the last record that was refused.
        suspects: How many were refused in a row that agree with each other.
        ahead: How many records have passed and are not learned yet.
    """

    def __init__(self, attribute: str, window: float, max_jump: float) -> None:
        self.attribute = attribute
        self.window = window
        self.max_jump = max_jump
        self.newest = -math.inf
        self.confirmed = False
        self.suspect = 0.0
        self.suspects = 0
        self.ahead = 0

    @property
    def state(self) -> ClockState:
        """What a journal or a snapshot keeps, between batches: then no record is ahead."""
        return self.newest, self.confirmed, self.suspect, self.suspects

    @state.setter
    def state(self, state: ClockState) -> None:
        self.newest, self.confirmed, self.suspect, self.suspects = state
        self.ahead = 0

    def follow(self, newest: float, *, confirmed: bool, learned: int) -> None:
        """Take the time from what has been learned, where some of it has not come through `admit`.

        What has come through it needs no second look: under `train = "errors"` the tree does not learn every
        record that passes, and how records are cut into batches must not decide which times are known.
        """
        all_passed = learned <= self.ahead
        self.ahead = max(0, self.ahead - learned)
        if not all_passed and (newest > self.newest or not self.confirmed):
            self.newest, self.confirmed = newest, confirmed

    def admit(self, value: Value) -> None:
        """Let a record that is to be learned pass, or refuse it; one without a time passes.

        Raises:
            InstanceError: It is too far in the future.
        """
        if type(value) not in (int, float) or value is None:
            self.ahead += 1
            return
        time = float(value)
        if time == math.inf or (self.confirmed and time > self.newest + self.max_jump):
            self._doubt(time)
        self.ahead += 1
        self.suspects = 0
        if abs(time - self.newest) > self.max_jump and (not self.confirmed or time > self.newest):
            self.newest = time
            self.confirmed = False
        elif time >= self.newest - self.window:
            self.confirmed = self.confirmed or abs(time - self.newest) <= self.max_jump
            self.newest = max(self.newest, time)

    def _doubt(self, time: float) -> None:
        """Refuse a record from the future, unless enough before it say the same."""
        together = self.suspects and abs(time - self.suspect) <= self.max_jump
        self.suspects = self.suspects + 1 if together else 1
        self.suspect = time
        if time < math.inf and self.suspects >= BELIEVED:
            self.confirmed = False
            return
        raise InstanceError(
            Misfit.FUTURE_TIME,
            self.attribute,
            f'"{self.attribute}" is {time:.17g}, more than {self.max_jump:.17g} after {self.newest:.17g}, '
            f"the latest learned. {BELIEVED} such records in a row are believed. If it is right, raise "
            "max_time_jump",
        )

    def admits_all(self, codes: NDArray[np.uint64]) -> bool:
        """Let records with these codes of times pass, if all surely do; otherwise nothing is changed."""
        latest = int(codes.max(initial=0))
        if not self.confirmed or latest > number_code(self.newest + self.max_jump):
            return False
        self.ahead += len(codes)
        if latest:
            self.newest = max(self.newest, number_of(latest))
            self.suspects = 0
        return True
