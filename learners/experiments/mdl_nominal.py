"""The MDL tree with its own settings on every nominal data set, beside ID5R with and without its gate."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from learners.experiments.experiment import Data, Outcome, Task, measured
from learners.experiments.mdl_trial import follow, instances_of, made, shuffled
from learners.experiments.report import Figure, Report, Table, Verdict, check

NAMES: Mapping[str, tuple[str, ...]] = {
    "audiology.csv": (),
    "breast-cancer.csv": (),
    "kr-vs-kp.csv": (),
    "mushroom.csv": (),
    "primary-tumor.csv": (),
    "soybean.csv": (),
    "spect-test.csv": (),
    "splice.csv": ("Instance_name",),
    "tic-tac-toe.csv": (),
    "vote.csv": (),
}
"""The sets, and what in them is a name of the record and says nothing."""
SYSTEMS = ("mdl", "id5r, bare", "id5r")
RIGHT, LEAVES = "right, %", "leaves"


@dataclass(frozen=True)
class MDLNominal:
    """Accuracy along the stream, and leaves at its end."""

    name: str = "mdl-nominal"
    title: str = "The MDL tree along ten streams of nominal attributes"
    runs: int = 3
    files: tuple[str, ...] = tuple(NAMES)

    def tasks(self, runs: int, seed: int) -> list[Task]:
        """Return a task for each learner, set and order."""
        return [
            Task(f"{system} | {file}", run, seed)
            for file in NAMES
            for system in SYSTEMS
            for run in range(runs)
        ]

    def perform(self, task: Task, data: Data) -> Outcome:
        """Follow one stream."""
        system, file = task.subject.split(" | ")
        stream = shuffled(instances_of(data[file], without=NAMES[file]), task.rng())
        course = follow(made(system, stream), stream, [one.label for one in stream])
        return Outcome(task, {RIGHT: course.accuracy[-1], LEAVES: course.leaves[-1]})

    def report(self, outcomes: Sequence[Outcome], data: Data) -> Report:
        """Return accuracy and size of each set and their means."""
        report = Report(self.name, self.title)
        means: dict[tuple[str, str], float] = {}
        for measure in (RIGHT, LEAVES):
            figures: list[Figure] = []
            for system in SYSTEMS:
                found = [
                    statistics.fmean(measured(outcomes, f"{system} | {file}", measure)) for file in NAMES
                ]
                means[system, measure] = statistics.fmean(found)
                named = [*(file.removesuffix(".csv") for file in NAMES), "mean"]
                for name, value in zip(named, [*found, means[system, measure]], strict=True):
                    figures.append(Figure(system, name, None, value, None, None, 1, Verdict.NOTED))
            report.tables.append(Table(f"Each record answered, then learned: {measure}", tuple(figures)))
        report.checks = [
            check(
                "mdl is not below bare ID5R on the mean",
                means["mdl", RIGHT] >= means["id5r, bare", RIGHT],
                f"{means['mdl', RIGHT]:.2f} and {means['id5r, bare', RIGHT]:.2f} %",
            ),
            check(
                "with trees at most half its size",
                2 * means["mdl", LEAVES] <= means["id5r, bare", LEAVES],
                f"{means['mdl', LEAVES]:.1f} and {means['id5r, bare', LEAVES]:.1f} leaves",
            ),
        ]
        return report
