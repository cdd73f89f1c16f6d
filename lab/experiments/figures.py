"""Figures 1 and 2: accuracy and size of the tree after each training instance."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from lab.experiments.chess import REPLACED, SELECTIONS, SUBSTITUTE, SUBSTITUTE_NOTE, train_on_errors
from lab.experiments.experiment import Data, Outcome, Task
from lab.experiments.report import Chart, Check, Report, Series, check

NOTES = [
    SUBSTITUTE_NOTE,
    "The paper's figures are of one run, that with the smallest tree, 117 nodes; a footnote says that the "
    "originals are lost and that those printed are of another run of that size. Here too the run with the "
    "smallest tree is shown, for each way of selecting. Nothing in curves without numbers can be compared "
    "but their course.",
    "In the text the size goes from 87 nodes to 111 and back to 87 with two instances.",
]


@dataclass(frozen=True)
class Figures:
    """The course of training on errors."""

    name: str = "utgoff-figures"
    title: str = "Figures 1 and 2: accuracy and size after each training instance"
    runs: int = 5
    files: tuple[str, ...] = (SUBSTITUTE,)

    def tasks(self, runs: int, seed: int) -> list[Task]:
        """Return a task for each way of selecting and run."""
        return [Task(selection, run, seed) for selection in SELECTIONS for run in range(runs)]

    def perform(self, task: Task, data: Data) -> Outcome:
        """Train once and note accuracy and size all along."""
        concept = data[SUBSTITUTE]
        examples = list(concept.examples)
        _, went, recorder = train_on_errors(
            examples, concept.order(), task.subject, REPLACED, task.rng(), recorded=True
        )
        measures: dict[str, float] = {"trained": went.trained, "nodes": recorder.nodes[-1]}
        return Outcome(task, measures, {"accuracy": recorder.accuracy, "nodes": recorder.nodes})

    def report(self, outcomes: Sequence[Outcome], data: Data) -> Report:
        """Return the curves of the runs with the smallest trees."""
        smallest = {
            selection: min(
                (one for one in outcomes if one.task.subject == selection),
                key=lambda one: one.measures["nodes"],
            )
            for selection in SELECTIONS
        }
        report = Report(self.name, self.title, notes=NOTES)
        for number, (curve, label) in enumerate((("accuracy", "accuracy, %"), ("nodes", "nodes")), 1):
            series = tuple(
                Series(f"{name} ({one.measures['nodes']:.0f} nodes)", _points(one.curves[curve]))
                for name, one in smallest.items()
            )
            title = f"Figure {number}, substitute: {label} after each training instance"
            report.charts.append(Chart(title, "training instances", label, series))
        report.checks = [check_ for one in smallest.values() for check_ in _checks(one)]
        return report


def _points(values: Sequence[float]) -> tuple[tuple[float, float], ...]:
    return tuple((float(number), value) for number, value in enumerate(values, 1))


def _checks(one: Outcome) -> list[Check]:
    name, nodes = one.task.subject, one.curves["nodes"]
    steps = [after - before for before, after in itertools.pairwise(nodes)]
    half = len(nodes) // 2
    return [
        check(
            f"{name}: accuracy comes to 100 %",
            one.curves["accuracy"][-1] == 100,
            f"after {len(nodes)} training instances",
        ),
        check(
            f"{name}: the size generally increases",
            max(nodes[half:]) > max(nodes[:half]),
            f"at most {max(nodes[:half]):.0f} nodes in the first half, {max(nodes[half:]):.0f} in the second",
            determined=False,
        ),
        check(
            f"{name}: the size can differ much from one instance to the next",
            min(steps) < 0 and max(max(steps), -min(steps)) >= 10,
            f"by up to +{max(steps):.0f} and {min(steps):.0f} nodes",
            determined=False,
        ),
    ]
