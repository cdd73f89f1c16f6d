"""What a record costs does not grow with what is retained: work is counted, or two sizes are compared."""

import random
import time
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from learners.id5r import _core
from learners.id5r.learner import ID5R
from learners.learner import FLAG_MISSING
from learners.merit import chi_square_threshold, critical_gain, log_of, x_log_x
from learners.registry import make_learner
from learners.schema import Attribute, AttributeType, Instance, Schema

SETTLED, COMPARED, SEARCHED, SIFTED = range(4)


def made(schema: Schema | None = None, **settings: object) -> ID5R:
    learner = make_learner("id5r", schema, settings)
    assert isinstance(learner, ID5R)
    return learner


def learn(learner: ID5R, rows: NDArray[np.uint32] | NDArray[np.uint64], labels: Sequence[int]) -> None:
    """Let the tree learn without telling anybody."""
    batch = _core.Batch(len(rows), len(learner.codes.classes))
    reached, _ = learner.tree.run(rows, np.asarray(labels, dtype=np.int32), 0, 0, batch)
    assert reached == len(rows)


def bushy(records: int) -> ID5R:
    """Return a learner whose tree has about as many nodes as there are records."""
    names = tuple(Attribute(f"a{i}", values=tuple("xyz")) for i in range(14))
    learner = made(Schema(names, ("p", "q")), significance=None)
    rng = np.random.default_rng(0)
    learn(
        learner,
        rng.integers(1, 4, (records, 14)).astype(np.uint32),
        rng.integers(0, 2, records).tolist(),
    )
    learner.publish()
    return learner


def fastest(run: Callable[[], object], times: int = 30) -> float:
    """Return how long something takes when nothing else is in its way."""
    took = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return min(took)


# ---- missing values


def test_a_missing_value_costs_the_same_however_much_is_retained() -> None:
    rng = np.random.default_rng(1)
    learner = made(Schema(tuple(Attribute(f"a{i}", values=tuple("wxyz")) for i in range(10)), ("p", "q")))
    asked = {f"a{i}": "x" for i in range(1, 10)}
    took = []
    for records in (1_000, 30_000):
        rows = rng.integers(1, 5, (records, 10)).astype(np.uint32)
        wrong = rng.random(records) < 0.1
        learn(learner, rows, ((rows[:, 0] > 2) != wrong).astype(int).tolist())
        learner.publish()
        assert learner.predict_one(asked).flags == (FLAG_MISSING,)
        took.append(fastest(lambda: learner.predict_one(asked)))
    assert took[1] < 3 * took[0], took


def test_a_missing_value_is_predicted_by_what_the_other_values_say() -> None:
    learner = made()
    rng = random.Random(2)
    for _ in range(400):
        good = rng.random() < 0.5
        values = {name: "yes" if good == (rng.random() < right) else "no" for name, right in SOURCES.items()}
        learner.learn_one(Instance(values, "good" if good else "bad"))
    told = learner.predict_one({"second": "yes", "third": "yes"})
    assert (told.answer, told.flags, told.by) == ("good", (FLAG_MISSING,), "leaf-bayes")
    assert told.path == ()
    assert sum(count for _, count in told.counts) == 400
    assert 0.9 < told.probabilities["good"] < 1
    with_one = learner.predict_one({"second": "yes", "third": None})
    assert told.probabilities["good"] > with_one.probabilities["good"] > 0.6
    assert learner.predict_one({"second": "never met"}).probabilities == pytest.approx(
        learner.predict_one({}).probabilities
    )


SOURCES = {"first": 0.95, "second": 0.85, "third": 0.8}


# ---- publishing


def test_publishing_again_outlines_nothing_again() -> None:
    learner = bushy(14_000)
    assert learner.tree.outlines_kept > 10_000
    made_before = learner.tree.outlines_made
    for _ in range(4):
        assert learner.publish() == []
    assert learner.tree.outlines_made == made_before


def test_outlines_of_nodes_that_are_gone_are_let_go_of() -> None:
    learner = made(significance=None)
    rng = random.Random(3)
    for place in range(6_000):
        values = {name: rng.choice("xy") for name in "abcdefgh"}
        rule = values["a" if place // 200 % 2 else "b"]
        learner.learn_one(Instance(values, rule if rng.random() < 0.8 else "z"))
        assert learner.tree.outlines_kept <= 2 * learner.tree.nodes + 1_000


def test_settling_follows_what_has_changed() -> None:
    learner = bushy(8_000)
    assert learner.tree.nodes > 4_000
    rng = random.Random(4)
    walked = []
    for _ in range(60):
        before = learner.tree.walks[SETTLED]
        learner.learn_one(Instance({f"a{i}": rng.choice("xyz") for i in range(14)}, rng.choice("pq")))
        walked.append(learner.tree.walks[SETTLED] - before)
    assert sorted(walked)[30] < 100, walked


# ---- sets


def numbers(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return positive numbers as codes, one column."""
    return (values.view(np.uint64) | np.uint64(1 << 63)).reshape(-1, 1).copy()


@pytest.mark.parametrize("window", [None, 3_000])
def test_a_set_of_one_description_is_compared_once(window: int | None) -> None:
    cut = Attribute("x", AttributeType.NUMERIC, cuts=(2.0,))
    learner = made(Schema((cut,), ("p", "q")), significance=None, window=window)
    rng = np.random.default_rng(0)
    learn(learner, numbers(rng.random(6_000)), rng.integers(0, 2, 6_000).tolist())
    assert learner.tree.walks[COMPARED] < 4 * 6_000


def rivals(records: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return records in which two numbers say nearly the same, so that their tests take turns."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, records)
    columns = [labels * (rng.random(records) < 0.9) + rng.random(records) for _ in range(2)]
    columns += [rng.random(records) for _ in range(2)]
    return np.hstack([numbers(column + 0.5) for column in columns]), labels.astype(np.int32)


def test_what_is_moved_or_forgotten_is_not_searched_for() -> None:
    names = tuple(Attribute(name, AttributeType.NUMERIC) for name in "abcd")
    learner = made(Schema(names, ("p", "q")))
    rows, labels = rivals(20_000)
    learn(learner, rows, labels.tolist())
    assert learner.tree.brought_back > 0
    before = learner.tree.walks[SEARCHED]
    for row, label in zip(rows[:2_000].tolist(), labels[:2_000].tolist(), strict=True):
        assert learner.tree.forget(tuple(row), label)
    # Searching each set from its start takes 20,600 steps here, sifting all sets 720.
    assert learner.tree.walks[SEARCHED] - before < 6 * 2_000
    assert learner.tree.walks[SIFTED] < 400


# ---- tables that are computed


@pytest.mark.parametrize("level", [0.01, 0.3, 0.01 / 31, 1e-9])
def test_both_ways_of_saying_what_is_significant_are_the_same(level: float) -> None:
    for degrees in (*range(1, 60), 255, 256, 257, 300, 1_023, 4_095, 4_096, 9_999):
        assert _core.critical_values(level, degrees) == (
            critical_gain(level, degrees),
            chi_square_threshold(level, degrees),
        )


def test_both_logarithms_are_the_same() -> None:
    some = [*range(1, 3_000), *(random.Random(6).randrange(1, 1 << 33) for _ in range(3_000))]
    for x in some:
        assert _core.logs_of(x) == (x_log_x(x), log_of(x))
