"""Attributes that are left out, for every learner and every option that keeps trees beside the tree."""

import random
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings

from learners.capabilities import Anytime
from learners.change import ChangeKind
from learners.laws import Law
from learners.laws.retiring_laws import RETIRING_LAWS, retire
from learners.learner import Learner
from learners.outline import digest
from learners.registry import LEARNERS, make_learner
from learners.schema import Instance, Limits, Value
from learners.vocabulary import CodeError
from tests.strategies import Case, cases

OPTIONS: dict[str, tuple[str, dict[str, object]]] = {
    "adaptive": ("id5r", {"answer": "adaptive"}),
    "verified": ("id5r", {"drift": "verified", "recent": 4, "significance": 0.5, "min_records_per_value": 0}),
    "ddm": ("id5r", {"drift": "ddm", "answer": "bayes"}),
    "window": ("id5r", {"window": 5, "significance": "none"}),
    "replace": ("id5r", {"on_contradiction": "replace", "significance": "none"}),
    "gain-ratio": ("id5r", {"selection": "gain-ratio", "significance": "none"}),
    "paper": ("mdl", {"code": "paper"}),
    "zero": ("c45", {"absent": "zero", "rebuild_every": 1}),
    "held out": ("iidt-ee", {"hold_out": 0.25}),
    **{f"errors {name}": (name, {"train": "errors"}) for name in LEARNERS},
}
MANY = 200 if settings.get_current_profile_name() == "laws" else 6


@pytest.mark.parametrize("law", RETIRING_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("name", "options"), OPTIONS.values(), ids=OPTIONS)
def test_options_that_keep_more_than_a_tree_obey_the_laws(
    name: str, options: dict[str, object], law: Law
) -> None:
    @settings(max_examples=MANY, deadline=None)
    @given(cases(max_size=10, drift=True, settings=False))
    def obeys(case: Case) -> None:
        law(partial(make_learner, name, case.schema, options), case.stream)

    obeys()


def events(count: int, seed: int = 0) -> list[Instance]:
    """Return events of users: an identifier says nothing, the plan and the logins say everything."""
    rng = random.Random(seed)
    found = []
    for place in range(count):
        plan, logins = rng.choice(("free", "pro", "team")), rng.choice(("none", "few", "many"))
        values: dict[str, Value] = {"user_id": f"u{place}", "plan": plan, "logins": logins}
        found.append(Instance(values, "leaves" if plan == "free" and logins != "many" else "stays"))
    return found


@pytest.mark.parametrize("name", LEARNERS)
def test_events_with_an_identifier_are_learned_from_what_is_left(name: str) -> None:
    learner = make_learner(name, limits=Limits(max_values_per_attribute=20))
    kinds: list[str] = []
    right = 0
    for place, instance in enumerate(events(200)):
        right += place >= 150 and learner.predict_one(instance.values).answer == instance.label
        kinds += [f"{one.kind} {one.attribute}" for one in learner.learn_one(instance) if one.attribute]
    assert kinds == ["retired user_id"]
    if isinstance(learner, Anytime):
        learner.improve(10_000)
    assert right >= (40 if name == "id4" else 48)
    assert learner.retained == 200


@pytest.mark.parametrize("name", LEARNERS)
def test_a_number_that_is_null_first_is_followed_record_by_record(name: str) -> None:
    rng = random.Random(3)
    stream: list[tuple[dict[str, Value], str]] = [({"hair": "red", "age": None}, "+"), ({"age": None}, "-")]
    for _ in range(60):
        age = round(rng.random() * 100, 3)
        stream.append(({"hair": rng.choice(("red", "dark")), "age": age}, "+" if age > 50 else "-"))
    leader, follower = make_learner(name), make_learner(name)
    for values, label in stream:
        mark = leader.codes.mark()
        coded = leader.codes.encode(values, label)
        leader.learn_batch([coded.row], [coded.label])
        follower.codes.grow(leader.codes.growth(mark))
        follower.learn_batch([coded.row], [coded.label])
        assert digest(follower.outline()) == digest(leader.outline())
    assert follower.snapshot() == leader.snapshot()


def test_an_attribute_is_retired_before_it_was_learned_or_twice() -> None:
    for name in LEARNERS:
        learner = make_learner(name)
        learner.codes.encode({"a": "x", "b": "y"}, "p")
        assert [one.kind for one in retire(learner, [1])] == [ChangeKind.RETIRED]
        for place in range(12):
            learner.learn_one(Instance({"a": str(place % 2), "b": str(place % 2)}, "pq"[place % 2]))
        assert [one.attribute for one in retire(learner, [1, 1])] == ["b", "b"]
        assert learner.retained == 12


def test_learners_that_compare_for_equality_say_so() -> None:
    of_1989 = {"id3", "id3prime", "id4", "id5", "id5r-reference"}
    assert {name for name, learner in LEARNERS.items() if not learner.takes_numbers} == of_1989
    for name in LEARNERS:
        for train in ("all", "errors"):
            learner = make_learner(name, settings={"train": train})
            assert learner.takes_numbers == learner.codes.numbers == (name not in of_1989)


# ---- codes that nothing has


@pytest.mark.parametrize("name", ["nt", "c45", "lsid3", "mdl", "iidt-ts", "iidt-ee"])
@pytest.mark.parametrize(
    ("row", "label"),
    [((9, 0), 0), ((2**40, 0), 0), ((1, 0), 7), ((1, 0, 0), 0), ((2**63 + 5, 0), 0), ((-1, 0), 0)],
    ids=["value", "number", "label", "width", "far", "unseen"],
)
def test_a_code_that_nothing_has_is_refused_and_nothing_is_learned(
    name: str, row: tuple[int, ...], label: int
) -> None:
    learner = _taught(name)
    before = learner.snapshot()
    attempts: list[Callable[[], object]] = [
        partial(learner.learn, row, label),
        partial(learner.learn_batch, [row], [label]),
    ]
    if min(row) >= 0:
        array = np.array([row], dtype=np.uint64)
        attempts.append(partial(learner.learn_batch, array, np.array([label], dtype=np.int32)))
    for attempt in attempts:
        with pytest.raises(CodeError):
            attempt()
        assert learner.snapshot() == before
    learner.learn_one(Instance({"a": "x", "n": 1.5}, "p"))


def _taught(name: str) -> Learner:
    learner = make_learner(name)
    for place in range(20):
        learner.learn_one(Instance({"a": "xy"[place % 2], "n": place / 2}, "pq"[place % 2]))
    return learner
