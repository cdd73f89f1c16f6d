"""A tree rebuilt from the change topic alone, and what such a topic must not be."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from learners.outline import digest
from stream.assembly import processor_factory
from stream.client.replica import Replica
from stream.config import Agent, Limits
from stream.errors import StateError
from stream.model.ports import unit_of
from stream.model.processor import LearningProcessor
from stream.records.record import Partition, Record

AGENT = Agent(name="a", input="in")


def changes_of(agent: Agent = AGENT, partition: int | None = None) -> list[bytes]:
    """Return the change records of an agent that learns a parity."""
    processor = processor_factory(agent, Limits(), lambda event: None)(unit_of(agent.input, partition))
    assert isinstance(processor, LearningProcessor)
    place = Partition(agent.input, partition or 0)
    records = []
    for number in range(24):
        bits = [number >> bit & 1 for bit in range(3)]
        told = {f"b{bit}": str(value) for bit, value in enumerate(bits)}
        value = json.dumps({**told, "class": "odd" if sum(bits) % 2 else "even"}).encode()
        records.append(Record(place, number, value))
    changes = [o.value for o in processor.process(records) if o.topic == agent.topics.tree_changes]
    assert len(changes) > 5
    return [change for change in changes if change is not None]


def edited(change: bytes, edit: Callable[[dict[str, Any]], object]) -> bytes:
    told = json.loads(change)
    edit(told)
    return json.dumps(told).encode()


def test_following_the_changes_gives_the_tree_after_each_of_them() -> None:
    changes = changes_of()
    replica = Replica("a")
    assert (replica.version, replica.outline) == (0, None)
    for number, change in enumerate(changes, 1):
        replica.follow([change])
        told = json.loads(change)["tree"]
        assert replica.version == number
        assert digest(replica.outline) == told["digest"]


def test_a_version_of_the_past_can_be_had() -> None:
    changes = changes_of()
    replica = Replica("a")
    replica.follow(changes, until=3)
    assert replica.version == 3
    assert digest(replica.outline) == json.loads(changes[2])["tree"]["digest"]
    start = Replica("a")
    start.follow(changes, until=0)
    assert start.outline is None


def test_other_agents_and_models_on_the_topic_are_passed_over() -> None:
    other = Agent(name="b", input="in")
    mixed = [
        change
        for three in zip(changes_of(partition=0), changes_of(other), changes_of(partition=1), strict=False)
        for change in three
    ]
    first = Replica("a")
    first.follow([None, *mixed])
    assert first.model == "in/0"
    second = Replica("a", "in/1")
    second.follow(mixed)
    assert second.version == first.version > 5
    nobody = Replica("c")
    nobody.follow(mixed)
    assert (nobody.version, nobody.model) == (0, None)


def test_a_missing_change_is_noticed() -> None:
    changes = changes_of()
    with pytest.raises(StateError, match=r"change 3 of a .* follows change 1"):
        Replica("a").follow([changes[0], *changes[2:]])
    with pytest.raises(StateError, match="follows change 0"):
        Replica("a").follow(changes[1:])


def test_a_change_that_comes_twice_is_noticed() -> None:
    changes = changes_of()
    with pytest.raises(StateError, match=r"change 2 of a .* follows change 2"):
        Replica("a").follow([*changes[:2], changes[1]])


def test_a_change_made_to_another_tree_is_noticed() -> None:
    changes = changes_of()
    forked = edited(changes[2], lambda told: told["tree"].update(previous_digest="0" * 64))
    with pytest.raises(StateError, match="made to another tree"):
        Replica("a").follow([*changes[:2], forked])


def test_a_change_that_does_not_lead_where_it_says_is_noticed() -> None:
    changes = changes_of()
    wrong = edited(changes[0], lambda told: told["changes"][0]["subtree"].update(answer="odd "))
    replica = Replica("a")
    with pytest.raises(StateError, match="does not lead to the tree it names"):
        replica.follow([wrong])
    # What was refused has left no trace.
    assert (replica.version, replica.outline) == (0, None)
    replica.follow(changes)
    assert replica.version == len(changes)


@pytest.mark.parametrize(
    "value",
    [b"", b"?", b"{}", b"[]", b"\xff", b'{"agent": "\xff"}', b"[" * 100_000, b'{"a":' * 100_000],
    ids=["empty", "text", "object", "array", "bytes", "encoding", "deep", "deep-objects"],
)
def test_what_is_no_change_is_refused_by_name(value: bytes) -> None:
    with pytest.raises(StateError, match="not a tree change"):
        Replica("a").follow([value])


@pytest.mark.parametrize(
    "subtree", [1, "x", [], {}, {"test": 1}, {"test": {"attribute": "a"}, "branches": {"x": 3}}]
)
def test_a_subtree_that_is_no_tree_is_refused_by_name(subtree: object) -> None:
    change = edited(changes_of()[0], lambda told: told["changes"][0].update(subtree=subtree))
    with pytest.raises(StateError, match="cannot be applied"):
        Replica("a").follow([change])


def test_a_path_that_leads_nowhere_is_refused_by_name() -> None:
    step = {"attribute": "nowhere", "value": "x"}
    change = edited(changes_of()[0], lambda told: told["changes"][0].update(path=[step]))
    with pytest.raises(StateError, match="cannot be applied"):
        Replica("a").follow([change])
