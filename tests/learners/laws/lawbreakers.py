"""Learners that each break one law."""

from collections.abc import Sequence
from typing import ClassVar, Self

from learners.change import ChangeKind, TreeChange
from learners.codes import Codes
from learners.laws.retiring_laws import NOTHING
from learners.learner import BatchResult, Labels, Options, Prediction, Rows
from learners.outline import Outline
from learners.schema import Instance, InstanceError, Limits, Misfit, Schema, Values
from learners.utgoff.id5 import ID5
from learners.utgoff.id5r import ID5R
from learners.utgoff.retaining import RetainingOptions
from learners.vocabulary import Growth, Mark, Row

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
