"""What two ways must have in common, and the first thing in which they differ."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from stream.config import AgentTopics
from stream.model.processor import LearningProcessor
from stream.records.record import Output


class Difference(Exception):  # noqa: N818
    """Two ways that should agree do not.

    Args:
        way: Which way, and what of it.
        message: What differs, beginning with the first record.
    """

    def __init__(self, way: str, message: str) -> None:
        super().__init__(f"{way}: {message}")
        self.way = way


class Told(NamedTuple):
    """What a way came to: the processor at its end and what it wrote."""

    topics: AgentTopics
    processor: LearningProcessor
    predictions: list[Output]
    changes: list[Output]
    letters: list[Output]
    journal: list[bytes]


def same_told(way: str, one: Told, other: Told, *, without_operations: bool = False) -> None:
    changes = [one.changes, other.changes]
    if without_operations:
        changes = [list(map(_without_operations, some)) for some in changes]
    same_list(f"{way} predictions", one.predictions, other.predictions)
    same_list(f"{way} tree changes", *changes)
    same_list(f"{way} dead letters", one.letters, other.letters)


def _without_operations(change: Output) -> Output:
    told = json.loads(change.value or b"")
    del told["operations"]
    return change._replace(value=json.dumps(told).encode())


def same_tree(way: str, one: LearningProcessor, other: LearningProcessor) -> None:
    same(f"{way} digest", one.digest, other.digest)
    same(f"{way} version", one.version, other.version)
    same(f"{way} offsets", one.next_offsets, other.next_offsets)
    same(f"{way} retained", one.learner.retained, other.learner.retained)
    same(f"{way} tree", one.learner.outline(), other.learner.outline())
    same(f"{way} memory", *map(_memory, (one, other)))


def _memory(processor: LearningProcessor) -> int | None:
    """Return how much memory a model is said to hold; with a limit that follows from the records."""
    limit = getattr(processor.learner.options, "max_bytes", None)
    return processor.learner.model_bytes if limit is not None else None


def same_state(way: str, one: LearningProcessor, other: LearningProcessor) -> None:
    same_tree(way, one, other)
    same(f"{way} operations", one.learner.ops, other.learner.ops)


def same(way: str, one: object, other: object) -> None:
    if one != other:
        raise Difference(way, f"\n    {str(one)[:600]}\n  is not\n    {str(other)[:600]}")


def same_list(way: str, one: Sequence[Any], other: Sequence[Any]) -> None:
    if one == other:
        return
    for number, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            raise Difference(way, f"number {number}\n    {str(left)[:600]}\n  is not\n    {str(right)[:600]}")
    more = [*one[len(other) :], *other[len(one) :]]
    raise Difference(way, f"there are {len(one)} and {len(other)}; the first beyond is {str(more[0])[:600]}")
