"""What a record costs along a stream, at some places: for learners beside each other."""

from collections.abc import Callable
from typing import NamedTuple

from lab.bench.measure import CpuClock, Tell
from lab.bench.report import Column, Table, Value
from lab.bench.streams import Nominal, schema_of
from lab.experiments.report import Chart, Series
from learners.learner import Learner
from learners.outline import size
from learners.registry import make_learner

NOISE = 0.05
BATCH = 2_000
NOTE = (
    "22 nominal attributes, 5 % of the classes wrong, default settings, whole batches with explanations and "
    "tree changes. The cost at a place is that of the records since the place before: a cheap beginning does "
    "not hide a cost that grows."
)


class Mark(NamedTuple):
    """What the records up to a place cost since the place before, and the tree there."""

    place: int
    micros: float
    rate: float
    leaves: int


def along(name: str, places: tuple[int, ...], tell: Tell) -> list[Mark]:
    """Let a learner of some name learn a stream, and note what it costs."""
    source = Nominal(NOISE)
    learner = make_learner(name, schema_of(source))
    clock, marks, done = CpuClock(), list[Mark](), 0
    for place in places:
        tell(f"{name}, up to record {place:,}")
        before, since = clock.seconds, done
        while done < place:
            chunk = source.draw(min(BATCH, place - done))
            _learn(learner, chunk.rows, chunk.labels, clock)
            done += len(chunk)
        micros = (clock.seconds - before) / (done - since) * 1e6
        marks.append(Mark(place, micros, 1e6 / micros, _leaves(learner)))
    return marks


def _learn(learner: Learner, rows: object, labels: object, clock: CpuClock) -> None:
    batch: Callable[..., object] = learner.learn_batch
    if not learner.takes_arrays:
        rows, labels = list(map(tuple, rows.tolist())), labels.tolist()  # type: ignore[attr-defined]
    with clock:
        batch(rows, labels)


def _leaves(learner: Learner) -> int:
    return size(learner.outline_lately).leaves


def table(found: dict[str, list[Mark]]) -> Table:
    """Return what was noted, learner by learner."""
    columns = (
        Column("learner"),
        Column("records", ",d"),
        Column("us per record", ".2f"),
        Column("records per CPU second", ",.0f"),
        Column("leaves", ",d"),
    )
    rows: list[tuple[Value, ...]] = [
        (name, mark.place, mark.micros, mark.rate, mark.leaves)
        for name, marks in found.items()
        for mark in marks
    ]
    return Table("Cost per record, 5 % noise", columns, rows)


def chart(found: dict[str, list[Mark]], places: tuple[int, ...]) -> Chart:
    """Return a picture of it."""
    return Chart(
        "Cost per record (5 % noise)",
        "records so far",
        "microseconds of CPU",
        tuple(
            Series(name, tuple((float(at), mark.micros) for at, mark in enumerate(marks)))
            for name, marks in found.items()
        ),
        categories=tuple(f"{place:,}" for place in places),
    )
