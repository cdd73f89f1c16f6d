"""Figure 1 of Su and Zhang 2006: (A1 and A2) or A3 or A4, by information gain and by its approximation."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from lab.experiments.report import Drawing, Figure, Report, Verdict, check
from lab.experiments.report import Table as Figures
from learners.outline import render
from learners.rebuilt.reading import Reading
from learners.rebuilt.table import Table
from learners.rebuilt.trees import UNPRUNED, BatchNaiveTree

ATTRIBUTES = ("A1", "A2", "A3", "A4")
TREE = """A3
  0: A4
    0: A1
      0: 0  (0:2)
      1: A2
        0: 0  (0:1)
        1: 1  (1:1)
    1: 1  (1:4)
  1: 1  (1:8)"""
PRINTED = {"A1": (0.04, 0.02), "A2": (0.04, 0.02), "A4": (0.54, 0.36)}
"""Below A3 = 0: information gain and independent information gain."""


def concept() -> Table:
    """Return all sixteen instances."""
    rows = list(product((0, 1), repeat=4))
    labels = [int(bool((a and b) or c or d)) for a, b, c, d in rows]
    return Table.of(np.array(rows, dtype=float), np.array(labels), 2, [2] * 4)


def entropy(shares: Sequence[float]) -> float:
    """Return the entropy of some shares, in bits."""
    return -sum(share * math.log2(share) for share in shares if share > 0)


def gains(table: Table, inside: Sequence[int], attribute: int) -> tuple[float, float]:
    """Return the gain of a nominal attribute in a set of records, and what equation 5 makes of it."""
    assert isinstance(table.x, np.ndarray)
    labels = table.labels
    node = np.bincount(labels[list(inside)], minlength=table.classes) / len(inside)
    whole, naive = entropy(node.tolist()), entropy(node.tolist())
    for value in range(int(table.arity[attribute])):
        there = [row for row in inside if table.x[row, attribute] == value]
        counts = np.bincount(labels[there], minlength=table.classes)
        whole -= len(there) / len(inside) * entropy((counts / max(1, len(there))).tolist())
        with_value = table.x[:, attribute] == value
        given = np.array([with_value[labels == c].mean() for c in range(table.classes)])
        joint = node * given
        naive -= float(joint.sum()) * entropy((joint / max(joint.sum(), 1e-300)).tolist())
    return whole, naive


def figure_1() -> Report:
    """Return Figure 1 and the gains that are printed with it."""
    table = concept()
    assert isinstance(table.x, np.ndarray)
    report = Report("nt-figure1", "Su and Zhang, Figure 1: a concept on which the assumption does not hold")
    tree = BatchNaiveTree(min_records=1, pruning=UNPRUNED, cut="gain").grow(table)
    drawn = render(Reading(tree, ATTRIBUTES, lambda _, v: str(v), "01").outline, counts=True)
    report.drawings.append(
        Drawing("the tree of NT before it is pruned; in brackets class and records", drawn)
    )
    report.checks.append(check("the tree is the one drawn", drawn == TREE, f"{tree.leaves} leaves"))
    inside = np.flatnonzero(table.x[:, 2] == 0).tolist()
    figures: list[Figure] = []
    for name, printed in PRINTED.items():
        found = gains(table, inside, ATTRIBUTES.index(name))
        for words, paper, seen in zip(("gain", "independent gain"), printed, found, strict=True):
            # The paper cuts its figures off.
            same = math.floor(seen * 100) / 100 == paper
            verdict = Verdict.PASS if same else Verdict.FAIL
            figures.append(Figure(name, words, paper, seen, None, None, 4, verdict))
    report.tables.append(Figures("Below A3 = 0", tuple(figures)))
    root = [gains(table, range(len(table)), attribute) for attribute in range(4)]
    report.checks.append(
        check(
            "at the root the two are equal",
            all(math.isclose(one, other, abs_tol=1e-12) for one, other in root),
            ", ".join(f"{name} {gain:.4f}" for name, (gain, _) in zip(ATTRIBUTES, root, strict=True)),
        )
    )
    pruned = BatchNaiveTree().grow(table)
    report.notes += [
        "The paper prints two decimals and cuts the rest off.",
        "The figure is the tree before pruning. With C4.5's pruning and at least two records in two "
        "branches, "
        f"{pruned.leaves} leaves are left.",
    ]
    return report
