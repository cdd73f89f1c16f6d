"""The laws can be broken: each learner here does one thing wrong, and the law that is about it says so."""

from collections.abc import Callable
from typing import ClassVar, Self

import pytest

from learners.change import TreeChange
from learners.checks import EXACT, LawError, check_learner, equals_batch, laws_of
from learners.learner import BatchResult, Learner, Prediction
from learners.outline import Leaf, Outline
from learners.schema import Instance, InstanceError, Limits, Values
from learners.utgoff.id4 import ID4
from learners.utgoff.id5 import ID5
from learners.utgoff.id5r import ID5R

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
    """Keeps its changes to itself."""

    def learn(self, row: tuple[int, ...], label: int) -> list[TreeChange]:
        return super().learn(row, label)[:1]


class Chatty(ID5R):
    """Tells a change with every instance."""

    def learn(self, row: tuple[int, ...], label: int) -> list[TreeChange]:
        return super().learn(row, label) or self.told

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.told: list[TreeChange] = ID5R().learn_one(STREAM[0])


class Sharing(ID5R):
    """Has one count for all."""

    seen: ClassVar[list[int]] = []

    def learn(self, row: tuple[int, ...], label: int) -> list[TreeChange]:
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

    def learn(self, row: tuple[int, ...], label: int) -> list[TreeChange]:
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

    def learn_batch(self, rows: object, labels: object) -> BatchResult:
        answers = [self.answer(row) for row in rows]  # type: ignore[attr-defined]
        return super().learn_batch(rows, labels)._replace(predictions=answers)  # type: ignore[arg-type]


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


class Clinging(ID5R):
    """Does not let the last instance go."""

    def forget_one(self, instance: Instance) -> list[TreeChange]:
        return super().forget_one(instance) if self.retained > 1 else []


class Opaque(ID5R):
    """Gives out an outline that goes on changing."""

    def outline(self) -> Outline | None:
        found = super().outline()
        if isinstance(found, Leaf):
            self.first = getattr(self, "first", found)
            object.__setattr__(self.first, "counts", (("x", self.retained),))
        return found


class Arriving(ID5R):
    """Breaks ties by the order of arrival: ID5 does not re-establish what a pull-up has rearranged."""

    _add = ID5._add


@pytest.mark.parametrize(
    ("wrong", "law"),
    [
        (Counting, "predicting_changes_nothing"),
        (Silent, "changes_fold_to_the_outline"),
        (Chatty, "changes_mean_a_new_digest"),
        (Sharing, "same_input_gives_same_output"),
        (Amnesiac, "snapshots_are_stable"),
        (Amnesiac, "restored_learners_go_on_alike"),
        (Trusting, "damaged_snapshots_are_refused"),
        (Thrifty, "operations_only_grow"),
        (Knowing, "nothing_is_answered_before_learning"),
        (Contrary, "answers_are_most_probable"),
        (Hasty, "batches_equal_single_records"),
        (Greedy, "arguments_are_left_alone"),
        (Lenient, "bad_values_are_refused"),
        (Lenient, "closed_names_are_refused"),
        (Lenient, "drifting_types_are_refused"),
        (Lenient, "limits_are_kept"),
        (Clinging, "forgetting_everything_leaves_nothing"),
        (Opaque, "outlines_stay_as_they_were"),
    ],
)
def test_a_law_that_is_broken_is_named(wrong: type[Learner], law: str) -> None:
    laws = dict(laws_of(wrong))
    assert set(laws) == set(dict(laws_of(ID5R)))
    with pytest.raises(LawError):
        laws[law](wrong, STREAM)
    laws[law](ID5R, STREAM)
    with pytest.raises(LawError, match=r"^[a-z_]+: .*; the stream is \["):
        check_learner(wrong, [STREAM])
