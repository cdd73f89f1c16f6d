"""Code lengths: the paper's formulas in bits, and the table behind the tree's whole numbers.

The tree counts bits in whole numbers of 2^-32. A sum then does not depend on the order of its terms: a tree
that was restructured has the very bits of one that was built again, and so has one that was restored.
"""

import math
from array import array
from collections.abc import Sequence

ONE = 1 << 32
"""One bit."""


def length(n: int, k: int, b: float) -> float:
    """Return L(n, k, b): the bits that say which k of n things are meant, where k is at most b.

    >>> round(length(3, 1, 3), 3), round(length(3, 1, 2), 3)
    (3.585, 3.17)
    """
    return math.log2(b + 1) + math.log2(math.comb(n, k))


def structure(nodes: int, decisions: int) -> float:
    """Return the bits of a tree's structure; that of a single leaf has one."""
    return length(nodes, decisions, (nodes + 1) / 2)


def additive(counts: Sequence[int]) -> float:
    """Return the bits of a leaf's classes by an estimator whose bits add up, record by record.

    Of k classes each has one k-th of a record before the first comes, and a record costs -log2 of the share
    that its class has then. Of two classes it is the estimator of Krichevsky and Trofimov; that gives each of
    many classes half a record, and makes leaves of one class dear.

    >>> round(additive([2, 1]), 6)
    4.0
    """
    done = [0] * len(counts)
    bits = 0.0
    for label, count in enumerate(counts):
        for _ in range(count):
            bits -= math.log2((done[label] + 1 / len(counts)) / (sum(done) + 1))
            done[label] += 1
    return bits


def gammas(size: int, known: "array[int] | None" = None) -> "array[int]":
    """Return log2 of the gamma function at 0, 1/2, 1, 3/2, ... in whole numbers; at 0 there is none.

    All code lengths are sums of these: log2 n! is the entry 2n + 2. An entry is the one before the last and a
    logarithm, rounded, so that the table is the same wherever it is made.

    >>> gammas(9)[8] == round(math.log2(2) * ONE) + round(math.log2(3) * ONE)
    True
    """
    table = array("q", known or (0, round(math.log2(math.pi) / 2 * ONE), 0))
    for place in range(len(table), size):
        table.append(table[place - 2] + round(math.log2((place - 2) / 2) * ONE))
    return table


def odds(size: int, classes: int) -> "array[int]":
    """Return for 0, 1, 2, ... records of a class the sum of log2 (i + 1 / classes) over those before.

    >>> odds(3, 2)[1:] == array("q", [-ONE, -ONE + round(math.log2(1.5) * ONE)])
    True
    """
    table = array("q", [0])
    for count in range(size - 1):
        table.append(table[count] + round(math.log2(count + 1 / classes) * ONE))
    return table
