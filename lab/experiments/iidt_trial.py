"""What the anytime learners of Esmeir and Markovitch (2006), and those beside them, come to with time.

Budgets are in units of work, so that a trial comes to the same wherever it is made; seconds are measured
beside them by whoever has a clock.
"""

from collections.abc import Callable, Iterator
from statistics import NormalDist

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.canonical import number_code
from learners.iidt._choosing import Policy, prune
from learners.iidt._tree import Node
from learners.iidt.growing import Growing
from learners.rebuilt.lsid3 import BatchLSID3
from learners.rebuilt.table import Floats, Table

Clock = Callable[[], float]

POINTS = 32
"""How many points a curve has."""
Z = NormalDist().inv_cdf(0.75)
MOST_R = 1 << 20
COMMITTEE = 32
"""The most trees of a committee."""
CONFIDENCE = 0.25


class AnytimeTrial(msgspec.Struct, frozen=True):
    """One learner on one division of a set.

    Attributes:
        subject: The set.
        system: The learner.
        fold: Which tenth is held out, or the number of the run.
        seed: Of the division, of what is made up, and of random numbers.
        units: The budget.
        arrives: How many of the training records are there at first; 0: all.
    """

    subject: str
    system: str
    fold: int
    seed: int
    units: int
    arrives: int = 0


class Course(msgspec.Struct, frozen=True):
    """How a trial went on: spent units and CPU seconds, leaves of the tree, percentage right."""

    trial: AnytimeTrial
    units: list[int]
    seconds: list[float]
    leaves: list[float]
    right: list[float]


# ---- sets that are made up


def parity(relevant: int, others: int, count: int, seed: int, noise: float = 0.0) -> Table:
    """Return rows of bits of which some decide by their parity; which ones is a matter of the seed."""
    rng = np.random.default_rng([seed, relevant, others])
    x = rng.integers(0, 2, (count, relevant + others))
    chosen = rng.permutation(relevant + others)[:relevant]
    labels = x[:, chosen].sum(axis=1) % 2
    labels = np.where(rng.random(count) < noise, 1 - labels, labels)
    return Table.of(x.astype(float), labels, 2, [2] * (relevant + others))


def multiplexer(address: int, count: int, seed: int) -> Table:
    """Return states of a multiplexer: address bits say which of the data bits is the class."""
    rng = np.random.default_rng([seed, address])
    x = rng.integers(0, 2, (count, address + (1 << address)))
    place = x[:, :address] @ (1 << np.arange(address))
    labels = x[np.arange(count), address + place]
    return Table.of(x[:, rng.permutation(x.shape[1])].astype(float), labels, 2, [2] * x.shape[1])


# ---- one trial


def divided(trial: AnytimeTrial, table: Table) -> tuple[Table, Table]:
    """Return the records to learn from, in a random order, and those held out: one fold of ten."""
    rng = np.random.default_rng([trial.seed, trial.fold // 10])
    order = rng.permutation(len(table))
    held = np.arange(len(table)) % 10 == trial.fold % 10
    return table.take(order[~held]), table.take(order[held])


def perform(trial: AnytimeTrial, table: Table, clock: Clock) -> Course:
    """Do a trial."""
    training, test = divided(trial, table)
    if trial.system.startswith("I-") or trial.arrives:
        return _incremental(trial, training, test, clock)
    if trial.system.startswith("IIDT"):
        return _iidt(trial, training, test, clock)
    return _fixed(trial, training, test, clock)


class Grown:
    """A tree that grows in units, over a table's records.

    Args:
        system: "IIDT-TS(g)", "IIDT-TS-p(g)" or "IIDT-EE(g)", with or without "I-" before it.
        table: The records to come.
        seed: Of the random numbers.
    """

    def __init__(self, system: str, table: Table, seed: int) -> None:
        by_errors = "EE" in system
        granularity = float(system[system.index("(") + 1 : -1])
        self.prunes = "TS-p" in system
        self.tree = Growing(Policy(by_errors, granularity, MOST_R, 1.25, CONFIDENCE, Z), seed)
        forest = self.tree.forest
        forest.ranks = list(range(table.classes))
        arity = table.arity.tolist()
        forest.widen(table.width, arity, [a == 0 for a in arity])

    def put(self, row: list[int], label: int) -> int:
        """Put a record down."""
        return self.tree.forest.put(row, label)

    @property
    def leaves(self) -> float:
        """How many leaves the tree has, as it would be given out."""
        return self._given_out()[1]

    def right(self, rows: list[list[int]], labels: list[int]) -> float:
        """Return the percentage of some records that it is right about."""
        answers, _ = self._given_out()
        return 100 * sum(answers(row) == label for row, label in zip(rows, labels, strict=True)) / len(labels)

    def _given_out(self) -> tuple[Callable[[list[int]], int], float]:
        forest = self.tree.forest
        root = forest.root
        assert root is not None
        if self.prunes:
            # The tree that goes on is not pruned: what is given out is built again from its tests.
            copy = self._copy()
            prune(forest, copy, CONFIDENCE, Z)
            root = copy
        return lambda row: forest.find(root, row)[0].label, float(forest.size(root))

    def _copy(self) -> Node:
        root = self.tree.forest.root
        assert root is not None
        twin = Node()
        pairs = [(root, twin)]
        for old, new in pairs:
            new.test, new.numeric, new.at_most, new.key = old.test, old.numeric, old.at_most, old.key
            new.counts, new.rows, new.n, new.label = list(old.counts), list(old.rows), old.n, old.label
            for value, below in old.branches.items():
                new.branches[value] = Node()
                pairs.append((below, new.branches[value]))
        return twin


def coded(table: Table) -> list[list[int]]:
    """Return a table's rows as codes: nominal values from 1, numbers by their own code, 0 where missing."""
    assert isinstance(table.x, np.ndarray)
    rows: list[list[int]] = []
    numeric = table.numeric.tolist()
    for row in table.x.tolist():
        rows.append(
            [
                0 if value != value else number_code(value) if number else int(value) + 1
                for value, number in zip(row, numeric, strict=True)
            ]
        )
    return rows


def checkpoints(units: int) -> list[int]:
    """Return the budgets at which a curve has its points: close together at first."""
    steps = np.unique(np.geomspace(max(1, units / 3_000), units, POINTS - 1).astype(int)).tolist()
    return [0, *(int(step) for step in steps)]


def _iidt(trial: AnytimeTrial, training: Table, test: Table, clock: Clock) -> Course:
    grown = Grown(trial.system, training, trial.seed)
    numbers = [
        grown.put(row, label) for row, label in zip(coded(training), training.labels.tolist(), strict=True)
    ]
    rows, labels = coded(test), test.labels.tolist()
    seconds = -clock()
    grown.tree.start(numbers)
    seconds += clock()
    course = Course(trial, [], [], [], [])
    spent = 0
    for budget in checkpoints(trial.units):
        seconds -= clock()
        grown.tree.improve(budget - spent)
        seconds += clock()
        spent = budget
        _note(course, spent, seconds, grown.leaves, grown.right(rows, labels))
    return course


def _note(course: Course, units: int, seconds: float, leaves: float, right: float) -> None:
    course.units.append(units)
    course.seconds.append(seconds)
    course.leaves.append(leaves)
    course.right.append(right)


# ---- learners of their own


def batch(system: str, seed: int) -> BatchLSID3:
    """Return a learner that needs no budget: ID3, C4.5 with information gain, or LSID3(r)."""
    repeats = int(system[system.index("(") + 1 : -1]) if system.startswith("LSID3") else 0
    return BatchLSID3(repeats, CONFIDENCE if system in ("C4.5", "bagging C4.5") else None, seed)


def _shares(system: str, training: Table, test: Table, seed: int) -> Iterator[tuple[Floats, float]]:
    """Yield the answers and leaves of one tree, or of a committee that grows."""
    if not system.startswith("bagging"):
        tree = batch(system, seed).grow(training)
        yield tree.distributions(test.x), float(tree.leaves)
        return
    rng = np.random.default_rng([seed, 7])
    votes: NDArray[np.float64] = np.zeros((len(test), training.classes))
    leaves = 0.0
    for _ in range(COMMITTEE):
        tree = batch(system, seed).grow(training.take(rng.integers(0, len(training), len(training))))
        votes = votes + tree.distributions(test.x)
        leaves += tree.leaves
        yield votes, leaves


def _fixed(trial: AnytimeTrial, training: Table, test: Table, clock: Clock) -> Course:
    course = Course(trial, [], [], [], [])
    seconds = 0.0
    shares = _shares(trial.system, training, test, trial.seed)
    size = 0
    while size < COMMITTEE:
        began = clock()
        found = next(shares, None)
        if found is None:
            break
        seconds += clock() - began
        size += 1
        if size & (size - 1) == 0 or size == COMMITTEE:
            _note(course, 0, seconds, found[1], _percent(found[0], test))
    return course


def _percent(shares: Floats, test: Table) -> float:
    return 100 * float((np.round(shares, 12).argmax(axis=1) == test.labels).mean())


# ---- records that arrive


def _incremental(trial: AnytimeTrial, training: Table, test: Table, clock: Clock) -> Course:
    """Let records arrive evenly over the first half of the budget; with an R trees are built again."""
    first = trial.arrives
    later = len(training) - first

    def arrived(budget: int) -> int:
        return first + min(later, 2 * later * budget // trial.units)

    points = checkpoints(trial.units)
    course = Course(trial, [], [], [], [])
    if trial.system.endswith("R"):
        system = trial.system.removesuffix(" R")
        for budget in points:
            known = training.take(np.arange(arrived(budget)))
            began = clock()
            *_, (shares, leaves) = _shares(system, known, test, trial.seed)
            _note(course, budget, clock() - began, leaves, _percent(shares, test))
        return course
    grown = Grown(trial.system, training, trial.seed)
    rows, labels = coded(training), training.labels.tolist()
    test_rows, test_labels = coded(test), test.labels.tolist()
    seconds = -clock()
    grown.tree.start([grown.put(row, label) for row, label in zip(rows[:first], labels[:first], strict=True)])
    seconds += clock()
    spent, there = 0, first
    learns = trial.system.startswith("I-")
    for budget in points:
        seconds -= clock()
        while spent < budget:
            # Records come between two budgets; the same number of units passes before each.
            until = arrived(budget) if learns else there
            step = max(1, (budget - spent) // (until - there + 1))
            grown.tree.improve(min(step, budget - spent))
            spent += min(step, budget - spent)
            if there < until:
                grown.tree.learn(grown.put(rows[there], labels[there]))
                there += 1
        while learns and there < arrived(budget):
            grown.tree.learn(grown.put(rows[there], labels[there]))
            there += 1
        seconds += clock()
        _note(course, spent, seconds, grown.leaves, grown.right(test_rows, test_labels))
    return course
