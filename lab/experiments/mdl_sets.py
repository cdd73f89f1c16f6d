"""The two data sets of Bhatia and Schuch 2008: SPECT and tic-tac-toe, beside ID3."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.experiments.experiment import Data, Outcome, Task, measured
from lab.experiments.mdl_trial import (
    bits_of,
    follow,
    instances_of,
    made,
    share_right,
    shuffled,
    tree_size,
)
from lab.experiments.report import Chart, Figure, Report, Series, Table, check, compare

TRAINING, TEST, GAME = "spect-train.csv", "spect-test.csv", "tic-tac-toe.csv"
SUBJECTS = ("mdl", "mdl, paper's code", "mdl, exceptions alone", "mdl, exceptions alone, deep", "id5r, bare")
SAMPLES = 79
"""Of tic-tac-toe in the paper, which does not say which."""
BITS = "bits"
OTHERS = "id5r, bare"
"""The tree of ID3, for which the paper has another program."""
Printed = dict[tuple[str, str], float]


def table(
    title: str,
    outcomes: Sequence[Outcome],
    columns: Sequence[str],
    printed: Printed,
    determined: Sequence[str],
) -> Table:
    """Return the measures of all subjects beside what the paper prints; only MDL counts bits."""
    rows: list[Figure] = []
    for subject in SUBJECTS:
        for column in columns:
            if column == BITS and not subject.startswith("mdl"):
                continue
            paper = printed.get((subject, column))
            judged = None if subject == OTHERS else subject in determined
            found = measured(outcomes, subject, column)
            rows.append(compare(subject, column, paper, found, digits=2, determined=judged))
    return Table(title, tuple(rows))


def charts(name: str, outcomes: Sequence[Outcome]) -> list[Chart]:
    """Return the curves of the first run: accuracy, size, bits."""
    first = [one for one in outcomes if one.task.run == 0]
    found: list[Chart] = []
    for curve, label in (("accuracy", "right so far, %"), ("leaves", "leaves"), ("bits", "bits")):
        lines = [one for one in first if curve != "bits" or any(one.curves[curve])]
        series = tuple(
            Series(one.task.subject, tuple(zip(one.curves["at"], one.curves[curve], strict=True)))
            for one in lines
        )
        found.append(Chart(f"{name}: {label}", "records", label, series))
    return found


@dataclass(frozen=True)
class MDLSpect:
    """Section 4.2 on SPECT."""

    name: str = "mdl-spect"
    title: str = "Bhatia and Schuch, SPECT: trained on 80 records, tested on 187"
    runs: int = 20
    files: tuple[str, ...] = (TRAINING, TEST)

    def tasks(self, runs: int, seed: int) -> list[Task]:
        """Return a task for each subject and order; the first order is that of the file."""
        return [Task(subject, run, seed) for subject in SUBJECTS for run in range(runs)]

    def perform(self, task: Task, data: Data) -> Outcome:
        """Train once in some order and test."""
        training, test = instances_of(data[TRAINING]), instances_of(data[TEST])
        if task.run:
            training = shuffled(training, task.rng())
        learner = made(task.subject, training)
        course = follow(learner, training, [one.label for one in training])
        grown = tree_size(learner)
        measures = {
            "test, %": share_right(learner, test),
            "training, %": share_right(learner, training),
            "leaves": float(grown.leaves),
            "depth": float(grown.depth),
            "bits": bits_of(learner),
        }
        return Outcome(task, measures, course._asdict())

    def report(self, outcomes: Sequence[Outcome], data: Data) -> Report:
        """Return the figures of section 4.2."""
        printed: Printed = {
            ("mdl, paper's code", "test, %"): 61.50,
            ("mdl, paper's code", "training, %"): 72.50,
            ("mdl, exceptions alone", "training, %"): 91.25,
            ("id5r, bare", "test, %"): 76.47,
        }
        columns = ("test, %", "training, %", "leaves", "depth", "bits")
        report = Report(
            self.name,
            self.title,
            tables=[table("Section 4.2", outcomes, columns, printed, ("mdl, paper's code",))],
            charts=charts("SPECT, in the order of the file", outcomes),
        )
        tests = measured(outcomes, "mdl, paper's code", "test, %")
        report.checks.append(
            check(
                "the paper's code gives 61.50 % in every order",
                all(round(one, 2) == 61.50 for one in tests),
                f"{min(tests):.2f} to {max(tests):.2f} % in {len(tests)} orders",
            )
        )
        report.notes = [
            "The text counts 73 right and 7 wrong of the 80 by exceptions alone and calls it 73 %; it is "
            "91.25 %.",
            "ID3 is another program's in the paper (76.47 % on the test set); here it is bare ID5R, whose "
            "tree is ID3's. How the two break ties and answer values they have not met is not told.",
            "The training set has as many normal records as abnormal ones, the test set 8 % normal ones.",
        ]
        return report


@dataclass(frozen=True)
class MDLTicTacToe:
    """Section 4.2 on tic-tac-toe."""

    name: str = "mdl-tictactoe"
    title: str = "Bhatia and Schuch, tic-tac-toe: 79 samples, and all of it"
    runs: int = 10
    files: tuple[str, ...] = (GAME,)

    def tasks(self, runs: int, seed: int) -> list[Task]:
        """Return a task for each subject and draw of samples."""
        return [Task(subject, run, seed) for subject in SUBJECTS for run in range(runs)]

    def perform(self, task: Task, data: Data) -> Outcome:
        """Train on 79 samples; in the first run also along the whole set."""
        stream = shuffled(instances_of(data[GAME]), task.rng())
        samples = stream[:SAMPLES]
        learner = made(task.subject, samples)
        for one in samples:
            learner.learn_one(one)
        measures = {
            "errors": round(SAMPLES * (1 - share_right(learner, samples) / 100)),
            "others, %": share_right(learner, stream[SAMPLES:]),
            "leaves": float(tree_size(learner).leaves),
            "bits": bits_of(learner),
        }
        curves: dict[str, list[float]] = {}
        if task.run == 0 and "deep" not in task.subject:
            curves = follow(made(task.subject, stream), stream, [one.label for one in stream])._asdict()
        return Outcome(task, measures, curves)

    def report(self, outcomes: Sequence[Outcome], data: Data) -> Report:
        """Return the errors on the samples, and the curves."""
        printed: Printed = {("mdl, exceptions alone", "errors"): 1.0, ("id5r, bare", "errors"): 0.0}
        columns = ("errors", "others, %", "leaves", "bits")
        report = Report(
            self.name,
            self.title,
            tables=[table("Errors on the 79 samples trained on", outcomes, columns, printed, ())],
            charts=charts("tic-tac-toe", [one for one in outcomes if one.curves]),
        )
        plain = measured(outcomes, "mdl, exceptions alone", "errors")
        deep = measured(outcomes, "mdl, exceptions alone, deep", "errors")
        report.checks = [
            check(
                "by exceptions alone some draw of 79 has at most one error",
                min(plain) <= 1,
                f"{min(plain):.0f} to {max(plain):.0f} in {len(plain)} draws",
            ),
            check(
                "judged by what grows below, every draw has at most one error",
                max(deep) <= 1,
                f"{min(deep):.0f} to {max(deep):.0f} in {len(deep)} draws",
            ),
        ]
        report.notes = ["The paper does not say which 79 of the 958 records it took: they are drawn here."]
        return report
