"""An agent that publishes only the net change of each transaction: it says less, and nothing else."""

import json
import random
from typing import Any

import msgspec
import pytest

from learners.capabilities import Deferring
from learners.id5r.options import CoreOptions
from learners.registry import LEARNERS
from stream.client.replica import Replica
from stream.config import Agent, Limits, TreeChanges
from stream.model.processor import LearningProcessor
from stream.records.record import Record
from tests.stream.stories import INPUT, Told, make, records_of, told_by

EACH = Agent(name="a", input=INPUT, options=CoreOptions(significance=None))
NET = msgspec.structs.replace(EACH, tree_changes=TreeChanges.COMMIT)


def some_records(count: int, seed: int = 0) -> list[Record]:
    """Records with numbers and words; a sixth have no label, and a tenth a wrong one."""
    rng = random.Random(seed)
    values: list[bytes | None] = []
    for number in range(count):
        x, y, word = rng.random(), rng.random(), rng.choice("abc")
        fields: dict[str, Any] = {"id": number, "x": x, "y": y, "w": word}
        if rng.random() < 5 / 6:
            fields["class"] = "yes" if ((x > 0.5) != (word == "a")) != (rng.random() < 0.1) else "no"
        values.append(json.dumps(fields).encode())
    return records_of(values)


def run(processor: LearningProcessor, records: list[Record], size: int, agent: Agent) -> Told:
    told = Told([], [], [], [])
    for start in range(0, len(records), size):
        new = told_by(processor.process(records[start : start + size]), agent)
        told.predictions.extend(new.predictions)
        told.changes.extend(new.changes)
        told.letters.extend(new.letters)
        told.journal.extend(new.journal)
    return told


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("size", [1, 7, 300])
def test_the_tree_and_the_predictions_are_those_of_an_agent_that_publishes_each_change(
    learner: str, size: int
) -> None:
    each, net = (msgspec.structs.replace(agent, learner=learner, options=None) for agent in (EACH, NET))
    one, other = make(each), make(net)
    records = some_records(300 if learner in ("id5r", "mdl") else 60)
    all_changes = run(one, records, size, each)
    net_changes = run(other, records, size, net)
    assert one.digest == other.digest
    assert len(net_changes.changes) <= min(len(all_changes.changes), -(-len(records) // size))
    answers = [
        [(p["prediction"], p["leaf"]) for p in told.predictions] for told in (all_changes, net_changes)
    ]
    assert answers[0] == answers[1]
    replica = Replica("a")
    replica.follow(json.dumps(change).encode() for change in net_changes.changes)
    assert replica.version == other.version


def test_a_net_change_says_of_how_many_records_it_is_and_which_was_the_last() -> None:
    processor = make(NET)
    told = run(processor, some_records(300), 100, NET)
    assert [change["net_of"] for change in told.changes] == [100, 100, 100]
    assert [change["cause"]["offset"] for change in told.changes] == [99, 199, 299]
    assert [change["cause"]["id"] for change in told.changes] == [99, 199, 299]
    assert all("net_of" not in change for change in run(make(EACH), some_records(300), 100, EACH).changes)


def test_a_prediction_names_the_tree_it_was_made_by() -> None:
    told = run(make(NET), some_records(300), 100, NET)
    trees = [prediction["tree"] for prediction in told.predictions]
    assert [tree.get("records_since", 0) for tree in trees] == list(range(100)) * 3
    assert all("records_since" not in trees[first] for first in (0, 100, 200))
    digests = [
        told.changes[0]["tree"]["previous_digest"],
        *(change["tree"]["digest"] for change in told.changes),
    ]
    assert [(tree["version"], tree["digest"]) for tree in trees] == [
        (number // 100, digests[number // 100]) for number in range(300)
    ]


def test_records_that_change_nothing_publish_nothing() -> None:
    processor = make(NET)
    same = records_of([b'{"x": 1, "class": "yes"}'] * 20)
    assert len(run(processor, same, 10, NET).changes) == 1
    assert processor.version == 1


def test_an_attribute_that_is_retired_within_a_transaction_is_published_where_it_happens() -> None:
    limits = Limits(max_values_per_attribute=3)
    processor = make(NET, limits=limits)
    words = ["a", "b"] * 10 + ["c"] * 20
    values: list[bytes | None] = [
        json.dumps({"user": f"u{n}", "w": word, "class": word}).encode() for n, word in enumerate(words)
    ]
    told = told_by(processor.process(records_of(values)), NET)
    assert [change["changes"][0]["kind"] for change in told.changes][:1] == ["retired"]
    assert told.changes[0]["cause"]["offset"] == 3
    assert [prediction["tree"].get("records_since", 0) for prediction in told.predictions] == [
        *range(3),
        *range(37),
    ]
    assert told.changes[-1]["net_of"] == 37
    single = make(EACH, limits=limits)
    run(single, records_of(values), 1, EACH)
    assert single.digest == processor.digest


@pytest.mark.parametrize(("first", "then"), [(EACH, NET), (NET, EACH), (NET, NET)])
def test_the_setting_can_be_changed_at_any_time(first: Agent, then: Agent) -> None:
    records = some_records(400)
    writer = make(first)
    told = run(writer, records[:250], 50, first)
    fresh = make(then)
    for entry in told.journal:
        fresh.replay(entry)
    assert (fresh.digest, fresh.version) == (writer.digest, writer.version)
    restored = make(then)
    restored.restore(writer.snapshot())
    whole = make(EACH)
    run(whole, records, 1, EACH)
    for processor in (fresh, restored):
        run(processor, records[250:], 50, then)
        assert processor.digest == whole.digest


def test_the_default_learner_does_not_look_for_changes_that_are_not_published() -> None:
    processor = make(NET)
    assert isinstance(processor.learner, Deferring)
    assert not processor.learner.publishes_each
    processor.restore(processor.snapshot())
    assert isinstance(processor.learner, Deferring)
    assert not processor.learner.publishes_each
