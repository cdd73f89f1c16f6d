"""Which instances `max_bytes` retains follows from the records alone."""

import random
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

import pytest

from learners.id5r.learner import ID5R
from learners.learner import Learner
from learners.outline import digest
from learners.registry import LEARNERS, make_learner, option_types, restore_learner
from learners.schema import Instance, InstanceError, Value
from learners.snapshot import SnapshotError, pack, unpack
from tests.lives.limits import PART, within_reach

CASES: dict[str, tuple[str, dict[str, object]]] = {
    "bare": ("id5r", {"significance": None}),
    "gated": ("id5r", {"significance": 0.3, "min_records_per_value": 0}),
    "chi2": ("id5r", {"significance": 0.3, "significance_test": "chi2"}),
    "gain ratio": ("id5r", {"selection": "gain-ratio", "significance": 0.3}),
    "replace": ("id5r", {"significance": 0.3, "on_contradiction": "replace"}),
    "errors": ("id5r", {"significance": None, "train": "errors"}),
    "window": ("id5r", {"significance": None, "window": 120}),
    "adaptive": ("id5r", {"significance": 0.3, "preset": "adaptive", "recent": 60}),
    "verified": ("id5r", {"significance": 0.3, "answer": "adaptive", "drift": "verified", "recent": 60}),
    "errors, adaptive": ("id5r", {"significance": 0.3, "answer": "adaptive", "train": "errors"}),
    "nt": ("nt", {"rebuild_every": 7}),
    "c45": ("c45", {"rebuild_every": 7}),
    "lsid3": ("lsid3", {"rebuild_every": 7, "repeats": 0}),
}


class Act(NamedTuple):
    """A record that is learned, or forgotten after it was."""

    record: Instance
    forget: bool = False


def acts(seed: str, *, forgets: bool) -> list[Act]:
    """Return records with names that keep coming, late attributes, numbers, repeats and a drift."""
    rng = random.Random(seed)
    found: list[Act] = []
    past: list[Instance] = []
    for number in range(500):
        if past and rng.random() < 0.3:
            found.append(Act(rng.choice(past), forgets and rng.random() < 0.2))
            continue
        told = rng.randrange(3 + (number > 350))
        label = (told if rng.random() < 0.85 else rng.randrange(4)) + (number > 300)
        values: dict[str, Value] = {"word": "abcde"[told], "other": f"v{rng.randrange(1 + number // 8)}"}
        values["few"] = rng.choice("xyz")
        values["number"] = None if number < 9 else told + rng.choice([0.0, 0.2, 0.4, 0.6])
        if number > 200:
            values[f"late{number // 100}"] = rng.choice("pq")
        past.append(Instance(values, f"c{label}"))
        found.append(Act(past[-1]))
    return found


class Life:
    """A learner on its way through the acts, in batches of any size."""

    def __init__(self, name: str, options: dict[str, object]) -> None:
        self.learner: Learner = make_learner(name, None, {"max_bytes": 1_000_000, **options})
        self._waiting: list[Instance] = []

    def take(self, act: Act) -> None:
        """Learn a record with the batch, or forget one."""
        if not act.forget:
            self._waiting.append(act.record)
            return
        self.finish()
        try:
            self.learner.forget_one(act.record)  # type: ignore[attr-defined]
        except InstanceError as error:
            assert error.field == "instance"

    def finish(self) -> None:
        """Learn the batch, whose names are known before its first record is learned."""
        coded = [self.learner.codes.encode(*record)[:2] for record in self._waiting]
        for _, some in groupby(coded, lambda one: len(one[0])):
            rows, labels = zip(*some, strict=True)
            self.learner.learn_batch(rows, labels)
        self._waiting = []

    def restart(self) -> None:
        """Go on as the learner that a snapshot makes."""
        self.finish()
        self.learner = restore_learner(self.learner.snapshot())

    @property
    def state(self) -> tuple[object, ...]:
        """What must not depend on the way."""
        learner: Any = self.learner
        return (
            learner.retained,
            digest(learner.outline()),
            learner.outline(),
            learner.model_bytes,
            learner.predict_one({"word": "a", "number": 1.0}),
        )


@pytest.fixture(autouse=True)
def limits_that_are_reached() -> Iterator[None]:
    with within_reach():
        yield


def test_every_learner_that_takes_a_limit_has_a_case() -> None:
    assert {name for name, _ in CASES.values()} == {
        name for name in LEARNERS if "max_bytes" in option_types(name)
    }


@pytest.mark.parametrize("case", CASES)
def test_retained_is_a_function_of_the_records(case: str) -> None:
    """One record at a time, in any batches, with restarts anywhere: the state is the same."""
    name, options = CASES[case]
    steps = acts(case, forgets=LEARNERS[name].forgets)
    rng = random.Random(case)
    single, batched, restarted = (Life(name, options) for _ in range(3))
    unlimited = make_learner(name, None, options)
    for number, act in enumerate(steps):
        for life in (single, batched, restarted):
            life.take(act)
        if not act.forget:
            unlimited.learn_one(act.record)
        single.finish()
        if rng.random() < 0.1:
            restarted.restart()
        elif rng.random() < 0.3:
            restarted.finish()
        if rng.random() < 0.05:
            batched.finish()
            restarted.finish()
            assert batched.state == single.state, f"batches, after act {number}"
            assert restarted.state == single.state, f"a restart, before act {number}"
    assert 1 < single.learner.retained < unlimited.retained, "the limit was never reached"


def test_a_snapshot_without_a_budget_is_read() -> None:
    """So is one from before there were any: all names that it knows count as met, and the limit holds."""
    life = Life("id5r", {"significance": None})
    for act in acts("old", forgets=False)[:300]:
        life.take(act)
        life.finish()
    body = unpack(life.learner.snapshot(), "id5r", dict[str, Any])
    del body["tree"]["budget"]
    old = restore_learner(pack("id5r", body))  # type: ignore[arg-type]
    assert isinstance(old, ID5R)
    assert digest(old.outline()) == digest(life.learner.outline())
    assert old.tree.budget is not None
    sizes = [33 if a in old.numeric else len(old.codes.values[a]) for a in range(old.width)]
    assert old.tree.budget[2] == sizes
    for act in acts("more", forgets=False):
        old.learn_one(act.record)
        assert old.retained == 1 or old.tree.weigh(old.tree) <= 1_000_000 // PART


@pytest.mark.parametrize(
    "bent",
    [
        (-1, 0, [], 0),
        (0, -1, [], 0),
        (2**63, 0, [], 0),
        (0, 2**63, [], 0),
        (0, 0, [1] * 99, 0),
        (0, 0, [99], 0),
        (0, 0, [-1], 0),
        (0, 0, [], 99),
        (0, 0, [], -1),
    ],
)
def test_a_budget_that_no_tree_has_is_refused(bent: tuple[int, int, list[int], int]) -> None:
    life = Life("id5r", {"significance": None})
    life.take(Act(Instance({"a": "x"}, "p")))
    life.finish()
    body = unpack(life.learner.snapshot(), "id5r", dict[str, Any])
    body["tree"]["budget"] = bent
    with pytest.raises(SnapshotError):
        restore_learner(pack("id5r", body))  # type: ignore[arg-type]


def test_equal_instances_forgotten_after_a_drop_are_the_same_on_every_way() -> None:
    """After a drop the tree of the last records may hold an older copy of what the main tree forgets.

    Which copy leaves follows from the order of arrival in that tree, and a snapshot keeps that order.
    """
    options: dict[str, object] = {"significance": 0.3, "answer": "adaptive", "drift": "ddm", "recent": 80}
    rng = random.Random(4)
    straight, restarted = (Life("id5r", {**options, "max_bytes": None}) for _ in range(2))
    older = 0
    for number in range(600):
        word = rng.choice("abc")
        record = Instance({"word": word}, f"c{'abc'.index(word) ^ (number // 150 % 2)}")
        for life in (straight, restarted):
            life.take(Act(record))
            life.finish()
        if rng.random() < 0.2:
            main: Any = straight.learner
            older += main.voices.recent.retained > main.retained
            for life in (straight, restarted):
                life.take(Act(record, forget=True))
        if rng.random() < 0.2:
            restarted.restart()
        mine: Any = straight.learner
        other: Any = restarted.learner
        assert mine.voices.recent.retained == other.voices.recent.retained
        assert mine.voices.recent.outline(mine.codes) == other.voices.recent.outline(other.codes)
        for asked in "abc":
            assert mine.predict_one({"word": asked}) == other.predict_one({"word": asked})
    assert straight.learner.drops > 1  # type: ignore[attr-defined]
    assert older > 5, "the tree of the last records never held more than the main tree"
