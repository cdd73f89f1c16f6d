"""The records of schedules, and what a run without a fault makes of them."""

import functools

import msgspec

from stream.assembly import processor_factory
from stream.config import Agent, Limits, Scope
from stream.model.ports import MakeProcessor, Unit
from stream.records.record import Outputs, Partition, Record

INPUT = "in"
PARTITIONS = 2
DEAD_EVERY = 7
"""One record in so many cannot be read."""


@functools.cache
def value_of(partition: int, offset: int) -> bytes:
    """Return a record of the input: two attributes, of which one decides, and now and then no JSON."""
    number = offset * PARTITIONS + partition
    if number % DEAD_EVERY == DEAD_EVERY - 2:
        return b"{"
    first, second = "xy"[number % 2 ^ (number // 5) % 2], "uv"[(number // 3) % 2]
    label = ("p" if first == "x" else "q") if number < 12 or second == "u" else "r"
    return msgspec.json.encode({"a": first, "b": second, "class": label})


@functools.cache
def agent_of(scope: Scope) -> Agent:
    """Return the agent of all schedules of a scope."""
    return Agent(name="a", input=INPUT, scope=scope)


def ignore(event: object) -> None:
    """Observe nothing."""


@functools.cache
def maker_of(scope: Scope) -> MakeProcessor:
    """Return what makes the processors of an agent."""
    return processor_factory(agent_of(scope), Limits(), ignore)


@functools.lru_cache(maxsize=4_096)
def undisturbed(scope: Scope, unit: Unit, order: tuple[tuple[int, int], ...]) -> tuple[Outputs, str, int]:
    """Return what a model makes of records in an order: outputs, the digest of the tree, and its version."""
    processor = maker_of(scope)(unit)
    records = [
        Record(Partition(INPUT, p), offset, value_of(p, offset), timestamp_ms=1_000) for p, offset in order
    ]
    outputs = processor.process(records)
    return outputs, processor.point[1], processor.version  # type: ignore[attr-defined]
