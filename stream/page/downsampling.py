"""Curves over a whole run, however long, in so many points."""

from collections.abc import Sequence
from typing import NamedTuple


class CurvePoint(NamedTuple):
    """Figures at some moment, in seconds since the epoch. What is not known is None."""

    at: float
    accuracy: float | None
    lag: int | None
    records: int
    nodes: int


class Curve:
    """Points at even distances; when there are too many, every second is left out and the distance doubles.

    >>> curve = Curve(most=4, seconds=1.0)
    >>> for second in range(6):
    ...     _ = curve.add(CurvePoint(float(second), 1.0, 0, second, 1))
    >>> [point.at for point in curve.points]
    [0.0, 2.0, 4.0]
    """

    def __init__(self, most: int = 300, seconds: float = 1.0) -> None:
        self._most = most
        self._seconds = seconds
        self._points: list[CurvePoint] = []

    @property
    def points(self) -> Sequence[CurvePoint]:
        """The points so far."""
        return self._points

    def add(self, point: CurvePoint) -> bool:
        """Take a point, unless the last one was a moment ago; return whether it was taken."""
        # A tenth less: what is called once a second never comes after exactly a second.
        if self._points and point.at - self._points[-1].at < 0.9 * self._seconds:
            return False
        self._points.append(point)
        if len(self._points) > self._most:
            self._points = self._points[::2]
            self._seconds *= 2
        return True
