"""`espalier bench metrics`: what it costs to be watched.

The same records go through the same processor, once told to nobody and once to the metrics, in turn. There is
no broker in it, so that the share is larger than it is in a worker, which commits as well.
"""

import gc
import time
from collections.abc import Iterator
from itertools import islice
from math import inf
from typing import NamedTuple

import numpy as np

from lab.bench.measure import Passes, Tell, Timed, in_turn
from lab.bench.report import Column, Goal, Report, Table, at_most
from lab.bench.streams import Nominal, as_json
from learners.change import ChangeKind
from learners.ops import OPERATIONS, OpCounts
from learners.outline import Size
from learners.schema import Misfit
from stream.assembly import processor_factory
from stream.config import Agent, Limits
from stream.events import (
    BatchPredicted,
    Committed,
    Event,
    Learned,
    LearnTimed,
    ModelMeasured,
    PartitionProgress,
    Processed,
    RecordRejected,
    SelfChecked,
    Started,
)
from stream.model.number_hints import Observe
from stream.model.ports import unit_of
from stream.observe.metrics import Metrics, exposition
from stream.records.record import Partition, Record

TOLD_NOBODY = "told nobody"
TOLD_METRICS = "told the metrics"
MOST_SHARE = 3.0
"""How many per cent of the throughput the metrics may cost."""
AGENTS, PARTITIONS, CLASSES = 20, 64, 12
MOST_SCRAPE_MS = 50.0
ATTRIBUTES = 8
NOTE = (
    f"One processor on {ATTRIBUTES} nominal attributes with 5 % noise, from bytes to outputs, in batches of "
    "2,000; no broker. What an engine tells of each batch is told besides. The share is that of the CPU."
)


class Sizes(NamedTuple):
    """How much is measured."""

    records: int
    repeats: int
    scrapes: int


FULL = Sizes(200_000, 7, 20)
QUICK = Sizes(20_000, 3, 5)
BATCH = 2_000


def metrics_bench(sizes: Sizes, quick: bool, tell: Tell) -> Report:
    """Measure the throughput with and without metrics, and the time of a scrape."""
    source = Nominal(0.05, ATTRIBUTES)
    texts = as_json(source, source.draw(sizes.records))
    place = Partition("in", 0)
    records = [Record(place, n, text, None, (), 1) for n, text in enumerate(texts)]
    batches = [records[start : start + BATCH] for start in range(0, len(records), BATCH)]
    contenders = {
        TOLD_NOBODY: lambda: _pass(batches, lambda event: None),
        TOLD_METRICS: lambda: _pass(batches, Metrics().observe),
    }
    passes = in_turn(contenders, sizes.repeats, tell, "throughput")
    tell("one batch")
    observing = _observing(batches, sizes.repeats)
    tell("scrapes")
    scrapes = {name: _scrape(accept, sizes.scrapes) for name, accept in ACCEPTED.items()}
    return Report(
        "metrics",
        "What it costs to be watched",
        quick,
        goals=[
            _share(passes),
            _replayed_share(passes, observing),
            *(_scrape_goal(name, told) for name, told in scrapes.items()),
        ],
        tables=[_table(passes), _scrape_table(scrapes)],
        notes=[NOTE],
    )


def _pass(batches: list[list[Record]], observe: Observe) -> Timed:
    agent = Agent(name="a", input="in")
    observe(Started("a", "in", agent.learner, "topic"))
    processor = processor_factory(agent, Limits(), observe)(unit_of("in", None))
    gc.collect()
    began = time.process_time()
    for batch in batches:
        processor.process(batch)
        last = batch[-1]
        # What the engine tells of each batch.
        observe(Processed("a", len(batch), 0.01, 0, last.offset))
        observe(Committed("a", "committed", 0.01))
        observe(PartitionProgress("a", "in", 0, batch[0].offset, last.offset + 1, 5, 1))
    return Timed(sum(map(len, batches)), time.process_time() - began)


def _share(passes: dict[str, Passes]) -> Goal:
    lost = [100 * (1 - 1 / ratio) for ratio in passes[TOLD_NOBODY].against(passes[TOLD_METRICS])]
    best = 100 * (1 - 1 / passes[TOLD_NOBODY].best_against(passes[TOLD_METRICS]))
    goal = at_most("throughput that the metrics cost", MOST_SHARE, max(best, 0.0), " %", ",.1f")
    told = f"{goal.measured} ({min(lost):.1f} to {max(lost):.1f} % turn by turn)"
    return Goal(goal.figure, goal.goal, told, goal.met, goal.verdict)


def _observing(batches: list[list[Record]], repeats: int) -> float:
    """Return the seconds of CPU for each batch that observing takes: the same events, again and again."""
    events: list[Event] = []
    _pass(batches, events.append)
    best = inf
    for _ in range(repeats):
        metrics = Metrics()
        began = time.process_time()
        for event in events:
            metrics.observe(event)
        best = min(best, time.process_time() - began)
    return best / len(batches)


def _replayed_share(passes: dict[str, Passes], observing: float) -> Goal:
    """Return the same share by another way, which a busy machine disturbs less."""
    batch = passes[TOLD_NOBODY].best.micros * 1e-6 * BATCH
    share = 100 * observing / (batch + observing)
    goal = at_most("the same, from the events of the run alone", MOST_SHARE, share, " %", ",.1f")
    told = f"{goal.measured} ({observing * 1e6:,.0f} us of a batch)"
    return Goal(goal.figure, goal.goal, told, goal.met, goal.verdict)


# ---- scrapes

ACCEPTED = {"plain text": "text/plain", "OpenMetrics": "application/openmetrics-text; version=1.0.0"}


class Scrapes(NamedTuple):
    """How long scrapes took, in milliseconds of CPU, and how large one is."""

    millis: list[float]
    size: int
    lines: int


def _crowd() -> Iterator[Event]:
    """Yield what gives every series a value that a worker of many agents has."""
    chance = np.random.default_rng(1)
    names = [f"class {n}" for n in range(CLASSES)]
    spent = OpCounts(*range(1, len(OPERATIONS) + 1))
    for number in range(AGENTS):
        agent = f"agent-{number}"
        yield Started(agent, "in", "id5r", "topic")
        labels, answers = chance.integers(0, CLASSES, (2, 10_000), dtype=np.int32)
        yield BatchPredicted(agent, [], 0, "in", labels, answers, names)
        yield Learned(agent, 10, spent, tuple(ChangeKind))
        yield from (
            LearnTimed(agent),
            LearnTimed(agent, 1),
            ModelMeasured(agent, "in", Size(9, 6, 3), 100, 10_000),
        )
        yield from (Processed(agent, 10, 0.1, 0, 9), Committed(agent, "committed", 0.1))
        yield from (RecordRejected(agent, misfit.value, 0, 9) for misfit in islice(Misfit, 5))
        yield SelfChecked(agent, "in", "same", spent)
        yield from (PartitionProgress(agent, "in", partition, 0, 10, 5, 1) for partition in range(PARTITIONS))


def _scrape(accept: str, repeats: int) -> Scrapes:
    metrics = Metrics()
    for event in _crowd():
        metrics.observe(event)
    text, _ = exposition(metrics, accept)
    millis = []
    for _ in range(repeats):
        began = time.process_time()
        text, _ = exposition(metrics, accept)
        millis.append((time.process_time() - began) * 1e3)
    return Scrapes(millis, len(text), text.count(b"\n"))


def _scrape_goal(name: str, scrapes: Scrapes) -> Goal:
    figure = f"one scrape of {AGENTS} agents on {PARTITIONS} partitions, {name}"
    return at_most(figure, MOST_SCRAPE_MS, min(scrapes.millis), " ms", ",.0f")


def _table(passes: dict[str, Passes]) -> Table:
    columns = (Column("observer"), Column("records/s", ",.0f"), Column("us per record", ".3f"))
    return Table(
        "Throughput",
        columns,
        [(name, told.best.rate, told.best.micros) for name, told in passes.items()],
    )


def _scrape_table(scrapes: dict[str, Scrapes]) -> Table:
    columns = (
        Column("format"),
        Column("best", ",.1f", " ms"),
        Column("worst", ",.1f", " ms"),
        Column("bytes", ",d"),
        Column("lines", ",d"),
    )
    rows = [(name, min(one.millis), max(one.millis), one.size, one.lines) for name, one in scrapes.items()]
    return Table("Scrapes", columns, list(rows))
