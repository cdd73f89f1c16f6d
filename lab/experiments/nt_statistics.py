"""Folds of cross-validation, and the paired t-test that experiments with them need."""

import math
import statistics
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def stratified(labels: NDArray[np.integer], folds: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the fold of each record; every fold has its share of every class.

    >>> labels = np.array([0, 0, 0, 0, 1, 1])
    >>> folds = stratified(labels, 2, np.random.default_rng(1))
    >>> [sorted(labels[folds == fold].tolist()) for fold in (0, 1)]
    [[0, 0, 1], [0, 0, 1]]
    """
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    found = np.empty(len(labels), dtype=np.intp)
    found[order] = np.arange(len(labels)) % folds
    return found


def corrected_t(differences: Sequence[float], test_share: float) -> float:
    """Return the t of a mean difference over repeated cross-validation (Nadeau and Bengio 2003).

    Folds share training data, so that a plain t-test finds nearly everything significant. The variance is
    corrected by the share of records tested, as in Weka's experimenter.

    Args:
        differences: Of each fold.
        test_share: Records tested for each one trained on.
    """
    mean, variance = statistics.fmean(differences), statistics.variance(differences)
    if variance == 0:
        return 0.0 if mean == 0 else math.copysign(math.inf, mean)
    return mean / math.sqrt((1 / len(differences) + test_share) * variance)


def t_probability(t: float, freedom: int) -> float:
    """Return how probable a t at least as far from 0 is, both ways.

    >>> round(t_probability(2.262157, 9), 4)
    0.05
    """
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def outcome(differences: Sequence[float], test_share: float, level: float = 0.05) -> int:
    """Return 1 where the first is significantly better, -1 where it is worse, 0 otherwise."""
    t = corrected_t(differences, test_share)
    if t == 0 or t_probability(t, len(differences) - 1) >= level:
        return 0
    return 1 if t > 0 else -1


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 300):
        for top in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + top * d)
            c = 1 + top / c
            value *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * value / a
