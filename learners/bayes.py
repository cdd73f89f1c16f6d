"""Predictions where the tested value is missing: naive Bayes from the counts of the node that asks for it.

Logarithms are whole numbers in fixed point, so that a sum does not depend on the order of its terms. The
compiled twin is id5r/missing.c.
"""

from collections.abc import Iterable, Sequence

from learners.merit import FRACTION_BITS, Table, Tally, log_of

NOTHING = -(2**63)
"""The score of a class that is not at the node."""
_UNIT = 1 << FRACTION_BITS


def known_scores(classes: Tally, tables: Iterable[tuple[Table, int]]) -> dict[int, int]:
    """Return the logarithm of what speaks for each class at a node.

    An attribute with one value at the node says nothing, and neither does a value that no instance there has.

    Args:
        classes: How many instances of each class there are.
        tables: The counts of each attribute, and the value of the description.

    >>> scores = known_scores({0: 8, 1: 8}, [({1: {0: 7, 1: 1}, 2: {0: 1, 1: 7}}, 1)])
    >>> scores[0] - scores[1] == log_of(8) - log_of(2)
    True
    """
    scores = {label: log_of(n) for label, n in classes.items() if n}
    for table, value in tables:
        values = sum(1 for tally in table.values() if any(tally.values()))
        met = table.get(value, {})
        if values < 2 or not any(met.values()):
            continue
        for label in scores:
            scores[label] += log_of(met.get(label, 0) + 1) - log_of(classes[label] + values)
    return scores


def shares_of(scores: Sequence[int]) -> list[float]:
    """Return how probable each class is, given the logarithm of what speaks for it, or `NOTHING`.

    >>> shares_of([3 << FRACTION_BITS, NOTHING, 1 << FRACTION_BITS])
    [0.8, 0.0, 0.2]
    """
    best = max(scores)
    weights = [2.0 ** ((score - best) / _UNIT) if score > NOTHING else 0.0 for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]
