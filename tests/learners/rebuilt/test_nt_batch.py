"""The naive tree and C4.5 over arrays: worked examples, and a second implementation."""

import math
from collections import Counter
from statistics import NormalDist

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.rebuilt._batch import added_errors
from learners.rebuilt.table import Table
from learners.rebuilt.trees import UNPRUNED, BatchC45, BatchNaiveTree, BatchTree, Pruning
from tests.learners.rebuilt.growers import LITERAL
from tests.paths import REPOSITORY

GOLDEN = REPOSITORY / "tests" / "golden" / "naive_tree.json"


class Example(msgspec.Struct):
    rows: list[list[int]]
    labels: list[int]
    arity: list[int]
    tree: object
    pruned: object = None

    def table(self) -> Table:
        return Table.of(np.array(self.rows, dtype=float), self.labels, 2, self.arity)


class Expected(msgspec.Struct):
    records: float
    errors: float
    c45: float
    weka: float


class Golden(msgspec.Struct):
    figure1: Example
    weather: Example
    dropped: Example
    expected_errors: list[Expected]


def golden() -> Golden:
    return msgspec.json.decode(GOLDEN.read_bytes(), type=Golden)


def nested(tree: BatchTree, node: int = 0) -> object:
    """Return a tree in the form of the golden file."""
    if tree.attribute[node] < 0:
        counts = tree.counts[node]
        return [int(counts.argmax()), [int(n) for n in counts]]
    first = int(tree.first[node])
    kids = {str(b): nested(tree, first + b) for b in range(tree.branches[node]) if tree.totals[first + b] > 0}
    return {"attr": int(tree.attribute[node]), "thr": None, "kids": kids}


# ---- worked examples


@pytest.mark.parametrize("name", ["figure1", "weather", "dropped"])
def test_the_naive_tree_is_the_worked_one(name: str) -> None:
    example: Example = getattr(golden(), name)
    assert nested(LITERAL.grow(example.table())) == example.tree


def test_pruning_leaves_the_worked_tree() -> None:
    example = golden().figure1
    pruning = Pruning(collapse=False, raising=False)
    grown = BatchNaiveTree(min_records=1, pruning=pruning, cut="gain").grow(example.table())
    assert nested(grown) == example.pruned


def test_expected_errors_are_those_of_c45_and_of_weka() -> None:
    # Quinlan reads the quantile from a table with straight lines between its entries.
    for one in golden().expected_errors:
        for told, z in ((one.weka, NormalDist().inv_cdf(0.75)), (one.c45, 0.6925)):
            assert one.errors + added_errors(one.records, one.errors, 0.25, z) == pytest.approx(
                told, abs=1e-9
            )


# ---- a second implementation


def entropy(shares: list[float]) -> float:
    return -sum(p * math.log2(p) for p in shares if p > 0)


def slow_naive_tree(
    rows: list[list[int]], labels: list[int], arity: list[int], classes: int, least: int
) -> object:
    """The naive tree from the paper's words alone."""

    def given(attribute: int, value: int, label: int) -> float:
        of_class = [row for row, other in zip(rows, labels, strict=True) if other == label]
        return sum(row[attribute] == value for row in of_class) / len(of_class) if of_class else 0.0

    def gain(inside: list[int], attribute: int) -> float:
        node = [sum(labels[i] == c for i in inside) / len(inside) for c in range(classes)]
        left = 0.0
        for value in range(arity[attribute]):
            joint = [node[c] * given(attribute, value, c) for c in range(classes)]
            if sum(joint) > 0:
                left += sum(joint) * entropy([p / sum(joint) for p in joint])
        return round(entropy(node) - left, 12)

    def grow(inside: list[int], candidates: list[int]) -> object:
        counts = [sum(labels[i] == c for i in inside) for c in range(classes)]
        leaf = [counts.index(max(counts)), counts]
        if max(counts) == len(inside) or len(inside) < 2 * least:
            return leaf
        for attribute in sorted(candidates, key=lambda a: (-gain(inside, a), a)):
            candidates = [a for a in candidates if a != attribute]
            sizes = Counter(rows[i][attribute] for i in inside)
            if sum(n >= least for n in sizes.values()) >= 2:
                kids = {
                    str(value): grow([i for i in inside if rows[i][attribute] == value], candidates)
                    for value in sorted(sizes)
                }
                return {"attr": attribute, "thr": None, "kids": kids}
        return leaf

    return grow(list(range(len(rows))), list(range(len(arity))))


@st.composite
def nominal(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int], int]:
    arity = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    classes = draw(st.integers(1, 3))
    row = st.tuples(*(st.integers(0, values - 1) for values in arity)).map(list)
    rows = draw(st.lists(row, min_size=1, max_size=24))
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=len(rows), max_size=len(rows)))
    return rows, labels, arity, classes


@given(nominal(), st.integers(1, 2))
def test_the_naive_tree_is_the_one_the_paper_describes(
    case: tuple[list[list[int]], list[int], list[int], int], least: int
) -> None:
    rows, labels, arity, classes = case
    grown = BatchNaiveTree(least, UNPRUNED).grow(Table.of(np.array(rows, float), labels, classes, arity))
    assert nested(grown) == slow_naive_tree(rows, labels, arity, classes, least)


@pytest.mark.parametrize("seed", range(8))
def test_it_is_that_tree_where_attributes_depend_on_each_other_too(seed: int) -> None:
    # Far below the root the bound on an attribute is far from its gain, and orders attributes otherwise.
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (60, 5))
    rows[:, 3] = (rows[:, 0] + rows[:, 1]) % 3
    labels = (rows[:, 0] * rows[:, 2] + rows[:, 4] + (rng.random(60) < 0.2)) % 3
    arity = [3] * 5
    grown = BatchNaiveTree(1, UNPRUNED).grow(Table.of(rows.astype(float), labels, 3, arity))
    assert nested(grown) == slow_naive_tree(rows.tolist(), labels.tolist(), arity, 3, 1)


@given(nominal())
def test_c45_tests_the_best_gain_ratio_among_those_of_mean_gain(
    case: tuple[list[list[int]], list[int], list[int], int],
) -> None:
    rows, labels, arity, classes = case
    grown = BatchC45(1, UNPRUNED).grow(Table.of(np.array(rows, float), labels, classes, arity))
    whole = entropy([labels.count(c) / len(labels) for c in range(classes)])
    found: dict[int, tuple[float, float]] = {}
    for attribute in range(len(arity)):
        sizes = Counter(row[attribute] for row in rows)
        if len(sizes) < 2:
            continue
        left = 0.0
        for value, n in sizes.items():
            there = [label for row, label in zip(rows, labels, strict=True) if row[attribute] == value]
            left += n / len(rows) * entropy([there.count(c) / n for c in range(classes)])
        found[attribute] = (whole - left, entropy([n / len(rows) for n in sizes.values()]))
    # Attributes with a value for nearly every record do not count in the mean, unless all are such.
    many = [a for a in range(len(arity)) if arity[a] >= 0.3 * len(rows)]
    usual = [a for a in found if len(many) == len(arity) or a not in many]
    mean = sum(found[a][0] for a in usual) / len(usual) if usual else 0.0
    ratios = {a: gain / information for a, (gain, information) in found.items() if gain >= mean - 1e-3}
    if grown.attribute[0] < 0:
        assert whole == 0 or max(ratios.values(), default=0.0) <= 1e-5
    else:
        assert ratios[int(grown.attribute[0])] >= max(ratios.values()) - 1e-5
