"""Every metric of the catalogue moves: by the events of a life, and by a real worker on a real Kafka."""

import ast
import json
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from learners.id5r.options import CoreOptions
from stream.assembly import processor_factory
from stream.broker import Broker
from stream.config import Agent, Batch, Config, Kafka, Limits, State
from stream.demo.generators import xor
from stream.events import (
    Committed,
    Labelled,
    PartitionProgress,
    Processed,
    Rebalanced,
    RestoreFinished,
    RestoreProgress,
    Snapshotted,
    Started,
)
from stream.kafka.sender import Sender
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin
from stream.memory import MemoryBroker, MemoryEngine
from stream.observe.selfcheck import SelfCheck, here
from stream.worker import Worker
from tests.paths import REPOSITORY
from tests.stream.observe.movement import CONSTANT, WAITING, Movement

ADAPTIVE = CoreOptions(preset="adaptive")
SMALL = Limits(max_values_per_attribute=40)
RECORDS = 600
SECONDS = 60.0


def agents_of(drifting: str, parity: str) -> tuple[Agent, ...]:
    """Return agents of which one drops its past, one counts bits, and one improves in its spare time."""
    return (
        Agent(f"{drifting}.adaptive", drifting, options=ADAPTIVE),
        Agent(f"{drifting}.short", drifting, learner="mdl"),
        Agent(f"{parity}.patient", parity, learner="iidt-ts", idle_share=1.0),
    )


def drifting() -> Iterator[bytes]:
    """Yield records of a concept that turns over, with everything in them that is counted by itself."""
    for n in range(RECORDS):
        label = "yn"[(n % 2) ^ (n >= RECORDS // 2)]
        yield json.dumps({"x": "ab"[n % 2], "user": f"u{n}", "nested": {"k": n}, "class": label}).encode()
    yield b"not JSON"


def parity() -> list[bytes]:
    stream = xor(1, bits=2, others=4)
    return [json.dumps(next(stream)).encode() for _ in range(RECORDS)]


def unlabelled() -> list[bytes]:
    return [b'{"x": "a"}'] * 10


def test_every_metric_moves_by_the_events_of_a_life() -> None:
    movement = Movement()
    broker = MemoryBroker()
    for value in (*drifting(), *unlabelled()):
        broker.produce("drifting", value)
    for value in parity():
        broker.produce("parity", value)
    deadline = time.monotonic() + SECONDS

    def spare_time() -> bool:
        return "improvements" in movement.missing and time.monotonic() < deadline

    for agent in agents_of("drifting", "parity"):
        movement.observe(Started(agent.name, agent.input, agent.learner, agent.scope.value))
        check = SelfCheck(movement.observe, first=0.0, compare=here)
        engine = MemoryEngine(
            broker,
            agent.input,
            agent.topics.journal,
            agent.group,
            max_batch=RECORDS // 2 + 1,
            wait=spare_time if agent.learner == "iidt-ts" else None,
            idle_share=agent.idle_share,
        )
        make = check.watching(agent.name, processor_factory(agent, SMALL, check.observe))
        engine.run(make, lambda: False)
        check.wait()
    # What an engine on a broker says.
    for event in (
        Rebalanced("drifting.short", (("drifting", 0),), ()),
        RestoreProgress("drifting.short", "drifting", 100, 0.5),
        RestoreFinished("drifting.short", "drifting", 200, 1.5),
        Processed("drifting.short", 10, 0.1),
        Committed("drifting.short", "committed", 0.1),
        PartitionProgress("drifting.short", "drifting", 0, 0, 10, 5, 1),
        Snapshotted("drifting.short", "drifting", 1_000, 0.2),
    ):
        movement.observe(event)
    assert movement.missing == set(WAITING)
    movement.observe(Labelled("drifting.short", [3.0], 7))
    assert movement.missing == set()


@pytest.mark.broker
def test_every_metric_is_moved_by_a_worker(
    broker: Broker, topics: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not after seconds, and with every message of the journal.
    monkeypatch.setattr("stream.worker.SelfCheck", partial(SelfCheck, first=0.0))
    monkeypatch.setattr("stream.kafka.checkpoints.TELL_SECONDS", 0.0)
    kafka, movement = Kafka(broker.bootstrap_servers), Movement()
    agents = agents_of(topics("drifting"), topics("parity"))
    plans = {plan.name: plan for agent in agents for plan in plans_for(agent, 1)}
    TopicAdmin(kafka).create(list(plans.values()))
    config = Config(
        agents=agents,
        kafka=kafka,
        batch=Batch(max_batch=50),
        # The first snapshot comes early enough for a journal after it.
        state=State(snapshot_records=400),
        limits=SMALL,
        instance="w",
    )
    sender = Sender(kafka)
    restored = {"restore_progress_ratio", "restore_instances"}
    for drifting_values, parity_values, later in (
        ([*drifting()], parity(), {*restored, "predict_seconds"}),
        (unlabelled(), [], restored),
        ([], [], set()),
    ):
        for agent, values in ((agents[0], drifting_values), (agents[2], parity_values)):
            for value in values:
                sender.send(agent.input, value)
        sender.flush()
        worker = Worker(config, movement.observe)
        worker.start()
        deadline = time.monotonic() + SECONDS
        while movement.missing - set(WAITING) - later:
            assert time.monotonic() < deadline, movement.missing
            assert not worker.wait(0.05), "the worker has stopped"
        worker.stop()
        worker.wait(SECONDS)
    assert movement.missing == set(WAITING)


def test_what_a_metric_waits_for_is_made_by_nobody_yet() -> None:
    """As soon as the product makes these events, `waits` has to go from the catalogue."""
    made = {
        node.func.id
        for path in (REPOSITORY / "stream").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert {"Started", "ModelMeasured", "Improved"} <= made
    assert ("Labelled" in made) == (not WAITING)


def test_the_constants_are_there_from_the_start() -> None:
    movement = Movement()
    movement.observe(Started("a", "in", "id5r", "topic"))
    names = {family.name for family in movement.metrics.registry.collect() for sample in family.samples}
    assert {f"espalier_{name}" for name in CONSTANT} <= names
