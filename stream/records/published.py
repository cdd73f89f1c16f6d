"""The records of the output topics, field by field; docs/records.md describes them for their readers."""

import msgspec

from learners.change import ChangeKind
from learners.change import TreeChange as LearnedChange
from learners.learner import Step
from learners.outline import AttributeTest, to_json

RecordId = str | int | float | None
ClassName = str | bool | int | float
"""A class, with the JSON type that labels are sent with."""


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
    """Which tree predicted: how many published changes it had seen, and its digest.

    Where only the net change of a transaction is published, `records_since` says how many records the tree
    had seen since that version; it is left out where that is none.
    """

    version: int
    digest: str
    records_since: int | msgspec.UnsetType = msgspec.UNSET


class Prediction(msgspec.Struct, frozen=True):
    """The record of the prediction topic.

    `answered_by` is there only when the learner has several answerers, `label` and `correct` only when the
    label is known.
    """

    id: RecordId
    agent: str
    model: str
    learner: str
    prediction: ClassName | None
    probabilities: dict[str, float]
    path: tuple[Step, ...]
    leaf: LeafCounts
    flags: tuple[str, ...]
    tree: TreeName
    source: Source
    answered_by: str | msgspec.UnsetType = msgspec.UNSET
    label: ClassName | msgspec.UnsetType = msgspec.UNSET
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

    `saved_bits` is what the change made the description shorter by, where the learner counts bits;
    `attribute` is the one that was retired.
    """

    kind: ChangeKind
    path: tuple[PathStep, ...]
    old_test: NodeTest | None
    new_test: NodeTest | None
    score: float | None
    margin: float | None
    subtree: msgspec.Raw
    saved_bits: float | msgspec.UnsetType = msgspec.UNSET
    attribute: str | msgspec.UnsetType = msgspec.UNSET


class TreeState(msgspec.Struct, frozen=True):
    """The tree after a change, and the digest before it: the links of a chain."""

    version: int
    digest: str
    previous_digest: str
    nodes: int
    leaves: int
    depth: int


class TreeChange(msgspec.Struct, frozen=True):
    """The record of the tree-change topic: all that one instance did to the tree, or those of a transaction.

    There is no cause where it was not an instance but spare time that made the tree better. `net_of` is there
    where only the net change of a transaction is published: how many records made it, the cause the last.
    """

    agent: str
    model: str
    learner: str
    seq: int
    cause: Cause | None
    changes: tuple[Change, ...]
    operations: dict[str, int]
    tree: TreeState
    net_of: int | msgspec.UnsetType = msgspec.UNSET


_encoder = msgspec.json.Encoder()


def encode(event: msgspec.Struct) -> bytes:
    """Return an event as JSON."""
    return _encoder.encode(event)


def change_record(change: LearnedChange) -> Change:
    """Return a change of the tree as it is published."""
    return Change(
        kind=change.kind,
        path=tuple(
            PathStep(test.attribute, value, at_most=msgspec.UNSET if test.at_most is None else test.at_most)
            for test, value in change.path
        ),
        old_test=_test_record(change.old_test),
        new_test=_test_record(change.new_test),
        score=change.score,
        margin=change.margin,
        subtree=msgspec.Raw(to_json(change.subtree).encode()),
        saved_bits=msgspec.UNSET if change.saved is None else change.saved,
        attribute=msgspec.UNSET if change.attribute is None else change.attribute,
    )


def _test_record(test: AttributeTest | None) -> NodeTest | None:
    if test is None:
        return None
    return NodeTest(test.attribute, msgspec.UNSET if test.at_most is None else test.at_most)
