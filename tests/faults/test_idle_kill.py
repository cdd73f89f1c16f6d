"""A worker killed while it improves its tree in spare time: nothing lost, nothing doubled, the same tree."""

import json
import random
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path

import pytest
from confluent_kafka import Producer

from learners.outline import digest
from stream.agents import processor_factory
from stream.audit import Inspection
from stream.broker import Broker
from stream.config import Agent, Limits
from stream.demo.probe import UNSEEN_SEED, Probe
from stream.engine import unit_of
from stream.engines.kafka import Topics
from stream.generators import xor
from stream.journal import unpack
from stream.processor import LearningProcessor
from stream.replica import Replica
from stream.topics import plans_for
from tests.contract.rigs import KafkaRig
from tests.faults.test_kill import PlainReader, WorkerProcess

pytestmark = [pytest.mark.broker, pytest.mark.timeout(240)]

KILLS = 2
RECORDS = 1_200
BITS = {"bits": 7, "others": 8}


def write_config(path: Path, broker: Broker, agent: Agent) -> Path:
    file = path / "espalier.toml"
    file.write_text(
        f"""
[kafka]
bootstrap_servers = "{broker.bootstrap_servers}"
[kafka.properties]
"session.timeout.ms" = 2000
"heartbeat.interval.ms" = 500
[metrics]
enabled = false
[state]
snapshot_records = 400
snapshot_seconds = 1.0
[[agent]]
name = "{agent.name}"
input = "{agent.input}"
learner = "{agent.learner}"
idle_share = 1.0
"""
    )
    return file


def spare(changes: PlainReader) -> int:
    """Return how many changes spare time has made so far."""
    return sum(change["cause"] is None for change in changes.records)


def answered(predictions: PlainReader, count: int) -> bool:
    return len(predictions.records) >= count


def improves(changes: PlainReader, before: int) -> bool:
    return spare(changes) > before


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_a_worker_killed_while_it_improves_loses_and_doubles_nothing(
    broker: Broker, topics: Callable[[str], str], tmp_path: Path
) -> None:
    agent = Agent(name=topics("a"), input=topics("in"), learner="iidt-ts")
    rig = KafkaRig(broker.bootstrap_servers)
    Topics(rig.kafka).create(plans_for(agent, 2))
    config, log = write_config(tmp_path, broker, agent), tmp_path / "worker.log"
    predictions, changes = (
        PlainReader(broker.bootstrap_servers, topic)
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
        worker = WorkerProcess(config, log)
        assert wait_until(partial(answered, predictions, sent), 60), log.read_text()
        assert wait_until(partial(improves, changes, before), 60), log.read_text()
        time.sleep(rng.random())
        worker.kill()
    worker = WorkerProcess(config, log)
    before = spare(changes)
    wait_until(partial(improves, changes, before), 5)
    assert worker.stop() == 0, log.read_text()
    wait_until(lambda: False, 1)
    predictions.stop()
    changes.stop()
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
    # And it was worth it.
    greedy = 0.6
    assert Probe(xor(UNSEEN_SEED, **BITS)).accuracy(replica.outline) > greedy
