"""The laws of learners that turn spare time into better trees."""

from collections.abc import Sequence

from learners.capabilities import Anytime
from learners.change import TreeChange, fold
from learners.laws.story import Law, Make, Stream, learn, must, same
from learners.learner import Learner
from learners.outline import Outline, digest, size

BUDGETS = (0, 1, 2, 3, 5, 8, 13, 50, 200, 1_000)
"""How much there is to spend between two records, in turn."""
ENOUGH = 200_000
"""No small stream gives more than this to do."""


def _budget(place: int) -> int:
    return BUDGETS[place % len(BUDGETS)]


def _improve(learner: Learner, budgets: Sequence[int]) -> list[TreeChange]:
    """Spend budgets; return all changes."""
    if not isinstance(learner, Anytime):
        raise TypeError(f"{type(learner).__name__} cannot improve")
    return [change for budget in budgets for change in learner.improve(budget)]


def _parts(budget: int, place: int) -> list[int]:
    """Return a budget in parts, now in many and now in few."""
    first, second = budget // (2 + place % 5), budget // 3
    return [first, 0, second, *([1] * min(5, budget - first - second)), max(0, budget - first - second - 5)]


def budgets_may_be_divided(make: Make, stream: Stream) -> None:
    """However a budget is divided, the same learner comes of it, to the byte."""
    whole, divided = make(), make()
    for place, instance in enumerate(stream):
        learn(whole, instance)
        learn(divided, instance)
        budget = _budget(place)
        parts = _parts(budget, place)
        same("the budgets", budget, sum(parts))
        _improve(whole, [budget])
        _improve(divided, parts)
        same("the trees", digest(whole.outline()), digest(divided.outline()))
        same("the snapshots", whole.snapshot(), divided.snapshot())


def attempts_survive_restarts(make: Make, stream: Stream) -> None:
    """A learner restored in the middle of an attempt goes on as if nothing had happened."""
    one = restarted = make()
    for place, instance in enumerate(stream):
        learn(one, instance)
        if restarted is not one:
            learn(restarted, instance)
        for budget in (1, _budget(place), 7):
            _improve(one, [budget])
            if restarted is not one:
                _improve(restarted, [budget])
            same("the snapshots", one.snapshot(), restarted.snapshot())
            restarted = type(one).restore(one.snapshot())
            same("the snapshots of a restored learner", one.snapshot(), restarted.snapshot())


def improvements_can_be_followed(make: Make, stream: Stream) -> None:
    """Whoever applies the changes that improving returns holds the tree."""
    learner = make()
    followed: Outline | None = None
    for place, instance in enumerate(stream):
        followed = fold(learn(learner, instance).changes, followed)
        before, retained = digest(followed), learner.retained
        followed = fold(_improve(learner, [_budget(place)]), followed)
        same("the trees", digest(learner.outline()), digest(followed))
        same("the trees told lately", digest(learner.outline_lately), digest(followed))
        same("the sizes", size(learner.outline()), size(followed))
        same("what is retained", retained, learner.retained)
        if before != digest(followed):
            must(isinstance(learner, Anytime) and learner.improvements > 0, "it changed without improving")


def improving_comes_to_an_end(make: Make, stream: Stream) -> None:
    """After a while there is nothing more to improve until more is learned, and nothing has got worse."""
    learner = make()
    assert isinstance(learner, Anytime)
    same("what there is to improve at first", False, learner.can_improve)
    same("the changes of nothing", [], learner.improve(ENOUGH))
    for instance in stream:
        learn(learner, instance)
    before = learner.worth
    for _ in range(64):
        if not learner.can_improve:
            break
        learner.improve(ENOUGH)
        must(learner.worth <= before + 1e-6, f"{learner.worth} is worse than {before}")
        before = learner.worth
    same("what there is to improve in the end", False, learner.can_improve)
    state = learner.snapshot()
    same("the changes of nothing", [], learner.improve(ENOUGH))
    same("the snapshots", state, learner.snapshot())


def asking_what_it_is_worth_changes_nothing(make: Make, stream: Stream) -> None:
    """A learner that is asked all the time, one that never is, and a restored one improve alike."""
    asked, silent = make(), make()
    assert isinstance(silent, Anytime)
    for place, instance in enumerate(stream):
        learn(asked, instance)
        learn(silent, instance)
        for budget in (1, _budget(place), 7):
            assert isinstance(asked, Anytime)
            must(asked.worth >= 0, "its worth is less than nothing")
            asked.improve(budget)
            silent.improve(budget)
            same("the snapshots", asked.snapshot(), silent.snapshot())
            if place % 3 == 1:
                asked = type(asked).restore(asked.snapshot())


ANYTIME_LAWS: list[Law] = [
    asking_what_it_is_worth_changes_nothing,
    budgets_may_be_divided,
    attempts_survive_restarts,
    improvements_can_be_followed,
    improving_comes_to_an_end,
]
