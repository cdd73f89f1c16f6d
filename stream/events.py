"""What the stream publishes and what metrics observe.

The structs `Prediction` and `TreeChange` are the records of the output topics, field by field;
docs/records.md describes them for readers of the topics. The others are seen by metrics alone.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from learners.change import ChangeKind
from learners.learner import Step
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
    """The record of the prediction topic. `label` and `correct` are there only when the label is known."""

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
    """At `path` the tree now looks like `subtree`, in the form of the outline's JSON."""

    kind: ChangeKind
    path: tuple[PathStep, ...]
    old_test: NodeTest | None
    new_test: NodeTest | None
    score: float | None
    margin: float | None
    subtree: msgspec.Raw


class TreeState(msgspec.Struct, frozen=True):
    """The tree after a change, and the digest before it: the links of a chain."""

    version: int
    digest: str
    previous_digest: str
    nodes: int
    leaves: int
    depth: int


class TreeChange(msgspec.Struct, frozen=True):
    """The record of the tree-change topic: all that one instance did to the tree."""

    agent: str
    model: str
    learner: str
    seq: int
    cause: Cause
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
    """Metrics: records were answered; `hits` says of each that has a label whether the answer was right."""

    agent: str
    hits: Sequence[bool]
    unlabelled: int


class Learned(NamedTuple):
    """Metrics: records were learned from; `kinds` has the kind of each change of the tree."""

    agent: str
    records: int
    spent: OpCounts
    kinds: tuple[ChangeKind, ...]


class Dropped(NamedTuple):
    """Metrics: a record went to the dead letters."""

    agent: str
    reason: str


class Grown(NamedTuple):
    """Metrics: how large the tree and what it stands for are now."""

    agent: str
    model: str
    size: Size
    retained: int


class Processed(NamedTuple):
    """Metrics: a batch has been answered and learned."""

    agent: str
    records: int
    seconds: float


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


class Progress(NamedTuple):
    """Metrics: a batch read an input partition from `first` to before `consumed`, `lag` short of its end."""

    agent: str
    topic: str
    partition: int
    first: int
    consumed: int
    lag: int


Event = Answered | Learned | Dropped | Grown | Processed | Committed | Rebalanced | Restored | Progress
