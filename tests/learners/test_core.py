"""The compiled core is the twin of the readable learner, and never breaks."""

import csv
import gzip
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learners import make_learner
from learners.change import fold
from learners.core import id5r as core
from learners.core import making
from learners.learner import Learner, Prediction
from learners.outline import digest
from learners.schema import Instance, InstanceError
from learners.snapshot import SnapshotError

Story = tuple[Any, ...]


def told(prediction: Prediction) -> Story:
    """Return what both twins must say; how clearly a test was chosen is told as of another moment."""
    steps = tuple((step.attribute, step.value) for step in prediction.path)
    return prediction.answer, prediction.counts, prediction.flags, steps


def some_settings(rng: random.Random) -> dict[str, Any]:
    significance = rng.choice([None, None, 0.3, 0.1, 0.01])
    return {
        "selection": rng.choice(["e-score", "e-score", "gain-ratio"]),
        "significance": significance,
        "significance_test": rng.choice(["g", "g", "chi2"]),
        "min_records_per_value": 0 if significance is None else rng.choice([0, 2]),
        "window": rng.choice([None, None, 7, 30, 150]),
        "on_contradiction": rng.choice(["keep", "keep", "keep", "replace"]),
        "train": rng.choice(["all", "all", "errors"]),
        "tie_order": rng.choice([(), (), ("a1", "a0")]),
    }


def some_stream(rng: random.Random) -> Iterator[Instance]:
    attributes, values, classes = rng.randint(0, 6), rng.randint(1, 4), rng.randint(1, 3)
    length = rng.choice([5, 20, 60, 400])
    noise, known, late = (
        rng.choice([0, 0.1, 0.5]),
        rng.choice([1, 1, 0.95, 0.8]),
        rng.choice([0, 0, length // 2]),
    )
    for number in range(length):
        count = attributes if number >= late else max(0, attributes - 1)
        row = [rng.randrange(values) for _ in range(count)]
        label = (
            rng.randrange(classes)
            if rng.random() < noise
            else (sum(row[:2]) + (row[0] if row else 0)) % classes
        )
        yield Instance({f"a{j}": str(v) for j, v in enumerate(row) if rng.random() < known}, f"c{label}")


def forget(learner: Learner, instance: Instance) -> list[Any] | None:
    try:
        return learner.forget_one(instance)  # type: ignore[attr-defined,no-any-return]
    except InstanceError:
        return None


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("small", [0, 4, 256])
def test_equals_the_readable_learner_after_every_record(
    seed: int, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With small subtrees transposed too, short streams reach what only long ones would.
    monkeypatch.setattr(making, "SMALL", small)
    rng = random.Random(f"{seed}-{small}")
    settings = some_settings(rng)
    fast, readable = (make_learner(name, None, settings) for name in ("id5r", "id5r-reference"))
    followed = None
    seen: list[Instance] = []
    for instance in some_stream(rng):
        assert told(fast.predict_one(instance.values)) == told(readable.predict_one(instance.values))
        changes = fast.learn_one(instance)
        assert changes == readable.learn_one(instance)
        seen.append(instance)
        if rng.random() < 0.03:
            gone = rng.choice(seen)
            unlearned = forget(fast, gone)
            assert unlearned == forget(readable, gone)
            changes += unlearned or []
        if rng.random() < 0.02:
            fast = type(fast).restore(fast.snapshot())
        followed = fold(changes, followed)
        assert fast.outline() == readable.outline()
        assert digest(followed) == digest(readable.outline())
        assert fast.retained == readable.retained


def batches(rng: random.Random, length: int) -> Iterator[slice]:
    start = 0
    while start < length:
        end = min(length, start + rng.choice([1, 2, 7, 50, 400]))
        yield slice(start, end)
        start = end


@pytest.mark.parametrize("seed", [*range(30), 69])  # 69: names are added while branches are on a shelf
def test_whole_batches_say_what_single_records_say(seed: int) -> None:
    rng = random.Random(seed)
    settings = some_settings(rng)
    one_by_one, at_once = (make_learner("id5r", None, settings) for _ in range(2))
    instances = list(some_stream(rng))
    width = 0
    for part in batches(rng, len(instances)):
        rows, labels, expected = [], [], []
        for instance in instances[part]:
            if rng.random() < 0.9:
                row, label = at_once.codes.encode(instance.values, instance.label)
            else:
                row, label = at_once.codes.look_up(instance.values), -1
            if len(row) > width:
                width = len(row)
                if rows:
                    check_batch(at_once, rows, labels, expected)
                    rows, labels, expected = [], [], []
            rows.append(row)
            labels.append(label)
            answer = one_by_one.predict_one(instance.values)
            before = one_by_one.ops
            changes = [] if label < 0 else one_by_one.learn_one(instance)
            expected.append((answer, changes, one_by_one.ops - before, label < 0))
        check_batch(at_once, rows, labels, expected)
    assert at_once.snapshot() == one_by_one.snapshot()


def check_batch(learner: Learner, rows: list[Any], labels: list[int], expected: list[Any]) -> None:
    result = learner.learn_batch(rows, labels)
    for answer, learned, (wanted, changes, spent, unlabelled) in zip(
        result.predictions, result.learned, expected, strict=True
    ):
        assert answer == wanted
        assert (learned is None) == unlabelled
        if learned is not None:
            assert learned.changes == changes
            assert learned.spent == spent


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
            learner.codes.encode({f"a{j}": f"v{v}" for j, v in enumerate(row)}, f"c{row[0] % 3}")
            for row in rows
        ]
        learner.learn_batch([row for row, _ in coded], [label for _, label in coded])
        assert learner.model_bytes <= 1_000_000 * 1.02, start  # type: ignore[attr-defined]
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
    *arrays, form, ops = learner.tree.dump()
    for _ in range(3_000):
        bent = form.copy()
        for _ in range(rng.randint(1, 3)):
            bent[rng.randrange(len(bent))] = rng.choice([-(2**40), -1, 0, 1, 2, 3, 7, 2**40, 2**62])
        fresh = core.ID5R(options=learner.options)
        fresh.codes.grow(learner.codes.dump())
        fresh.make_room(3)
        try:
            fresh.tree.load(*arrays, bent[: rng.choice([len(bent), rng.randrange(len(bent))])], ops)
        except ValueError:
            continue
        # What is accepted is a tree: it can be read, and learned with.
        fresh.outline()
        fresh.learn_one(Instance({"a0": "x", "a1": "y", "a2": "z"}, "p"))
