"""The compiled core is the twin of the readable learner, and never breaks."""

import csv
import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learners.capabilities import Forgetful
from learners.id5r import learner as core
from learners.outline import digest
from learners.registry import make_learner
from learners.schema import Attribute, Instance, InstanceError, Schema
from learners.snapshot import SnapshotError
from tests.learners.twins import (
    expect_batches_like_single_records,
    expect_twins,
)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("small", [0, 4, 256])
def test_equals_the_readable_learner_after_every_record(
    seed: int, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expect_twins(seed, small, monkeypatch)


@pytest.mark.parametrize("seed", [*range(30), 69])  # 69: names are added while branches are on a shelf
def test_whole_batches_say_what_single_records_say(seed: int) -> None:
    expect_batches_like_single_records(seed)


NOMINAL = [
    "tic-tac-toe",
    "vote",
    "zoo",
    "soybean",
    "kr-vs-kp",
    "mushroom",
    "audiology",
    "splice",
    "primary-tumor",
]


def read_rows(path: Path, limit: int) -> list[Instance]:
    opened: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="") as file:
        rows = csv.reader(file)
        *names, _ = next(rows)
        read = [
            Instance({name: value or None for name, value in zip(names, row[:-1], strict=True)}, row[-1])
            for row in rows
        ]
    random.Random(1).shuffle(read)
    return read[:limit]


@pytest.mark.data
@pytest.mark.parametrize("name", NOMINAL)
@pytest.mark.parametrize("significance", [None, 0.01])
def test_equals_the_readable_learner_on_real_data(
    data_dir: Path, name: str, significance: float | None
) -> None:
    settings = {
        "significance": significance,
        "significance_test": "g",
        "min_records_per_value": 0 if significance is None else 2,
    }
    fast, readable = (make_learner(learner, None, settings) for learner in ("id5r", "id5r-reference"))
    for instance in read_rows(data_dir / f"{name}.csv", 250):
        assert fast.predict_one(instance.values).answer == readable.predict_one(instance.values).answer
        fast.learn_one(instance)
        readable.learn_one(instance)
        assert digest(fast.outline()) == digest(readable.outline())
    assert fast.outline() == readable.outline()


def test_a_window_of_bytes_is_kept() -> None:
    learner = make_learner("id5r", None, {"max_bytes": 1_000_000})
    rng = np.random.default_rng(1)
    for start in range(0, 40_000, 2_000):
        rows = rng.integers(0, 50, size=(2_000, 12))
        coded = [
            learner.codes.encode({f"a{j}": f"v{v}" for j, v in enumerate(row)}, f"c{row[0] % 3}")[:2]
            for row in rows
        ]
        learner.learn_batch([row for row, _ in coded], [label for _, label in coded])
        assert (learner.model_bytes or 0) <= 1_000_000 * 1.02, start
    assert 1_000 < learner.retained < 40_000


def test_damaged_snapshots_are_refused_and_never_break() -> None:
    rng = random.Random(5)
    learner = make_learner("id5r", None, {"significance": None, "window": 100})
    for _ in range(150):
        values = {f"a{j}": rng.choice("xyz") for j in range(4)}
        learner.learn_one(Instance(values, rng.choice("pq")))
    whole = learner.snapshot()
    refused = 0
    for _ in range(2_000):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(damaged))] ^= rng.randrange(1, 256)
        try:
            core.ID5R.restore(bytes(damaged)[: rng.choice([len(whole), rng.randrange(len(whole))])])
        except SnapshotError:
            refused += 1
    assert refused == 2_000


def test_a_hostile_form_of_the_tree_is_refused() -> None:
    """Behind a right checksum the arrays themselves may lie: they are checked before they are believed."""
    rng = random.Random(6)
    learner = make_learner("id5r", None, {"significance": None})
    for _ in range(60):
        learner.learn_one(Instance({f"a{j}": rng.choice("xyz") for j in range(3)}, rng.choice("pq")))
    assert isinstance(learner, core.ID5R)
    learner.tree.settle()
    rows, numbers, labels, times, ring, form, ops = learner.tree.dump()
    for _ in range(3_000):
        bent = form.copy()
        for _ in range(rng.randint(1, 3)):
            bent[rng.randrange(len(bent))] = rng.choice([-(2**40), -1, 0, 1, 2, 3, 7, 2**40, 2**62])
        fresh = core.ID5R(options=learner.options)
        fresh.codes.grow(learner.codes.dump())
        fresh.make_room(3)
        try:
            part = bent[: rng.choice([len(bent), rng.randrange(len(bent))])]
            fresh.tree.load(rows, numbers, labels, times, ring, part, ops)
        except ValueError:
            continue
        # What is accepted is a tree: it can be read, and learned with.
        fresh.outline()
        fresh.learn_one(Instance({"a0": "x", "a1": "y", "a2": "z"}, "p"))


def test_an_instance_whose_names_are_known_and_which_was_never_learned_is_not_retained() -> None:
    learner = make_learner("id5r", Schema(attributes=(Attribute("a"),)))
    learner.codes.encode({"a": "x"}, "p")
    assert isinstance(learner, Forgetful)
    with pytest.raises(InstanceError, match="no such instance"):
        learner.forget_one(Instance({"a": "x"}, "p"))
