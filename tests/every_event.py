"""One event of every kind, with every value that is a label of a metric."""

from collections.abc import Iterator

import numpy as np

from learners.change import ChangeKind
from learners.ops import OPERATIONS, OpCounts
from learners.outline import Size
from learners.schema import Misfit
from stream.events import (
    IGNORED,
    AttributeRetired,
    BatchPredicted,
    Committed,
    Event,
    FieldNoted,
    Improved,
    Labelled,
    Learned,
    LearnTimed,
    ModelMeasured,
    PartitionProgress,
    Processed,
    Rebalanced,
    RecordRejected,
    RestoreFinished,
    RestoreProgress,
    SelfChecked,
    Snapshotted,
    Started,
)
from stream.observe.metrics.catalog import MOST_CLASSES


def one_of_each() -> Iterator[Event]:
    yield Started("a", "in", "id5r", "topic")
    codes = np.arange(-1, MOST_CLASSES + 5, dtype=np.int32)
    yield BatchPredicted("a", [], 1, "in", codes, codes[::-1].copy(), [f"c{n}" for n in range(len(codes))])
    yield LearnTimed("a")
    yield LearnTimed("a", 2)
    yield LearnTimed("a")
    yield LearnTimed("a", 0)
    yield Learned("a", 2, OpCounts(*range(1, len(OPERATIONS) + 1)), tuple(ChangeKind))
    yield from (RecordRejected("a", misfit.value) for misfit in Misfit)
    yield from (FieldNoted("a", "in", "x", flag, "in", 0, 1) for flag in IGNORED)
    yield AttributeRetired("a", "in", "x", 1_024, False, "in", 0, 1)
    yield ModelMeasured(
        "a", "in", Size(3, 2, 1), 5, 1_000, description_bits=(7.5, 20.0), past_drops=("ddm", 2)
    )
    yield Processed("a", 10, 0.1)
    yield Committed("a", "committed", 0.1)
    yield Committed("a", "aborted", 0.1)
    yield Rebalanced("a", (("in", 0),), ())
    yield RestoreProgress("a", "in", 5, 0.5)
    yield RestoreFinished("a", "in", 10, 0.1)
    yield Snapshotted("a", "in", 100, 0.1)
    yield Improved("a", "in", 500, 1, 40.0, 32.0)
    yield from (SelfChecked("a", "in", result) for result in ("same", "different", "skipped", "failed"))
    yield SelfChecked("a", "in", "same", OpCounts(*range(1, len(OPERATIONS) + 1)))
    yield Labelled("a", [0.5], 3)
    yield PartitionProgress("a", "in", 0, 0, 10, 0, written_ms=1)
