"""What some learners can do beyond what all of them promise in `learners.learner`."""

from typing import Protocol, runtime_checkable

from learners.change import TreeChange
from learners.learner import Labels, Rows
from learners.schema import Instance


@runtime_checkable
class Deferring(Protocol):
    """A learner that can learn many records before it finds out how the tree has changed, which is faster."""

    publishes_each: bool
    """Whether `learn_batch` says of each record how it changed the tree; otherwise only `publish` does."""

    def learn_rows(self, rows: Rows, labels: Labels) -> None:
        """Learn what `learn_batch` would, without predicting, and without saying what has changed.

        As many operations are spent as `learn_batch` would spend.
        """
        ...

    def publish(self) -> list[TreeChange]:
        """Return how the tree has changed since it was last asked, and take it for known from now on."""
        ...


@runtime_checkable
class Forgetful(Protocol):
    """A learner that can take an instance back, as if it had never come."""

    def forget_one(self, instance: Instance) -> list[TreeChange]:
        """Forget one instance that was learned before.

        Raises:
            InstanceError: No such instance is retained.
        """
        ...


@runtime_checkable
class SelfChecking(Protocol):
    """A learner that can verify its own state; that takes too long for every record in production."""

    def check(self) -> str | None:
        """Return what is wrong inside; None where every count is that of the instances retained."""
        ...


@runtime_checkable
class Anytime(Protocol):
    """A learner that turns spare time into a better tree.

    A budget is in units of work, not of time, so that whoever knows how many units were granted, and between
    which records, can repeat it: however a budget is divided, the same tree comes of it.
    """

    def improve(self, budget: int) -> list[TreeChange]:
        """Spend units of work on a better tree and return how it changed."""
        ...

    @property
    def can_improve(self) -> bool:
        """Whether a budget could do anything before more is learned."""
        ...

    @property
    def improvements(self) -> int:
        """How many attempts have made the tree better."""
        ...

    @property
    def worth(self) -> float:
        """What improving makes smaller; 0 while nothing has been learned."""
        ...

    @property
    def saved(self) -> float:
        """By how much improving has made it smaller since this learner was made or restored."""
        ...
