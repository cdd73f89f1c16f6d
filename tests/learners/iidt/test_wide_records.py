"""IIDT on records with more attributes than an int of C has bits."""

import random
from statistics import NormalDist

import pytest

from learners.iidt._choosing import Policy
from learners.iidt.growing import Growing

POLICY = Policy(False, 0.1, 1 << 20, 1.25, 0.25, NormalDist().inv_cdf(0.75))


@pytest.mark.parametrize("width", [6, 32, 33, 36, 64, 68, 130])
@pytest.mark.parametrize("first", [0, 3])
def test_the_narrowest_test_left_is_found_among_many(width: int, first: int) -> None:
    """Only the last attribute has two values: below any other test two leaves are the fewest there can be."""
    chance = random.Random(width)
    tree = Growing(POLICY, 1)
    tree.forest.ranks = [0, 1]
    tree.forest.widen(width, [3] * (width - 1) + [2], [False] * width)
    numbers = []
    for _ in range(300):
        row = [1 + chance.randrange(3) for _ in range(width - 1)] + [1 + chance.randrange(2)]
        label = row[1] == 1 if row[first] == 3 else row[first] == 1
        numbers.append(tree.forest.put(row, label))
    tree.start(numbers)
    (root, *_), (child, _, _, _, benefit) = tree.policy.utilities(tree.forest)[:2]
    assert (root.test, child.test, child.leaves) == (first, 1, 3)
    assert benefit == child.leaves - 2 * 2
