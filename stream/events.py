"""What a worker reports about its work; metrics, logs, health checks and the live page observe it."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from learners.change import ChangeKind
from learners.learner import Learner
from learners.ops import OpCounts
from learners.outline import Size


class BatchPredicted(NamedTuple):
    """Metrics: records were answered; `hits` says of each that has a label whether the answer was right.

    `labels` and `answers` say the same of every record in codes of `classes`; -1: no label, no answer.
    """

    agent: str
    hits: Sequence[bool]
    unlabelled: int
    model: str = ""
    labels: NDArray[np.int32] | None = None
    answers: NDArray[np.int32] | None = None
    classes: Sequence[str] = ()


class Learned(NamedTuple):
    """Metrics: records were learned from; `kinds` has the kind of each change of the tree."""

    agent: str
    records: int
    spent: OpCounts
    kinds: tuple[ChangeKind, ...]


class LearnTimed(NamedTuple):
    """Metrics: the learner begins with some records, or is done and has learned from so many of them.

    Whoever observes has a clock; the processor needs none.
    """

    agent: str
    learned: int | None = None


class ModelView(Protocol):
    """A model's processor, as far as an observer may look into it: in its own thread, between batches."""

    version: int
    learner: Learner

    @property
    def digest(self) -> str:
        """The digest of the tree."""
        ...


class ModelCreated(NamedTuple):
    """The live page: a processor was made for a model; its state comes after this."""

    agent: str
    model: str
    standing: ModelView


class ModelMeasured(NamedTuple):
    """Metrics: how large the tree and what it stands for are now; `changes` are the records that tell why."""

    agent: str
    model: str
    size: Size
    retained: int
    model_bytes: int | None = None
    changes: Sequence[bytes] = ()
    description_bits: tuple[float, float] | None = None
    past_drops: tuple[str, int] | None = None


class Processed(NamedTuple):
    """Metrics: a batch has been answered and learned; partition and offset are those of its last record."""

    agent: str
    records: int
    seconds: float
    partition: int = -1
    offset: int = -1


class Committed(NamedTuple):
    """Metrics: a transaction ended; `result` is "committed" or "aborted"."""

    agent: str
    result: str
    seconds: float


class Rebalanced(NamedTuple):
    """Metrics: partitions came or went."""

    agent: str
    assigned: tuple[tuple[str, int], ...]
    revoked: tuple[tuple[str, int], ...]


class RestoreFinished(NamedTuple):
    """Metrics: a model was restored from its journal."""

    agent: str
    model: str
    records: int
    seconds: float


class RestoreProgress(NamedTuple):
    """Metrics: a restore has taken back so many instances and reached this share of what was committed."""

    agent: str
    model: str
    instances: int
    ratio: float


class Snapshotted(NamedTuple):
    """Metrics: a snapshot of so many bytes was written."""

    agent: str
    model: str
    size: int
    seconds: float


class Started(NamedTuple):
    """Metrics: an agent begins to work."""

    agent: str
    topic: str
    learner: str
    scope: str


class Improved(NamedTuple):
    """Metrics: spare time was spent on a model.

    Where there were improvements, `before` and `after` are what they made smaller.
    """

    agent: str
    model: str
    units: int
    improvements: int
    before: float
    after: float


class SelfChecked(NamedTuple):
    """Metrics: a tree was compared with the one ID3 builds from the same instances.

    `result` is "same", "different", "skipped" or "failed"; `spent` is what ID3 spent.
    """

    agent: str
    model: str
    result: str
    spent: OpCounts | None = None


class Labelled(NamedTuple):
    """Metrics: labels came so many seconds after their answers; so many answers still wait for theirs."""

    agent: str
    delays: Sequence[float]
    pending: int


class PartitionProgress(NamedTuple):
    """Metrics: a batch read an input partition from `first` to before `consumed`, `lag` short of its end.

    `written_ms` is the timestamp of the last record read; -1: not known.
    """

    agent: str
    topic: str
    partition: int
    first: int
    consumed: int
    lag: int
    written_ms: int = -1


IGNORED = ("nested", "out_of_range", "too_long", "too_many_attributes", "wrong_type")
"""Why a field is read as missing: the flags of `FieldNoted`. A closed set, which labels a metric."""


class RecordRejected(NamedTuple):
    """Metrics and the log: a record became a dead letter.

    `field` is the name of the field that was refused, clipped; empty: the record as a whole.
    """

    agent: str
    reason: str
    partition: int = -1
    offset: int = -1
    topic: str = ""
    field: str = ""
    message: str = ""


class FieldNoted(NamedTuple):
    """Metrics and the log: a field of a record was read as missing; the record itself was used.

    `flag` is one of `IGNORED`. `records` says of how many records in a row this is true, where one event
    stands for several; the position is that of the first.
    """

    agent: str
    model: str
    field: str
    flag: str
    topic: str
    partition: int
    offset: int
    records: int = 1


class AttributeRetired(NamedTuple):
    """Metrics and the log: an attribute has more values than `max_values_per_attribute` and is ignored now.

    `values` is how many it had; `numeric` says whether all of them look like numbers.
    """

    agent: str
    model: str
    attribute: str
    values: int
    numeric: bool
    topic: str
    partition: int
    offset: int


class NumbersAsText(NamedTuple):
    """The log: all values of an attribute are numbers, but sent as text, and so compared for equality."""

    agent: str
    model: str
    attribute: str
    values: int
    topic: str
    partition: int
    offset: int


class NumbersAsValues(NamedTuple):
    """The log: a number was met by a learner that knows no thresholds: each number is a value of its own."""

    agent: str
    model: str
    attribute: str
    learner: str
    topic: str
    partition: int
    offset: int


Event = (
    BatchPredicted
    | Learned
    | LearnTimed
    | RecordRejected
    | FieldNoted
    | AttributeRetired
    | NumbersAsText
    | NumbersAsValues
    | ModelCreated
    | ModelMeasured
    | Processed
    | Committed
    | Rebalanced
    | RestoreFinished
    | RestoreProgress
    | Snapshotted
    | Started
    | Improved
    | SelfChecked
    | Labelled
    | PartitionProgress
)
