"""LSID3 and IIDT beside values of an independent implementation, and what the paper's words imply."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.laws import laws_of
from learners.laws.anytime_laws import ANYTIME_LAWS
from learners.lookahead._errors import expected_errors
from learners.lookahead._lookahead import splitmix64
from learners.registry import LEARNERS, make_learner
from tests.learners.iidt.growing_trees import (
    ALL,
    ANYTIME,
    GOLDEN,
    Z,
    growing,
    job,
    leaves,
    parity,
    put,
    right,
    xor_stream,
)
from tests.strategies import Case, cases, fitted

# ---- an independent implementation


def test_random_numbers_are_those_of_splitmix64() -> None:
    assert [str(splitmix64(1, place)) for place in range(1, 6)] == GOLDEN["splitmix64_seed1"]


def test_the_next_node_is_chosen_by_benefit_and_cost() -> None:
    grid = GOLDEN["xor2_full_grid"]
    tree = growing()
    tree.start(put(tree, grid["X"], grid["y"]))
    assert leaves(tree) == grid["id3_size"]
    (_, _, _, root_cost, root_benefit), (_, _, _, cost, benefit) = tree.policy.utilities(tree.forest)[:2]
    told = grid["choose"]
    assert (root_cost, root_benefit) == (told["root_cost"], told["root_benefit"])
    assert (cost, benefit) == (told["child_cost"], told["child_benefit"])
    assert root_benefit / root_cost == told["root_utility"]
    assert benefit / cost == told["child_utility"]


def test_a_full_grid_of_parity_is_solved_in_three_attempts() -> None:
    grid = GOLDEN["xor2_full_grid"]
    tree = growing()
    tree.start(put(tree, grid["X"], grid["y"]))
    trace = []
    while not tree.idle:
        attempts = tree.iteration
        rows = None if tree.work is None else len(tree.work.made.ids)
        r = None if tree.work is None else tree.work.r
        before = tree.improvements
        tree.improve(1)
        if tree.iteration > attempts:
            trace.append([tree.iteration, r, rows, tree.improvements > before, leaves(tree)])
    assert trace == grid["trace"]
    root = tree.forest.root
    assert root is not None
    assert root.test == grid["final"]["a"]
    assert [below.test for below in root.branches.values()] == [kid["a"] for kid in grid["final"]["kids"]]


def test_parity_of_five_among_ten_is_solved() -> None:
    told = GOLDEN["xor5"]
    x, y = told["X"], told["y"]
    tree = growing()
    tree.start(put(tree, x[:180], y[:180]))
    assert (leaves(tree), right(tree, x[180:], y[180:])) == (told["id3"]["size"], told["id3"]["acc"])
    tree.improve(400_000)
    assert (leaves(tree), right(tree, x[180:], y[180:])) == (32, 1.0)
    for seed in range(4):
        whole = job(x[:180], y[:180], 5, seed)
        whole.run(ALL)
        assert int((whole.tree()[0][:, 0] < 0).sum()) == told["lsid3_r5_seed3"]["size"]


def test_records_that_contradict_a_leaf_make_it_grow() -> None:
    x, y = GOLDEN["xor5"]["X"], GOLDEN["xor5"]["y"]
    tree = growing()
    tree.start(put(tree, x[:100], y[:100]))
    sizes = [leaves(tree)]
    for place in range(100, 120):
        (number,) = put(tree, x[place : place + 1], y[place : place + 1])
        tree.learn(number)
        sizes.append(leaves(tree))
    assert sizes == [step["size"] for step in GOLDEN["ts_add"]]


def test_records_change_the_errors_to_be_expected() -> None:
    x, y, told = GOLDEN["xor5"]["X"], GOLDEN["xor5"]["y"], GOLDEN["ee_add"]
    tree = growing(by_errors=True)
    tree.start(put(tree, x[:100], y[:100]))
    root = tree.forest.root
    assert root is not None
    before = tree.policy.worth(tree.forest, root)
    assert before == pytest.approx(told["initial_err"])
    assert leaves(tree) == told["initial_size"]
    for step in told["steps"]:
        (number,) = put(tree, x[step["i"] : step["i"] + 1], y[step["i"] : step["i"] + 1])
        leaf = tree.forest.path_to_leaf(root, number)[-1]
        assert (leaf.label == y[step["i"]]) is step["consistent"]
        tree.learn(number)
        after = tree.policy.worth(tree.forest, root)
        assert after - before == pytest.approx(step["delta_err"], abs=1e-9)
        before = after


def test_errors_to_be_expected_are_those_of_c45() -> None:
    assert expected_errors(6, 0, 0.25, Z) == pytest.approx(6 * (1 - 0.25 ** (1 / 6)))
    assert expected_errors(1, 1, 0.25, Z) == 1
    assert expected_errors(0, 0, 0.25, Z) == 0


# ---- work that stops and goes on


@given(st.integers(0, 1 << 40), st.integers(1, 3), st.lists(st.integers(1, 400), min_size=1, max_size=40))
@settings(max_examples=30, deadline=None)
def test_work_goes_on_where_it_stopped_however_records_are_counted(
    seed: int, r: int, steps: list[int]
) -> None:
    x, y = parity(3, 7, 60 + seed % 90, seed)
    whole = {words: job(x, y, r, seed, words=words) for words in (True, False)}
    for one in whole.values():
        one.run(ALL)
    # Counting by words of bits, or record by record, leads to the same tree.
    assert np.array_equal(whole[True].tree()[0], whole[False].tree()[0])
    for words in (True, False):
        stopped = job(x, y, r, seed, words=words)
        for step in steps:
            stopped.run(stopped.spent + step)
            again = job(x, y, r, seed, words=words)
            again.resume(*stopped.position())
            assert again.position() == stopped.position()
            stopped = again
        stopped.run(ALL)
        assert stopped.spent == whole[words].spent
        assert np.array_equal(stopped.tree()[0], whole[words].tree()[0])


def test_a_position_that_nobody_can_have_stood_at_is_refused() -> None:
    x, y = parity(2, 5, 40, 1)
    one = job(x, y, 2, 1)
    one.run(50)
    numbers, decisions = one.position()
    for place in range(2, len(numbers)):
        for wrong in (-7, 1 << 20):
            changed = [*numbers[:place], wrong, *numbers[place + 1 :]]
            again = job(x, y, 2, 1)
            try:
                again.resume(changed, decisions)
            except (ValueError, OverflowError):
                continue
            again.run(ALL)  # what cannot be told from a right one does no harm
    with pytest.raises(ValueError, match="no such test"):
        job(x, y, 2, 1).resume(numbers, [9, -1])


@pytest.mark.parametrize("law", ANYTIME_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", ANYTIME)
def test_longer_streams_with_windows_and_noise_obey_the_laws_too(name: str, law: Any) -> None:
    options: dict[str, object] = {"window": 40, "max_held": 5, "max_repeats": 4}
    law(partial(make_learner, name, None, options), xor_stream(70, 3, noise=0.1))


@pytest.mark.parametrize("name", ANYTIME)
@given(cases(max_size=60))
@settings(max_examples=8, deadline=None)
def test_attempts_survive_restarts_in_every_small_world(name: str, case: Case) -> None:
    laws = dict(laws_of(LEARNERS[name]))
    chosen = {**fitted(name, case.settings), "max_held": 2, "max_repeats": 4}
    for law in ("attempts_survive_restarts", "budgets_may_be_divided"):
        laws[law](partial(make_learner, name, case.schema, chosen), case.stream)
