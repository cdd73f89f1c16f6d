"""The naive tree and C4.5 over arrays: worked examples, a second implementation, and tables of every kind."""

import math
from collections import Counter
from random import Random
from statistics import NormalDist

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.rebuilt._batch import added_errors
from learners.rebuilt.naive_bayes import NaiveBayes
from learners.rebuilt.table import Filling, Sparse, Table, TableError
from learners.rebuilt.trees import UNPRUNED, BatchC45, BatchNaiveTree, BatchTree, Pruning
from tests.paths import REPOSITORY

GOLDEN = REPOSITORY / "tests" / "golden" / "naive_tree.json"
LITERAL = BatchNaiveTree(min_records=1, pruning=UNPRUNED, cut="gain")
"""The algorithm as the paper prints it."""
GROWERS: dict[str, BatchNaiveTree | BatchC45] = {
    "nt": BatchNaiveTree(),
    "nt, as printed": LITERAL,
    "nt, equal width": BatchNaiveTree(bins="width", cut="gain"),
    "nt, not renormalised": BatchNaiveTree(renormalise=False),
    "c45": BatchC45(),
    "c45, unpruned": BatchC45(1, UNPRUNED),
    "c45, not raised": BatchC45(pruning=Pruning(raising=False)),
}


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


# ---- laws of all ways to grow


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Return tables with constants, infinities, missing values, and more values than records."""
    m = draw(st.integers(1, 20))
    classes = draw(st.integers(1, 3))
    columns: list[list[float]] = []
    arity: list[int] = []
    for _ in range(draw(st.integers(0, 4))):
        values = draw(st.sampled_from((0, 0, 1, 2, 3, 40)))
        numbers = st.sampled_from((-math.inf, -1.5, 0.0, 1e-300, 1.0, 2.0, 1e300, math.inf))
        cell = numbers if not values else st.integers(0, values - 1).map(float)
        missing = draw(st.sampled_from(("none", "some", "all")))
        if missing != "none":
            cell = st.just(math.nan) if missing == "all" else cell | st.just(math.nan)
        columns.append(draw(st.lists(cell, min_size=m, max_size=m)))
        arity.append(values)
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=m, max_size=m))
    return Table.of(np.array(columns).T.reshape(m, len(columns)), labels, classes, arity)


@pytest.mark.parametrize("name", GROWERS)
def test_every_table_has_a_tree_whose_records_add_up(name: str) -> None:
    @given(tables())
    def adds_up(table: Table) -> None:
        tree = GROWERS[name].grow(table)
        assert tree.totals[0] == pytest.approx(len(table))
        for node in np.flatnonzero(tree.attribute >= 0):
            below = tree.totals[tree.first[node] : tree.first[node] + tree.branches[node]]
            assert below.sum() == pytest.approx(tree.totals[node], rel=1e-4)
        answers = tree.distributions(table.x)
        assert np.allclose(answers.sum(axis=1), 1)
        assert tree.predict(table.x).max() < table.classes

    adds_up()


@pytest.mark.parametrize("name", GROWERS)
def test_the_order_of_the_records_does_not_matter(name: str) -> None:
    @given(tables(), st.randoms(use_true_random=False))
    def same(table: Table, random: Random) -> None:
        order = list(range(len(table)))
        random.shuffle(order)
        one, other = GROWERS[name].grow(table), GROWERS[name].grow(table.take(order))
        assert np.array_equal(one.attribute, other.attribute)
        assert np.array_equal(one.threshold, other.threshold)
        assert np.allclose(one.counts, other.counts)

    same()


@pytest.mark.parametrize("name", GROWERS)
def test_a_sparse_table_has_the_tree_of_the_dense_one(name: str) -> None:
    @given(st.data())
    def same(data: st.DataObject) -> None:
        m, width = data.draw(st.integers(1, 25)), data.draw(st.integers(1, 5))
        cell = st.sampled_from((0.0, 0.0, 0.0, 1.0, 2.0, -1.0, 0.5))
        x = np.array(
            data.draw(st.lists(st.lists(cell, min_size=width, max_size=width), min_size=m, max_size=m))
        )
        labels = data.draw(st.lists(st.integers(0, 2), min_size=m, max_size=m))
        start = np.concatenate([[0], np.cumsum((x != 0).sum(axis=1))]).astype(np.int64)
        rows = Sparse(start, np.nonzero(x)[1].astype(np.int32), x[x != 0], width)
        sparse, dense = Table.of(rows, labels, 3), Table.of(x, labels, 3)
        one, other = GROWERS[name].grow(sparse), GROWERS[name].grow(dense)
        assert np.array_equal(one.attribute, other.attribute)
        assert np.array_equal(one.threshold, other.threshold)
        assert np.array_equal(one.predict(rows), other.predict(x))
        assert np.array_equal(rows.dense(), x)
        assert np.array_equal(NaiveBayes.fit(sparse).predict(rows), NaiveBayes.fit(dense).predict(x))

    same()


def test_pruning_never_makes_a_tree_larger_and_answers_what_is_left() -> None:
    rng = np.random.default_rng(5)
    table = Table.of(rng.integers(0, 3, (300, 6)).astype(float), rng.integers(0, 2, 300), 2, [3] * 6)
    for grower in (BatchNaiveTree, BatchC45):
        sizes = [grower(pruning=Pruning(confidence=cf)).grow(table).nodes for cf in (0.001, 0.05, 0.25, 0.5)]
        assert sizes == sorted(sizes)
        assert sizes[-1] <= grower(pruning=UNPRUNED).grow(table).nodes


def test_an_infinity_is_on_its_side_of_the_cut() -> None:
    x = np.array([[-math.inf], [-math.inf], [3.0], [3.0], [math.inf], [math.inf]])
    for labels in ([0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1]):
        for grower in (BatchC45(1, UNPRUNED), LITERAL):
            tree = grower.grow(Table.of(x, labels, 2))
            assert tree.predict(x).tolist() == labels
            assert tree.threshold[0] == pytest.approx(3.0 if labels[2] == 0 else np.finfo(float).min)
            assert np.isfinite(tree.threshold).all()


def test_a_missing_value_goes_all_ways_in_c45_and_the_common_way_in_the_naive_tree() -> None:
    x = np.array([[0.0]] * 6 + [[1.0]] * 3)
    table = Table.of(x, [0] * 6 + [1] * 3, 2, [2])
    nothing = np.array([[math.nan]])
    assert BatchC45().grow(table).distributions(nothing)[0].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert BatchNaiveTree().grow(table).distributions(nothing)[0].tolist() == [1.0, 0.0]
    assert Filling.of(Table.of([[1.0], [math.nan], [4.0]], [0, 0, 0], 1)).values.tolist() == [2.5]


def test_c45_leaves_a_tenth_of_the_mean_class_on_both_sides_of_a_number() -> None:
    # Of 200 records in two classes that is 10: a cut after four, though pure, is not made at once.
    x = np.array([[float(n)] for n in range(200)])
    for first, cut in ((4, 9.5), (12, 11.5)):
        tree = BatchC45(pruning=UNPRUNED).grow(Table.of(x, [int(n < first) for n in range(200)], 2))
        assert math.floor(tree.threshold[0]) == math.floor(cut)


@pytest.mark.parametrize(
    ("x", "labels", "classes", "arity", "words"),
    [
        (np.zeros((0, 2)), [], 2, None, "no instances"),
        ([1.0, 2.0], [0, 1], 2, None, "two dimensions"),
        ([[1.0]], [0, 1], 2, None, "2 labels for 1 rows"),
        ([[1.0]], [2], 2, None, "not one of the 2 classes"),
        ([[1.0]], [0.5], 2, None, "whole numbers"),
        ([[1.0]], [0], 2, [2, 2], "2 kinds for 1 attributes"),
        ([[1.0]], [0], 2, [-1], "kinds"),
        ([[2.0]], [0], 1, [2], "none of its 2 numbers"),
        ([[0.5]], [0], 1, [2], "none of its 2 numbers"),
    ],
)
def test_arrays_that_make_no_table_are_refused(
    x: object, labels: object, classes: int, arity: list[int] | None, words: str
) -> None:
    with pytest.raises(TableError, match=words):
        Table.of(x, labels, classes, arity)  # type: ignore[arg-type]


def test_a_missing_number_is_filled_where_the_sum_of_the_others_overflows() -> None:
    x = np.array([[-1e308], [-1e308], [np.nan], [-1.2e308]])
    filled = Filling.of(Table.of(x, np.array([0, 1, 0, 1]), 2)).values
    assert filled[0] == pytest.approx(-1.0666666666666667e308)
