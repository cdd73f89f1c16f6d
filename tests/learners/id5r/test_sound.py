"""At every record the compiled tree is sound: it counts the instances it retains, each where it belongs."""

import random
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest

from learners.id5r.learner import ID5R
from learners.id5r.options import CoreOptions
from learners.outline import Outline, Split
from learners.registry import make_learner
from learners.schema import Instance, Value
from tests.learners.soundness import check, expect_sound, in_leaves


def branch_of(node: Split, values: dict[str, Value]) -> str:
    """Return the branch that a description without holes belongs to."""
    value = values[node.test.attribute]
    if node.test.at_most is None:
        return str(value)
    assert isinstance(value, float)
    return "true" if value <= node.test.at_most else "false"


def counts_by_route(outline: Outline, retained: list[tuple[dict[str, Value], str]]) -> None:
    """Route instances through an outline: every node must count exactly those that come to it."""
    parts: list[tuple[Outline, list[tuple[dict[str, Value], str]]]] = [(outline, retained)]
    while parts:
        node, here = parts.pop()
        assert dict(node.counts) == Counter(label for _, label in here)
        if isinstance(node, Split):
            for value, below in node.branches:
                parts.append((below, [one for one in here if branch_of(node, one[0]) == value]))


@pytest.mark.parametrize("seed", range(120))
def test_the_tree_is_sound_at_every_record(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expect_sound(seed, monkeypatch)


def balance(rng: random.Random) -> list[tuple[dict[str, Value], str]]:
    """Return the worlds of two weights on a beam: four numbers, of which products are compared."""
    worlds: list[tuple[dict[str, Value], str]] = []
    for a, b, c, d in product(range(1, 6), repeat=4):
        tips = "balanced" if a * b == c * d else "left" if a * b > c * d else "right"
        worlds.append(({"a": float(a), "b": float(b), "c": float(c), "d": float(d)}, tips))
    rng.shuffle(worlds)
    return worlds[: rng.choice([200, 600])]


@pytest.mark.parametrize("seed", range(12))
def test_leaves_count_the_instances_routed_to_them(seed: int) -> None:
    """Without a look inside: the counts of the outline are those of the stream, found by its own tests."""
    rng = random.Random(f"routes {seed}")
    worlds = balance(rng)
    learner = make_learner("id5r")
    assert isinstance(learner, ID5R)
    retained: list[tuple[dict[str, Value], str]] = []
    for number in range(1_000):
        values, label = rng.choice(worlds)
        learner.learn_one(Instance(values, label))
        retained.append((values, label))
        if number % 4 == 0:
            check(learner)
        if number % 100 == 99:
            outline = learner.outline()
            assert outline is not None
            assert in_leaves(outline) == learner.retained
            counts_by_route(outline, retained)


@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize("significance", [None, 0.01])
@pytest.mark.parametrize("seed", range(15))
def test_a_number_that_is_missing_at_first_is_a_number_in_any_batch(
    seed: int, significance: float | None, arrays: bool
) -> None:
    rng = random.Random(f"null first {seed}")
    stream: list[Instance] = []
    for number in range(rng.choice([5, 40, 200])):
        known = number >= rng.choice([1, 2, 5]) and rng.random() < 0.8
        stream.append(
            Instance({"a": rng.choice("uv"), "x": rng.random() * 9 if known else None}, rng.choice("pq"))
        )
    single, batched = (ID5R(options=CoreOptions(significance=significance)) for _ in range(2))
    for instance in stream:
        single.learn_one(instance)
    start = 0
    while start < len(stream):
        end = start + rng.choice([1, 3, len(stream)])
        coded = [batched.codes.encode(one.values, one.label)[:2] for one in stream[start:end]]
        rows: Any = [row for row, _ in coded]
        labels: Any = [label for _, label in coded]
        if arrays:
            rows, labels = np.array(rows, dtype=np.uint64), np.array(labels, dtype=np.int32)
        batched.learn_batch(rows, labels)
        assert batched.tree.check() is None
        start = end
    assert single.snapshot() == batched.snapshot()
