"""A worker killed while it improves its tree in spare time: nothing lost, nothing doubled, the same tree."""

import json
import random
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Message, Producer

from learners.outline import digest
from stream.assembly import processor_factory
from stream.audit import Inspection
from stream.broker import Broker
from stream.client.replica import Replica
from stream.config import Agent, Limits
from stream.demo.generators import xor
from stream.demo.probe import UNSEEN_SEED, Probe
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin
from stream.model.ports import unit_of
from stream.model.processor import LearningProcessor
from stream.records.journal import unpack
from tests.contract.rigs import KafkaRig
from tests.readers import PlainReader
from tests.settings import agent_table, write_settings
from tests.workers import WorkerProcess, wait_until

pytestmark = [pytest.mark.broker, pytest.mark.timeout(240)]

KILLS = 2
RECORDS = 1_200
BITS = {"bits": 7, "others": 8}
GREEDY = 0.6
"""More than a tree without spare time comes to: of seven bits nothing can be seen one at a time."""


Reader = PlainReader[dict[str, Any]]


def as_json(message: Message) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(message.value() or b"null")
    return told


def spare(changes: Reader) -> int:
    """Return how many changes spare time has made so far."""
    return sum(change["cause"] is None for change in changes.records)


def answered(predictions: Reader, count: int) -> bool:
    return len(predictions.records) >= count


def improves(changes: Reader, before: int) -> bool:
    return spare(changes) > before


def test_a_worker_killed_while_it_improves_loses_and_doubles_nothing(
    broker: Broker, topics: Callable[[str], str], tmp_path: Path
) -> None:
    agent = Agent(name=topics("a"), input=topics("in"), learner="iidt-ts")
    rig = KafkaRig(broker.bootstrap_servers)
    TopicAdmin(rig.kafka).create(plans_for(agent, 2))
    write_settings(
        tmp_path,
        broker.bootstrap_servers,
        agent_table(agent, idle_share=1.0),
        kafka={"properties": {"session.timeout.ms": 2_000, "heartbeat.interval.ms": 500}},
        metrics={"enabled": False},
        state={"snapshot_records": 400, "snapshot_seconds": 1.0},
    )
    predictions, changes = (
        PlainReader(broker.bootstrap_servers, topic, as_json)
        for topic in (agent.topics.predictions, agent.topics.tree_changes)
    )
    predictions.start()
    changes.start()
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True})
    instances = islice(xor(1, **BITS), RECORDS)
    rng = random.Random(1)
    sent = 0
    for _ in range(KILLS):
        for place, one in enumerate(islice(instances, RECORDS // KILLS)):
            producer.produce(agent.input, json.dumps(one).encode(), partition=place % 2)
            sent += 1
        assert producer.flush(30) == 0
        before = spare(changes)
        worker = WorkerProcess(tmp_path)
        assert wait_until(partial(answered, predictions, sent), 60), worker.words()
        assert wait_until(partial(improves, changes, before), 60), worker.words()
        time.sleep(rng.random())
        worker.kill()
    worker = WorkerProcess(tmp_path)
    # It goes on where the killed ones were, until what they began has been worth it.
    probe, follower, followed = Probe(xor(UNSEEN_SEED, **BITS)), Replica(agent.name), 0

    def is_better() -> bool:
        nonlocal followed
        new = changes.records[followed:]
        followed += len(new)
        follower.follow([json.dumps(change).encode() for change in new])
        return probe.accuracy(follower.outline) > GREEDY

    worker.wait_for("restored, ")
    assert wait_until(is_better, 90, pause=0.3), worker.words()
    assert worker.stop() == 0, worker.words()
    predictions.finish()
    changes.finish()
    # Every record was answered once, and the changes are a chain without a gap.
    assert sorted(told["id"] for told in predictions.records) == list(range(1, RECORDS + 1))
    assert [change["seq"] for change in changes.records] == list(range(1, len(changes.records) + 1))
    report = Inspection(rig.kafka, agent, Limits(), repeats=False, tell=lambda progress: None).run(
        replay=True
    )
    assert not list(report.findings)
    # The journal alone, learned and improved again without a fault, leads to the tree that readers hold.
    made = processor_factory(agent, Limits(), lambda event: None)(unit_of(agent.input, None))
    assert isinstance(made, LearningProcessor)
    entries = [record.value or b"" for record in rig.read(agent.topics.journal)]
    for entry in entries:
        made.replay(entry)
    replica = Replica(agent.name)
    replica.follow([json.dumps(change).encode() for change in changes.records])
    assert digest(replica.outline) == made.digest == changes.records[-1]["tree"]["digest"]
    assert sum(unpack(entry).improved for entry in entries) > 0
    assert probe.accuracy(replica.outline) > GREEDY
