"""How right the answers stay when the stream changes, beside other learners: `espalier bench drift`."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from lab.bench.accuracy import contest_of
from lab.bench.contests import Contender, Contenders, Contest, ours, river, run_ours
from lab.bench.measure import CpuClock, PeerFailed, Tell, Timed
from lab.bench.report import Column, Goal, Report, Table, Value, at_least, at_most
from lab.experiments.report import Chart, Series
from learners.id5r import _core
from learners.id5r.learner import ID5R
from learners.id5r.options import CoreOptions
from learners.schema import Attribute, AttributeType, Instance, Schema

ALL = "id5r, everything kept"
PRESET = "id5r, preset adaptive"
VERIFIED = "id5r, preset adaptive, drift verified"
HAT = ("River HoeffdingAdaptiveTree", "MOA HoeffdingAdaptiveTree")
ARF = "River ARF of 10 trees"
OURS: Mapping[str, Contender] = {
    ALL: ours(answer="adaptive"),
    PRESET: ours(preset="adaptive"),
    VERIFIED: ours(preset="adaptive", drift="verified"),
}
RIVERS: Mapping[str, Contender] = {
    "River HoeffdingTree": river("HoeffdingTreeClassifier"),
    HAT[0]: river("HoeffdingAdaptiveTreeClassifier", seed=1),
    ARF: river("ARFClassifier", n_models=10, seed=1),
}
MOAS = ("HoeffdingAdaptiveTree",)
STATIONARY = ("SEA, stationary", "Agrawal, stationary")
WIDTH = 20
NAMED = ("electricity.csv.gz", "covertype.csv.gz")


class Amount(NamedTuple):
    """How much is measured: records of a stream at the most, seeds, and where its cost is looked at."""

    records: int
    seeds: int
    places: tuple[int, ...]


FULL = Amount(100_000, 3, (10_000, 100_000, 1_000_000))
QUICK = Amount(3_000, 1, (2_000, 10_000))
GENERATED = 20_000
"""How many records of a generated stream are enough: its concept changes three times."""


# ---- streams


def generated(count: int, seed: int) -> dict[str, list[Instance]]:
    """Return streams of River's generators, by name; where the concept changes, it does so three times."""
    synth: Any = importlib.import_module("river.datasets.synth")  # River may not be there

    def numbers(model: Any, some: int) -> list[Instance]:
        return [
            Instance({str(n): float(v) for n, v in values.items()}, str(label))
            for values, label in islice(iter(model), some)
        ]

    def words(model: Any, some: int) -> list[Instance]:
        return [
            Instance({str(n): str(v) for n, v in values.items()}, str(label))
            for values, label in islice(iter(model), some)
        ]

    def in_turn(
        make: Callable[[int], Any], kinds: tuple[int, ...], read: Callable[[Any, int], list[Instance]]
    ) -> list[Instance]:
        return [one for kind in kinds for one in read(make(kind), count // len(kinds))]

    return {
        "SEA": in_turn(lambda v: synth.SEA(variant=v, noise=0.1, seed=seed), (0, 1, 2, 3), numbers),
        "STAGGER": in_turn(
            lambda v: synth.STAGGER(classification_function=v, seed=seed), (0, 1, 2, 0), words
        ),
        "Agrawal": in_turn(
            lambda v: synth.Agrawal(classification_function=v, seed=seed), (0, 1, 2, 3), numbers
        ),
        "hyperplane": numbers(
            synth.Hyperplane(seed=seed, n_features=10, n_drift_features=5, mag_change=0.001), count
        ),
        "RBF": numbers(
            synth.RandomRBFDrift(
                seed_model=seed,
                seed_sample=seed,
                n_classes=4,
                n_features=10,
                n_centroids=20,
                change_speed=0.001,
                n_drift_centroids=10,
            ),
            count,
        ),
        "LED": in_turn(
            lambda v: synth.LEDDrift(
                seed=seed, noise_percentage=0.1, irrelevant_features=True, n_drift_features=v
            ),
            (0, 3, 5, 7),
            words,
        ),
        STATIONARY[0]: numbers(synth.SEA(variant=1, noise=0.1, seed=seed), count),
        STATIONARY[1]: numbers(synth.Agrawal(classification_function=1, seed=seed), count),
    }


def _contest(name: str, rows: list[Instance]) -> Contest:
    first = rows[0].values
    attributes = tuple(
        Attribute(one, AttributeType.NOMINAL if isinstance(value, str) else AttributeType.NUMERIC)
        for one, value in first.items()
    )
    return Contest(name, Schema(attributes), rows)


def contests(directory: Path | None, amount: Amount, seed: int) -> Iterator[Contest]:
    """Yield the streams: real ones in their natural order, once, and generated ones for each seed."""
    if directory is not None and seed == 1:
        for name in NAMED:
            if (directory / name).is_file():
                contest = contest_of(directory / name, amount.records)
                yield contest._replace(rows=contest.rows[: amount.records])
    for name, rows in generated(min(amount.records, GENERATED), seed).items():
        yield _contest(name, rows)


# ---- the bench


def drift(directory: Path | None, amount: Amount, peers: Contenders, quick: bool, tell: Tell) -> Report:
    """Measure answers, speed and drops on streams that change."""
    contenders = {**OURS, **peers.there}
    shares: dict[str, dict[str, list[float]]] = {}
    rates: dict[str, list[float]] = {}
    drops: dict[str, int] = {}
    notes = list(peers.notes)
    for seed in range(1, amount.seeds + 1):
        for contest in contests(directory, amount, seed):
            for name, run in contenders.items():
                tell(f"{contest.name}, seed {seed} of {amount.seeds}: {name}")
                try:
                    timed = _run(name, run, contest, drops)
                except PeerFailed as error:
                    notes.append(str(error))
                    continue
                shares.setdefault(contest.name, {}).setdefault(name, []).append(100 * timed.accuracy)
                rates.setdefault(name, []).append(timed.rate)
    found = {stream: {name: fmean(some) for name, some in one.items()} for stream, one in shares.items()}
    tell("cost per record")
    costs = cost_per_record(amount.places)
    report = Report("drift", "Streams that change", quick)
    report.goals = _goals(found, rates, drops, costs)
    report.tables = [_table(found, contenders, drops), _rates(rates), _cost_table(costs)]
    some = min(amount.records, GENERATED)
    report.notes = [
        f"At most {amount.records:,} records of a real stream and {some:,} of a generated one, "
        f"{amount.seeds} seed(s).",
        *notes,
    ]
    report.charts = [_chart(found, contenders)]
    return report


def _run(name: str, run: Contender, contest: Contest, drops: dict[str, int]) -> Timed:
    if name != PRESET:
        return run(contest)
    outcome = run_ours(contest, preset="adaptive")
    drops[contest.name] = drops.get(contest.name, 0) + outcome.learner.drops
    return outcome.timed


def cost_per_record(places: tuple[int, ...]) -> dict[int, float]:
    """Return what a record costs up to some places, in microseconds: 20 numbers, the preset, 5 % noise."""
    schema = Schema(tuple(Attribute(f"n{i}", AttributeType.NUMERIC) for i in range(WIDTH)), ("0", "1"))
    learner = ID5R(schema, CoreOptions(preset="adaptive"))
    assert learner.voices is not None
    chance, clock, done = np.random.default_rng(1), CpuClock(), 0
    costs: dict[int, float] = {}
    for place in places:
        half = place // 2
        before = 0.0
        while done < place:
            count = min(10_000, (half if done < half else place) - done)
            numbers = chance.random((count, WIDTH))
            labels = ((numbers[:, 0] + numbers[:, 1] > 1) ^ (chance.random(count) < 0.05)).astype(np.int32)
            codes = np.ascontiguousarray(numbers).view(np.uint64) | np.uint64(1 << 63)
            batch = _core.Batch(count, 2, True)
            with clock:
                learner.voices.run(codes, labels, 0, 0, batch)
            done += count
            if done == half:
                before = clock.seconds
        costs[place] = (clock.seconds - before) / (place - half) * 1e6
    return costs


# ---- what came of it


def _changing(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    return [stream for stream in found if stream not in STATIONARY]


def _goals(
    found: Mapping[str, Mapping[str, float]],
    rates: Mapping[str, list[float]],
    drops: Mapping[str, int],
    costs: Mapping[int, float],
) -> list[Goal]:
    goals: list[Goal] = []
    for other in HAT:
        ahead = [one[PRESET] - one[other] for one in found.values() if other in one]
        goals.append(
            at_least(f"{PRESET}: mean above {other}", 6, fmean(ahead) if ahead else None, " points", "+.2f")
        )
        goals.append(
            at_least(f"{PRESET}: the least above {other}", 0, min(ahead, default=None), " points", "+.2f")
        )
    close = [one[PRESET] - one[ARF] for one in found.values() if ARF in one]
    below = -fmean(close) if close else None
    goals.append(at_most(f"{PRESET}: mean below {ARF}", 1, below, " points"))
    speed = fmean(rates[PRESET]) / fmean(rates[ARF]) if ARF in rates else None
    goals.append(at_least(f"{PRESET}: records per CPU second against {ARF}", 50, speed))
    false = sum(drops.get(name, 0) for name in STATIONARY)
    goals.append(
        Goal("drops on stationary streams", "0", str(false), false == 0, "met" if false == 0 else "missed")
    )
    first, *_, last = costs
    figure = f"cost per record at {last:,} against {first:,} records, {WIDTH} numbers"
    goals.append(at_most(figure, 1.5, costs[last] / costs[first]))
    return goals


def _table(
    found: Mapping[str, Mapping[str, float]], contenders: Mapping[str, Contender], drops: Mapping[str, int]
) -> Table:
    columns = (
        Column("stream"),
        *(Column(name, ".1f") for name in contenders),
        Column("drops of the preset", ",d"),
    )
    rows: list[tuple[Value, ...]] = [
        (stream, *(one.get(name) for name in contenders), drops.get(stream, 0))
        for stream, one in found.items()
    ]
    mean = [fmean([one[name] for one in found.values() if name in one]) for name in contenders]
    rows.append(("mean", *mean, sum(drops.values())))
    return Table("Prequential accuracy, %", columns, rows)


def _rates(rates: Mapping[str, list[float]]) -> Table:
    rows: list[tuple[Value, ...]] = [(name, fmean(some)) for name, some in rates.items()]
    return Table(
        "Records per CPU second, mean over the streams", (Column("learner"), Column("rate", ",.0f")), rows
    )


def _cost_table(costs: Mapping[int, float]) -> Table:
    columns = (Column("records", ",d"), Column("us per record, second half", ".2f"))
    return Table(f"Cost per record, {WIDTH} numbers, preset adaptive", columns, list(costs.items()))


def _chart(found: Mapping[str, Mapping[str, float]], contenders: Mapping[str, Contender]) -> Chart:
    series = tuple(
        Series(
            name, tuple((float(place), one[name]) for place, one in enumerate(found.values()) if name in one)
        )
        for name in contenders
    )
    return Chart("Answers on streams that change", "stream", "%", series, categories=tuple(found))
