"""Learners that can improve in spare time, and each break one law of it."""

from typing import Self

from learners.change import TreeChange
from learners.iidt.learner import IIDTTS
from learners.schema import Limits


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
