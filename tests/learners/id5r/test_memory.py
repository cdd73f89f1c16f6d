"""Whichever allocation fails, the compiled learner says so: it is unchanged, or refuses everything."""

import contextlib
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from learners.id5r import _core, making
from learners.id5r import learner as id5r
from learners.id5r.learner import ID5R
from learners.id5r.options import CoreOptions
from learners.schema import Instance, InstanceError, Value
from tests.lives.limits import make_small_tree

EVERY = int(os.environ.get("ESPALIER_FAIL_EVERY", "7"))
"""One in so many allocations is let fail; the sanitizers' run takes all."""
LIVES = {
    "words": CoreOptions(significance=None),
    "gated": CoreOptions(significance=0.3, min_records_per_value=0),
    "window": CoreOptions(significance=0.3, window=40),
    "replace": CoreOptions(significance=0.3, on_contradiction="replace"),
    "limit": CoreOptions(significance=0.3, max_bytes=1_000_000),
    "ensemble": CoreOptions(significance=0.3, answer="adaptive", drift="verified", recent=20),
}


@pytest.fixture(autouse=True)
def no_failure_is_left() -> Iterator[None]:
    yield
    _core.fail_allocation(0)


def stream(seed: str) -> list[Instance]:
    """Return records that let everything grow: attributes, values, classes, and numbers missing at first."""
    rng = random.Random(seed)
    pool: list[Instance] = []
    found: list[Instance] = []
    for number in range(150):
        if pool and rng.random() < 0.5:
            found.append(rng.choice(pool))
            continue
        label = rng.randrange(2 + number // 60)
        said = label if rng.random() < 0.8 else rng.randrange(4)
        values: dict[str, Value] = {"word": "abcd"[said], "other": f"v{rng.randrange(1 + number // 5)}"}
        values["number"] = None if number < 5 else said + rng.choice([0.0, 0.25, 0.5])
        if number > 40:
            values["rival"] = (label if rng.random() < 0.8 else 0) + rng.choice([0.0, 0.3])
        found.append(Instance(values, f"c{label}"))
        pool.append(found[-1])
    return found


def live(learner: ID5R, records: list[Instance]) -> Iterator[None]:
    """Do everything that is done with a learner, a step at a time."""
    for number, record in enumerate(records):
        if number % 3:
            learner.learn_one(record)
        else:
            row, label = learner.codes.encode(record.values, record.label)[:2]
            rows = np.array([row, row], dtype=np.uint64)
            learner.learn_batch(rows, np.array([label, -1], dtype=np.int32))
        if number % 10 == 9:
            with contextlib.suppress(InstanceError):
                learner.forget_one(records[number // 2])
        if number % 40 == 39:
            ID5R.restore(learner.snapshot()).predict_one(record.values)
        learner.predict_one({"word": "a"})
        yield


def refuses(learner: ID5R) -> None:
    """Hold a learner whose tree has run out of memory to refusing whatever it is asked for."""
    tree: Any = learner.tree
    row = (0,) * learner.width
    acts: tuple[Callable[[], object], ...] = (
        lambda: tree.learn(row, 0),
        lambda: tree.forget(row, 0),
        lambda: tree.answer(row, learner.codes),
        lambda: tree.settle(),
        lambda: tree.dump(),
        lambda: tree.reserve([], [], []),
        lambda: tree.explain(learner.codes),
        lambda: tree.unexplain(),
        lambda: tree.outline(learner.codes),
        lambda: tree.subtree((), learner.codes),
        lambda: tree.load([], [], [], [], [], None, ()),
    )
    for act in acts:
        with pytest.raises((MemoryError, ValueError)) as error:
            act()
        assert error.type is MemoryError or not tree.retained


@pytest.mark.parametrize("name", LIVES)
def test_whichever_allocation_fails_is_told_and_breaks_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "SMALL", 8)
    monkeypatch.setattr(id5r, "make_tree", make_small_tree)
    records = stream(name)
    told = failed = 0
    number = 1
    while True:
        learner = ID5R(options=LIVES[name])
        _core.fail_allocation(number)
        try:
            for _ in live(learner, records):
                pass
        except MemoryError:
            told += 1
        left = _core.fail_allocation(0)
        for tree in learner._trees():
            if tree.failed:
                failed += 1
                assert tree.check() == "the tree has failed"
            else:
                assert tree.check() is None
        if learner.tree.failed:
            refuses(learner)
        elif not any(tree.failed for tree in learner._trees()):
            learner.predict_one(records[0].values)  # nothing has happened
        if left:
            break  # there were fewer allocations than that
        number += EVERY
    assert told * EVERY > 100
    assert failed * EVERY > 100


@pytest.mark.parametrize("more", ["values", "classes", "attributes"])
def test_a_tree_that_cannot_be_given_more_room_is_freed(more: str) -> None:
    """Its nodes are moved one after the other, and each move may be the one that fails."""
    rng = random.Random(more)
    number = 0
    left = 0
    while not left:
        number += 1
        learner = ID5R(options=CoreOptions(significance=None))
        for _ in range(40):
            values = {name: rng.choice("abc") for name in "xyz"}
            learner.learn_one(Instance(values, "pq"[values["x"] == values["y"]]))
        sizes = [4, 4, 4, 1] if more == "attributes" else [90 if more == "values" else 4] * 3
        classes = 40 if more == "classes" else 2
        _core.fail_allocation(number)
        try:
            learner.tree.reserve(sizes, list(range(len(sizes))), list(range(classes)))
        except MemoryError:
            assert learner.tree.failed
        left = _core.fail_allocation(0)
        assert learner.tree.failed or learner.tree.check() is None
        del learner
    assert number > 20
