"""What IIDT must not do, and how it tests numbers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.canonical import number_code
from learners.capabilities import Anytime
from learners.iidt._tree import between
from learners.outline import digest, size
from learners.rebuilt.lsid3 import BatchLSID3
from learners.rebuilt.table import Table
from learners.registry import make_learner
from learners.schema import Instance
from tests.learners.iidt.growing_trees import ANYTIME, growing, learned, parity, put, xor_stream

# ---- what must not happen


@pytest.mark.parametrize("name", ANYTIME)
@pytest.mark.parametrize(
    "stream",
    [
        [Instance({"a": "x", "b": 1}, label) for label in ("p", "q", "p", "q")]
        * 5,  # nothing but contradictions
        [Instance({"a": "x"}, "p")] * 12,  # one class, all attributes constant
        [Instance({}, label) for label in ("p", "q")] * 5,  # no attributes at all
        [Instance({"a": None, "n": None}, label) for label in ("p", "q")] * 5,
        [Instance({"n": number}, "p" if number > 0 else "q") for number in (math.inf, -math.inf, 0.0, 1e308)]
        * 3,
    ],
    ids=["contradictions", "constant", "empty", "missing", "infinite"],
)
def test_nothing_to_be_found_is_not_searched_for_for_ever(name: str, stream: list[Instance]) -> None:
    learner = learned(name, stream, hold_out=0)
    learner.improve(0)
    for _ in range(20):
        learner.improve(100_000)
    assert not learner.can_improve
    assert learner.predict_one(stream[0].values).answer is not None
    assert type(learner).restore(learner.snapshot()).snapshot() == learner.snapshot()


def test_memory_has_a_cap_that_is_kept() -> None:
    learner = make_learner("iidt-ts", None, {"max_instances": 50, "max_held": 10})
    for place, instance in enumerate(xor_stream(400, 5)):
        learner.learn_one(instance)
        assert isinstance(learner, Anytime)
        learner.improve(place % 300)
        assert learner.retained <= 60


@pytest.mark.parametrize("name", ANYTIME)
def test_a_tree_of_the_fewest_leaves_is_right_about_every_record_it_has(name: str) -> None:
    stream = xor_stream(150, 7)
    learner = learned(name, stream, hold_out=0)
    before = learner.worth
    for _ in range(10):
        learner.improve(50_000)
    assert learner.worth < before
    assert all(learner.predict_one(values).answer == label for values, label in stream)
    assert size(learner.outline()).leaves == 4


def test_records_held_out_keep_a_smaller_but_worse_tree_out() -> None:
    # Labels by chance: a smaller tree of them is as good as any, unless what is held out says otherwise.
    tree = growing()
    x, y = parity(2, 6, 64, 3)
    tree.start(put(tree, x, y))
    root = tree.forest.root
    assert root is not None
    old = {tuple(row): tree.forest.find(root, [v + 1 for v in row])[0].label for row in x}
    tree.held.extend(([v + 1 for v in row], label) for row, label in old.items())
    wrong = growing()
    wrong.start(put(wrong, x, [1 - label for label in y]))
    assert wrong.forest.root is not None
    assert tree._is_worse(root, wrong.forest.root, [])
    assert not tree._is_worse(root, root, [])


def test_the_same_seed_gives_the_same_tree_and_another_may_not() -> None:
    stream = xor_stream(120, 9, noise=0.2)

    def tree(seed: int) -> str:
        learner = learned("iidt-ts", stream, seed=seed)
        learner.improve(20_000)
        return digest(learner.outline())

    assert tree(1) == tree(1)
    assert len({tree(seed) for seed in range(6)}) > 1


# ---- numbers


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_a_threshold_divides_the_numbers_it_is_between(one: float, other: float) -> None:
    limit = 1.7976931348623157e308
    low, high = sorted(min(max(number, -limit), limit) for number in (one, other))
    if number_code(low) == number_code(high):
        return
    at_most, key = between(number_code(low) - 1, number_code(high) - 1)
    assert low <= at_most < high
    assert number_code(low) - 1 <= key < number_code(high) - 1


def test_numbers_are_tested_at_their_boundaries() -> None:
    x = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    table = Table.of(x, np.array([0, 0, 1, 1, 0, 0]), 2)
    for repeats in (0, 3):
        tree = BatchLSID3(repeats).grow(table)
        assert sorted(tree.threshold[tree.attribute >= 0]) == [2.5, 4.5]
        assert tree.predict(x).tolist() == [0, 0, 1, 1, 0, 0]


def test_a_missing_number_is_above_all_others() -> None:
    stream = [Instance({"n": None if place % 2 else place}, str(place % 2)) for place in range(20)]
    learner = learned("iidt-ts", stream, hold_out=0)
    assert learner.predict_one({"n": 10_000}).answer == "0"
    found = learner.predict_one({"n": None})
    assert (found.answer, found.flags) == ("1", ("missing",))
