"""`espalier bench idle`: whether records wait longer where spare time is spent on a better tree."""

import tempfile
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from lab.bench.latency import Latency, measure_latency, records_needed
from lab.bench.loops import Order
from lab.bench.measure import Tell
from lab.bench.on_broker import HEAP, OURS
from lab.bench.report import Column, Report, Table, Value, at_most
from stream.broker import Broker, InstallProgress, Sources
from stream.demo.generators import xor
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin

LEARNER = "iidt-ts"
SHARES = {"off": 0.0, "half of spare time": 0.5, "all of it": 1.0}
MOST_MS = 10.0
"""How much later the slowest answers may come."""
BATCH = 2_000

NOTE = (
    "iidt-ts on parity of nine bits among eighteen, which there is always something to improve about. One "
    "partition; broker, loop, sender and reader share the machine. The least of the turns counts."
)


class Sizes(NamedTuple):
    """How much is measured: records a second, for how long, and how many turns each has."""

    rates: tuple[int, ...]
    seconds: float
    repeats: int


FULL = Sizes((50, 500), 10.0, 2)
QUICK = Sizes((50,), 2.0, 1)


def idle(sizes: Sizes, sources: Sources, quick: bool, tell: Tell) -> Report:
    """Measure latency with improving on and off, in turn, on a broker that is started for it."""

    def report(progress: InstallProgress) -> None:
        tell(f"{progress.step} the broker")

    enough = max(records_needed(rate, sizes.seconds) for rate in sizes.rates)
    instances = ({**one, "id": place} for place, one in enumerate(xor(1)))
    texts = [msgspec.json.encode(one) for one in islice(instances, enough)]
    found: dict[tuple[int, str], list[Latency]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="espalier-bench-") as directory,
        Broker.start(Path(directory), sources=sources, heap=HEAP, report=report) as broker,
    ):
        for turn in range(sizes.repeats):
            for rate in sizes.rates:
                for place, (title, share) in enumerate(SHARES.items()):
                    tell(f"improving: {title}, at {rate:,} records/s ({turn + 1} of {sizes.repeats})")
                    name = f"bench.idle.{place}.{rate}.{turn}"
                    order = Order(
                        broker.bootstrap_servers,
                        name,
                        f"{name}.input",
                        BATCH,
                        learner=LEARNER,
                        idle_share=share,
                    )
                    TopicAdmin(order.kafka).create(plans_for(order.agent, 1))
                    told = measure_latency(OURS, order, texts, rate, sizes.seconds)
                    found.setdefault((rate, title), []).append(told)
    return _report(found, quick)


def _report(found: dict[tuple[int, str], list[Latency]], quick: bool) -> Report:
    least = {key: min(turns, key=lambda one: one.p99) for key, turns in found.items()}
    goals = [
        at_most(
            f"p99 with {title}, {rate:,} records/s, above that without",
            MOST_MS,
            told.p99 - least[rate, "off"].p99,
            " ms",
            ".1f",
        )
        for (rate, title), told in least.items()
        if title != "off"
    ]
    columns = (
        Column("improving"),
        Column("records/s", ",d"),
        Column("p50, ms", ".1f"),
        Column("p99, ms", ".1f"),
        Column("p99, turn by turn, ms"),
        Column("records", ",d"),
    )
    rows: list[tuple[Value, ...]] = [
        (
            title,
            rate,
            told.p50,
            told.p99,
            ", ".join(f"{one.p99:.1f}" for one in found[rate, title]),
            told.records,
        )
        for (rate, title), told in least.items()
    ]
    table = Table("From produced to answered and committed", columns, rows)
    return Report("idle", "Spare time and the time to an answer", quick, goals, [table], [NOTE])
