"""The laws can be broken: each learner here does one thing wrong, and the law that is about it says so."""

import random
from collections.abc import Sequence
from typing import ClassVar, Self

import pytest

from learners.change import ChangeKind, TreeChange
from learners.codes import Codes
from learners.iidt.learner import IIDTTS
from learners.laws import LawError, check_learner, equals_batch, laws_of
from learners.laws.anytime_laws import ANYTIME_LAWS
from learners.laws.retiring_laws import NOTHING
from learners.learner import BatchResult, Labels, Learner, Options, Prediction, Rows
from learners.outline import Outline, from_dict
from learners.registry import EXACT
from learners.schema import Instance, InstanceError, Limits, Misfit, Schema, Values
from learners.utgoff.id4 import ID4
from learners.utgoff.id5 import ID5
from learners.utgoff.id5r import ID5R
from learners.utgoff.retaining import RetainingOptions
from learners.vocabulary import Growth, Mark, Row
from tests.oracles.id3 import Rules, id3, text_of

STREAM = [
    Instance({"a": a, "b": b}, label)
    for a, b, label in ("00x", "01y", "10y", "11x", "00x", "21y", "00y", "12x", "10y", "02x")
]


class Counting(ID5R):
    """Changes with every answer."""

    def predict_one(self, values: Values) -> Prediction:
        self.ops.repairs += 1
        return super().predict_one(values)


class Silent(ID5R):
    """Does not tell when a branch grows."""

    def learn(self, row: Row, label: int) -> list[TreeChange]:
        return [one for one in super().learn(row, label) if one.kind is not ChangeKind.BRANCHED]


class Chatty(ID5R):
    """Tells a change with every instance."""

    def learn(self, row: Row, label: int) -> list[TreeChange]:
        return super().learn(row, label) or self.told

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.told: list[TreeChange] = ID5R().learn_one(STREAM[0])


class Sharing(ID5R):
    """Has one count for all."""

    seen: ClassVar[list[int]] = []

    def learn(self, row: Row, label: int) -> list[TreeChange]:
        self.seen.append(label)
        self.ops.repairs += len(self.seen)
        return super().learn(row, label)


class Amnesiac(ID5R):
    """Forgets its costs when it is restored."""

    @classmethod
    def restore(cls, data: bytes, limits: Limits | None = None) -> Self:
        learner = super().restore(data, limits)
        learner.ops.e_scores = 0
        return learner


class Trusting(ID5R):
    """Restores whatever it can."""

    @classmethod
    def restore(cls, data: bytes, limits: Limits | None = None) -> Self:
        try:
            return super().restore(data, limits)
        except ValueError:
            return cls()


class Thrifty(ID5R):
    """Pays operations back."""

    def learn(self, row: Row, label: int) -> list[TreeChange]:
        changes = super().learn(row, label)
        self.ops.e_scores = min(self.ops.e_scores, 5) - len(changes)
        return changes


class Knowing(ID5R):
    """Answers before it has learned."""

    def predict_one(self, values: Values) -> Prediction:
        found = super().predict_one(values)
        return found if found.answer else Prediction("x", (("x", 1),))


class Contrary(ID5R):
    """Answers the least probable class."""

    def predict_one(self, values: Values) -> Prediction:
        found = super().predict_one(values)
        rarest = min(found.counts, key=lambda one: one[1], default=(None, 0))[0]
        return Prediction(rarest, found.counts, found.path, found.flags)


class Hasty(ID5R):
    """Answers a whole batch before it learns from it."""

    def learn_batch(self, rows: Rows, labels: Labels) -> BatchResult:
        answers = [self.answer(tuple(row)) for row in rows]
        return super().learn_batch(rows, labels)._replace(predictions=answers)


class Greedy(ID5R):
    """Takes out what it has read."""

    def learn_one(self, instance: Instance) -> list[TreeChange]:
        changes = super().learn_one(instance)
        instance.values.pop("b", None)  # type: ignore[attr-defined]
        return changes


class Lenient(ID5R):
    """Takes what does not fit."""

    def learn_one(self, instance: Instance) -> list[TreeChange]:
        try:
            return super().learn_one(instance)
        except InstanceError:
            return []


class Discreet(ID5R):
    """Does not say what is wrong with a field."""

    def predict_one(self, values: Values) -> Prediction:
        return self.answer(self.codes.look_up(values).row)


class Taciturn(ID5R):
    """Does not tell what it retires."""

    def retire(self, attributes: Sequence[int]) -> list[TreeChange]:
        super().retire(attributes)
        return []


class Stubborn(ID5R):
    """Goes on with the tree it has when an attribute is retired."""

    def _retire(self) -> None:
        pass


class Unaware(ID5R):
    """Does not know after a restart what is retired."""

    @classmethod
    def restore(cls, data: bytes, limits: Limits | None = None) -> Self:
        learner = super().restore(data, limits)
        learner._retired = set()
        return learner


class Hoarding(ID5R):
    """Learns what its codes have retired without being told so."""

    def learn_one(self, instance: Instance) -> list[TreeChange]:
        coded = self.codes.encode(instance.values, instance.label)
        return self.learn(coded.row, coded.label)


class Hurried(ID5R):
    """Does not learn the last record of a batch of several."""

    def learn_batch(self, rows: Rows, labels: Labels) -> BatchResult:
        return super().learn_batch(rows, [*labels[:-1], -1] if len(labels) > 1 else labels)


class Nervous(ID5R):
    """Tests nothing once there is an attribute that no instance has; it is not the bare algorithm."""

    def __init__(
        self, schema: Schema | None = None, options: Options | None = None, limits: Limits | None = None
    ) -> None:
        super().__init__(schema, options or RetainingOptions(significance=0.5), limits)

    def outline(self) -> Outline | None:
        return None if NOTHING in self.codes.attributes else super().outline()


class Clinging(ID5R):
    """Does not let the last instance go."""

    def forget_one(self, instance: Instance) -> list[TreeChange]:
        return super().forget_one(instance) if self.retained > 1 else []


class Opaque(ID5R):
    """Gives out an outline that goes on changing."""

    first: Outline | None = None

    def outline(self) -> Outline | None:
        found = super().outline()
        self.first = self.first or found
        if self.first is not None:
            object.__setattr__(self.first, "counts", (("x", self.retained),))
        return found


class Siamese(ID5R):
    """What one learns costs all of them."""

    born: ClassVar[list[ID5R]] = []

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]
        self.born.append(self)

    def learn(self, row: Row, label: int) -> list[TreeChange]:
        for one in self.born:
            one.ops.repairs += 1
        return super().learn(row, label)


class Settled(ID5R):
    """Has met enough classes."""

    def learn_one(self, instance: Instance) -> list[TreeChange]:
        if len(self.codes.classes) == 2 and self.codes.class_code(instance.label) < 0:
            raise InstanceError(Misfit.UNKNOWN_CLASS, "label", "two classes are enough")
        return super().learn_one(instance)


class Mumbling(ID5R):
    """Does not tell a follower all the names."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.codes = Mumble(self.schema)


class Mumble(Codes):
    """Leaves a value out."""

    def growth(self, since: Mark) -> Growth:
        found = super().growth(since)
        return found._replace(values=found.values[:1])


class Obliging(ID5R):
    """Forgets whatever it is asked to, or says so."""

    def forget_one(self, instance: Instance) -> list[TreeChange]:
        try:
            return super().forget_one(instance)
        except InstanceError:
            return []


class Arriving(ID5R):
    """Leaves tests as a pull-up has left them, as ID5 does: the tree depends on the order of arrival."""

    _add = ID5._add


class Generous(IIDTTS):
    """Gives itself a unit with every budget: many small ones are more than a large one."""

    def improve(self, budget: int) -> list[TreeChange]:
        return super().improve(budget + 1)


class Restless(IIDTTS):
    """Begins its attempt again when it is restored."""

    @classmethod
    def restore(cls, data: bytes, limits: Limits | None = None) -> Self:
        learner = super().restore(data, limits)
        learner.growing.work = None
        return learner


class Curious(IIDTTS):
    """Thinks a little more whenever it is asked."""

    @property
    def worth(self) -> float:
        super().improve(1)
        return super().worth


class Secretive(IIDTTS):
    """Does not tell what improving has changed."""

    def improve(self, budget: int) -> list[TreeChange]:
        return super().improve(budget)[:0]


class Endless(IIDTTS):
    """Always finds something to do."""

    @property
    def can_improve(self) -> bool:
        return self.growing.forest.root is not None


class Spoiling(IIDTTS):
    """Gives up after a while what it has found."""

    @property
    def worth(self) -> float:
        return super().worth + (100 if not self.can_improve else 0)


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
