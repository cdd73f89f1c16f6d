"""Who answers and when the past is dropped: as the rules in plain Python say, after every record."""

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from learners.change import ChangeKind, fold
from learners.laws import laws_of
from learners.learner import Learner
from learners.outline import digest
from learners.registry import LEARNERS, make_learner
from learners.schema import Instance, Limits, Value
from tests.oracles.ensemble import Voices
from tests.oracles.id3 import Rules
from tests.trees import plain, tree_of


def some_settings(rng: random.Random) -> dict[str, Any]:
    return {
        "significance": rng.choice([0.3, 0.1, 0.05]),
        "window": rng.choice([None, None, None, 60]),
        "bins": rng.choice([4, 12, 32]),
        "answer": rng.choice(["tree", "adaptive", "adaptive"]),
        "drift": rng.choice([None, "ddm", "ddm", "verified"]),
        "recent": rng.choice([None, 15, 40]),
    }


def drifting_stream(rng: random.Random, length: int = 140) -> Iterator[Instance]:
    """Yield records whose rule changes now and then, so that there are warnings and drops."""
    noise, known = rng.choice([0, 0.05]), rng.choice([1, 0.9])
    rare = rng.choice([1, 0.9])  # beyond this there is a third class, which may come late and be forgotten
    rules = [(rng.randrange(3), rng.choice([-1, 1]), rng.random()) for _ in range(4)]
    for place in range(length):
        which, sign, threshold = rules[place * len(rules) // length]
        values: dict[str, Value] = {
            "x": rng.random(),
            "y": rng.randint(0, 9),
            "z": rng.random() ** 3,
            "w": rng.choice("abc"),
        }
        number = float([values["x"], values["y"], values["z"]][which]) / (9 if which == 1 else 1)  # type: ignore[arg-type]
        label = (number > threshold) == (sign > 0)
        if rng.random() < noise:
            label = not label
        name = "rare" if float(values["z"]) > rare else "yes" if label else "no"  # type: ignore[arg-type]
        yield Instance({n: v for n, v in values.items() if rng.random() < known}, name)


def pair(chosen: dict[str, Any]) -> tuple[Learner, Voices]:
    rules = Rules(significance=chosen["significance"], significance_test="g", min_records_per_value=2)
    voices = Voices(
        rules,
        bins=chosen["bins"],
        window=chosen["window"],
        adaptive=chosen["answer"] == "adaptive",
        drift=chosen["drift"],
        recent=chosen["recent"],
    )
    return make_learner("id5r", None, chosen), voices


@pytest.mark.parametrize("seed", range(8))
def test_the_rules_are_kept_after_every_record(seed: int) -> None:
    rng = random.Random(seed)
    chosen = some_settings(rng)
    learner, voices = pair(chosen)
    several = learner.voices is not None  # type: ignore[attr-defined]
    followed = None
    for place, instance in enumerate(drifting_stream(rng)):
        told = learner.predict_one(instance.values)
        if several:
            answer, by, shares = voices.answer(instance.values)
            assert (told.answer, told.by or by) == (answer, by), place
            assert shares is None or dict(told.probabilities) == pytest.approx(shares, abs=1e-9)
        changes = learner.learn_one(instance)
        voices.learn(*instance)
        followed = fold(changes, followed)
        assert learner.retained == len(voices.main.batch.kept), place
        assert learner.drops == voices.drops  # type: ignore[attr-defined]
        assert tree_of(learner) == plain(voices.main.batch.tree())
        assert digest(followed) == digest(learner.outline())
        if place % 23 == 5:
            learner = type(learner).restore(learner.snapshot())


def test_there_are_drops_in_these_streams() -> None:
    drops = 0
    for seed in range(16):
        rng = random.Random(seed)
        learner, _ = pair(some_settings(rng))
        told = [learner.learn_one(instance) for instance in drifting_stream(rng)]
        drops += sum(change.kind is ChangeKind.DROPPED for changes in told for change in changes)
    assert drops >= 5


LAWS = [
    "same_input_gives_same_output",
    "snapshots_are_stable",
    "changes_fold_to_the_outline",
    "changes_mean_a_new_digest",
    "predicting_changes_nothing",
    "answers_are_most_probable",
    "batches_equal_single_records",
    "followers_become_the_same_learner",
]
SETTINGS: list[dict[str, object]] = [
    {"preset": "adaptive", "recent": 12, "significance": 0.1},
    {"answer": "adaptive", "drift": "verified", "significance": 0.1},
    {"answer": "tree", "drift": "ddm", "window": 25, "significance": 0.1},
]


@pytest.mark.parametrize("chosen", SETTINGS)
@pytest.mark.parametrize("law", LAWS)
def test_the_laws_hold_with_numbers_holes_and_drift(law: str, chosen: dict[str, object]) -> None:
    stream = list(drifting_stream(random.Random(law), 60))
    dict(laws_of(LEARNERS["id5r"]))[law](partial(make_learner, "id5r", None, chosen), stream)


@pytest.mark.parametrize("chosen", SETTINGS)
def test_a_restart_in_the_middle_of_a_warning_a_trial_or_a_window_changes_nothing(
    chosen: dict[str, object],
) -> None:
    stream = list(drifting_stream(random.Random(5), 90))
    learner = make_learner("id5r", None, chosen)
    story, snapshots = [], []
    for instance in stream:
        snapshots.append(learner.snapshot())
        story.append(told(learner, instance))
    for place in range(0, len(stream), 6):
        restored = type(learner).restore(snapshots[place])
        assert [told(restored, instance) for instance in stream[place:]] == story[place:], place


def told(learner: Learner, instance: Instance) -> object:
    answer = learner.predict_one(instance.values)
    changes = learner.learn_one(instance)
    return answer, changes, learner.drops, learner.voices.state, learner.retained  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("alone", "blends"),
    [((9.0, 0.0), True), ((10.0, 0.0), False), ((30.0, 12.0), True), ((40.0, 12.0), False)],
)
def test_an_answerer_that_was_right_clearly_more_often_answers_instead_of_the_blend(
    alone: tuple[float, float], blends: bool
) -> None:
    learner: Any = make_learner("id5r", None, {"answer": "adaptive", "significance": 0.1})
    for instance in drifting_stream(random.Random(3), 40):
        learner.learn_one(instance)
    trust, slopes, _ = learner.voices.blend
    learner.voices.blend = trust, slopes, alone
    told = learner.predict_one({"x": 0.5, "y": 3, "z": 0.1, "w": "a"})
    assert (told.by == "blend") is blends
    assert sum(told.probabilities.values()) == pytest.approx(1)


def test_what_the_blend_has_learned_must_fit_the_sources() -> None:
    learner: Any = make_learner("id5r", None, {"answer": "adaptive"})
    learner.learn_one(Instance({"x": 1.5}, "yes"))
    trust, slopes, alone = learner.voices.blend
    with pytest.raises(ValueError, match="other sources"):
        learner.voices.blend = trust[1:], slopes, alone


@pytest.mark.parametrize("answer", ["adaptive", "bayes", "tree"])
def test_one_instance_may_bring_a_class_and_retire_an_attribute(answer: str) -> None:
    learner = make_learner("id5r", None, {"answer": answer}, Limits(max_values_per_attribute=2))
    for n, label in enumerate(("p", "n", "q")):
        changes = learner.learn_one(Instance({"many": f"v{n}", "size": n}, label))
        assert [change.attribute for change in changes if change.kind is ChangeKind.RETIRED] == ["many"] * (
            n == 2
        )
    assert learner.retained == 3
    assert learner.codes.classes == ["p", "n", "q"]
