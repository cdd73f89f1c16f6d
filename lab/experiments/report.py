"""What an experiment found: the paper's figures beside the measured ones, checks, notes, drawings, charts."""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

PAPERS_RUNS = 20
"""How many runs the paper's means are of, and therefore how exact they can be."""
STANDARD_ERRORS = 3


class Verdict(StrEnum):
    """How a figure compares. Only what the paper determines can pass or fail."""

    PASS = "PASS"
    FAIL = "FAIL"
    AGREES = "agrees"  # not determined by the paper, within the same distance
    DIFFERS = "differs"  # not determined by the paper, further away
    NOTED = "-"  # nothing to compare with


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a table.

    Attributes:
        row: The system it belongs to.
        column: What was measured.
        paper: What the paper prints; None where it prints nothing.
        mean: What was measured here.
        error: The standard error of the mean; None where one computation settles it.
        distance: How far the paper is from the mean, in standard errors of a mean of the paper's number of
            runs; None where that does not apply.
        digits: The decimals the paper prints.
        verdict: How the two compare.
    """

    row: str
    column: str
    paper: float | None
    mean: float
    error: float | None
    distance: float | None
    digits: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Table:
    """Figures of one kind."""

    title: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """A statement that holds or does not, and what was seen."""

    statement: str
    seen: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Drawing:
    """Something to be shown as it is, such as a tree."""

    caption: str
    text: str


@dataclass(frozen=True, slots=True)
class Series:
    """One line or one colour of bars; `errors` are half the lengths of the error bars."""

    name: str
    points: tuple[tuple[float, float], ...]
    errors: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Series to be plotted. With `categories` they are bars over these, otherwise lines."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    categories: tuple[str, ...] = ()
    logarithmic: bool = False


@dataclass(slots=True)
class Report:
    """All that an experiment found."""

    name: str
    title: str
    tables: list[Table] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)

    def verdicts(self) -> Iterator[Verdict]:
        """Yield the verdict of every figure and check."""
        for table in self.tables:
            yield from (figure.verdict for figure in table.figures)
        yield from (check.verdict for check in self.checks)

    @property
    def failed(self) -> bool:
        """Whether a figure that the paper determines was not reproduced."""
        return Verdict.FAIL in self.verdicts()


def compare(
    row: str,
    column: str,
    paper: float | None,
    measured: Sequence[float],
    *,
    digits: int = 0,
    determined: bool | None = True,
) -> Figure:
    """Return a figure from the measurements of several runs.

    The paper's mean is of twenty runs, so that it lies about as far from the true mean as another mean of
    twenty. However many runs are made here, it must be within three standard errors of such a mean; where
    all runs agree, it must be equal as far as it is printed. Of fewer than twenty runs not even the spread is
    known well: they can agree or differ, not pass or fail.

    Args:
        row: The system.
        column: What was measured.
        paper: What the paper prints.
        measured: What each run measured.
        digits: The decimals the paper prints.
        determined: Whether the paper tells enough to expect the same; None: it cannot be expected at all.

    >>> compare("ID5R", "Insts", 126, [110, 130, 150, 90] * 5).verdict
    <Verdict.PASS: 'PASS'>
    """
    mean = statistics.fmean(measured)
    spread = statistics.stdev(measured) if len(measured) > 1 else 0.0
    error = distance = None
    agrees = paper is not None and round(mean, digits) == paper
    if spread:
        error = spread / math.sqrt(len(measured))
        if paper is not None and determined is not None:
            distance = abs(paper - mean) / (spread / math.sqrt(min(len(measured), PAPERS_RUNS)))
            agrees = distance <= STANDARD_ERRORS
            determined = determined and len(measured) >= PAPERS_RUNS
    comparable = paper is not None and determined is not None
    verdict = _verdict(agrees, determined=bool(determined)) if comparable else Verdict.NOTED
    return Figure(row, column, paper, mean, error, distance, digits, verdict)


def check(statement: str, holds: bool, seen: str, *, determined: bool = True) -> Check:
    """Return a check of a statement."""
    return Check(statement, seen, _verdict(holds, determined=determined))


def _verdict(agrees: bool, *, determined: bool) -> Verdict:
    if determined:
        return Verdict.PASS if agrees else Verdict.FAIL
    return Verdict.AGREES if agrees else Verdict.DIFFERS
