"""Whether a record costs the same while a stream goes on: 5 % noise, everything kept, or a window."""

from collections.abc import Sequence
from typing import NamedTuple

from lab.bench.contenders import fresh, learn
from lab.bench.measure import CpuClock, Tell, Timed
from lab.bench.report import Column, Goal, Report, Table, Value, at_most
from lab.bench.streams import Nominal
from lab.experiments.report import Chart, Series

NOISE = 0.05
WINDOW = 5_000
"""Small enough that it has been full for the whole of the first figure."""
CHUNK = 50_000
PLACES = (10_000, 100_000, 1_000_000, 10_000_000)
QUICK_PLACES = (10_000, 100_000)
EARLY = 100_000
KEPT = "everything kept"
WINDOWED = f"window of {WINDOW:,}"

NOTE = (
    "22 nominal attributes, 5 % of the classes wrong, default settings. The cost at a place is the mean over "
    "the second half of the records up to there: a cheap beginning does not hide a cost that grows. Up to "
    "100,000 records it is the median of runs that were made while the long one went on."
)


class Mark(NamedTuple):
    """The cost of records up to some place in a stream: of all, and of the second half of them."""

    records: int
    whole: Timed
    half: Timed
    distinct: int
    model_bytes: int


def growth(places: tuple[int, ...], repeats: int, quick: bool, tell: Tell) -> Report:
    """Measure the cost of a record at some places of a stream.

    Early places pass in milliseconds, late ones in minutes, and a machine changes its pace. So the
    early ones are measured again and again while the long run goes on, and the median of them counts: what
    slows the one slows the other.

    Args:
        places: After how many records.
        repeats: How many times the early places are measured.
        quick: Whether this is for a first look.
        tell: Told how far it is.
    """
    runs: dict[str, list[Mark]] = {}
    early = tuple(place for place in places[:-1] if place <= EARLY)
    for name, window in ((KEPT, None), (WINDOWED, WINDOW)):
        again: list[list[Mark]] = []
        long_run = _Run(places, window)
        for turn in range(1, repeats + 1):
            tell(f"{name}, the first {early[-1]:,} records ({turn} of {repeats})")
            again.append(_Run(early, window).up_to(early[-1]))
            stop = places[-1] * turn // repeats
            tell(f"{name}, up to record {stop:,}")
            long_run.up_to(stop)
        medians = [_median(marks) for marks in zip(*again, strict=True)]
        runs[name] = medians + long_run.marks[len(medians) :]
    return Report(
        "growth",
        "Cost per record as a stream goes on",
        quick,
        goals=_goals(runs),
        tables=[_table(runs)],
        notes=[NOTE],
        charts=[_chart(runs, places)],
    )


def _median(marks: Sequence[Mark]) -> Mark:
    return sorted(marks, key=lambda mark: mark.half.seconds)[len(marks) // 2]


class _Run:
    """One learner on its way along the stream.

    Args:
        places: Where its cost is noted.
        window: How many records it retains; None: all.
    """

    def __init__(self, places: tuple[int, ...], window: int | None) -> None:
        self.marks: list[Mark] = []
        self._places = places
        # The clock is read in the middle of each stretch as well.
        self._stops = sorted({*places, *(place // 2 for place in places)})
        self._middles: dict[int, tuple[float, int]] = {}
        self._source = Nominal(NOISE)
        self._learner = fresh(self._source, window=window)
        self._clock = CpuClock()
        self._done = self._correct = 0

    def up_to(self, place: int) -> list[Mark]:
        """Go on until so many records have been learned; return what has been noted so far."""
        while self._done < place:
            stop = min(place, *(stop for stop in self._stops if stop > self._done))
            chunk = self._source.draw(min(CHUNK, stop - self._done))
            self._correct += learn(self._learner, chunk, self._clock)
            self._done += len(chunk)
            if self._done in self._stops:
                self._note()
        return self.marks

    def _note(self) -> None:
        done, seconds, correct = self._done, self._clock.seconds, self._correct
        self._middles[done] = seconds, correct
        if done not in self._places:
            return
        before, right = self._middles[done // 2]
        whole = Timed(done, seconds, correct)
        half = Timed(done - done // 2, seconds - before, correct - right)
        self.marks.append(Mark(done, whole, half, self._learner.tree.distinct, self._learner.model_bytes))


def _goals(runs: dict[str, list[Mark]]) -> list[Goal]:
    goals: list[Goal] = []
    for name, most in ((KEPT, 1.5), (WINDOWED, 1.1)):
        first, last = runs[name][0], runs[name][-1]
        ratio = last.half.micros / first.half.micros
        figure = f"cost per record at {last.records:,} against {first.records:,} records, {name}"
        goals.append(at_most(figure, most, ratio))
    return goals


def _table(runs: dict[str, list[Mark]]) -> Table:
    columns = (
        Column("retention"),
        Column("records", ",d"),
        Column("us per record, second half", ".2f"),
        Column("us per record, all", ".2f"),
        Column("against the first", ".2f", "x"),
        Column("accuracy, second half", ".4f"),
        Column("distinct records held", ",d"),
        Column("bytes", ",d"),
    )
    rows: list[tuple[Value, ...]] = [
        (
            name,
            mark.records,
            mark.half.micros,
            mark.whole.micros,
            mark.half.micros / marks[0].half.micros,
            mark.half.accuracy,
            mark.distinct,
            mark.model_bytes,
        )
        for name, marks in runs.items()
        for mark in marks
    ]
    return Table("Cost per record, 5 % noise, gated", columns, rows)


def _chart(runs: dict[str, list[Mark]], places: tuple[int, ...]) -> Chart:
    series = tuple(
        Series(name, tuple((float(place), mark.half.micros) for place, mark in enumerate(marks)))
        for name, marks in runs.items()
    )
    return Chart(
        "Cost per record as a stream goes on (5 % noise)",
        "records so far",
        "microseconds of CPU",
        series,
        categories=tuple(f"{place:,}" for place in places),
    )
