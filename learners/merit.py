"""How good a test is: E-score, gain ratio, and whether it is significant at all.

Everything is computed in integers. x log2 x is taken in 64-bit fixed point with 24 fractional bits, so that
a sum does not depend on the order in which its terms come: floats summed in order of arrival break about
one tie in twenty differently in a batch and in an incremental learner.

A table is the counts of one attribute at one node: value -> class -> instances.
"""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache

Tally = Mapping[int, int]
"""How many instances of each class."""
Table = Mapping[int, Tally]

FRACTION_BITS = 24
ROUNDING = 100_000
"""Scores are rounded to 1 / ROUNDING before they are compared, as the paper does."""


_ONE = 1 << 63
_TERMS = 8
_LOG2_E = 6653256548922161245
"""log2(e) in units of 2^-62."""


def _bit_by_bit(y: int) -> int:
    """Return log2 of a number from 1 to 2, which is given in units of 2^-63, in units of 2^-62."""
    log = 0
    for _ in range(62):
        y = y * y >> 63
        carry = y >> 64
        y >>= carry
        log = 2 * log + carry
    return log


_LOG_OF_STEPS = [_bit_by_bit((256 + i) << 55) for i in range(256)]


def exact_log(x: int) -> int:
    """Return log2 x of a whole number above 0, in units of 2^-62.

    Only whole numbers are used: two mathematics libraries may round the last bit of a float differently, and
    one unit is enough to break a tie between two tests in another way. The compiled twin is id5r/logs.c.

    >>> exact_log(8) == 3 << 62, round(exact_log(3) / 2**62, 12)
    (True, 1.584962500721)
    """
    exponent = x.bit_length() - 1
    mantissa = x << (63 - exponent)
    step = (mantissa >> 55) & 255
    base = (256 + step) << 55
    r = ((mantissa - base) << 63) // base
    series = _ONE // _TERMS
    for k in range(_TERMS - 1, 0, -1):
        series = _ONE // k - (series * r >> 63)
    return (exponent << 62) + _LOG_OF_STEPS[step] + ((series * r >> 63) * _LOG2_E >> 63)


@lru_cache(maxsize=1 << 16)
def x_log_x(x: int) -> int:
    """Return x log2 x in fixed point."""
    return (x * exact_log(x) + (1 << 37)) >> (62 - FRACTION_BITS) if x > 1 else 0


@lru_cache(maxsize=1 << 16)
def log_of(x: int) -> int:
    """Return log2 x of a whole number above 0 in fixed point."""
    return (exact_log(x) + (1 << 37)) >> (62 - FRACTION_BITS)


def disorder(tally: Tally) -> int:
    """Return n times the entropy of a tally of n instances, in fixed point."""
    counts = tally.values()
    return x_log_x(sum(counts)) - sum(map(x_log_x, counts))


def remaining_disorder(table: Table) -> int:
    """Return n times the E-score of the attribute, in fixed point."""
    return sum(map(disorder, table.values()))


def rounded(numerator: int, denominator: int) -> int:
    """Return numerator / denominator as a whole number of 1 / ROUNDING, halves up."""
    return (2 * numerator * ROUNDING + denominator) // (2 * denominator)


def e_score(table: Table) -> int:
    """Return the expected entropy left after the test, in units of 1 / ROUNDING: the lower the better.

    >>> e_score({0: {0: 1, 1: 1}, 1: {1: 2}}) / ROUNDING
    0.5
    """
    instances = sum(sum(tally.values()) for tally in table.values())
    return rounded(remaining_disorder(table), instances << FRACTION_BITS)


def gain_ratios(tables: Mapping[int, Table], classes: Tally) -> dict[int, int | None]:
    """Return Quinlan's gain ratio of each attribute, in units of 1 / ROUNDING; None below the mean gain.

    The gain and the mean gain are both rounded before they are compared; an attribute with one value has
    the ratio 0 (section 5.3).
    """
    instances = sum(classes.values())
    before = disorder(classes)
    gains = {attribute: before - remaining_disorder(table) for attribute, table in tables.items()}
    unit = instances << FRACTION_BITS
    mean = rounded(sum(gains.values()), unit * len(gains))
    ratios: dict[int, int | None] = {}
    for attribute, table in tables.items():
        if rounded(gains[attribute], unit) < mean:
            ratios[attribute] = None
            continue
        spread = x_log_x(instances) - sum(x_log_x(sum(tally.values())) for tally in table.values())
        ratios[attribute] = rounded(gains[attribute], spread) if spread else 0
    return ratios


# ---- significance


def degrees_of_freedom(table: Table, classes: Tally) -> int:
    """Return (values - 1)(classes - 1), of those that are present."""
    return (len(table) - 1) * (sum(1 for n in classes.values() if n) - 1)


def pearson(table: Table, classes: Tally) -> float:
    """Return Pearson's chi-square statistic of the table, summed so that order does not matter."""
    n = sum(classes.values())
    terms = (
        count * count / (sum(tally.values()) * classes[name])
        for tally in table.values()
        for name, count in tally.items()
        if count
    )
    return n * (math.fsum(terms) - 1.0)


def g_statistic(table: Table, classes: Tally) -> float:
    """Return the G statistic: 2 ln 2 times n times the gain."""
    return 2 * math.log(2) * (disorder(classes) - remaining_disorder(table)) / (1 << FRACTION_BITS)


@lru_cache(maxsize=1 << 14)
def critical_gain(alpha: float, degrees: int) -> int:
    """Return n times the gain, in fixed point, above which G is significant."""
    return math.floor(chi_square_threshold(alpha, degrees) / (2 * math.log(2)) * (1 << FRACTION_BITS))


def chi_square_tail(x: float, degrees: int) -> float:
    """Return the probability that a chi-square variable is larger than x.

    >>> round(chi_square_tail(3.841, 1), 3), round(chi_square_tail(9.488, 4), 3)
    (0.05, 0.05)
    """
    if x <= 0:
        return 1.0
    return _gamma_tail(degrees / 2, x / 2)


def _gamma_tail(a: float, x: float) -> float:
    """Return the regularised upper incomplete gamma function Q(a, x)."""
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        # The series of the lower function converges fast here.
        term = total = 1 / a
        denominator = a
        while abs(term) > abs(total) * 1e-16:
            denominator += 1
            term *= x / denominator
            total += term
        return max(0.0, 1.0 - total * scale)
    # The continued fraction of the upper function, by the modified method of Lentz.
    tiny = 1e-300
    b = x + 1 - a
    c = 1 / tiny
    d = 1 / b
    fraction = d
    for i in range(1, 10_000):
        step = -i * (i - a)
        b += 2
        d = 1 / (d * step + b or tiny)
        c = b + step / c or tiny
        factor = c * d
        fraction *= factor
        if abs(factor - 1) < 1e-16:
            break
    return fraction * scale


@lru_cache(maxsize=1 << 14)
def chi_square_threshold(alpha: float, degrees: int) -> float:
    """Return the value that a chi-square variable passes with probability alpha.

    >>> round(chi_square_threshold(0.01, 1), 3)
    6.635
    """
    low, high = 0.0, 1.0
    while chi_square_tail(high, degrees) > alpha:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if chi_square_tail(middle, degrees) > alpha:
            low = middle
        else:
            high = middle
    return high


def is_significant(table: Table, classes: Tally, alpha: float, *, pearsons: bool = True) -> bool:
    """Return whether the attribute is not independent of the class at level alpha."""
    degrees = degrees_of_freedom(table, classes)
    if degrees < 1:
        return False
    if pearsons:
        return pearson(table, classes) > chi_square_threshold(alpha, degrees)
    return disorder(classes) - remaining_disorder(table) > critical_gain(alpha, degrees)


def majority(tally: Tally, order: Mapping[int, tuple[int, str]] | None = None) -> int | None:
    """Return the most frequent class; among equals the first by `order`, without one the lowest code."""
    present: Iterable[int] = (name for name, n in tally.items() if n)
    return min(present, key=lambda name: (-tally[name], order[name] if order else (name, "")), default=None)
