"""How right the answers are on real data, beside other learners: `espalier bench accuracy`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import msgspec

from lab.bench.contests import Contender, Contenders, Contest, compiled, ours, river, shuffled
from lab.bench.measure import PeerFailed, Tell, Timed
from lab.bench.report import Column, Goal, Report, Table, Value, at_least, at_most
from lab.experiments.report import Chart, Series
from stream.files.dataset import read_dataset
from stream.files.declaration import name_of

SCHEMA = "SCHEMA.json"
READ = 20_000
"""How many rows of a large file are read before they are put into another order."""

TREE = "id5r, tree"
TREE_05 = "id5r, tree, significance .05"
ADAPTIVE = "id5r, adaptive"
BAYES = "naive Bayes (ours)"
COMPILED = "id5r, tree, compiled part alone"
OURS: Mapping[str, Contender] = {
    TREE: ours(),
    TREE_05: ours(significance=0.05),
    ADAPTIVE: ours(answer="adaptive"),
    BAYES: ours(answer="bayes"),
}
RIVERS: Mapping[str, Contender] = {
    "River HoeffdingTree": river("HoeffdingTreeClassifier"),
    "River HoeffdingAdaptiveTree": river("HoeffdingAdaptiveTreeClassifier", seed=1),
    "River ExtremelyFastDecisionTree": river("ExtremelyFastDecisionTreeClassifier"),
}
MOAS = ("HoeffdingTree",)
FASTER = ("sick", "segment", "diabetes", "vehicle", "electricity")
"""Sets with numbers on which speeds are compared."""
AGAIN = 5
"""How often the compiled part is timed; the others take long enough for once, or are warm."""


class Amount(NamedTuple):
    """How much is measured: the orders of each set, and how many rows at the most."""

    orders: int
    rows: int


FULL = Amount(3, 5_000)
QUICK = Amount(1, 400)


def sets_in(directory: Path) -> list[Path]:
    """Return the data files of a directory that its schema knows and that are no collections of texts."""
    known = msgspec.json.decode((directory / SCHEMA).read_bytes(), type=dict[str, msgspec.Raw])
    files = [*directory.glob("*.csv"), *directory.glob("*.csv.gz")]
    return sorted(file for file in files if name_of(file) in known and not file.name.startswith("text-"))


def contest_of(file: Path, most: int) -> Contest:
    """Return a data file as a contest, in the order of the file."""
    data = read_dataset(file, schema=file.parent / SCHEMA, limit=max(READ, most))
    return Contest(name_of(file), data.schema, data.instances, data.limits)


def accuracy(directory: Path, amount: Amount, peers: Contenders, quick: bool, tell: Tell) -> Report:
    """Measure how right the answers are, prequentially, over all sets of a directory."""
    contenders = {**OURS, **peers.there}
    found: dict[str, dict[str, float]] = {}
    speeds: dict[str, dict[str, Timed]] = {}
    notes = list(peers.notes)
    for file in sets_in(directory):
        contest = contest_of(file, amount.rows)
        shares: dict[str, list[float]] = {}
        gone: set[str] = set()
        for order in range(1, amount.orders + 1):
            rows = shuffled(contest.rows, order)[: amount.rows]
            for name, run in contenders.items():
                if name in gone:
                    continue
                tell(f"{contest.name}, order {order} of {amount.orders}: {name}")
                try:
                    timed = run(contest._replace(rows=rows, timed=order == 1 and contest.name in FASTER))
                except PeerFailed as error:
                    notes.append(str(error))
                    gone.add(name)
                    continue
                shares.setdefault(name, []).append(timed.accuracy)
                if order == 1 and contest.name in FASTER:
                    speeds.setdefault(contest.name, {})[name] = timed
            if order == 1 and contest.name in FASTER:
                again = [compiled(contest._replace(rows=rows)) for _ in range(AGAIN)]
                speeds[contest.name][COMPILED] = min(again, key=lambda one: one.seconds)
        found[contest.name] = {name: 100 * fmean(some) for name, some in shares.items()}
    others = [name for name in contenders if name not in OURS or name == BAYES]
    report = Report("accuracy", "Prequential accuracy on real data", quick)
    report.goals = [*_goals(found, others), *_speed_goals(speeds, others)]
    report.tables = [_means(found, contenders), _table(found, contenders), _speeds(speeds, contenders)]
    report.notes = [
        f"{len(found)} sets, {amount.orders} order(s) of each, at most {amount.rows:,} rows; differences "
        "under about 0.4 points are ties.",
        f"Speeds: the compiled part is the best of {AGAIN} runs, MOA the last of a warm JVM, others one run.",
        *notes,
    ]
    report.charts = [_chart(found, contenders)]
    return report


def _ahead(found: Mapping[str, Mapping[str, float]], ours: str, other: str) -> float | None:
    """Return by how much ours is more right in the mean, over the sets that both have finished."""
    both = [one[ours] - one[other] for one in found.values() if ours in one and other in one]
    return fmean(both) if both else None


def _mean(found: Mapping[str, Mapping[str, float]], name: str) -> float | None:
    shares = [one[name] for one in found.values() if name in one]
    return fmean(shares) if shares else None


def _wins(found: Mapping[str, Mapping[str, float]], ours: str, other: str) -> float:
    """Return on which share of the sets ours is at least as right as another."""
    both = [(one[ours], one[other]) for one in found.values() if ours in one and other in one]
    return sum(mine >= theirs for mine, theirs in both) / len(both) if both else 0.0


def _goals(found: Mapping[str, Mapping[str, float]], others: Sequence[str]) -> list[Goal]:
    goals: list[Goal] = []
    for mine in (TREE, ADAPTIVE):
        for other in others:
            ahead = _ahead(found, mine, other)
            goals.append(at_least(f"mean of {mine} above {other}", 0, ahead, " points", "+.2f"))
    for mine, share in ((TREE, 2 / 3), (ADAPTIVE, 5 / 6)):
        for other in others:
            if other == BAYES:  # which is no tree
                continue
            won = _wins(found, mine, other)
            goals.append(
                at_least(f"sets on which {mine} is not behind {other}", 100 * share, 100 * won, " %")
            )
    behind = max(
        max((one[other] for other in others if other in one), default=0.0) - one[ADAPTIVE]
        for one in found.values()
    )
    goals.append(at_most(f"{ADAPTIVE}: the most below the best of them, on any set", 2, behind, " points"))
    return goals


def _speed_goals(speeds: Mapping[str, Mapping[str, Timed]], others: Sequence[str]) -> list[Goal]:
    goals: list[Goal] = []
    for other, wanted in (("River HoeffdingTree", 50.0), ("MOA HoeffdingTree", 3.0)):
        ratios = [one[COMPILED].rate / one[other].rate for one in speeds.values() if other in one]
        figure = f"records per CPU second against {other}, the least of {len(ratios)} sets"
        goals.append(at_least(figure, wanted, min(ratios) if ratios else None))
    return goals


def _means(found: Mapping[str, Mapping[str, float]], contenders: Mapping[str, Contender]) -> Table:
    rows: list[tuple[Value, ...]] = [
        (name, _mean(found, name), 100 * _wins(found, TREE, name), 100 * _wins(found, ADAPTIVE, name))
        for name in contenders
    ]
    columns = (
        Column("learner"),
        Column("mean accuracy", ".2f", " %"),
        Column("sets on which tree is not behind", ".0f", " %"),
        Column("and adaptive is not", ".0f", " %"),
    )
    return Table("Mean over all sets", columns, rows)


def _table(found: Mapping[str, Mapping[str, float]], contenders: Mapping[str, Contender]) -> Table:
    columns = (Column("set"), *(Column(name, ".1f") for name in contenders))
    rows: list[tuple[Value, ...]] = [
        (name, *(shares.get(one) for one in contenders)) for name, shares in found.items()
    ]
    return Table("Accuracy, %", columns, rows)


def _speeds(speeds: Mapping[str, Mapping[str, Timed]], contenders: Mapping[str, Contender]) -> Table:
    names = (COMPILED, *contenders)
    columns = (Column("set"), *(Column(name, ",.0f") for name in names))
    rows: list[tuple[Value, ...]] = [
        (name, *(timed[one].rate if one in timed else None for one in names))
        for name, timed in speeds.items()
    ]
    return Table("Records per CPU second, one order", columns, rows)


def _chart(found: Mapping[str, Mapping[str, float]], contenders: Mapping[str, Contender]) -> Chart:
    series = tuple(
        Series(
            name,
            tuple(
                (float(place), shares[name]) for place, shares in enumerate(found.values()) if name in shares
            ),
        )
        for name in contenders
        if name in (TREE, ADAPTIVE, BAYES, "River HoeffdingTree", "MOA HoeffdingTree")
    )
    return Chart("Prequential accuracy on real data", "set", "%", series, categories=tuple(found))
