"""Records from the future under a window by time: refused, unless time has really gone on."""

import math
import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from learners.clock import BELIEVED
from learners.id5r.learner import ID5R
from learners.outline import digest
from learners.registry import make_learner
from learners.schema import Instance, InstanceError, Limits, Misfit

WINDOW = 100.0


def made(**settings: object) -> ID5R:
    learner = make_learner("id5r", None, {"time": "t", "window_time": WINDOW, **settings})
    assert isinstance(learner, ID5R)
    return learner


def record(time: float | None, rng: random.Random) -> Instance:
    word = rng.choice("ab")
    return Instance({"t": time, "a": word, "b": rng.choice("xy")}, "p" if word == "a" else "q")


def arrays_of(learner: ID5R) -> list[NDArray[Any]]:
    """Return all that a tree holds, without the operations it has counted."""
    rows, numbers, labels, times, ring, form, _ = learner.tree.dump(False)
    return [rows, numbers, labels, times, ring, form]


def learn(learner: ID5R, instance: Instance) -> bool:
    """Learn an instance; return whether it was taken. One that is not leaves everything as it was."""
    before, names = arrays_of(learner), learner.codes.mark()
    try:
        learner.learn_one(instance)
    except InstanceError as error:
        assert (error.misfit, error.field) == (Misfit.FUTURE_TIME, "t")
        assert all(np.array_equal(one, other) for one, other in zip(before, arrays_of(learner), strict=True))
        assert learner.codes.mark() == names
        return False
    return True


@pytest.mark.parametrize("time", [1e18, math.inf, 200 + 10 * WINDOW])
def test_one_record_from_the_future_does_not_end_learning(time: float) -> None:
    learner, rng = made(), random.Random(1)
    assert all(learn(learner, record(float(i), rng)) for i in range(200))
    new = Instance({"t": time, "new": "value"}, "new class")
    assert not learn(learner, new)
    assert learner.retained == 101
    assert all(learn(learner, record(float(i), rng)) for i in range(200, 400))
    assert learner.retained == 101


def test_a_jump_within_the_bound_is_taken() -> None:
    learner, rng = made(max_time_jump=20), random.Random(1)
    assert learn(learner, record(0.0, rng))
    assert learn(learner, record(1.0, rng))
    assert not learn(learner, record(21.5, rng))
    assert learn(learner, record(21.0, rng))


def test_an_agent_goes_on_after_an_outage() -> None:
    learner, rng = made(), random.Random(2)
    for i in range(50):
        assert learn(learner, record(float(i), rng))
    taken = [learn(learner, record(1e6 + i, rng)) for i in range(50)]
    assert taken == [False] * (BELIEVED - 1) + [True] * (51 - BELIEVED)
    assert learner.retained == 51 - BELIEVED


def test_records_that_do_not_agree_are_never_believed() -> None:
    learner, rng = made(), random.Random(3)
    for i in range(5):
        assert learn(learner, record(float(i), rng))
    for i in range(60):
        assert not learn(learner, record(1e6 * (1 + i % 2) + i, rng))
    for i in range(60):
        assert not learn(learner, record(1e6, rng))
        if i % 5 == 4:
            assert learn(learner, record(5.0, rng))


@pytest.mark.parametrize("wrong", [1e18, -1e18])
def test_a_wrong_first_record_does_not_end_learning(wrong: float) -> None:
    learner, rng = made(), random.Random(4)
    assert learn(learner, record(wrong, rng))
    for i in range(150):
        assert learn(learner, record(float(i), rng))
    assert learner.retained == 101
    assert learner.tree.newest == 149


def test_infinity_is_refused_from_the_first_record_on() -> None:
    learner, rng = made(), random.Random(4)
    for _ in range(2 * BELIEVED):
        assert not learn(learner, record(math.inf, rng))
    assert learn(learner, record(1.0, rng))


def a_stream(rng: random.Random, length: int) -> list[Instance]:
    """Return records whose time goes on, stops, jumps, falls back, is missing and is wrong."""
    now, stream = 0.0, []
    for _ in range(length):
        now += rng.choice([0, 1, 5, 5, 30]) + (rng.random() < 0.02) * rng.choice([900, 5_000, 1e6])
        wrong = [1e15, 1e15 + 3, math.inf, -1e15, now - 500, None]
        stream.append(record(rng.choice(wrong) if rng.random() < 0.15 else now, rng))
    return stream


@pytest.mark.parametrize("seed", range(20))
def test_the_rule_is_the_same_one_by_one_in_batches_replayed_and_restored(seed: int) -> None:
    rng = random.Random(seed)
    single, batched, restored, follower = made(), made(), made(), made()
    follower.codes.clock = None  # it learns what others have let pass
    rows, labels = [], []
    for instance in a_stream(rng, 300):
        taken = learn(single, instance)
        assert learn(restored, instance) == taken
        try:
            coded = batched.codes.encode(*instance)
        except InstanceError:
            assert not taken
        else:
            assert taken
            rows.append(coded.row)
            labels.append(coded.label)
            follower.codes.encode(*instance)
        if rng.random() < 0.1:
            batched.learn_batch(rows, labels)
            for row, label in zip(rows, labels, strict=True):
                follower.learn(row, label)
            rows, labels = [], []
            assert digest(batched.outline()) == digest(single.outline()) == digest(follower.outline())
            assert batched.retained == single.retained == follower.retained
        if rng.random() < 0.05:
            restored = type(restored).restore(restored.snapshot())
    assert restored.outline() == single.outline()
    assert restored.clock is not None
    assert single.clock is not None
    assert vars(restored.clock) == vars(single.clock)


def test_a_bound_needs_a_window() -> None:
    with pytest.raises(ValueError, match="window_time"):
        make_learner("id5r", None, {"time": "t", "max_time_jump": 5.0})


def test_a_time_that_is_left_out_of_the_record_is_no_time() -> None:
    """There is no room for its attribute: nothing is learned by time, and nothing is from the future."""
    options = {"time": "t", "window_time": WINDOW}
    learner = make_learner("id5r", None, options, Limits(max_attributes=1))
    for time in (1, 2, 3, 10**9, 4):
        coded = learner.codes.encode({"a": "x", "t": time}, "p")
        assert (len(coded.row), coded.flags) == (1, ("too_many_attributes",))
    assert learner.codes.clock is not None
    assert learner.codes.clock.newest == -math.inf
