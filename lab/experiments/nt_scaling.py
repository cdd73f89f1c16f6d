"""How the time to grow a tree goes with the number of records and of attributes."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lab.experiments.nt_trial import C45, NT
from lab.experiments.report import Chart, Check, Figure, Report, Series, Verdict, check
from lab.experiments.report import Table as Figures
from learners.rebuilt.table import Table

SKLEARN = "sklearn DecisionTreeClassifier"
RECORDS = (1_000, 3_000, 10_000, 30_000, 100_000)
ATTRIBUTES = (10, 30, 100, 300, 1_000)
USUAL = (10_000, 100)
"""The number of records and of attributes while the other varies."""
LARGEST = (100_000, 1_000)
VALUES = 4
RELEVANT = 8
NOISE = 0.1


class Timing(NamedTuple):
    """Seconds to grow a tree; None: it was not tried, because it would have taken too long."""

    learner: str
    records: int
    attributes: int
    seconds: float | None
    nodes: int = 0


def grid() -> list[tuple[int, int]]:
    """Return the sizes that are tried, the smallest first."""
    sizes = {(m, USUAL[1]) for m in RECORDS} | {(USUAL[0], n) for n in ATTRIBUTES} | {LARGEST, (1_000, 10)}
    return sorted(sizes, key=math.prod)


def made(records: int, attributes: int, seed: int) -> Table:
    """Return a table of nominal attributes whose class is decided by eight of them, and by chance."""
    rng = np.random.default_rng([seed, records, attributes])
    x = np.empty((records, attributes))
    for attribute in range(attributes):
        x[:, attribute] = rng.integers(0, VALUES, records, dtype=np.int8)
    relevant = min(RELEVANT, attributes)
    weights = rng.normal(size=(relevant, VALUES))
    scores = sum(weights[a][x[:, a].astype(np.intp)] for a in range(relevant))
    labels = (np.asarray(scores) > np.median(scores)).astype(np.int32)
    labels ^= rng.random(records) < NOISE
    return Table.of(x, labels, 2, [VALUES] * attributes)


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """Return the power of x that y goes with, by least squares of the logarithms.

    >>> round(exponent([(1, 3), (2, 12), (4, 48)]), 6)
    2.0
    """
    x, y = (np.log([point[axis] for point in points]) for axis in (0, 1))
    return float(np.polyfit(x, y, 1)[0])


def scaling(timings: Sequence[Timing]) -> Report:
    """Return the times, how they grow, and what becomes of the claims."""
    report = Report("nt-scaling", "Su and Zhang, O(m n): time against records and attributes")
    learners = list(dict.fromkeys(timing.learner for timing in timings))
    figures = [
        Figure(
            f"{timing.records:,} x {timing.attributes:,}",
            timing.learner,
            None,
            timing.seconds,
            None,
            None,
            3,
            Verdict.NOTED,
        )
        for timing in timings
        if timing.seconds is not None
    ]
    report.tables.append(Figures("Seconds of CPU time to grow a tree of nominal attributes", tuple(figures)))
    powers: dict[tuple[str, int], float] = {}
    for axis, what, other in ((0, "records", USUAL[1]), (1, "attributes", USUAL[0])):
        series: list[Series] = []
        for learner in learners:
            points = [
                ((timing.records, timing.attributes)[axis], timing.seconds)
                for timing in timings
                if timing.learner == learner
                and timing.seconds is not None
                and (timing.attributes, timing.records)[axis] == other
            ]
            # Below a few milliseconds it is not the algorithm that is measured.
            growing = [point for point in points if point[1] > 0.003]
            if len(growing) > 2:
                powers[learner, axis] = exponent(growing)
            series.append(Series(learner, tuple((math.log10(x), y) for x, y in points)))
        fixed = "attributes" if axis == 0 else "records"
        report.charts.append(
            Chart(
                f"Time to grow a tree: {what}, at {other:,} {fixed}",
                f"{what}, as a power of ten",
                "seconds",
                tuple(series),
                logarithmic=True,
            )
        )
    report.checks += _claims(timings, learners, powers)
    report.notes += [
        f"Attributes have {VALUES} values; {RELEVANT} of them decide the class; "
        f"{NOISE:.0%} of the classes are changed by chance.",
        "Where a learner is not in the table of a size, it would have taken more than two minutes.",
    ]
    return report


def _claims(
    timings: Sequence[Timing], learners: Sequence[str], powers: dict[tuple[str, int], float]
) -> list[Check]:
    checks: list[Check] = []
    for axis, what in ((0, "m"), (1, "n")):
        if (NT, axis) in powers:
            told = ", ".join(f"{one} {powers[one, axis]:.2f}" for one in learners if (one, axis) in powers)
            checks.append(
                check(
                    f"the time of NT grows with {what}, not with {what}^2",
                    powers[NT, axis] < 1.5,
                    f"as a power of {what}: {told}",
                    determined=False,
                )
            )
    largest = {
        timing.learner: timing.seconds
        for timing in timings
        if (timing.records, timing.attributes)
        == max(((t.records, t.attributes) for t in timings), key=math.prod)
        and timing.seconds is not None
    }
    for rival in (C45, SKLEARN):
        if NT in largest and rival in largest:
            times = largest[rival] / largest[NT]
            checks.append(
                check(
                    f"at the largest size NT is faster than {rival}",
                    times > 1,
                    f"{times:.1f} times as fast",
                    determined=False,
                )
            )
    return checks
