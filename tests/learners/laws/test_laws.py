"""Every law of `learners.laws` for every learner of the registry."""

from functools import partial

import pytest
from hypothesis import given, settings

from learners.laws import Law, laws_of
from learners.learner import Learner
from learners.registry import LEARNERS, make_learner
from learners.schema import Instance, Limits
from tests.strategies import Case, cases, fitted, make_bare

LAWS = [
    pytest.param(name, law, id=f"{name}:{title}")
    for name, learner in LEARNERS.items()
    for title, law in laws_of(learner)
]
MANY = 400 if settings.get_current_profile_name() == "laws" else 25
AS_GIVEN = {"forgetting_undoes_learning", "order_does_not_matter", "retired_attributes_were_never_there"}
"""Laws of learners that retain every instance as it was given."""


def maker(name: str, case: Case) -> partial[Learner]:
    """Return what makes the learner of a case."""
    return partial(make_learner, name, case.schema, fitted(name, case.settings))


@pytest.mark.parametrize(("name", "law"), LAWS)
def test_every_learner_obeys_every_law(name: str, law: Law) -> None:
    @settings(max_examples=MANY, deadline=None)
    @given(cases(max_size=10, drift=True, retention=law.__name__ not in AS_GIVEN))
    def obeys(case: Case) -> None:
        law(maker(name, case), case.stream)

    obeys()


def test_a_restart_does_not_change_what_comes_to_cost() -> None:
    # Instances that are identical, some of them forgotten: only then does the order they are kept in matter.
    lines = ("rrrr yes", "rbrr yes", "rrrr yes", "rrrb no", "rrrr yes", "rrgr no")
    stream = [Instance(dict(zip("abcd", line, strict=False)), line[5:]) for line in lines]
    law = dict(laws_of(LEARNERS["id5r-reference"]))["restored_learners_go_on_alike"]
    law(partial(make_learner, "id5r-reference", None, {"significance": 0.5}), stream)


@pytest.mark.parametrize("name", ["id5r", "id5r-reference"])
def test_as_many_attributes_as_the_limits_allow_are_learned(name: str) -> None:
    # Two instances that differ in the class alone make a tree as deep as there are attributes.
    many = Limits().max_attributes
    base = {f"a{place}": "0" for place in range(many)}
    last = {**base, f"a{many - 1}": "1"}
    learner = make_bare(name)
    for values, label in ((base, "x"), (base, "y"), (last, "x")):
        learner.learn_one(Instance(values, label))
    assert type(learner).restore(learner.snapshot()).snapshot() == learner.snapshot()
