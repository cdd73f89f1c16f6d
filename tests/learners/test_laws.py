"""Every law of `learners.checks` for every learner of the registry."""

from functools import partial

import pytest
from hypothesis import given, settings

from learners import LEARNERS, make_learner
from learners.checks import Law, laws_of
from learners.learner import Learner
from tests.strategies import Case, cases, fitted

LAWS = [
    pytest.param(name, law, id=f"{name}:{title}")
    for name, learner in LEARNERS.items()
    for title, law in laws_of(learner)
]
AS_GIVEN = {"forgetting_undoes_learning"}
"""Laws of learners that retain every instance as it was given."""


def maker(name: str, case: Case) -> partial[Learner]:
    """Return what makes the learner of a case."""
    return partial(make_learner, name, case.schema, fitted(name, case.settings))


@pytest.mark.parametrize(("name", "law"), LAWS)
def test_every_learner_obeys_every_law(name: str, law: Law) -> None:
    @settings(max_examples=40, deadline=None)
    @given(cases(max_size=10, retention=law.__name__ not in AS_GIVEN))
    def obeys(case: Case) -> None:
        law(maker(name, case), case.stream)

    obeys()
