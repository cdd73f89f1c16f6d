"""`espalier bench stream --engine faust`: our engine in a Faust application, beside agents Faust feeds."""

from typing import NamedTuple

from lab.bench.loops import Running
from lab.bench.measure import Tell, span
from lab.bench.on_broker import SHARE, Runs, Sizes, stand
from lab.bench.report import Column, Goal, Report, Table, Value, at_least, turn_by_turn
from lab.experiments.report import Chart, Series
from stream.broker import Sources

FORWARD = "faust-forward"
EVENTS = "faust-events"
OURS = "faust"
CONFLUENT = "id5r"
TITLES = {
    FORWARD: "a Faust agent that only forwards",
    EVENTS: "id5r, fed by Faust event by event",
    OURS: "espalier on Faust, id5r",
    CONFLUENT: "espalier on confluent-kafka, id5r",
}
SLOW = (FORWARD, EVENTS)
NOTE = (
    "One partition, 8 nominal attributes, 5 % noise. The forwarding agent reads an event and sends its bytes "
    "on, at least once. The second has our processor, and writes in transactions as ours does, but its "
    "records come through Faust's consumer, conductor and stream, one by one. The difference between the "
    "second and the third is what Faust's path for each event costs; that between the third and the fourth, "
    "what the application around ours does. Broker and loop share the machine; the CPU is that of the "
    "loop's process."
)


class Amount(NamedTuple):
    """How many records each of the loops carries, and how many turns it has: Faust's own path is slower."""

    slow: int
    quick: int
    batch: int
    repeats: int


FULL = Amount(20_000, 300_000, 2_000, 3)
QUICK = Amount(3_000, 20_000, 2_000, 1)


def faust(amount: Amount, sources: Sources, quick: bool, tell: Tell) -> Report:
    """Measure throughput on a broker that is started for it."""
    sizes = Sizes(amount.quick, 0, (amount.batch,), amount.repeats, (), 0.0)
    runs = {loop: Runs([]) for loop in TITLES}
    with stand(sizes, sources, tell) as ground:
        for turn in range(1, amount.repeats + 1):
            for loop, kept in runs.items():
                tell(f"{TITLES[loop]} ({turn} of {amount.repeats})")
                records = amount.slow if loop in SLOW else amount.quick
                order = ground.order(f"bench.{loop}.{turn}", amount.batch, records)
                kept.turns.append(Running(loop, order).carried())
    return Report(
        "faust",
        "In a Faust application",
        quick,
        goals=_goals(runs),
        tables=[_table(runs)],
        notes=[NOTE],
        charts=[_chart(runs)],
    )


def _goals(runs: dict[str, Runs]) -> list[Goal]:
    floor, ours = runs[FORWARD], runs[OURS]
    walls, cpus = ours.shares(floor)
    goals: list[Goal] = []
    for what, best, turns in (
        ("wall", 100 * ours.wall / floor.wall, walls),
        ("per CPU second", 100 * ours.cpu / floor.cpu, cpus),
    ):
        goal = at_least(f"agent against a Faust agent that only forwards, {what}", SHARE, best, " %", ",.0f")
        goals.append(turn_by_turn(goal, (SHARE, None), turns, " %", ",.0f"))
    return goals


def _table(runs: dict[str, Runs]) -> Table:
    columns = (
        Column("loop"),
        Column("records/s, wall", ",.0f"),
        Column("per CPU second", ",.0f"),
        Column("us of CPU per record", ".1f"),
        Column("of forwarding, wall", ",.0f", " %"),
        Column("of forwarding, CPU", ",.0f", " %"),
        Column("wall, turn by turn, %"),
    )
    floor = runs[FORWARD]
    rows: list[tuple[Value, ...]] = []
    for loop, kept in runs.items():
        shares = 100 * kept.wall / floor.wall, 100 * kept.cpu / floor.cpu
        turns = span(kept.shares(floor)[0], ",.0f")
        rows.append((TITLES[loop], kept.wall, kept.cpu, 1e6 / kept.cpu, *shares, turns))
    return Table("Throughput in a Faust application", columns, rows)


def _chart(runs: dict[str, Runs]) -> Chart:
    return Chart(
        "Records a second in a Faust application",
        "",
        "records a second",
        (Series("records a second", tuple((float(n), kept.wall) for n, kept in enumerate(runs.values()))),),
        categories=tuple(TITLES[loop] for loop in runs),
    )
