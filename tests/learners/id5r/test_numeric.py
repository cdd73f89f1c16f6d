"""Numbers and holes in the compiled core: its tree is the batch tree with the current cuts, always."""

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.canonical import number_code, number_of
from learners.change import fold
from learners.id5r import _core, making
from learners.numbers import make_cuts
from learners.outline import digest
from learners.registry import make_learner
from learners.schema import AttributeType, Instance, InstanceError, Value
from tests.oracles.id3 import Rules
from tests.oracles.numeric import Batch
from tests.trees import plain, tree_of

NUMERIC = AttributeType.NUMERIC


# ---- numbers as codes


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_codes_of_numbers_are_in_their_order(one: float, other: float) -> None:
    assert (number_code(one) < number_code(other)) == (one < other)
    assert (number_code(one) == number_code(other)) == (one == other)
    assert number_of(number_code(one)) == one
    assert 0 < number_code(one) < 2**64


numbers = st.one_of(
    st.floats(allow_nan=False), st.integers(-5, 5).map(float), st.sampled_from((0.0, -0.0, 1e308, -1e308))
)


@settings(max_examples=500, deadline=None)
@given(st.lists(numbers, max_size=200), st.integers(2, 40))
def test_both_ways_of_cutting_are_the_same(found: list[float], bins: int) -> None:
    at = _core.cuts_of([number_code(number) for number in found], bins)
    assert tuple(map(number_of, at)) == make_cuts(found, bins).at


@given(st.lists(numbers, max_size=200), st.integers(2, 40))
def test_cuts_divide_and_are_finite(found: list[float], bins: int) -> None:
    cuts = make_cuts(found, bins)
    assert len(cuts.at) < bins
    assert all(map(math.isfinite, cuts.at))
    assert list(cuts.at) == sorted(set(cuts.at))
    filled = {cuts.bin_of(number) for number in found}
    if not any(map(math.isinf, found)):
        assert filled == set(range(1, len(cuts.at) + 2)) or not found


# ---- the tree


def some_settings(rng: random.Random) -> dict[str, Any]:
    significance = rng.choice([None, None, 0.3, 0.1, 0.01])
    return {
        "selection": rng.choice(["e-score", "e-score", "gain-ratio"]),
        "significance": significance,
        "significance_test": rng.choice(["g", "g", "chi2"]),
        "min_records_per_value": 0 if significance is None else rng.choice([0, 2]),
        "window": rng.choice([None, None, 7, 30, 60]),
        "bins": rng.choice([2, 4, 8, 32]),
        "tie_order": rng.choice([(), (), ("n1", "a0")]),
    }


def some_stream(rng: random.Random) -> Iterator[Instance]:
    """Yield records with numbers of every sort, words, holes, and attributes that come late."""
    kinds = [rng.choice(["real", "integer", "ties", "constant", "wild"]) for _ in range(rng.randint(1, 4))]
    words, classes = rng.randint(0, 2), rng.randint(1, 3)
    length = rng.choice([5, 20, 60, 150])
    noise, known = rng.choice([0, 0.1, 0.5]), rng.choice([1, 1, 0.9, 0.6])
    late = rng.choice([0, 0, length // 2])
    for place in range(length):
        values: dict[str, Value] = {}
        total = 0.0
        for number, kind in enumerate(kinds[: None if place >= late else max(1, len(kinds) - 1)]):
            value: float = {
                "real": rng.gauss(0, 1),
                "integer": rng.randint(-3, 3),
                "ties": rng.choice([0, 0, 0, rng.random()]),
                "constant": 7,
                "wild": rng.choice([math.inf, -math.inf, 1e308, -1e308, rng.random()]),
            }[kind]
            total += max(-9.0, min(9.0, value))
            if rng.random() < known:
                values[f"n{number}"] = value
            elif rng.random() < 0.5:
                values[f"n{number}"] = None
        for number in range(words):
            word = rng.choice("xyz")
            total += ord(word) % 2
            if rng.random() < known:
                values[f"a{number}"] = word
        label = rng.randrange(classes) if rng.random() < noise else int(total > 0.5) + int(total > 2)
        yield Instance(values, f"c{label % classes}")


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("small", [0, 4, 256])
def test_equals_the_batch_tree_after_every_record(
    seed: int, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "SMALL", small)
    rng = random.Random(f"{seed}-{small}")
    chosen = some_settings(rng)
    learner = make_learner("id5r", None, chosen)
    rules = Rules(**{k: v for k, v in chosen.items() if k not in ("window", "bins")})
    batch = Batch(rules, bins=chosen["bins"], window=chosen["window"])
    seen: list[Instance] = []
    followed = None
    for instance in some_stream(rng):
        changes = learner.learn_one(instance)
        batch.learn(*instance)
        seen.append(instance)
        if rng.random() < 0.05:
            gone = rng.choice(seen)
            if batch.has(*gone):
                changes += learner.forget_one(gone)  # type: ignore[attr-defined]
                batch.forget(*gone)
            else:
                with pytest.raises(InstanceError):
                    learner.forget_one(gone)  # type: ignore[attr-defined]
        if rng.random() < 0.05:
            learner = type(learner).restore(learner.snapshot())
        followed = fold(changes, followed)
        assert tree_of(learner) == plain(batch.tree())
        assert digest(followed) == digest(learner.outline())
        assert learner.retained == len(batch.kept)


@pytest.mark.parametrize("seed", range(12))
def test_both_ways_of_cutting_many_numbers_are_the_same(seed: int) -> None:
    # Enough for buckets: some that are spread, and some of which most fall into one.
    rng = random.Random(seed)
    draw: Callable[[], float] = rng.choice(
        [rng.random, lambda: rng.lognormvariate(0, 9), lambda: rng.choice([0, 0, rng.random()])]
    )
    found = [draw() for _ in range(rng.choice([48, 300, 3000]))] + rng.choice(
        [[], [math.inf], [-1e308, 1e308]]
    )
    rng.shuffle(found)
    at = _core.cuts_of([number_code(number) for number in found], 32)
    assert tuple(map(number_of, at)) == make_cuts(found, 32).at


@pytest.mark.parametrize("known", [1, 0.9])
@pytest.mark.parametrize("classes", range(2, 11))
def test_any_number_of_classes_makes_the_batch_tree(classes: int, known: float) -> None:
    # Cuts of small and large nodes, of few and many classes, with and without missing numbers: each its way.
    rng = random.Random(f"{classes}-{known}")
    chosen: dict[str, Any] = {"significance": 0.1, "significance_test": "g", "min_records_per_value": 2}
    learner, batch = make_learner("id5r", None, chosen), Batch(Rules(**chosen), bins=32)
    for record in range(1, 1201):
        label = rng.randrange(classes)
        values = {
            f"n{k}": label // (k + 1) + rng.gauss(0, 1) if rng.random() < known else None for k in range(3)
        }
        learner.learn_one(Instance(values, f"c{label}"))
        batch.learn(values, f"c{label}")
        if record % 300 == 0:
            assert tree_of(learner) == plain(batch.tree())


def test_instances_are_found_after_a_word_has_joined_numbers() -> None:
    learner = make_learner("id5r", None, {})
    numbers = [Instance({"n": float(k), "m": float(-k)}, f"c{k % 2}") for k in range(40)]
    for instance in numbers:
        learner.learn_one(instance)
    learner.learn_one(Instance({"n": 1.0, "m": 1.0, "word": "x"}, "c0"))
    for instance in numbers:
        learner.forget_one(instance)  # type: ignore[attr-defined]
    assert learner.retained == 1
