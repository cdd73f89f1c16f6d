"""Training on errors alone: what the paper writes with a hat (section 5.1).

An instance that the tree answers rightly is not learned. Where the classes can be told apart, this needs a
small part of the instances and gives a smaller tree. Where labels are noisy it does harm: what is learned
is then mostly the noise.
"""

from functools import cache
from typing import ClassVar, Self

import msgspec

from learners.change import TreeChange
from learners.codes import Row
from learners.learner import (
    FLAG_UNSEEN,
    Anytime,
    BatchResult,
    Forgetful,
    Labels,
    Learned,
    Learner,
    Options,
    Prediction,
    Rows,
)
from learners.ops import OpCounts
from learners.outline import Outline
from learners.schema import Instance, Limits, Schema, Values

MOST_AT_ONCE = 256
"""How many records are answered at once in the hope that all answers are right."""


class Hat:
    """A learner that learns only what its tree answers wrongly; made by `hat_of`.

    A value of a test that nothing is known about makes an answer wrong whatever it is, and the first instance
    always trains. Only the learner inside has a state: the snapshot is its own, and its option `train` says
    that there is a hat.
    """

    name: ClassVar[str]
    options_type: ClassVar[type[Options]]
    inner_type: ClassVar[type[Learner]]
    takes_arrays: ClassVar[bool] = False

    def __init__(
        self, schema: Schema | None = None, options: Options | None = None, limits: Limits | None = None
    ) -> None:
        options = msgspec.structs.replace(options or self.options_type(), train="errors")
        self._put_on(self.inner_type(schema, options, limits))

    @classmethod
    def over(cls, inner: Learner) -> Self:
        """Return a learner that is there already, with a hat."""
        hat = cls.__new__(cls)
        hat._put_on(inner)
        return hat

    def _put_on(self, inner: Learner) -> None:
        self.inner = inner
        self.schema = inner.schema
        self.options = inner.options
        self.codes = inner.codes

    @property
    def ops(self) -> OpCounts:
        """The operations of the learner inside."""
        return self.inner.ops

    @property
    def retained(self) -> int:
        """How many instances the tree stands for: those that were learned."""
        return self.inner.retained

    @property
    def description_bits(self) -> tuple[float, float] | None:
        """The bits for the tree and for the exceptions, where the learner inside counts them."""
        bits: tuple[float, float] | None = getattr(self.inner, "description_bits", None)
        return bits

    def learn_one(self, instance: Instance) -> list[TreeChange]:
        """Learn from an instance if the tree answers it wrongly, and return how the tree changed."""
        return self.learn(*self.codes.encode(instance.values, instance.label))

    def learn(self, row: Row, label: int) -> list[TreeChange]:
        """Learn from an instance given as codes if the tree answers it wrongly."""
        return [] if self._is_right(self.inner.answer(row), label) else self.inner.learn(row, label)

    def _is_right(self, prediction: Prediction, label: int) -> bool:
        return prediction.answer == self.codes.classes[label] and FLAG_UNSEEN not in prediction.flags

    def learn_batch(self, rows: Rows, labels: Labels) -> BatchResult:
        """Answer each record, then learn from it if the answer is wrong.

        Nothing changes as long as the answers are right, so that more and more records are answered in one
        call of the learner inside, up to the first error.
        """
        predictions: list[Prediction] = []
        learned: list[Learned | None] = []
        start, ahead = 0, 1
        while start < len(rows):
            some, answers = labels[start : start + ahead], [-1] * len(rows[start : start + ahead])
            ahead = min(2 * ahead, MOST_AT_ONCE)
            for answer, label in zip(
                self.inner.learn_batch(rows[start : start + len(answers)], answers).predictions,
                some,
                strict=True,
            ):
                predictions.append(answer)
                start += 1
                if label < 0:
                    learned.append(None)
                elif self._is_right(answer, label):
                    learned.append(Learned([], OpCounts()))
                else:
                    learned.extend(self.inner.learn_batch(rows[start - 1 : start], [label]).learned)
                    ahead = 1
                    break
        return BatchResult.of(predictions, learned)

    def predict_one(self, values: Values) -> Prediction:
        """Answer a description."""
        return self.inner.predict_one(values)

    def answer(self, row: Row) -> Prediction:
        """Answer a description given as codes."""
        return self.inner.answer(row)

    def outline(self) -> Outline | None:
        """Return the tree as data; None while nothing has been learned."""
        return self.inner.outline()

    @property
    def outline_lately(self) -> Outline | None:
        """The tree as data, whose counts may be older."""
        return self.inner.outline_lately

    def snapshot(self) -> bytes:
        """Return everything that is needed to go on exactly as if nothing had happened."""
        return self.inner.snapshot()

    @classmethod
    def restore(cls, data: bytes, limits: Limits | None = None) -> Self:
        """Return the learner that `snapshot` described."""
        return cls.over(cls.inner_type.restore(data, limits))


class ForgetfulHat(Hat):
    """A hat on a learner that can forget."""

    def forget_one(self, instance: Instance) -> list[TreeChange]:
        """Forget one instance that was learned; one that was answered rightly never was."""
        assert isinstance(self.inner, Forgetful)
        return self.inner.forget_one(instance)


class AnytimeHat(Hat):
    """A hat on a learner that can improve: what it spends time on are the records that were learned."""

    def improve(self, budget: int) -> list[TreeChange]:
        """Spend units of work on a better tree and return how it changed."""
        return self._anytime.improve(budget)

    @property
    def can_improve(self) -> bool:
        """Whether a budget could do anything before more is learned."""
        return self._anytime.can_improve

    @property
    def improvements(self) -> int:
        """How many attempts have made the tree better."""
        return self._anytime.improvements

    @property
    def worth(self) -> float:
        """What improving makes smaller."""
        return self._anytime.worth

    @property
    def saved(self) -> float:
        """By how much improving has made it smaller."""
        return self._anytime.saved

    @property
    def _anytime(self) -> Anytime:
        assert isinstance(self.inner, Anytime)
        return self.inner


@cache
def hat_of(learner: type[Learner]) -> type[Hat]:
    """Return the class of a learner that trains on errors alone, under the same name."""
    forgetful = callable(getattr(learner, "forget_one", None))
    members = {
        "name": learner.name,
        "options_type": learner.options_type,
        "inner_type": learner,
        "__doc__": f"{learner.__name__} with a hat.",
    }
    kind = ForgetfulHat if forgetful else AnytimeHat if callable(getattr(learner, "improve", None)) else Hat
    return type(f"{learner.__name__}Hat", (kind,), members)
