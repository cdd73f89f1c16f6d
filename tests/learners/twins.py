"""The compiled learner beside the readable one, over random lives."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from learners.change import fold
from learners.id5r import making
from learners.learner import Learner, Prediction
from learners.outline import digest
from learners.registry import make_learner
from learners.schema import Instance, InstanceError
from learners.vocabulary import Row

Story = tuple[Any, ...]


def told(prediction: Prediction) -> Story:
    """Return what both twins must say; how clearly a test was chosen is told as of another moment."""
    steps = tuple((step.attribute, step.value) for step in prediction.path)
    return prediction.answer, prediction.counts, prediction.flags, steps, prediction.by, prediction.shares


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


def batches(rng: random.Random, length: int) -> Iterator[slice]:
    start = 0
    while start < length:
        end = min(length, start + rng.choice([1, 2, 7, 50, 400]))
        yield slice(start, end)
        start = end


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


def expect_twins(seed: int, small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both learners say the same after every record, learned or forgotten."""
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


def expect_batches_like_single_records(seed: int) -> None:
    """A batch says what its records say one by one, and leads to the same bytes."""
    rng = random.Random(seed)
    settings = some_settings(rng)
    one_by_one, at_once = (make_learner("id5r", None, settings) for _ in range(2))
    instances = list(some_stream(rng))
    width = 0
    rows: list[Row]
    labels: list[int]
    expected: list[Story]
    for part in batches(rng, len(instances)):
        rows, labels, expected = [], [], []
        for instance in instances[part]:
            if rng.random() < 0.9:
                row, label = at_once.codes.encode(instance.values, instance.label)[:2]
            else:
                row, label = at_once.codes.look_up(instance.values)[:2]
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
