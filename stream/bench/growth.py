"""Whether a record costs the same while a stream goes on: 5 % noise, everything kept, or a window."""

from functools import partial
from typing import NamedTuple

from learners.experiments.report import Chart, Series
from stream.bench.contenders import fresh, learn
from stream.bench.measure import CpuClock, Tell, Timed
from stream.bench.report import Column, Goal, Report, Table, Value, at_most
from stream.bench.streams import Nominal

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
    "the second half of the records up to there: a cheap beginning does not hide a cost that grows."
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

    Args:
        places: After how many records.
        repeats: How many times the early places are measured, which pass in milliseconds.
        quick: Whether this is for a first look.
        tell: Told how far it is.
    """
    runs: dict[str, list[Mark]] = {}
    early = tuple(place for place in places if place <= EARLY)
    for turn in range(repeats):
        for name, window in ((KEPT, None), (WINDOWED, WINDOW)):
            marks = _run(early if turn else places, window, partial(_prefixed, tell, name))
            known = runs.setdefault(name, marks)
            for number, mark in enumerate(marks):
                if mark.half.seconds < known[number].half.seconds:
                    known[number] = mark
    return Report(
        "growth",
        "Cost per record as a stream goes on",
        quick,
        goals=_goals(runs),
        tables=[_table(runs)],
        notes=[NOTE],
        charts=[_chart(runs, places)],
    )


def _prefixed(tell: Tell, name: str, what: str) -> None:
    tell(f"{name}, {what}")


def _run(places: tuple[int, ...], window: int | None, tell: Tell) -> list[Mark]:
    source = Nominal(NOISE)
    learner = fresh(source, window=window)
    clock = CpuClock()
    marks: list[Mark] = []
    done = correct = 0
    # The clock is read in the middle of each stretch as well.
    middles: dict[int, tuple[float, int]] = {}
    for stop in sorted({*places, *(place // 2 for place in places)}):
        tell(f"record {done:,} to {stop:,}")
        while done < stop:
            chunk = source.draw(min(CHUNK, stop - done))
            correct += learn(learner, chunk, clock)
            done += len(chunk)
        middles[done] = clock.seconds, correct
        if done in places:
            seconds, right = middles[done // 2]
            whole = Timed(done, clock.seconds, correct)
            half = Timed(done - done // 2, clock.seconds - seconds, correct - right)
            marks.append(Mark(done, whole, half, learner.tree.distinct, learner.model_bytes))
    return marks


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
