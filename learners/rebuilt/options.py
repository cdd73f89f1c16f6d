"""The settings of trees that are built at once."""

from typing import Annotated, Literal

import msgspec

from learners.learner import Options

Positive = Annotated[int, msgspec.Meta(ge=1)]


class PeriodicRebuildOptions(Options, frozen=True):
    """Settings of a batch tree in the stream.

    Attributes:
        window: How many records a tree is built from, the last ones; none: as many as are kept.
        max_instances: At most this many records are kept.
        max_bytes: How much memory they may take; wide records are fewer.
        absent: What a number that a record does not have stands for: it is missing, or it is zero, as counts
            of words are, which are then learned from without their zeros.
        rebuild_share: The share of all work that goes into building trees; a tree is built again at the
            latest when there are twice as many records. Work is counted, not timed.
        rebuild_every: A tree is built every N records, whatever it costs; unset: by its share.
        confidence: C4.5's CF: the lower, the more is pruned; none: nothing is.
    """

    window: Positive | None = None
    max_instances: Positive = 100_000
    max_bytes: Annotated[int, msgspec.Meta(ge=1_000_000)] = 1_000_000_000
    absent: Literal["missing", "zero"] = "missing"
    rebuild_share: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.2
    rebuild_every: Positive | None = None
    confidence: Annotated[float, msgspec.Meta(gt=0, le=0.5)] | None = 0.25


class SplitOptions(PeriodicRebuildOptions, frozen=True):
    """Settings of a batch tree that leaves nodes of few records unsplit.

    Attributes:
        min_records: How many records at least two branches of a test have.
    """

    min_records: Positive = 2
