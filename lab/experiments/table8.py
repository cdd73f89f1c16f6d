"""Table 8: nine algorithms on the simplified chess task."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.experiments.concepts import Concept, Example
from lab.experiments.experiment import Data, Outcome, Task, measured
from lab.experiments.nine import BATCH, HAT, chart, figures, measure_batch, measure_incremental
from lab.experiments.printed import TABLE_8
from lab.experiments.report import Check, Figure, Report, Table, check

POSITIONS = "krkn-pin-lost2.csv.gz"
TRAINING = TESTS = 250
ATTRIBUTES = 16
CUT_OFF = "ID4" + HAT

REVERSED = ", columns reversed"
"""What is added to the name of a system that breaks ties in the reversed order of the columns."""

NOTES = [
    "Not told: the 250 training and 250 test positions, which are lost with the generator that drew them. "
    "The positions here come from a reconstruction of it: King and Rook against King and Knight in sixteen "
    "attributes of up to three values, of which three have one value only. Both sets are drawn again for "
    "every run, so that the spread is that of draws and orders together, while all rows of the paper are "
    "about one draw. No figure but the arithmetic of the ID3 row is therefore determined; what agrees and "
    "what differs is told by the same rule of three standard errors.",
    "Not told: the order in which ties are broken. It is that of the columns of the file here. The costs of "
    "ID5R and ID5 depend on it: an early pull-up leaves tests behind that nobody reads but every later "
    "instance passes and pays for. The last rows are of the reversed order, on the same draws: it costs up "
    "to twice as much.",
    "A draw in which two positions of one description have different classes could not be learned by any "
    "tree and is drawn again.",
    "Not attempted: the CPU seconds.",
]


def draw(concept: Concept, task: Task) -> tuple[list[Example], list[Example]]:
    """Return a training and a test set of a run, the former without contradictions."""
    rng = task.rng(1)
    while True:
        places = rng.choice(len(concept.examples), TRAINING + TESTS, replace=False).tolist()
        drawn = [concept.examples[place] for place in places]
        training = drawn[:TRAINING]
        if len(dict(training)) == len(set(training)):
            return training, drawn[TRAINING:]


@dataclass(frozen=True)
class Table8:
    """Chess: presented with replacement until all 250 are right, or 30,000 have been presented."""

    name: str = "utgoff-table8"
    title: str = "Table 8: nine algorithms on a simplified chess problem"
    runs: int = 60
    files: tuple[str, ...] = (POSITIONS,)

    def tasks(self, runs: int, seed: int) -> list[Task]:
        """Return a task for each system and run, the longest first."""
        systems = [*TABLE_8, "ID5R" + REVERSED, "ID5R" + HAT + REVERSED]
        by_length = sorted(systems, key=lambda name: (name != "ID3'", name != CUT_OFF))
        return [Task(name, run, seed) for name in by_length for run in range(runs)]

    def perform(self, task: Task, data: Data) -> Outcome:
        """Draw the sets of a run and train one system."""
        concept = data[POSITIONS]
        training, tests = draw(concept, task)
        order = concept.order()
        if task.subject == BATCH:
            return Outcome(task, measure_batch(order, training, tests))
        name = task.subject.removesuffix(REVERSED)
        if name != task.subject:
            order = order[::-1]
        return Outcome(task, measure_incremental(name, order, training, tests, task.rng()))

    def report(self, outcomes: Sequence[Outcome], data: Data) -> Report:
        """Return the table, once of all draws and once of those whose tree is like the paper's."""
        alike = {one.task.run for one in outcomes if one.task.subject == BATCH and _is_alike(one)}
        some = [one for one in outcomes if one.task.run in alike]
        rows = _rows(outcomes)
        runs = len({one.task.run for one in outcomes})
        report = Report(self.name, self.title, notes=[_closeness(some, runs), *NOTES])
        report.tables = [Table(f"All {runs} draws", tuple(rows))]
        if len(alike) > 1:
            title = f"The {len(alike)} draws on which ID3 builds a tree of the paper's size"
            report.tables.append(Table(title, tuple(_rows(some))))
        report.checks = [_printed_row(), _measured_rows(some), _cut_off(outcomes)]
        report.charts = [chart(f"Table 8: {name}", rows, name) for name in ("Insts.", "ICAs", "E-scores")]
        return report


def _rows(outcomes: Sequence[Outcome]) -> list[Figure]:
    rows = [*TABLE_8.items(), *((name + REVERSED, TABLE_8[name]) for name in ("ID5R", "ID5R" + HAT))]
    return [
        figure
        for name, printed in rows
        for figure in figures(outcomes, name, printed, determined=None if REVERSED in name else False)
    ]


def _closeness(some: Sequence[Outcome], runs: int) -> str:
    below = [_in_mixed_branches(one) for one in measured(some, BATCH, "icas")]
    text = (
        f"How close: on {len(below)} of {runs} draws ID3 builds a tree of the paper's size, 10 nodes, three "
        "of them decisions. "
    )
    if below:
        text += (
            "On these, trees and accuracy are the paper's, and so are the instances of all hats but ID4's "
            "and the costs of ID3' hat; the other systems need fewer instances than the paper's, and ID5R "
            "and ID5 cost less. Not closer, because the paper's set has 203 of its 250 positions in the two "
            f"mixed branches of the root and a draw here {sum(below) / len(below):.0f}: its positions were "
            "drawn from another distribution."
        )
    return text


def _is_alike(one: Outcome) -> bool:
    printed = TABLE_8[BATCH]
    return one.measures["nodes"] == printed.nodes and one.measures["e_scores"] == printed.e_scores


def _in_mixed_branches(additions: float) -> float:
    """Return how many instances are below the root in mixed nodes, if there are no mixed ones below."""
    return (additions - TRAINING * ATTRIBUTES) / (ATTRIBUTES - 1)


def _printed_row() -> Check:
    """Return whether the printed row of ID3 can come about at all under the convention of counting."""
    printed = TABLE_8[BATCH]
    below = _in_mixed_branches(printed.icas)
    holds = (
        below == round(below) and below <= TRAINING and printed.e_scores == ATTRIBUTES + 2 * (ATTRIBUTES - 1)
    )
    return check(
        "the printed ID3 row closes in whole numbers under the convention of Table 7",
        holds,
        f"46 = 16 + 15 + 15, 10 nodes = 3 decisions + 7 answers, 7,045 = 16 x 250 + 15 x {below:g}",
    )


def _measured_rows(some: Sequence[Outcome]) -> Check:
    """Return whether the rows of ID3 measured on trees of that size close in the same way."""
    additions = measured(some, BATCH, "icas")
    below = [_in_mixed_branches(one) for one in additions]
    seen = "no draw gave a tree of that size"
    if below:
        seen = f"{len(below)} draws with 16 x 250 + 15 x {min(below):g} to 15 x {max(below):g} additions"
    return check(
        "and so does every measured one with a tree of that size",
        all(one == round(one) for one in below),
        seen,
    )


def _cut_off(outcomes: Sequence[Outcome]) -> Check:
    finished = measured(outcomes, CUT_OFF, "finished")
    share = 1 - sum(finished) / len(finished)
    return check(
        "ID4 hat is cut off at 30,000 instances in eighteen of twenty runs",
        abs(share - 0.9) <= 0.2,
        f"in {len(finished) - sum(finished):.0f} of {len(finished)}",
        determined=False,
    )
