"""Fixtures for the tests of the model."""

import pytest

from learners.registry import LEARNERS, make_learner


@pytest.fixture(scope="module", autouse=True)
def _deep_enough() -> None:
    """The readable learners raise the recursion limit once, which hypothesis must not see happen."""
    for name in LEARNERS:
        make_learner(name)
