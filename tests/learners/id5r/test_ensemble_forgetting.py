"""The trees beside the main one hold its last instances, also where some were forgotten out of turn."""

import contextlib
import random
from typing import Any, Literal

import pytest

from learners.id5r import _core
from learners.id5r.learner import ID5R
from learners.id5r.options import CoreOptions
from learners.schema import Instance, InstanceError, Value


def arrivals(tree: _core.CoreTree) -> list[Any]:
    """Return the instances of a tree in their order of arrival."""
    tree.settle()
    rows, numbers, labels, _, ring, _, _ = tree.dump(False)
    return [(rows[i].tolist(), numbers[i].tolist(), int(labels[i])) for i in ring]


def is_tail(beside: list[Any], main: list[Any]) -> bool:
    both = min(len(beside), len(main))
    return beside[len(beside) - both :] == main[len(main) - both :]


def record(rng: random.Random, *, turned: bool, numbers: bool) -> Instance:
    """Return one of few records, whose class is turned round when the world changes."""
    values: dict[str, Value] = {"a": rng.choice("uv"), "b": rng.choice("xyz")}
    if numbers:
        values["n"] = rng.choice([0.0, 1.0, 2.0])
    label = (values["a"] == "u") != turned if rng.random() < 0.95 else rng.random() < 0.5
    return Instance(values, "yes" if label else "no")


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_trees_beside_the_main_one_hold_its_last_instances(seed: int, numbers: bool) -> None:
    rng = random.Random(f"beside {seed}")
    options = CoreOptions(
        drift="verified", recent=rng.choice([15, 100]), answer=rng.choice(["tree", "adaptive"])
    )
    learner = ID5R(options=options)
    voices = learner.voices
    assert voices is not None
    assert voices.recent is not None
    assert voices.candidate is not None
    trials, lately, often = 0, 0, rng.choice([0.1, 0.4, 0.7])
    seen: list[Instance] = []
    for number in range(420):
        seen.append(record(rng, turned=100 < number < 220 or number > 330, numbers=numbers))
        learner.learn_one(seen[-1])
        if rng.random() < often:
            with contextlib.suppress(InstanceError):
                learner.forget_one(rng.choice(seen[-8:]))
        main = arrivals(learner.tree)
        # Once the past was dropped, the tree of the last records may know more of it than the main one.
        assert voices.drops or is_tail(arrivals(voices.recent), main)
        _, monitor, _, (age, *_) = voices.state
        if age:
            trials += age == 1
            assert is_tail(arrivals(voices.candidate), main)
            assert all(tree.check() is None for tree in (voices.candidate, voices.recent))
        lately += monitor[2] > 0
    assert trials
    assert lately


def test_what_is_forgotten_after_a_warning_is_not_counted_as_learned_since() -> None:
    """The warning says which records are kept: none from before it takes the place of one that left."""
    learner = ID5R(options=CoreOptions(drift="ddm", significance=None))
    voices = learner.voices
    assert voices is not None
    for number in range(60):
        learner.learn_one(Instance({"a": "uv"[number % 2]}, "yes" if number % 2 else "no"))
    new = 0
    while voices.state[1][2] < 1:
        learner.learn_one(Instance({"a": "uv"[new % 2], "new": "z"}, "no" if new % 2 else "yes"))
        new += 1
    only = Instance({"a": "u", "new": "only"}, "yes")
    learner.learn_one(only)
    since = voices.state[1][2]
    assert since > 1
    learner.forget_one(only)
    assert voices.state[1][2] == since - 1
    before = voices.state[1][2]
    with pytest.raises(InstanceError):
        learner.forget_one(Instance({"a": "w"}, "yes"))
    learner.forget_one(Instance({"a": "u"}, "no"))  # long before the warning
    assert voices.state[1][2] == before


@pytest.mark.parametrize("answer", ["tree", "adaptive"])
def test_error_driven_training_leaves_out_what_is_right_though_a_value_is_missing(
    answer: Literal["tree", "adaptive"],
) -> None:
    """With and without an ensemble, the same is learned: what is answered wrongly."""
    told = []
    for recent in (None, 10_000):
        options = CoreOptions(
            train="errors", significance=None, recent=recent, answer="tree" if recent is None else answer
        )
        learner = ID5R(options=options)
        for label, a in (("no", "u"), ("yes", "v"), ("no", "u"), ("no", "w")):
            learner.learn_one(Instance({"a": a}, label))
        kept = learner.retained
        prediction = learner.predict_one({"a": None})
        assert prediction.flags
        learner.learn_one(Instance({"a": None}, prediction.answer))
        told.append(learner.retained - kept)
    assert told == [0, 0]
