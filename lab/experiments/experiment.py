"""What an experiment is: work that can be spread over processes, and a report on what came out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from lab.experiments.concepts import Concept
from lab.experiments.report import Report

Data = Mapping[str, Concept]
"""The data sets of an experiment by the names of their files."""


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work that needs nothing but the data.

    Attributes:
        subject: What is run, such as the name of a system.
        run: The number of the run; runs of the same number see the same instances in the same order.
        seed: The seed of the whole experiment.
    """

    subject: str
    run: int
    seed: int

    def rng(self, purpose: int = 0) -> np.random.Generator:
        """Return the random numbers of this run for one purpose, the same for every subject."""
        return np.random.default_rng([self.seed, self.run, purpose])


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a task came to: measures by name, and curves of them over time."""

    task: Task
    measures: dict[str, float] = field(default_factory=dict)
    curves: dict[str, list[float]] = field(default_factory=dict)


class Experiment(Protocol):
    """A table or a figure of the paper.

    Attributes:
        name: What it is called on the command line.
        title: What it is about.
        runs: How many runs are made if nothing is said; 0 where there is nothing random.
        files: The data sets it needs.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - see above

    @property
    def title(self) -> str: ...  # noqa: D102

    @property
    def runs(self) -> int: ...  # noqa: D102

    @property
    def files(self) -> tuple[str, ...]: ...  # noqa: D102

    def tasks(self, runs: int, seed: int) -> list[Task]:
        """Return the work to be done, in any order."""
        ...

    def perform(self, task: Task, data: Data) -> Outcome:
        """Do a piece of the work."""
        ...

    def report(self, outcomes: Sequence[Outcome], data: Data) -> Report:
        """Return what was found; the outcomes are in the order of the tasks."""
        ...


def measured(outcomes: Sequence[Outcome], subject: str, measure: str) -> list[float]:
    """Return a measure of all runs of a subject."""
    return [one.measures[measure] for one in outcomes if one.task.subject == subject]
