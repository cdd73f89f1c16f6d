"""The worked numbers of Bhatia and Schuch 2008, and its example of learning, step by step."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.experiments.experiment import Data, Outcome, Task
from lab.experiments.report import Check, Drawing, Figure, Report, Table, Verdict, check
from learners.mdl.bits import ONE, length, structure
from learners.mdl.learner import MDL
from learners.mdl.options import MDLOptions
from learners.mdl.records import Node
from learners.outline import render
from learners.schema import Instance

DAYS = """sunny hot high FALSE N
sunny hot high TRUE N
overcast hot high FALSE P
rain mild high FALSE P
rain cool normal FALSE P
rain cool normal TRUE N
overcast cool normal TRUE P
sunny mild high FALSE N
sunny cool normal FALSE P
rain mild normal FALSE P
sunny mild normal TRUE P
overcast mild high TRUE P
overcast hot normal FALSE P
rain mild high TRUE N"""
"""Figure 7: outlook, temperature, humidity, windy, class."""
NAMES = ("outlook", "temperature", "humidity", "windy")
NOTES = [
    "After three samples the text adds 3.585 + 1 + 1 to 5.85: 5.585 with a figure lost.",
    "L(4, 2, 4) is log 5 + log 6 = 4.907. The text goes on with 2 where log 5 = 2.32 stands, prints 4.58, "
    "and its total of 6.85 has still another sum behind it.",
    "The split shown after three samples is called humidity, which has only one value in them. Its numbers "
    "are those of two samples on one branch and one on the other. Without exceptions, as the text has it, "
    "these are outlook's, and L(2, 0, 2) + L(1, 0, 1) is 2.585; 3.585 is what windy has, with one exception.",
    "The text adds the parts 3.585 + 1 + 2 + 3.17 to 9.665; they are 9.755.",
    "The structure of that tree is written L(3, 1, 2) = log 3 + log C(3, 2), which is the same number.",
    "The class of a last leaf costs nothing where all leaves before it below the same test are of one class.",
    "Figure 1 is called a tree of 10 bits by the simple code; by the code in use its structure has "
    f"{structure(10, 4):.2f}.",
]


def days() -> list[Instance]:
    """Return the samples of Figure 7."""
    return [
        Instance(dict(zip(NAMES, words[:4], strict=True)), words[4])
        for words in (line.split() for line in DAYS.splitlines())
    ]


def learner_of(code: str, *, deep: bool = False) -> MDL:
    """Return a learner that does as the paper does."""
    return MDL(options=MDLOptions(code=code, deep=deep, retry=1.0))  # type: ignore[arg-type]


def extensions(learner: MDL) -> dict[str, float]:
    """Return the bits of a single leaf with each test that divides it."""
    root = learner.tree.root
    assert root is not None
    found = {name: learner.tree.extension_bits(root, place) for place, name in enumerate(NAMES)}
    return {name: bits / ONE for name, bits in found.items() if bits >= 0}


def bits(learner: MDL) -> float:
    """Return the description length."""
    return sum(learner.description_bits)


@dataclass(frozen=True)
class MDLWorked:
    """Sections 2 and A: everything in them follows from the formulas."""

    name: str = "mdl-worked"
    title: str = "Bhatia and Schuch, the worked numbers and the example of learning"
    runs: int = 0
    files: tuple[str, ...] = ()

    def tasks(self, runs: int, seed: int) -> list[Task]:
        """Return nothing: the report itself is the work."""
        return []

    def perform(self, task: Task, data: Data) -> Outcome:
        """Do nothing."""
        return Outcome(task)

    def report(self, outcomes: Sequence[Outcome], data: Data) -> Report:
        """Return the numbers, and the trees that come of them."""
        report = Report(self.name, self.title, notes=list(NOTES))
        learner = learner_of("paper")
        found: dict[int, tuple[float, dict[str, float]]] = {}
        for number, day in enumerate(days(), 1):
            learner.learn_one(day)
            if number <= 5:
                found[number] = (bits(learner), extensions(learner))
        report.tables = [Table("Code lengths, in bits", tuple(_lengths(found)))]
        report.checks = _checks(learner, found)
        exceptions = learner_of("paper-data")
        for day in days():
            exceptions.learn_one(day)
        report.drawings.append(
            Drawing("by the exceptions alone, the tree of ID3", render(exceptions.outline()))
        )
        return report


def _lengths(found: dict[int, tuple[float, dict[str, float]]]) -> list[Figure]:
    """Return the printed numbers, those with slips without a verdict on the slip."""
    rows: list[tuple[str, float, float, int, bool]] = [
        ("L(3, 1, 3)", 3.585, length(3, 1, 3), 3, True),
        ("L(5, 3, 5)", 5.9, length(5, 3, 5), 1, True),
        ("L(3, 1, 2), structure of a test and two leaves", 3.17, structure(3, 1), 2, True),
        ("L(1, 0, 1), structure of a leaf", 1.0, structure(1, 0), 0, True),
        ("leaf after 5 samples", 7.9, found[5][0], 1, True),
        ("leaf after 3 samples (slip: 5.585)", 5.85, found[3][0], 3, False),
        ("L(4, 2, 4) (slip: 4.907)", 4.58, length(4, 2, 4), 3, False),
        ("leaf after 4 samples (slip: 6.907)", 6.85, found[4][0], 3, False),
        ("split after 3 samples: windy (slip: 9.755)", 9.665, found[3][1]["windy"], 3, False),
    ]
    figures: list[Figure] = []
    for row, paper, mean, digits, judged in rows:
        # The paper sometimes cuts its figures off instead of rounding them.
        same = abs(mean - paper) < 10.0**-digits
        verdict = (Verdict.PASS if same else Verdict.FAIL) if judged else Verdict.NOTED
        figures.append(Figure(row, "bits", paper, mean, None, None, digits, verdict))
    return figures


def _checks(learner: MDL, found: dict[int, tuple[float, dict[str, float]]]) -> list[Check]:
    told = {number: (leaf, min(splits.values())) for number, (leaf, splits) in found.items() if splits}
    checks = [
        check(
            f"after {number} samples no split is worth its bits",
            best > leaf,
            f"leaf {leaf:.3f}, best split {best:.3f}",
        )
        for number, (leaf, best) in told.items()
        if number >= 3
    ]
    root = learner.tree.root
    checks.append(
        check(
            "the tree stays a leaf on all 14 samples",
            isinstance(root, Node) and root.test < 0,
            f"{bits(learner):.3f} bits",
        )
    )
    one, two = _parity(deep=False), _parity(deep=True)
    checks += [
        check(
            "section 4.2: a step that needs a second one to pay is not taken (parity of two)",
            one.retained == 4 and one.outline() is not None and _leaves(one) == 1,
            f"{_leaves(one)} leaf, {bits(one):.3f} bits",
        ),
        check(
            "judged by what grows below it, it is",
            _leaves(two) == 4,
            f"{_leaves(two)} leaves, {bits(two):.3f} bits",
        ),
    ]
    return checks


def _parity(*, deep: bool) -> MDL:
    learner = learner_of("paper-data", deep=deep)
    for a, b in ("00", "11", "01", "10"):
        learner.learn_one(Instance({"a": a, "b": b}, "odd" if a != b else "even"))
    return learner


def _leaves(learner: MDL) -> int:
    root = learner.tree.root
    return 0 if root is None else root.nodes - root.decisions
