"""Nine algorithms on one set of instances: how a row of Table 7 or 8 is measured."""

from collections.abc import Sequence

import numpy as np

from lab.experiments.concepts import Example
from lab.experiments.experiment import Outcome, measured
from lab.experiments.printed import COLUMNS, Printed
from lab.experiments.report import Chart, Figure, Series, compare
from lab.experiments.systems import INCREMENTAL, classify, size
from lab.experiments.training import train, with_replacement
from learners.ops import OpCounts
from learners.utgoff.id3 import id3
from learners.utgoff.node import Node
from learners.utgoff.selection import Selection

HAT = " hat"
BATCH = "ID3"


def measure_incremental(
    name: str,
    order: tuple[int, ...],
    examples: Sequence[Example],
    tests: Sequence[Example],
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return a run of one of the eight incremental algorithms, such as "ID5R hat"."""
    system = INCREMENTAL[name.removesuffix(HAT)](order)
    went = train(system, examples, with_replacement(len(examples), rng), hat=name.endswith(HAT))
    return {
        "insts": went.presented,
        "trained": went.trained,
        **_tree(system.root, system.ops, tests),
        "finished": went.finished,
    }


def measure_batch(
    order: tuple[int, ...], examples: Sequence[Example], tests: Sequence[Example]
) -> dict[str, float]:
    """Return the one run of the nonincremental ID3."""
    ops = OpCounts()
    root = id3(((example, 1) for example in examples), order, Selection(), ops)
    return {"insts": len(examples), "trained": len(examples), **_tree(root, ops, tests)}


def _tree(root: Node, ops: OpCounts, tests: Sequence[Example]) -> dict[str, float]:
    right = sum(classify(root, row) == label for row, label in tests)
    return {
        "icas": ops.instance_count_additions,
        "e_scores": ops.e_scores,
        "nodes": size(root),
        "accuracy": 100 * right / len(tests),
    }


def figures(
    outcomes: Sequence[Outcome], subject: str, printed: Printed | None, *, determined: bool | None
) -> list[Figure]:
    """Return the row of one algorithm."""
    return [
        compare(
            subject,
            column,
            None if printed is None else getattr(printed, measure),
            measured(outcomes, subject, measure),
            digits=digits,
            determined=determined,
        )
        for measure, (column, digits) in COLUMNS.items()
    ]


def chart(title: str, rows: Sequence[Figure], column: str) -> Chart:
    """Return a column of a table as bars: the paper's beside the measured."""
    bars = [one for one in rows if one.column == column and one.paper is not None]
    return Chart(
        title,
        "",
        column,
        (
            Series("paper", tuple((place, one.paper or 0) for place, one in enumerate(bars))),
            Series(
                "measured",
                tuple((place, one.mean) for place, one in enumerate(bars)),
                tuple(one.error or 0 for one in bars),
            ),
        ),
        categories=tuple(one.row for one in bars),
        logarithmic=True,
    )
