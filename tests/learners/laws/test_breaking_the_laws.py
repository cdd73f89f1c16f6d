"""The laws can be broken: each learner here does one thing wrong, and the law that is about it says so."""

import random
from collections.abc import Sequence

import pytest

from learners.iidt.learner import IIDTTS
from learners.laws import LawError, check_learner, equals_batch, laws_of
from learners.laws.anytime_laws import ANYTIME_LAWS
from learners.learner import Learner
from learners.outline import Outline, from_dict
from learners.registry import EXACT
from learners.schema import Instance
from learners.utgoff.id4 import ID4
from learners.utgoff.id5 import ID5
from learners.utgoff.id5r import ID5R
from tests.learners.laws.anytime_lawbreakers import Curious, Endless, Generous, Restless, Secretive, Spoiling
from tests.learners.laws.lawbreakers import (
    STREAM,
    Amnesiac,
    Arriving,
    Chatty,
    Clinging,
    Contrary,
    Counting,
    Discreet,
    Greedy,
    Hasty,
    Hoarding,
    Hurried,
    Knowing,
    Lenient,
    Mumbling,
    Nervous,
    Obliging,
    Opaque,
    Settled,
    Sharing,
    Siamese,
    Silent,
    Stubborn,
    Taciturn,
    Thrifty,
    Trusting,
    Unaware,
)
from tests.oracles.id3 import Rules, id3, text_of


def parity(count: int) -> list[Instance]:
    """A stream on which a greedy tree is twice too large, so that there is something to improve."""
    rng = random.Random(1)
    made = [{name: rng.choice("01") for name in "abcdefg"} for _ in range(count)]
    return [Instance(v, "xy"[[v[name] for name in "abc"].count("1") % 2]) for v in made]


def of_bits(text: str) -> list[Instance]:
    return [Instance(dict(zip("abc", one, strict=False)), one[3]) for one in text.split()]


@pytest.mark.parametrize(
    ("wrong", "law", "stream"),
    [
        (Counting, "predicting_changes_nothing", STREAM),
        (Silent, "changes_fold_to_the_outline", STREAM),
        (Chatty, "changes_mean_a_new_digest", STREAM),
        (Sharing, "same_input_gives_same_output", STREAM),
        (Siamese, "learners_share_nothing", STREAM),
        (Amnesiac, "snapshots_are_stable", STREAM),
        (Amnesiac, "restored_learners_go_on_alike", STREAM),
        (Trusting, "damaged_snapshots_are_refused", STREAM),
        (Thrifty, "operations_only_grow", STREAM),
        (Knowing, "nothing_is_answered_before_learning", STREAM),
        (Contrary, "answers_are_most_probable", STREAM),
        (Hasty, "batches_equal_single_records", STREAM),
        (Greedy, "arguments_are_left_alone", STREAM),
        (Opaque, "outlines_stay_as_they_were", STREAM),
        (Mumbling, "followers_become_the_same_learner", STREAM),
        (Settled, "names_may_appear_at_any_time", STREAM),
        (Lenient, "bad_values_are_refused", STREAM),
        (Lenient, "closed_names_are_refused", STREAM),
        (Lenient, "a_drifting_label_is_refused", STREAM),
        (Discreet, "bad_values_are_missing_ones", STREAM),
        (Taciturn, "retiring_is_told", STREAM),
        (Unaware, "restored_learners_know_what_is_retired", STREAM),
        (Hurried, "followers_learn_in_batches", STREAM),
        (Hoarding, "values_beyond_the_limit_retire", STREAM),
        (Nervous, "a_field_that_is_always_null_is_none", STREAM),
        (Stubborn, "retired_attributes_were_never_there", STREAM),
        (Lenient, "limits_are_kept", STREAM),
        (Clinging, "forgetting_everything_leaves_nothing", STREAM),
        (Obliging, "strangers_are_not_forgotten", STREAM),
        (Arriving, "order_does_not_matter", of_bits("011y 101x 111y 100y")),
        (Arriving, "forgetting_undoes_learning", of_bits("100x 011x 001y 000x 110y")),
    ],
)
def test_each_law_catches_the_learner_that_breaks_it(
    wrong: type[Learner], law: str, stream: list[Instance]
) -> None:
    with pytest.raises(LawError):
        dict(laws_of(wrong))[law](wrong, stream)


@pytest.mark.parametrize(
    ("wrong", "law"),
    [
        (Curious, "asking_what_it_is_worth_changes_nothing"),
        (Generous, "budgets_may_be_divided"),
        (Restless, "attempts_survive_restarts"),
        (Secretive, "improvements_can_be_followed"),
        (Endless, "improving_comes_to_an_end"),
        (Spoiling, "improving_comes_to_an_end"),
    ],
)
def test_each_law_of_improving_catches_the_learner_that_breaks_it(wrong: type[Learner], law: str) -> None:
    stream = parity(100)
    laws = dict(laws_of(wrong))
    laws[law](IIDTTS, stream)
    with pytest.raises(LawError):
        laws[law](wrong, stream)


def test_every_law_of_improving_is_broken_by_some_learner_above() -> None:
    (mark,) = test_each_law_of_improving_catches_the_learner_that_breaks_it.pytestmark  # type: ignore[attr-defined]
    broken = {law for _, law in mark.args[1]}
    assert broken == {law.__name__ for law in ANYTIME_LAWS}
    assert broken < {name for name, _ in laws_of(IIDTTS)}


def test_every_law_is_broken_by_some_learner_above() -> None:
    (mark,) = test_each_law_catches_the_learner_that_breaks_it.pytestmark  # type: ignore[attr-defined]
    assert {law for _, law, _ in mark.args[1]} == {name for name, _ in laws_of(ID5R)}


def test_checking_a_learner_names_the_law_and_the_stream() -> None:
    with pytest.raises(
        LawError, match=r"^predicting_changes_nothing: the snapshots differ.*; the stream is \["
    ):
        check_learner(Counting, [STREAM])


def test_the_batch_tree_is_a_law_of_its_own() -> None:
    def batch(stream: Sequence[Instance]) -> Outline | None:
        texts = [({k: text_of(v) for k, v in one.values.items()}, text_of(one.label)) for one in stream]
        return from_dict(id3(texts, "abc", Rules()))

    law = equals_batch(batch)
    stream = of_bits("100x 011x 001y 000x 110y 101x 111y 100y")
    law(ID5R, stream)
    with pytest.raises(LawError, match="after record"):
        law(Arriving, stream)


def test_laws_are_those_that_a_learner_can_obey() -> None:
    every, forgetful = {name for name, _ in laws_of(ID4)}, {name for name, _ in laws_of(ID5)}
    exact = {name for name, _ in laws_of(ID5R)}
    assert every < forgetful < exact
    assert forgetful - every == {"forgetting_everything_leaves_nothing", "strangers_are_not_forgotten"}
    assert exact - forgetful == {
        "order_does_not_matter",
        "forgetting_undoes_learning",
        "retired_attributes_were_never_there",
    }
    assert {name for name, _ in laws_of(ID5, exact=True)} == exact
    assert all(law.__doc__ for _, law in laws_of(ID5R))
    assert ID5R.name in EXACT
