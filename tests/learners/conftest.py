"""Fixtures for the tests of learners."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture
def little_stack() -> Iterator[None]:
    """Allow no more calls within calls than Python does by itself: something may have asked for more."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    yield
    sys.setrecursionlimit(before)
