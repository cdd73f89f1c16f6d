"""What the stream publishes and what metrics observe.

The structs `Prediction` and `TreeChange` are the records of the output topics, field by field;
docs/records.md describes them for readers of the topics. The others are seen by metrics alone.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.change import ChangeKind
from learners.learner import Learner, Step
from learners.ops import OpCounts
from learners.outline import Size
from stream.record import Headers, Record

RecordId = str | int | float | None


class Source(msgspec.Struct, frozen=True):
    """Where a record stands in the input."""

    topic: str
    partition: int
    offset: int


class Cause(msgspec.Struct, frozen=True):
    """The record that changed the tree."""

    topic: str
    partition: int
    offset: int
    id: RecordId


class LeafCounts(msgspec.Struct, frozen=True):
    """The instances behind an answer."""

    counts: dict[str, int]


class TreeName(msgspec.Struct, frozen=True):
    """Which tree answered: how many changes it had seen, and its digest."""

    version: int
    digest: str


class Prediction(msgspec.Struct, frozen=True):
    """The record of the prediction topic.

    `answered_by` is there only when the learner has several answerers, `label` and `correct` only when the
    label is known.
    """

    id: RecordId
    agent: str
    model: str
    learner: str
    prediction: str | None
    probabilities: dict[str, float]
    path: tuple[Step, ...]
    leaf: LeafCounts
    flags: tuple[str, ...]
    tree: TreeName
    source: Source
    answered_by: str | msgspec.UnsetType = msgspec.UNSET
    label: str | msgspec.UnsetType = msgspec.UNSET
    correct: bool | msgspec.UnsetType = msgspec.UNSET


class PathStep(msgspec.Struct, frozen=True):
    """One branch on the way to a changed subtree; `at_most` where the test is a threshold."""

    attribute: str
    value: str
    at_most: float | msgspec.UnsetType = msgspec.UNSET


class NodeTest(msgspec.Struct, frozen=True):
    """A test of a decision node."""

    attribute: str
    at_most: float | msgspec.UnsetType = msgspec.UNSET


class Change(msgspec.Struct, frozen=True):
    """At `path` the tree now looks like `subtree`, in the form of the outline's JSON.

    `saved_bits` is what the change made the description shorter by, where the learner counts bits.
    """

    kind: ChangeKind
    path: tuple[PathStep, ...]
    old_test: NodeTest | None
    new_test: NodeTest | None
    score: float | None
    margin: float | None
    subtree: msgspec.Raw
    saved_bits: float | msgspec.UnsetType = msgspec.UNSET


class TreeState(msgspec.Struct, frozen=True):
    """The tree after a change, and the digest before it: the links of a chain."""

    version: int
    digest: str
    previous_digest: str
    nodes: int
    leaves: int
    depth: int


class TreeChange(msgspec.Struct, frozen=True):
    """The record of the tree-change topic: all that one instance did to the tree.

    There is no cause where it was not an instance but spare time that made the tree better.
    """

    agent: str
    model: str
    learner: str
    seq: int
    cause: Cause | None
    changes: tuple[Change, ...]
    operations: dict[str, int]
    tree: TreeState


class Rejected(NamedTuple):
    """A record that could not be used, and why."""

    record: Record
    reason: str
    stage: str
    message: str
    headers: Headers = ()


class Answered(NamedTuple):
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


class Turn(NamedTuple):
    """Metrics: the learner begins with some records, or is done and has learned from so many of them.

    Whoever observes has a clock; the processor needs none.
    """

    agent: str
    learned: int | None = None


class Dropped(NamedTuple):
    """Metrics: a record went to the dead letters."""

    agent: str
    reason: str
    partition: int = -1
    offset: int = -1


class Standing(Protocol):
    """A model's processor, as far as an observer may look into it: in its own thread, between batches."""

    version: int
    learner: Learner

    @property
    def digest(self) -> str:
        """The digest of the tree."""
        ...


class Made(NamedTuple):
    """The live page: a processor was made for a model; its state comes after this."""

    agent: str
    model: str
    standing: Standing


class Grown(NamedTuple):
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


class Restored(NamedTuple):
    """Metrics: a model was restored from its journal."""

    agent: str
    model: str
    records: int
    seconds: float


class Restoring(NamedTuple):
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


class Progress(NamedTuple):
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


Event = (
    Answered
    | Learned
    | Turn
    | Dropped
    | Made
    | Grown
    | Processed
    | Committed
    | Rebalanced
    | Restored
    | Restoring
    | Snapshotted
    | Started
    | Improved
    | SelfChecked
    | Labelled
    | Progress
)
