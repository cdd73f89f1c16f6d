"""Table 5 and section 3.3: the eight people, step by step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lab.experiments.concepts import Concept, people
from lab.experiments.drawing import Pen
from lab.experiments.experiment import Data, Outcome, Task
from lab.experiments.report import Check, Drawing, Report, check
from lab.experiments.systems import ID5R, shape
from learners.ops import OpCounts
from learners.utgoff.id3 import id3
from learners.utgoff.node import Node
from learners.utgoff.selection import Selection


class Told(NamedTuple):
    """What section 3.3 tells about a step: in words, and the tests and classes of the tree after it."""

    words: str
    tree: str
    restructured: bool


_DARK = "dark eyes(blue -, brown height(tall -))"

TOLD = (
    Told("the tree is a leaf of class -", "-", False),
    Told("the second instance is added to the leaf", "-", False),
    Told(
        "expanded on height, then eyes is pulled up; height is below brown",
        "eyes(blue +, brown height(short -, tall -))",
        True,
    ),
    Told(
        "the left level-one subtree is expanded and hair is its test",
        "eyes(blue hair(blond height(tall +), dark -), brown height(short -, tall -))",
        True,
    ),
    Told(
        "the test at the root is changed to hair",
        f"hair(blond eyes(blue height(tall +), brown height(short -)), {_DARK})",
        True,
    ),
    Told(
        "a branch is grown for red, no test changes",
        f"hair(blond eyes(blue height(tall +), brown height(short -)), {_DARK}, red +)",
        False,
    ),
    Told(
        "the seventh instance does not cause any revision",
        f"hair(blond eyes(blue height(tall +), brown height(short -, tall -)), {_DARK}, red +)",
        False,
    ),
    Told(
        "the eighth instance does not cause any revision",
        f"hair(blond eyes(blue height(short +, tall +), brown height(short -, tall -)), {_DARK}, red +)",
        False,
    ),
)

FINAL = """hair
  blond: eyes
    blue: +
    brown: -
  dark: -
  red: +"""
"""The tree at the end of section 3.3, contracted."""

NOTES = [
    "Not told: how the tie between eyes and hair after the fourth instance is broken. Eyes stays, and so the "
    "order of ties is eyes, hair, height; the arbitrary test of an expansion is height, as in the text.",
    "Not told in words but drawn: nodes of one class that a pull-up has left expanded are not restructured.",
    "The drawings of the article are missing from some copies of it; compared are the words of section 3.3, "
    "the counts that follow from Table 5, and the tree at the end.",
]


class Stage(NamedTuple):
    """The tree after a step, and what the step cost."""

    tests: str
    drawn: str
    pulled_up: int
    spent: OpCounts
    equal: bool


def stages(concept: Concept) -> tuple[list[Stage], Node]:
    """Return the tree after each instance, and the final one."""
    order = concept.order("eyes", "hair", "height")
    system = ID5R(order)
    pen = Pen(concept)
    found: list[Stage] = []
    for number, (row, label) in enumerate(concept.examples, 1):
        before = system.ops.copy()
        system.learn(row, label)
        seen = ((example, 1) for example in concept.examples[:number])
        batch = id3(seen, order, Selection(), OpCounts())
        spent = system.ops - before
        equal = shape(batch) == shape(system.root)
        drawn = pen.draw(system.root)
        found.append(Stage(pen.in_a_line(system.root), drawn, spent.pull_ups, spent, equal))
    return found, system.root


@dataclass(frozen=True)
class Example:
    """The illustration of ID5R: everything in it follows from Table 5."""

    name: str = "utgoff-example"
    title: str = "Table 5 and section 3.3: ID5R on eight instances, step by step"
    runs: int = 0
    files: tuple[str, ...] = ()

    def tasks(self, runs: int, seed: int) -> list[Task]:
        """Return nothing: the report itself is the work."""
        return []

    def perform(self, task: Task, data: Data) -> Outcome:
        """Do nothing."""
        return Outcome(task)

    def report(self, outcomes: Sequence[Outcome], data: Data) -> Report:
        """Return the steps and the trees."""
        concept = people()
        steps, root = stages(concept)
        report = Report(self.name, self.title, notes=NOTES)
        for number, (told, stage, line) in enumerate(zip(TOLD, steps, _instances(concept), strict=True), 1):
            report.checks.append(_step(number, told, stage))
            spent = ", ".join(
                f"{count} {name.replace('_', ' ')}" for name, count in stage.spent.spent().items()
            )
            report.drawings.append(Drawing(f"after instance {number}, {line}: {spent}", stage.drawn))
        contracted = Pen(concept).contracted(root)
        report.drawings.append(Drawing("contracted", contracted))
        report.checks.append(
            check("the final tree, contracted, is the one drawn", contracted == FINAL, "hair, then eyes")
        )
        equal = sum(stage.equal for stage in steps)
        report.checks.append(
            check("the tree is the one ID3 builds", equal == len(steps), f"after {equal} of 8 instances")
        )
        return report


def _step(number: int, told: Told, stage: Stage) -> Check:
    pulled_up = f"{stage.pulled_up} pulled up" if stage.pulled_up else "nothing pulled up"
    holds = stage.tests == told.tree and bool(stage.pulled_up) == told.restructured
    return check(f"instance {number}: {told.words}", holds, f"{pulled_up}, {stage.tests}")


def _instances(concept: Concept) -> list[str]:
    return [
        f"({concept.classes[label]}, "
        + ", ".join(f"{name}={concept.values[a][row[a]]}" for a, name in enumerate(concept.attributes))
        + ")"
        for row, label in concept.examples
    ]
