"""Every law of `learners.checks` for every learner of the registry."""

from functools import partial

import pytest
from hypothesis import Phase, given, settings

from learners import LEARNERS, make_learner
from learners.checks import Law, LawError, laws_of
from learners.learner import Learner
from tests.strategies import Case, cases, fitted

KNOWN_BUGS = {
    "strangers_are_not_forgotten": "an attribute nobody knows is ignored, and another instance forgotten",
}
"""Laws that are known to be broken; the run fails once they are not, so that this list stays true."""


def marks_of(name: str, title: str) -> list[pytest.MarkDecorator]:
    known = KNOWN_BUGS.get(title) or KNOWN_BUGS.get(f"{name}:{title}")
    return [pytest.mark.xfail(reason=known, strict=True, raises=LawError)] if known else []


LAWS = [
    pytest.param(name, law, id=f"{name}:{title}", marks=marks_of(name, title))
    for name, learner in LEARNERS.items()
    for title, law in laws_of(learner)
]
MANY = 1_000 if settings.get_current_profile_name() == "laws" else 40
WITHOUT_SHRINKING = (Phase.explicit, Phase.generate)  # what is known to fail need not be made small
AS_GIVEN = {"forgetting_undoes_learning", "order_does_not_matter"}
"""Laws of learners that retain every instance as it was given."""


def maker(name: str, case: Case) -> partial[Learner]:
    """Return what makes the learner of a case."""
    return partial(make_learner, name, case.schema, fitted(name, case.settings))


@pytest.mark.parametrize(("name", "law"), LAWS)
def test_every_learner_obeys_every_law(name: str, law: Law) -> None:
    @settings(
        max_examples=MANY,
        deadline=None,
        phases=WITHOUT_SHRINKING if marks_of(name, law.__name__) else tuple(Phase),
    )
    @given(cases(max_size=10, retention=law.__name__ not in AS_GIVEN))
    def obeys(case: Case) -> None:
        law(maker(name, case), case.stream)

    obeys()
