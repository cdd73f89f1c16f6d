"""One cross-validation of the three learners of Su and Zhang 2006 on one data set."""

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from lab.experiments.nt_statistics import stratified
from learners.rebuilt.naive_bayes import NaiveBayes
from learners.rebuilt.table import Floats, Sparse, Table
from learners.rebuilt.trees import BatchC45, BatchNaiveTree, BatchTree

Clock = Callable[[], float]

NT, C45, NB = "NT", "C4.5", "NB"


class Model(Protocol):
    """What a learner makes of a table."""

    def predict(self, x: Floats | Sparse) -> NDArray[np.intp]:
        """Return the class of each row."""
        ...


LEARNERS: Mapping[str, Callable[[Table], Model]] = {
    NT: BatchNaiveTree().grow,
    C45: BatchC45().grow,
    NB: NaiveBayes.fit,
}


class Trial(msgspec.Struct, frozen=True):
    """A cross-validation.

    Attributes:
        file: The data set.
        run: Its number: another run has other folds.
        seed: The seed of the whole experiment.
        folds: How many folds there are.
        measured: How many of them are tested on.
    """

    file: str
    run: int
    seed: int
    folds: int
    measured: int

    def fold_of(self, table: Table) -> NDArray[np.intp]:
        """Return the fold of each record: the same for every learner, also for those of others."""
        return stratified(table.labels, self.folds, np.random.default_rng([self.seed, self.run]))


class Result(msgspec.Struct, frozen=True):
    """What a trial came to, by learner: for each fold the accuracy in percent, seconds of training, nodes."""

    trial: Trial
    records: int
    attributes: int
    accuracy: dict[str, list[float]]
    seconds: dict[str, list[float]]
    nodes: dict[str, list[int]]


def perform(
    trial: Trial, table: Table, clock: Clock, learners: Mapping[str, Callable[[Table], Model]] = LEARNERS
) -> Result:
    """Train and test every learner on the same folds.

    Args:
        trial: The trial.
        table: Its data.
        clock: What time it is.
        learners: What makes a model of a table, by name.
    """
    fold = trial.fold_of(table)
    accuracy: dict[str, list[float]] = {name: [] for name in learners}
    seconds: dict[str, list[float]] = {name: [] for name in learners}
    nodes: dict[str, list[int]] = {name: [] for name in learners}
    for tested in range(trial.measured):
        training, testing = (
            table.take(np.flatnonzero(fold != tested)),
            table.take(np.flatnonzero(fold == tested)),
        )
        for name, learn in learners.items():
            start = clock()
            model = learn(training)
            seconds[name].append(clock() - start)
            right = model.predict(testing.x) == testing.labels
            accuracy[name].append(100 * float(right.mean()))
            nodes[name].append(model.nodes if isinstance(model, BatchTree) else 0)
    return Result(trial, len(table), table.width, accuracy, seconds, nodes)
