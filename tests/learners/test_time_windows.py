"""Windows by the time of the instances themselves."""

import random
from collections import deque

import pytest

from learners.learner import Learner
from learners.registry import make_learner
from learners.schema import Attribute, Instance, Schema, Value
from tests.oracles.id3 import Rules
from tests.oracles.numeric import Batch
from tests.trees import plain, tree_of

SPAN = 30.0
RULES = Rules(significance=0.1, significance_test="g", min_records_per_value=2)


def make(schema: Schema | None = None, **settings: object) -> Learner:
    return make_learner("id5r", schema, {"time": "at", "window_time": SPAN, "significance": 0.1, **settings})


def some_stream(rng: random.Random, length: int = 150) -> list[tuple[float | None, Instance]]:
    """Return records whose times mostly go forward, some equal, some late, some very late, some not there."""
    now, stream = 0.0, []
    for _ in range(length):
        now += rng.choice([0, 0, 1, 2, 3])
        at = rng.choice([now, now, now, now, now - rng.uniform(0, 20), now - 100, None])
        x = rng.random()
        values: dict[str, Value] = {"x": x, "w": rng.choice("ab")}
        if at is not None:
            values["at"] = at
        stream.append((at, Instance(values, "yes" if x > 0.4 else "no")))
    return stream


@pytest.mark.parametrize("seed", range(6))
def test_the_tree_is_that_of_the_records_within_the_window(seed: int) -> None:
    learner, batch = make(), Batch(RULES, bins=32)
    newest, kept = float("-inf"), deque[float]()
    for place, (at, instance) in enumerate(some_stream(random.Random(seed))):
        learner.learn_one(instance)
        described = {name: value for name, value in instance.values.items() if name != "at"}
        if at is not None and at >= newest - SPAN:
            newest = max(newest, at)
            kept.append(at)
            gone = 0
            while kept[0] < newest - SPAN:
                kept.popleft()
                gone += 1
            batch.learn_and_drop(described, instance.label, gone)
        if place % 4 == 0:
            assert learner.retained == len(kept)
            assert tree_of(learner) == plain(batch.tree())
        if place % 31 == 7:
            learner = type(learner).restore(learner.snapshot())


def test_the_time_itself_is_not_tested() -> None:
    learner = make()
    for place in range(60):
        learner.learn_one(Instance({"at": place / 10, "x": 1}, "yes" if place > 30 else "no"))
    assert "test" not in tree_of(learner)  # type: ignore[operator]


def test_a_record_without_a_time_or_long_past_is_answered_and_not_learned() -> None:
    learner = make()
    learner.learn_one(Instance({"at": 100, "x": 1}, "yes"))
    before = learner.snapshot()
    for values in ({"x": 1}, {"at": 69.9, "x": 1}, {"at": None, "x": 1}):
        assert learner.predict_one(values).answer == "yes"
        assert learner.learn_one(Instance(values, "yes")) == []
    assert learner.retained == 1
    assert learner.snapshot() == before
    learner.learn_one(Instance({"at": 70, "x": 1}, "yes"))
    assert learner.retained == 2


def test_a_window_by_time_needs_a_time() -> None:
    with pytest.raises(ValueError, match="time"):
        make_learner("id5r", None, {"window_time": 5})
    with pytest.raises(ValueError, match="time"):
        make(Schema((Attribute("at"),)))
