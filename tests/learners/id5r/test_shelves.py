"""Tests that take turns at a node of the compiled core: what gave way comes back, and the tree is exact."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from learners.change import fold
from learners.id5r import _core, making
from learners.id5r.learner import ID5R
from learners.outline import digest
from learners.registry import make_learner
from learners.schema import Instance, InstanceError, Value
from tests.oracles.id3 import Rules
from tests.oracles.numeric import Batch
from tests.trees import plain, tree_of

USUAL = making.SMALL


def rivals(rng: random.Random, length: int) -> Iterator[Instance]:
    """Yield records in which several attributes say the same, each with errors of its own."""
    kinds = [rng.choice(["number", "few numbers", "word"]) for _ in range(rng.randint(2, 4))]
    classes, wrong, known = rng.randint(2, 3), rng.choice([0.1, 0.3]), rng.choice([1, 1, 0.95])
    for _ in range(length):
        label = rng.randrange(classes)
        values: dict[str, Value] = {}
        for place, kind in enumerate(kinds):
            said = label if rng.random() > wrong else rng.randrange(classes)
            if rng.random() > known:
                values[f"{kind} {place}"] = None
            elif kind == "word":
                values[f"{kind} {place}"] = "xyz"[said]
            else:
                values[f"{kind} {place}"] = said + (
                    rng.random() if kind == "number" else rng.choice([0, 0.5])
                )
        yield Instance(values, f"c{label}")


def rivals_below(rng: random.Random, length: int) -> Iterator[Instance]:
    """Yield records in which a threshold moves, and two numbers take turns below it."""
    wrong = rng.choice([0.1, 0.2])
    for _ in range(length):
        first, hidden = rng.random(), rng.random() < 0.5
        label = hidden if first < 0.6 else rng.random() < 0.9
        values: dict[str, Value] = {"first": first}
        for name in ("one", "other"):
            values[name] = (hidden if rng.random() > wrong else not hidden) + rng.random()
        yield Instance(values, f"c{label:d}")


def settings_of(rng: random.Random) -> dict[str, Any]:
    significance = rng.choice([None, 0.3, 0.1])
    return {
        "selection": rng.choice(["e-score", "e-score", "gain-ratio"]),
        "significance": significance,
        "significance_test": rng.choice(["g", "g", "chi2"]),
        "min_records_per_value": 0 if significance is None else 2,
        "bins": rng.choice([4, 8, 32]),
    }


def a_life(seed: int, forgets: float) -> int:
    """Live through a stream beside the batch builder; return how often a test came back from a shelf."""
    rng = random.Random(f"{seed}-{forgets}")
    chosen = settings_of(rng)
    learner = make_learner("id5r", None, chosen)
    assert isinstance(learner, ID5R)
    batch = Batch(
        Rules(**{name: value for name, value in chosen.items() if name != "bins"}), bins=chosen["bins"]
    )
    watched, came_back = rng.choice([0.02, 0.1, 0.5]), 0
    seen: list[Instance] = []
    followed = None
    for instance in rng.choice([rivals, rivals, rivals_below])(rng, rng.choice([60, 150, 300])):
        if seen and rng.random() < 0.2:
            instance = rng.choice(seen)  # the same once more
        learner.predict_one(instance.values)
        changes = learner.learn_one(instance)
        batch.learn(*instance)
        seen.append(instance)
        if rng.random() < forgets:
            gone = rng.choice(seen)
            if batch.has(*gone):
                changes += learner.forget_one(gone)
                batch.forget(*gone)
            else:
                with pytest.raises(InstanceError):
                    learner.forget_one(gone)
        if rng.random() < forgets / 4:
            came_back += learner.tree.brought_back
            learner = type(learner).restore(learner.snapshot())
        followed = fold(changes, followed)
        if rng.random() < watched:
            assert tree_of(learner) == plain(batch.tree())
            assert digest(followed) == digest(learner.outline())
    assert tree_of(learner) == plain(batch.tree())
    return came_back + learner.tree.brought_back


@pytest.mark.parametrize("small", [0, 512])
@pytest.mark.parametrize("forgets", [0, 0.05])
@pytest.mark.parametrize("first", range(0, 20, 5))
def test_a_test_that_comes_back_brings_the_branches_of_the_batch_tree(
    first: int, forgets: float, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What only large nodes do otherwise, and what only small ones do.
    monkeypatch.setattr(making, "SMALL", small)
    came_back = sum(a_life(seed, forgets) for seed in range(first, first + 5))
    assert came_back > (1 if small else 5), "this test wants tests that take turns"


@pytest.mark.parametrize("small", [0, 512])
@pytest.mark.parametrize("make", [rivals, rivals_below])
@pytest.mark.parametrize("first", range(0, 20, 5))
def test_what_comes_back_may_have_been_looked_at_only_in_part(
    make: Callable[[random.Random, int], Iterator[Instance]],
    first: int,
    small: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whole stretches without a word about the tree: nodes that nobody visits are not looked at.
    monkeypatch.setattr(making, "SMALL", small)
    came_back = 0
    for seed in range(first, first + 5):
        rng = random.Random(seed)
        chosen = settings_of(rng)
        learner = make_learner("id5r", None, chosen)
        assert isinstance(learner, ID5R)
        rules = Rules(**{name: value for name, value in chosen.items() if name != "bins"})
        batch = Batch(rules, bins=chosen["bins"])
        instances = [one for one in make(rng, 900) if None not in one.values.values()]
        encoded = [learner.codes.encode(*one)[:2] for one in instances]
        width = len(learner.codes.attributes)
        learner.make_room(width, [place for place in range(width) if learner.codes.is_numeric(place)])
        rows = np.array([row + (0,) * (width - len(row)) for row, _ in encoded], dtype=np.uint64)
        labels = np.array([label for _, label in encoded], dtype=np.int32)
        start = 0
        while start < len(labels):
            end = min(len(labels), start + rng.choice([100, 300]))
            some = _core.Batch(end - start, len(learner.codes.classes))
            learner.tree.run(rows[start:end], labels[start:end], 0, 0, some)
            for one in instances[start:end]:
                batch.learn(*one)
            start = end
            assert tree_of(learner) == plain(batch.tree())
        came_back += learner.tree.brought_back
    assert came_back > 5, "this test wants tests that take turns"


@pytest.mark.parametrize("first", range(0, 60, 5))
def test_what_is_told_does_not_depend_on_what_is_kept_for_convenience(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is restored again and again, and so never has anything on a shelf or in a closed node for long."""
    for seed in range(first, first + 5):
        rng = random.Random(seed)
        monkeypatch.setattr(making, "SMALL", rng.choice([4, 16, USUAL]))
        settings: dict[str, object] = {"significance": rng.choice([None, 0.1, 0.2, 0.5])}
        if seed % 5 == 4:
            settings["answer"] = "adaptive"
        noise, attributes, letters = (
            rng.choice([0.05, 0.1, 0.3]),
            rng.choice([3, 4]),
            rng.choice(["xy", "xyz"]),
        )
        change, often, numbers = rng.choice([100, 1_000]), rng.choice([10, 50]), rng.random() < 0.7
        one: Any = make_learner("id5r", None, settings)
        other: Any = make_learner("id5r", None, settings)
        for place in range(600):
            values: dict[str, Value] = {f"a{i}": rng.choice(letters) for i in range(attributes)}
            if numbers:
                values |= {"n": round(rng.random(), 2), "m": rng.randint(0, 40)}
            first_said = values[f"a{place // change % 2}"] == "x"
            second_said = values["a1"] == "y" and rng.random() < 0.7
            instance = Instance(values, str(first_said ^ second_said ^ (rng.random() < noise)))
            assert one.predict_one(values) == other.predict_one(values), (seed, place)
            assert one.learn_one(instance) == other.learn_one(instance), (seed, place)
            if place % often == often - 1:
                other = type(other).restore(other.photograph())
