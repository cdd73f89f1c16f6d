"""The compiled parts of a learner, made as its settings ask."""

import msgspec

from learners.id5r import _core
from learners.id5r.options import CoreOptions

DECAY = 0.998
"""What a right answer counts one record later, where there may be drift."""
SMALL = 256
"""Subtrees of at most this many instances are built again, not transposed: measured, not critical."""


def make_voices(
    settings: CoreOptions, main: _core.CoreTree, recent_tree: _core.CoreTree | None = None
) -> _core.Voices | None:
    """Return who answers, where it is not always the tree; None where it is.

    Args:
        settings: The settings in effect.
        main: The tree of what is retained.
        recent_tree: The tree of the last records, where there is one already.
    """
    changing = settings.drift is not None or settings.recent is not None
    if settings.answer == "tree" and not changing:
        return None
    bare = msgspec.structs.replace(
        settings, window=None, window_time=None, max_time_jump=None, max_instances=None, max_bytes=None
    )
    recent = msgspec.structs.replace(bare, window=settings.recent)
    return _core.Voices(
        main,
        None if settings.recent is None else recent_tree or make_tree(recent),
        make_tree(bare, ordered=True) if settings.drift == "verified" else None,
        settings.answer,
        settings.drift or "none",
        DECAY if changing else 1.0,
    )


def make_tree(settings: CoreOptions, *, ordered: bool = False, outline_bytes: int = 0) -> _core.CoreTree:
    """Return the tree that some settings ask for; `outline_bytes` are kept beside each of its nodes."""
    caps = [cap for cap in (settings.window, settings.max_instances) if cap is not None]
    return _core.CoreTree(
        gain_ratio=settings.selection == "gain-ratio",
        significance=settings.significance or 0.0,
        pearson=settings.significance_test == "chi2",
        records_per_value=settings.min_records_per_value,
        hat=settings.train == "errors",
        replace=settings.on_contradiction == "replace",
        window=min(caps, default=0),
        max_bytes=settings.max_bytes or 0,
        small=SMALL,
        bins=settings.bins,
        ordered=ordered,
        window_time=settings.window_time or 0.0,
        max_time_jump=settings.time_jump,
        outline_bytes=outline_bytes,
    )
