"""How good a test is: the weather's figures, order, rounding, and the tail of the chi-square."""

import json
import math
from collections.abc import Iterable
from fractions import Fraction
from random import Random
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.merit import (
    FRACTION_BITS,
    ROUNDING,
    Table,
    chi_square_tail,
    chi_square_threshold,
    degrees_of_freedom,
    disorder,
    e_score,
    g_statistic,
    gain_ratios,
    is_significant,
    majority,
    pearson,
    remaining_disorder,
    rounded,
    x_log_x,
)
from tests.oracles import id3 as oracle
from tests.paths import REPOSITORY

T = TypeVar("T")
GOLDEN = REPOSITORY / "tests" / "golden"
WEATHER = json.loads((GOLDEN / "weather.json").read_text())
TALLIES = st.dictionaries(st.integers(0, 3), st.integers(1, 60), min_size=1, max_size=4)
TABLES = st.dictionaries(st.integers(0, 4), TALLIES, min_size=1, max_size=4)


def weather_tables() -> tuple[dict[int, Table], dict[int, int]]:
    """Return the counts of each attribute of the Saturday mornings, and those of the classes."""
    days = [day.split() for day in WEATHER["days"]]
    tables: dict[int, dict[int, dict[int, int]]] = {attribute: {} for attribute in range(4)}
    classes = {0: 0, 1: 0}
    for label, *values in days:
        code = "NP".index(label)
        classes[code] += 1
        for attribute, value in enumerate(values):
            codes = sorted({day[attribute + 1] for day in days})
            tally = tables[attribute].setdefault(codes.index(value), {})
            tally[code] = tally.get(code, 0) + 1
    return dict(tables), classes


def test_the_weather_has_quinlans_scores() -> None:
    tables, classes = weather_tables()
    unit = sum(classes.values()) << FRACTION_BITS
    assert rounded(disorder(classes), unit) / ROUNDING == WEATHER["I"]
    assert [e_score(table) / ROUNDING for table in tables.values()] == WEATHER["E"]
    gains = [
        rounded(disorder(classes) - remaining_disorder(table), unit) / ROUNDING for table in tables.values()
    ]
    assert gains == WEATHER["gain"]
    ratios = gain_ratios(tables, classes)
    assert [None if ratio is None else ratio / ROUNDING for ratio in ratios.values()] == WEATHER["GR"]


def test_the_weather_has_its_chi_squares_and_none_is_significant() -> None:
    tables, classes = weather_tables()
    for table, (statistic, degrees), p in zip(tables.values(), WEATHER["chi2"], WEATHER["p"], strict=True):
        assert round(pearson(table, classes), 5) == statistic
        assert degrees_of_freedom(table, classes) == degrees
        assert round(chi_square_tail(pearson(table, classes), degrees), 5) == p
        assert not is_significant(table, classes, 0.05)
        assert is_significant(table, classes, p + 0.001)


# ---- order and rounding


def shuffled(items: Iterable[T], chance: Random) -> list[T]:
    found = list(items)
    chance.shuffle(found)
    return found


@settings(max_examples=1000)
@given(TABLES, st.randoms(use_true_random=False))
def test_no_merit_depends_on_the_order_of_its_terms(table: dict[int, dict[int, int]], chance: Random) -> None:
    other = dict(
        shuffled(((value, dict(shuffled(tally.items(), chance))) for value, tally in table.items()), chance)
    )
    classes: dict[int, int] = {}
    for tally in table.values():
        for label, n in tally.items():
            classes[label] = classes.get(label, 0) + n
    mixed = dict(shuffled(classes.items(), chance))
    assert e_score(table) == e_score(other)
    assert remaining_disorder(table) == remaining_disorder(other)
    assert pearson(table, classes) == pearson(other, mixed)
    assert g_statistic(table, classes) == g_statistic(other, mixed)
    assert gain_ratios({0: table, 1: table}, classes) == gain_ratios({0: other, 1: other}, mixed)


@settings(max_examples=300)
@given(st.integers(0, 10**12), st.integers(1, 10**9))
def test_rounding_is_exact_with_halves_up(numerator: int, denominator: int) -> None:
    assert rounded(numerator, denominator) == math.floor(
        Fraction(numerator * ROUNDING, denominator) + Fraction(1, 2)
    )


def test_half_a_unit_is_rounded_up() -> None:
    assert [rounded(n, 2 * ROUNDING) for n in (0, 1, 2, 3)] == [0, 1, 1, 2]


def test_x_log_x_is_the_nearest_number_in_fixed_point() -> None:
    # Above, a float cannot always tell the nearest: 4,125 and 15,359 are one off in 2 ** 24.
    assert [x for x in range(4_000) if x_log_x(x) != oracle.x_log_x(x)] == []
    assert all(abs(x_log_x(x) - oracle.x_log_x(x)) <= 1 for x in range(4_000, 20_000, 7))


@given(TABLES)
def test_an_e_score_lies_between_none_and_all_of_the_entropy(table: dict[int, dict[int, int]]) -> None:
    assert 0 <= e_score(table) <= 2 * ROUNDING
    pure = {value: dict([next(iter(tally.items()))]) for value, tally in table.items()}
    assert e_score(pure) == 0


def test_an_attribute_of_one_value_gains_nothing_and_is_never_significant() -> None:
    table, classes = {0: {0: 5, 1: 5}}, {0: 5, 1: 5}
    assert e_score(table) == ROUNDING
    assert gain_ratios({0: table}, classes) == {0: 0}
    assert not is_significant(table, classes, 0.999)
    assert not is_significant(table, classes, 0.999, pearsons=False)


def test_gains_that_differ_by_less_than_the_rounding_are_alike() -> None:
    # In fixed point the gain of the second is one in 2 ** 24 below the first, and so below their mean.
    whole, halves = {0: {0: 4, 1: 2}}, {0: {0: 2, 1: 1}, 1: {0: 2, 1: 1}}
    assert remaining_disorder(whole) == remaining_disorder(halves) - 1
    assert gain_ratios({0: whole, 1: halves}, {0: 4, 1: 2}) == {0: 0, 1: 0}


# ---- significance


@pytest.mark.parametrize(
    ("x", "degrees", "p"),
    [
        (3.841, 1, 0.05),
        (6.635, 1, 0.01),
        (10.828, 1, 0.001),
        (5.991, 2, 0.05),
        (9.488, 4, 0.05),
        (18.307, 10, 0.05),
        (124.342, 100, 0.05),
        (1074.679, 1000, 0.05),
    ],
)
def test_the_tail_agrees_with_the_printed_tables(x: float, degrees: int, p: float) -> None:
    assert chi_square_tail(x, degrees) == pytest.approx(p, rel=2e-3)
    assert chi_square_threshold(p, degrees) == pytest.approx(x, abs=1e-3)


@given(st.just(0.0) | st.floats(1e-9, 200), st.integers(1, 60))
def test_the_tail_agrees_with_its_closed_form(x: float, degrees: int) -> None:
    half = x / 2
    if degrees % 2:
        terms = [half ** (i - 0.5) / math.gamma(i + 0.5) for i in range(1, (degrees + 1) // 2)]
        closed = math.erfc(math.sqrt(half)) + math.exp(-half) * math.fsum(terms)
    else:
        closed = math.exp(-half) * math.fsum(half**i / math.factorial(i) for i in range(degrees // 2))
    assert chi_square_tail(x, degrees) == pytest.approx(closed, rel=1e-9, abs=1e-12)


@given(st.sampled_from((0.5, 0.1, 0.05, 0.01, 0.001)), st.integers(1, 300))
def test_the_threshold_is_where_the_tail_is_alpha(alpha: float, degrees: int) -> None:
    assert chi_square_tail(chi_square_threshold(alpha, degrees), degrees) == pytest.approx(alpha, rel=1e-9)


# ---- majority


def test_the_majority_is_the_most_frequent_and_ties_follow_the_order() -> None:
    assert majority({}) is None
    assert majority({0: 0}) is None
    assert majority({3: 2, 1: 2, 2: 1}) == 1
    assert majority({3: 2, 1: 2}, {3: (0, ""), 1: (1, "a")}) == 3
    assert majority({3: 2, 1: 2}, {3: (1, "b"), 1: (1, "a")}) == 1
