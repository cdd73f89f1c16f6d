"""The exact learners hold, after every record, the tree of an ID3 that shares no code with them."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from learners.capabilities import Forgetful
from learners.learner import Learner
from learners.outline import Split, to_json, walk
from learners.registry import EXACT, make_learner
from learners.schema import Instance, InstanceError, Misfit, Schema
from tests.oracles.id3 import Batch, Rules, id3, text_of
from tests.strategies import Case, World, cases, fitted, in_words, make_bare, streams, worlds

AT_LENGTH = settings.get_current_profile_name() == "laws"
INSERTIONS = {"id5r": 10_000, "id5r-reference": 10_000, "id3prime": 1_000, "id3": 1_000}
"""How many insertions are compared in a CI run; with the profile "laws" fifty times as many."""
TIMES = 50 if AT_LENGTH else 1
RULES = ("selection", "significance", "significance_test", "min_records_per_value", "tie_order")
KEPT = ("window", "missing", "on_contradiction")
WANTED = {
    *(f"{n} attributes" for n in range(1, 9)),
    *(f"{n} classes" for n in range(1, 5)),
    *("late attribute", "late class", "missing value", "contradiction", "tie", "one branch"),
    *("selection=gain-ratio", "significance=0.05", "significance=0.01", "significance_test=g"),
    *("min_records_per_value=2",),
    *("tie_order", "window", "missing=reject", "on_contradiction=replace"),
}
"""What the streams and settings of a run have to have reached, each in ten cases or more."""
NAMED_WANTED = {"id5r-reference": {"missing=most_common", "on_contradiction=smaller"}}
WHERE_COSTS_ARE = HealthCheck.too_slow, HealthCheck.data_too_large


def batch_of(case: Case, taken: dict[str, object]) -> Batch:
    """Return the batch learner with the settings that were taken."""
    rules = {key: taken[key] for key in RULES if key in taken}
    kept = {key: taken[key] for key in KEPT if key in taken}
    declared = [attribute.name for attribute in case.schema.attributes]
    return Batch(Rules(classes=case.schema.classes, **rules), declared, **kept)  # type: ignore[arg-type]


def pair_of(name: str, case: Case) -> tuple[Learner, Batch]:
    """Return a learner and the batch learner it has to equal."""
    taken = fitted(name, case.settings)
    return make_learner(name, case.schema, taken), batch_of(case, taken)


def as_taken(name: str, case: Case) -> Case:
    """Return a case as a learner is to get it: ID3 of 1989 takes each number for a value of its own."""
    return case.in_words() if name == "id5r" else case


def tree_of(learner: Learner) -> object:
    return json.loads(to_json(learner.outline()))


def learn(learner: Learner, instance: Instance) -> bool:
    """Learn an instance; return whether it was taken. Only a value that must not be missing is refused."""
    try:
        learner.learn_one(instance)
    except InstanceError as error:
        assert error.misfit is Misfit.MISSING_VALUE
        return False
    return True


def note(reached: Counter[str], case: Case, taken: dict[str, object], learner: Learner) -> None:
    """Count what a case has reached, so that the generators cannot silently lose it."""
    for key, value in taken.items():
        reached[key if key in ("window", "tie_order") else f"{key}={value}"] += 1
    reached[f"{len(learner.codes.attributes)} attributes"] += 1
    reached[f"{len(learner.codes.classes)} classes"] += 1
    first, last = case.stream[0].values, case.stream[-1].values
    reached["late attribute"] += bool(set(last) - set(first)) and not case.schema.attributes
    reached["late class"] += case.stream[-1].label not in {one.label for one in case.stream[:-1]}
    reached["missing value"] += any(None in one.values.values() for one in case.stream)
    seen: dict[str, set[str]] = {}
    for values, label in case.stream:
        seen.setdefault(repr(sorted(values.items(), key=repr)), set()).add(text_of(label))
    reached["contradiction"] += any(len(labels) > 1 for labels in seen.values())
    splits = [node for _, node in walk(learner.outline()) if isinstance(node, Split)]
    reached["tie"] += any(split.evidence is not None and split.evidence.margin == 0 for split in splits)
    reached["one branch"] += any(len(split.branches) == 1 for split in splits)


def repeat(check: Callable[[Case], None], enough: Callable[[], bool], *, max_size: int = 30) -> None:
    """Run a check over ever new cases until it is enough; the same ones in every run."""
    for turn in range(1_000_000):
        if enough():
            return

        @seed(turn)
        @settings(max_examples=300, deadline=None, suppress_health_check=WHERE_COSTS_ARE)
        @given(cases(max_size=max_size))
        def run(case: Case) -> None:
            check(case)

        run()


@pytest.mark.timeout(900 * TIMES)
@pytest.mark.parametrize("name", sorted(EXACT))
def test_the_tree_is_id3s_after_every_record(name: str) -> None:
    target = INSERTIONS[name] * TIMES
    compared = 0
    reached: Counter[str] = Counter()

    def check(case: Case) -> None:
        nonlocal compared
        case = as_taken(name, case)
        learner, batch = pair_of(name, case)
        for instance in case.stream:
            taken = learn(learner, instance)
            batch.learn(instance.values, instance.label)
            assert tree_of(learner) == batch.tree()
            assert learner.retained == len(batch.kept)
            compared += taken
        note(reached, case, fitted(name, case.settings), learner)

    repeat(check, lambda: compared >= target)
    assert compared >= target
    if target >= 10_000:
        assert {what for what in WANTED | NAMED_WANTED.get(name, set()) if reached[what] < 10} == set()


def test_what_fills_a_gap_is_decided_before_anything_makes_way_for_it() -> None:
    case = Case(
        Schema(),
        {"missing": "most_common", "on_contradiction": "replace"},
        tuple(
            Instance({"colour": "red"} | ({} if size is None else {"size": size}), label)
            for size, label in [
                ("red", "yes"),
                ("blue", "yes"),
                (None, "yes"),
                ("red", "yes"),
                (None, "perhaps"),
            ]
        ),
    )
    learner, batch = pair_of("id5r-reference", case)
    for instance in case.stream:
        learner.learn_one(instance)
        batch.learn(instance.values, instance.label)
    assert tree_of(learner) == batch.tree()


def test_at_least_twenty_thousand_insertions_are_compared() -> None:
    assert set(INSERTIONS) == EXACT
    assert sum(INSERTIONS.values()) * TIMES >= (1_000_000 if AT_LENGTH else 20_000)


@pytest.mark.parametrize("name", sorted(EXACT))
def test_after_forgetting_the_tree_is_id3s_of_what_is_left(name: str) -> None:
    forgotten = 0

    @settings(max_examples=2000 if AT_LENGTH else 150, deadline=None, suppress_health_check=WHERE_COSTS_ARE)
    @given(cases(retention=False), st.lists(st.integers(0, 99), max_size=40))
    def run(case: Case, choices: list[int]) -> None:
        nonlocal forgotten
        case = as_taken(name, case)
        learner, batch = pair_of(name, case)
        assert isinstance(learner, Forgetful)
        kept: list[Instance] = []
        waiting = list(case.stream)
        # An even choice learns the next instance, an odd one forgets any of those retained.
        for choice in [*choices, *([0] * len(waiting)), *([1] * len(waiting))]:
            if choice % 2 and kept:
                instance = kept.pop(choice // 2 % len(kept))
                learner.forget_one(instance)
                batch.forget(instance.values, instance.label)
                forgotten += 1
            elif choice % 2 == 0 and waiting:
                instance = waiting.pop(0)
                learner.learn_one(instance)
                batch.learn(instance.values, instance.label)
                kept.append(instance)
            assert tree_of(learner) == batch.tree()

    run()
    assert forgotten >= 1_000


@pytest.mark.parametrize("name", sorted(EXACT))
@settings(max_examples=60, deadline=None)
@given(worlds(), st.integers(1, 12), st.data())
def test_a_window_is_id3_on_the_last_ones(name: str, world: World, window: int, data: st.DataObject) -> None:
    stream = data.draw(streams(world))
    stream = in_words(stream) if name == "id5r" else stream
    learner = make_bare(name, window=window)
    attributes: list[str] = []
    for place, instance in enumerate(stream):
        learner.learn_one(instance)
        attributes += [name for name in instance.values if name not in attributes]
        last = stream[max(0, place + 1 - window) : place + 1]
        texts = [({k: text_of(v) for k, v in values.items()}, text_of(label)) for values, label in last]
        assert tree_of(learner) == id3(texts, attributes, Rules())


@pytest.mark.parametrize("name", sorted(EXACT))
@settings(max_examples=100, deadline=None)
@given(cases(late=False, missing=False, retention=False), st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_change_the_tree(name: str, case: Case, chance: Random) -> None:
    case = as_taken(name, case)
    shuffled = list(case.stream)
    chance.shuffle(shuffled)
    trees = []
    for order in (case.stream, shuffled):
        learner = make_bare(name, case.schema, **case.settings)
        for instance in order:
            learner.learn_one(instance)
        trees.append(learner.outline())
    assert trees[0] == trees[1]


@settings(max_examples=100, deadline=None)
@given(cases(retention=False))
def test_unrounded_scores_equal_id3_too(case: Case) -> None:
    chosen = {key: value for key, value in case.settings.items() if key == "tie_order"}
    learner = make_learner("id5r-reference", case.schema, {**chosen, "rounding": False})
    batch = batch_of(case, chosen)
    batch.rules = replace(batch.rules, rounding=False)
    for instance in case.stream:
        learner.learn_one(instance)
        batch.learn(instance.values, instance.label)
        assert tree_of(learner) == batch.tree()
