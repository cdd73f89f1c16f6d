"""LSID3 and IIDT beside values of an independent implementation, and what the paper's words imply."""

import json
import math
import random
from collections.abc import Sequence
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.canonical import number_code
from learners.capabilities import Anytime
from learners.iidt._choosing import Policy
from learners.iidt._tree import between
from learners.iidt.growing import Growing
from learners.iidt.learner import IIDT
from learners.laws import laws_of
from learners.laws.anytime_laws import ANYTIME_LAWS
from learners.lookahead._errors import expected_errors
from learners.lookahead._lookahead import Job, splitmix64
from learners.outline import digest, size
from learners.rebuilt.lsid3 import BatchLSID3
from learners.rebuilt.table import Table
from learners.registry import LEARNERS, make_learner
from learners.schema import Instance
from tests.paths import REPOSITORY
from tests.strategies import Case, cases, fitted

GOLDEN: dict[str, Any] = json.loads((REPOSITORY / "tests" / "golden" / "iidt.json").read_text())
Z = NormalDist().inv_cdf(0.75)
ALL = 1 << 62
ANYTIME = ("iidt-ts", "iidt-ee")


def growing(*, by_errors: bool = False, granularity: float = 0.1, seed: int = 1) -> Growing:
    return Growing(Policy(by_errors, granularity, 1 << 20, 1.25, 0.25, Z), seed)


def put(tree: Growing, x: Sequence[Sequence[int]], y: Sequence[int]) -> list[int]:
    """Put binary records down; return their numbers."""
    width = len(x[0])
    tree.forest.ranks = [0, 1]
    tree.forest.widen(width, [2] * width, [False] * width)
    return [tree.forest.put([v + 1 for v in row], label) for row, label in zip(x, y, strict=True)]


def leaves(tree: Growing) -> int:
    assert tree.forest.root is not None
    return tree.forest.size(tree.forest.root)


def right(tree: Growing, x: Sequence[Sequence[int]], y: Sequence[int]) -> float:
    root = tree.forest.root
    assert root is not None
    found = [tree.forest.find(root, [v + 1 for v in row])[0].label for row in x]
    return sum(one == label for one, label in zip(found, y, strict=True)) / len(y)


def job(x: Sequence[Sequence[int]], y: Sequence[int], r: int, seed: int, *, words: bool = True) -> Job:
    codes = np.ascontiguousarray(np.array(x, dtype=np.int32).T)
    two = np.full(len(codes), 2, dtype=np.int32)
    return Job(codes, np.array(y, dtype=np.int32), two, two, 2, r, seed, words)


def parity(relevant: int, width: int, count: int, seed: int) -> tuple[list[list[int]], list[int]]:
    chance = random.Random(seed)
    places = chance.sample(range(width), relevant)
    x = [[chance.randrange(2) for _ in range(width)] for _ in range(count)]
    return x, [sum(row[place] for place in places) % 2 for row in x]


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


def xor_stream(count: int, seed: int, *, noise: float = 0.0) -> list[Instance]:
    chance = random.Random(seed)
    names = chance.sample("abcdef", 6)
    stream = []
    for _ in range(count):
        values = {name: chance.choice("01") for name in "abcdef"}
        values["n"] = round(chance.uniform(0, 10), 1)  # type: ignore[assignment]
        odd = (int(values[names[0]]) + int(values[names[1]])) % 2
        stream.append(Instance(values, str(odd ^ (chance.random() < noise))))
    return stream


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


# ---- what must not happen


def learned(name: str, stream: Sequence[Instance], **settings: object) -> IIDT:
    learner = make_learner(name, None, settings)
    assert isinstance(learner, IIDT)
    for instance in stream:
        learner.learn_one(instance)
    return learner


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
