"""`espalier bench stream`: our engine beside the pass-through loop, on one real broker."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lab.bench.latency import Latency, measure_latency, records_needed
from lab.bench.loops import Carried, Order, Running
from lab.bench.measure import Tell, span
from lab.bench.peers import GET_RIVER, has_river
from lab.bench.report import Column, Goal, Report, Table, Value, at_least, turn_by_turn
from lab.bench.streams import Nominal, as_json, names_of
from lab.experiments.report import Chart, Series
from stream.broker import Broker, InstallProgress, Sources
from stream.kafka.sender import Sender
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin

FLOOR = "pass-through"
OURS = "id5r"
RIVER = "river"
TITLES = {
    FLOOR: "pass-through",
    OURS: "espalier, id5r",
    RIVER: "River HoeffdingTree, plain loop, no transactions",
}
INPUT = "bench.input"
HEAP = "1g"
SHARE = 80
"""How many per cent of the pass-through loop's speed is the goal."""

NOTE = (
    "One partition, 8 nominal attributes, 5 % noise. Both loops poll, send and commit alike, with offsets "
    "in the transaction; ours answers with probabilities and the path, learns, and writes tree changes and a "
    "journal besides. Broker and loop share the machine. Wall is from the first commit to the last; the CPU "
    "is that of the loop's process. Latency is from producing a record to reading its committed answer."
)


class Sizes(NamedTuple):
    """How much is measured.

    Attributes:
        records: Records that each loop carries.
        river_records: Records that River's loop carries, which is slower.
        batches: How many records make a transaction.
        repeats: How many turns each loop has.
        rates: Records a second for which latency is measured.
        seconds: For how long.
    """

    records: int
    river_records: int
    batches: tuple[int, ...]
    repeats: int
    rates: tuple[int, ...]
    seconds: float


FULL = Sizes(300_000, 60_000, (2_000, 5_000), 3, (1_000, 20_000), 10.0)
QUICK = Sizes(20_000, 5_000, (2_000,), 1, (1_000,), 1.0)


class Stand(NamedTuple):
    """A broker with the records in it."""

    servers: str
    texts: list[bytes]
    attributes: tuple[str, ...]

    def order(self, name: str, batch: int, records: int, topic: str = INPUT) -> Order:
        """Return an order whose topics have been made."""
        order = Order(self.servers, name, topic, batch, records, self.attributes)
        TopicAdmin(order.kafka).create(plans_for(order.agent, 1))
        return order


class Runs(NamedTuple):
    """The runs of a loop, a turn each."""

    turns: list[Carried]

    @property
    def wall(self) -> float:
        """Records a second, of the quickest run."""
        return max(one.records / one.wall for one in self.turns)

    @property
    def cpu(self) -> float:
        """Records for each second of CPU, of the run with least."""
        return max(one.records / one.cpu for one in self.turns)

    def shares(self, floor: "Runs") -> tuple[list[float], list[float]]:
        """Return the per cent of the floor's speed in each turn: by the clock, and by the CPU."""
        pairs = list(zip(self.turns, floor.turns, strict=True))
        wall = [100 * (one.records / one.wall) / (low.records / low.wall) for one, low in pairs]
        cpu = [100 * (one.records / one.cpu) / (low.records / low.cpu) for one, low in pairs]
        return wall, cpu


def stream(sizes: Sizes, peers: tuple[str, ...], sources: Sources, quick: bool, tell: Tell) -> Report:
    """Measure throughput and latency on a broker that is started for it."""
    notes = [NOTE]
    loops = [FLOOR, OURS]
    if RIVER in peers:
        if has_river():
            loops.append(RIVER)
        else:
            notes.append(GET_RIVER)
    with stand(sizes, sources, tell) as ground:
        speeds = _throughput(ground, sizes, loops, tell)
        latencies = _latencies(ground, sizes, tell)
    size = sum(map(len, ground.texts)) / len(ground.texts)
    return Report(
        "stream",
        "On a broker, beside the pass-through loop",
        quick,
        goals=_goals(speeds),
        tables=[_speed_table(speeds, size), _latency_table(latencies)],
        notes=notes,
        charts=[_chart(speeds)],
    )


@contextlib.contextmanager
def stand(sizes: Sizes, sources: Sources, tell: Tell) -> Iterator[Stand]:
    """Give a broker that was started for it, with the records in it."""

    def report(progress: InstallProgress) -> None:
        tell(f"{progress.step} the broker")

    source = Nominal(0.05, attributes=8)
    enough = max(sizes.records, records_needed(max(sizes.rates, default=0), sizes.seconds))
    tell("making records")
    texts = as_json(source, source.draw(enough))
    with (
        tempfile.TemporaryDirectory(prefix="espalier-bench-") as directory,
        Broker.start(Path(directory), sources=sources, heap=HEAP, report=report) as broker,
    ):
        ground = Stand(broker.bootstrap_servers, texts, names_of(source))
        kafka = ground.order("bench.fill", 1, 0).kafka
        sender = Sender(kafka)
        for text in texts[: sizes.records]:
            sender.send(INPUT, text)
        sender.flush()
        del sender
        yield ground


# ---- throughput

Speeds = dict[tuple[str, int], Runs]
"""For each loop and size of a transaction."""


def _throughput(stand: Stand, sizes: Sizes, loops: list[str], tell: Tell) -> Speeds:
    speeds: Speeds = {}
    if sizes.repeats > 1:
        tell("warming up")
        Running(FLOOR, stand.order("bench.warm-up", sizes.batches[0], sizes.records)).carried()
    for turn in range(1, sizes.repeats + 1):
        for batch in sizes.batches:
            for loop in loops:
                tell(f"{TITLES[loop]}, {batch:,} records to a transaction ({turn} of {sizes.repeats})")
                records = sizes.river_records if loop == RIVER else sizes.records
                order = stand.order(f"bench.{loop}.{batch}.{turn}", batch, records)
                speeds.setdefault((loop, batch), Runs([])).turns.append(Running(loop, order).carried())
    return speeds


def _goals(speeds: Speeds) -> list[Goal]:
    goals: list[Goal] = []
    for (loop, batch), runs in speeds.items():
        if loop != OURS:
            continue
        floor = speeds[FLOOR, batch]
        walls, cpus = runs.shares(floor)
        figure = f"engine against pass-through, {batch:,} records to a transaction"
        for what, best, turns in (
            ("wall", 100 * runs.wall / floor.wall, walls),
            ("per CPU second", 100 * runs.cpu / floor.cpu, cpus),
        ):
            goal = at_least(f"{figure}, {what}", SHARE, best, " %", ".0f")
            goals.append(turn_by_turn(goal, (SHARE, None), turns, " %", ".0f"))
    return goals


def _speed_table(speeds: Speeds, size: float) -> Table:
    columns = (
        Column("loop"),
        Column("records to a transaction", ",d"),
        Column("records/s, wall", ",.0f"),
        Column("per CPU second of the client", ",.0f"),
        Column("us of CPU per record", ".2f"),
        Column("of pass-through, wall", ".0f", " %"),
        Column("of pass-through, CPU", ".0f", " %"),
        Column("CPU, turn by turn, %"),
    )
    rows: list[tuple[Value, ...]] = []
    for (loop, batch), runs in sorted(speeds.items(), key=lambda item: item[0][1]):
        floor = speeds[FLOOR, batch]
        shares = 100 * runs.wall / floor.wall, 100 * runs.cpu / floor.cpu
        turns = span(runs.shares(floor)[1], ".0f")
        rows.append((TITLES[loop], batch, runs.wall, runs.cpu, 1e6 / runs.cpu, *shares, turns))
    return Table(f"Throughput, records of {size:.0f} bytes", columns, rows)


def _chart(speeds: Speeds) -> Chart:
    batches = sorted({batch for _, batch in speeds})
    loops = list(dict.fromkeys(loop for loop, _ in speeds))
    return Chart(
        "Records per CPU second of the client",
        "records to a transaction",
        "records per CPU second",
        tuple(
            Series(
                TITLES[loop],
                tuple((float(place), speeds[loop, batch].cpu) for place, batch in enumerate(batches)),
            )
            for loop in loops
        ),
        categories=tuple(f"{batch:,}" for batch in batches),
    )


# ---- latency


def _latencies(stand: Stand, sizes: Sizes, tell: Tell) -> dict[tuple[str, int], Latency]:
    latencies: dict[tuple[str, int], Latency] = {}
    for turn in range(1, min(sizes.repeats, 2) + 1):
        for rate in sizes.rates:
            for loop in (FLOOR, OURS):
                tell(f"latency of {TITLES[loop]} at {rate:,} records/s")
                name = f"bench.latency.{loop}.{rate}.{turn}"
                order = stand.order(name, 2_000, 0, f"{name}.input")
                told = measure_latency(loop, order, stand.texts, rate, sizes.seconds)
                known = latencies.setdefault((loop, rate), told)
                if told.p99 < known.p99:
                    latencies[loop, rate] = told
    return latencies


def _latency_table(latencies: dict[tuple[str, int], Latency]) -> Table:
    columns = (
        Column("loop"),
        Column("records/s", ",d"),
        Column("p50, ms", ".1f"),
        Column("p99, ms", ".1f"),
        Column("records", ",d"),
    )
    rows: list[tuple[Value, ...]] = [
        (TITLES[loop], rate, told.p50, told.p99, told.records)
        for (loop, rate), told in sorted(latencies.items(), key=lambda item: item[0][1])
    ]
    return Table("From produced to answered and committed", columns, rows)
