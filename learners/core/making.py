"""The compiled parts of a learner, made as its settings ask."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import msgspec

from learners.core import _core
from learners.core.options import CoreOptions
from learners.merit import chi_square_threshold, critical_gain

DECAY = 0.998
"""What a right answer counts one record later, where there may be drift."""
SMALL = 256
"""Subtrees of at most so many instances are made anew instead of being transposed: measured, not critical."""


def make_voices(settings: CoreOptions, main: _core.CoreTree) -> _core.Voices | None:
    """Return who answers, where it is not always the tree; None where it is."""
    changing = settings.drift is not None or settings.recent is not None
    if settings.answer == "tree" and not changing:
        return None
    bare = msgspec.structs.replace(
        settings, window=None, window_time=None, max_instances=None, max_bytes=None
    )
    recent = msgspec.structs.replace(bare, window=settings.recent)
    return _core.Voices(
        main,
        None if settings.recent is None else make_tree(recent),
        make_tree(bare, ordered=True) if settings.drift == "verified" else None,
        settings.answer,
        settings.drift or "none",
        DECAY if changing else 1.0,
    )


def make_tree(settings: CoreOptions, *, ordered: bool = False) -> _core.CoreTree:
    """Return the tree that some settings ask for."""
    level = settings.significance
    pearsons = level is not None and settings.significance_test == "chi2"
    caps = [cap for cap in (settings.window, settings.max_instances) if cap is not None]
    return _core.CoreTree(
        gain_ratio=settings.selection == "gain-ratio",
        critical=partial(_critical, critical_gain, level) if level is not None and not pearsons else None,
        critical_pearson=partial(_critical, chi_square_threshold, level)
        if level is not None and pearsons
        else None,
        records_per_value=settings.min_records_per_value,
        hat=settings.train == "errors",
        replace=settings.on_contradiction == "replace",
        window=min(caps, default=0),
        max_bytes=settings.max_bytes or 0,
        small=SMALL,
        bins=settings.bins,
        ordered=ordered,
        window_time=settings.window_time or 0.0,
    )


Bound = TypeVar("Bound", int, float)


def _critical(statistic: Callable[[float, int], Bound], level: float, degrees: int, tests: int) -> Bound:
    """Return what is significant where the best of some tests was chosen (Bonferroni's correction)."""
    return statistic(level / tests, degrees)
