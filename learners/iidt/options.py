"""The settings of the anytime trees in the stream."""

from typing import Annotated

import msgspec

from learners.learner import Options

Positive = Annotated[int, msgspec.Meta(ge=1)]


class IIDTOptions(Options, frozen=True):
    """Settings of IIDT-TS: the tree of the fewest leaves that is right about every record retained.

    Attributes:
        granularity: The paper's g: the least share of the cost of rebuilding the whole tree that an attempt
            to improve it has. 1: only the whole tree is rebuilt; 0: nothing is too small.
        max_repeats: The paper's r at most: how many trees are drawn to judge a branch.
        retry: How many times as many records a node must have before attempts to improve it begin again.
        hold_out: The share of the records that are held out, to refuse a subtree that is smaller but worse;
            0: none. When there are enough of them the oldest is learned.
        max_held: At most this many records are held out.
        window: How many records are learned from, the last ones; none: as many as are kept.
        max_instances: At most this many records are kept.
        seed: What random numbers are made from: the same records, budgets and seed give the same tree.
    """

    granularity: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.1
    max_repeats: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 1_024
    retry: Annotated[float, msgspec.Meta(gt=1, le=100)] = 1.25
    hold_out: Annotated[float, msgspec.Meta(ge=0, le=0.5)] = 0.1
    max_held: Positive = 500
    window: Positive | None = None
    max_instances: Positive = 20_000
    seed: Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)] = 0


class IIDTEEOptions(IIDTOptions, frozen=True):
    """Settings of IIDT-EE: the tree of the fewest errors to be expected, for noisy labels.

    Attributes:
        confidence: C4.5's CF: the lower, the more is pruned.
        regrow: How many times as many records a leaf must have before C4.5 is tried on it again, without
            waiting for spare time; none: leaves grow only when there is time, as in the paper.
    """

    confidence: Annotated[float, msgspec.Meta(gt=0, le=0.5)] = 0.25
    regrow: Annotated[float, msgspec.Meta(gt=1, le=100)] | None = 1.25
