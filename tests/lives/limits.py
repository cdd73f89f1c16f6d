"""Limits on memory that a life reaches: a few hundred records are far less than the least that may be set."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import msgspec

from learners.id5r import _core
from learners.id5r import learner as id5r
from learners.id5r.making import make_tree
from learners.id5r.options import CoreOptions
from learners.rebuilt import periodic

PART = 16
"""`max_bytes` is divided by this for trees that are held to a weight."""
HEAVY = 400
"""A value that is kept takes so many times its bytes in learners that hold records."""


def make_small_tree(settings: CoreOptions, *, ordered: bool, outline_bytes: int) -> _core.CoreTree:
    """Return a tree with a part of the limit that the settings ask for."""
    if settings.max_bytes is not None:
        settings = msgspec.structs.replace(settings, max_bytes=settings.max_bytes // PART)
    return make_tree(settings, ordered=ordered, outline_bytes=outline_bytes)


@contextmanager
def within_reach() -> Iterator[None]:
    """Let every `max_bytes` be reached within a life."""
    with (
        patch.object(id5r, "make_tree", make_small_tree),
        patch.object(periodic, "BYTES", periodic.BYTES * HEAVY),
    ):
        yield
