"""`espalier bench files`: what a worker's call gives on records as users have them, beside River.

Measured is `learn_batch` as a worker calls it: predictions with their explanations, and the changes of the
tree, each or the net of a batch. The compiled part alone is a diagnostic: nobody gets it.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from lab.bench.contests import Contest, compiled, river
from lab.bench.measure import CpuClock, PeerFailed, Tell, Timed
from lab.bench.report import Column, Goal, Report, Table, Value, at_least
from learners.id5r.learner import ID5R
from stream.files.dataset import read_dataset
from stream.files.declaration import name_of
from stream.model.row_decoder import as_array

BATCH = 2_000
"""Records in a call: as many as a transaction has at most by default."""
TURNS = 3
FULL = 20_000
QUICK = 1_000
AGAINST_RIVER = 10.0
OF_COMPILED = 60.0


class Found(NamedTuple):
    """The best pass of each way over one file; None: River was not measured."""

    name: str
    each: Timed
    net: Timed
    alone: Timed
    river: Timed | None


def files(paths: list[Path], records: int, with_river: bool, quick: bool, tell: Tell) -> Report:
    """Measure the records of some files, in their order."""
    notes: list[str] = []
    found = [_measure(path, records, with_river, tell, notes) for path in paths]
    columns = (
        Column("file"),
        Column("records", ",d"),
        Column("accuracy", ".1f", " %"),
        Column('"each", records per CPU second', ",.0f"),
        Column('"commit"', ",.0f"),
        Column("compiled part alone", ",.0f"),
        Column("River HoeffdingTree", ",.0f"),
        Column('"each" against River', ".1f", "x"),
        Column('"commit" against River', ".1f", "x"),
    )
    rows: list[tuple[Value, ...]] = [
        (
            one.name,
            one.each.records,
            100 * one.each.accuracy,
            one.each.rate,
            one.net.rate,
            one.alone.rate,
            None if one.river is None else one.river.rate,
            None if one.river is None else one.each.rate / one.river.rate,
            None if one.river is None else one.net.rate / one.river.rate,
        )
        for one in found
    ]
    notes.append(
        f'Batches of {BATCH:,} records. "each" and "commit" are values of `tree_changes`: every change of '
        "the tree is found out, or the net change of each batch. Both build one tree and predict the same."
    )
    return Report(
        "files",
        "Records as users have them",
        quick,
        goals=[goal for one in found for goal in _goals(one)],
        tables=[Table("Predict with an explanation, then learn", columns, rows)],
        notes=notes,
    )


def _goals(one: Found) -> list[Goal]:
    goals = []
    for way, timed in (("each", one.each), ("commit", one.net)):
        ratio = None if one.river is None else timed.rate / one.river.rate
        goals.append(at_least(f'{one.name}, "{way}": against River HoeffdingTree', AGAINST_RIVER, ratio))
        share = 100 * timed.rate / one.alone.rate
        figure = f'{one.name}, "{way}": of the compiled part alone'
        goals.append(at_least(figure, OF_COMPILED, share, unit=" %", form=".0f"))
    return goals


def _measure(path: Path, records: int, with_river: bool, tell: Tell, notes: list[str]) -> Found:
    data = read_dataset(path, limit=records)
    contest = Contest(name_of(path), data.schema, data.instances, data.limits)
    each: list[Timed] = []
    net: list[Timed] = []
    alone: list[Timed] = []
    for turn in range(TURNS):
        tell(f"{contest.name}, turn {turn + 1} of {TURNS}")
        each.append(learn_in_batches(contest, publishes_each=True))
        net.append(learn_in_batches(contest, publishes_each=False))
        alone.append(compiled(contest))
    peer: Timed | None = None
    if with_river:
        tell(f"{contest.name}, River")
        try:
            peer = river("HoeffdingTreeClassifier")(contest)
        except PeerFailed as error:
            notes.append(str(error))
    return Found(contest.name, _best(each), _best(net), _best(alone), peer)


def _best(turns: list[Timed]) -> Timed:
    return max(turns, key=lambda timed: timed.rate)


def learn_in_batches(contest: Contest, *, publishes_each: bool) -> Timed:
    """Let the default learner predict and learn the records of a contest, in arrays as a worker has them."""
    learner = ID5R(contest.schema, None, contest.limits)
    learner.publishes_each = publishes_each
    clock, correct = CpuClock(), 0
    for start in range(0, len(contest.rows), BATCH):
        coded = [learner.codes.encode(*row)[:2] for row in contest.rows[start : start + BATCH]]
        labels = np.array([label for _, label in coded], dtype=np.int32)
        width = len(learner.codes.attributes)
        rows = as_array([row + (0,) * (width - len(row)) for row, _ in coded])
        with clock:
            result = learner.learn_batch(rows, labels)
            if not publishes_each:
                learner.publish()
        names = learner.codes.classes
        correct += sum(
            one.answer == names[label] for one, label in zip(result.predictions, labels.tolist(), strict=True)
        )
    return Timed(len(contest.rows), clock.seconds, correct)
