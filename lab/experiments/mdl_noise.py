"""Labels with noise: the MDL tree beside ID5R with and without its gate, NT and C4.5."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.experiments.experiment import Data, Outcome, Task, measured
from lab.experiments.mdl_trial import follow, instances_of, made, shuffled
from lab.experiments.report import Chart, Figure, Report, Series, Table, Verdict, check
from learners.schema import Instance

SETS = ("vote.csv", "tic-tac-toe.csv", "kr-vs-kp.csv", "soybean.csv", "mushroom.csv")
SYSTEMS = ("mdl", "id5r", "id5r, bare", "nt", "c45")
LEVELS = (0, 10, 20, 30, 40)
MOST = 3_000
"""Records of a set that are used."""
AT = 20
"""The level of noise at which the learners are compared."""


def with_noise(stream: Sequence[Instance], percent: int, rng: np.random.Generator) -> list[Instance]:
    """Return the stream with some labels exchanged for another class."""
    classes = sorted({str(one.label) for one in stream})
    noisy: list[Instance] = []
    for instance, chance in zip(stream, rng.random(len(stream)).tolist(), strict=True):
        others = [name for name in classes if name != instance.label]
        other = others[int(rng.integers(len(others)))]
        noisy.append(Instance(instance.values, other) if chance * 100 < percent else instance)
    return noisy


def subject(system: str, file: str, percent: int) -> str:
    """Return what a task is about in one text."""
    return f"{system} | {file} | {percent}"


@dataclass(frozen=True)
class MDLNoise:
    """Accuracy against the true labels and size of the tree, at several levels of noise."""

    name: str = "mdl-noise"
    title: str = "Labels with noise: accuracy and size along five streams"
    runs: int = 3
    files: tuple[str, ...] = SETS

    def tasks(self, runs: int, seed: int) -> list[Task]:
        """Return a task for each learner, set, level and run; the longest first."""
        return [
            Task(subject(system, file, percent), run, seed)
            for file in reversed(SETS)
            for system in SYSTEMS
            for percent in LEVELS
            for run in range(runs)
        ]

    def perform(self, task: Task, data: Data) -> Outcome:
        """Follow one stream."""
        system, file, percent = task.subject.split(" | ")
        stream = shuffled(instances_of(data[file]), task.rng())[:MOST]
        noisy = with_noise(stream, int(percent), task.rng(1))
        course = follow(made(system, noisy), noisy, [one.label for one in stream])
        return Outcome(task, {"right, %": course.accuracy[-1], "leaves": course.leaves[-1]})

    def report(self, outcomes: Sequence[Outcome], data: Data) -> Report:
        """Return tables of accuracy and size, and what is claimed of them."""
        report = Report(self.name, self.title)

        def mean(system: str, file: str, percent: int, measure: str) -> float:
            return statistics.fmean(measured(outcomes, subject(system, file, percent), measure))

        for measure in ("right, %", "leaves"):
            for file in SETS:
                report.tables.append(
                    Table(
                        f"{file.removesuffix('.csv')}: {measure}",
                        tuple(
                            Figure(
                                system,
                                f"{percent} %",
                                None,
                                mean(system, file, percent, measure),
                                None,
                                None,
                                1,
                                Verdict.NOTED,
                            )
                            for system in SYSTEMS
                            for percent in LEVELS
                        ),
                    )
                )
            series = tuple(
                Series(
                    system,
                    tuple(
                        (float(p), statistics.fmean(mean(system, file, p, measure) for file in SETS))
                        for p in LEVELS
                    ),
                )
                for system in SYSTEMS
            )
            report.charts.append(Chart(f"Mean of five sets: {measure}", "noise, %", measure, series))
        better = [
            file
            for file in SETS
            if mean("mdl", file, AT, "right, %") > mean("id5r, bare", file, AT, "right, %")
        ]
        smaller = [
            file
            for file in SETS
            if mean("mdl", file, AT, "leaves") * 2 <= mean("id5r, bare", file, AT, "leaves")
        ]
        report.checks = [
            check(
                f"at {AT} % mdl is above bare ID5R on at least two thirds of the sets",
                3 * len(better) >= 2 * len(SETS),
                f"on {len(better)} of {len(SETS)}: {', '.join(better)}",
            ),
            check(
                f"at {AT} % its tree has at most half the leaves",
                len(smaller) == len(SETS),
                f"on {len(smaller)} of {len(SETS)}",
            ),
        ]
        report.notes = [
            f"Of each set at most {MOST} records in a random order. Each is answered before it is learned, "
            "with a label that is another class by the chance given, and judged by the true one.",
            "The answers are those of the tree alone. A mean is of all runs, each with another order and "
            "other noise, the same for every learner.",
        ]
        return report
