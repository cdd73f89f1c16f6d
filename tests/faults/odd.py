"""Things that go wrong around a worker: each has one clear outcome, which is a sentence and a status."""

import os
import queue
import subprocess
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.cimpl import NewPartitions

from stream.config import Scope
from tests.faults.forkserver import WorkerProcess, wait_until
from tests.faults.ground import Plan, Result, Tally, in_lanes
from tests.faults.groups import GAVE_WAY
from tests.faults.stage import NotTried, Stage
from tests.faults.world import Failure

STATE_ERROR, ENGINE_ERROR = 70, 74
GIVES_UP_SECONDS = 90
"""Longer than the longest wait of a worker: 50 s for a commit, 30 s for a new producer."""
SNAPSHOTS = {"state": {"snapshot_records": 50, "snapshot_seconds": 0.3}}


def _resolve(futures: Mapping[Any, Future[Any]]) -> None:
    for future in futures.values():
        future.result(timeout=30)


def _deleted(topic: int, status: int, words: str) -> Callable[[Plan], str]:
    """A topic vanishes under a worker that is at work."""

    def work(plan: Plan) -> str:
        stage = Stage(plan)
        worker = stage.work()
        names = (*stage.topics, stage.world.agent.topics.journal)
        _resolve(stage.admin.delete_topics([names[topic]], operation_timeout=20))
        if topic:
            for _ in range(3):
                stage.world.feed(10)
                time.sleep(0.2)
        return stage.ends(status, words, worker, 90)

    return work


def _offsets(change: Callable[[int], int]) -> Callable[[Stage], None]:
    """Move what the group has committed, as an operator might."""

    def work(stage: Stage) -> None:
        agent = stage.world.agent
        places = [TopicPartition(agent.input, n, change(len(stage.world.fed[n]))) for n in range(2)]
        asked = [ConsumerGroupTopicPartitions(agent.group, places)]
        _until_empty(lambda: _resolve(stage.admin.alter_consumer_group_offsets(asked)))

    return work


def _until_empty(act: Callable[[], None]) -> None:
    """Do something to a group that has just been left: for a moment it may not seem so."""
    deadline = time.monotonic() + 30
    while True:
        try:
            act()
            return
        except KafkaException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _moved_back(plan: Plan) -> str:
    stage = Stage(plan)
    stage.done()
    _offsets(lambda end: end - 10)(stage)
    return stage.ends(STATE_ERROR, "moved back by hand")


def _moved_on(plan: Plan) -> str:
    stage = Stage(plan)
    stage.done()
    stage.world.feed(40)
    _offsets(lambda end: end)(stage)
    return stage.ends(STATE_ERROR, "does not reach the committed offsets")


def _expired(plan: Plan) -> str:
    """The group is forgotten by the broker, as after a week of silence."""
    stage = Stage(plan)
    stage.done()
    group = stage.world.agent.group
    _until_empty(lambda: _resolve(stage.admin.delete_consumer_groups([group])))
    return stage.goes_on()


def _expired_by_partition(plan: Plan) -> str:
    stage = Stage(plan, scope=Scope.PARTITION)
    stage.done()
    group = stage.world.agent.group
    _until_empty(lambda: _resolve(stage.admin.delete_consumer_groups([group])))
    return stage.goes_on()


def _truncated(
    topic: Callable[[Stage], str], to: Callable[[Stage], int], number: int = 0
) -> Callable[[Stage], None]:
    def work(stage: Stage) -> None:
        place = TopicPartition(topic(stage), number, to(stage))
        _resolve(stage.admin.delete_records([place]))

    return work


def _input_truncated(plan: Plan) -> str:
    """Records are deleted that nobody has learned from."""
    stage = Stage(plan)
    stage.done()
    stage.world.feed(40)
    _truncated(lambda s: s.world.agent.input, lambda s: len(s.world.fed[0]) - 5)(stage)
    return stage.ends(STATE_ERROR, "no longer holds the records that come next")


def _old_input_truncated(plan: Plan) -> str:
    """Records are deleted that were learned from long ago, as retention does all the time."""
    stage = Stage(plan)
    stage.done()
    _truncated(lambda s: s.world.agent.input, lambda s: len(s.world.fed[0]) - 10)(stage)
    stage.world.feed(40)
    stage.world.settle(stage.world.start())
    return "went on"


def _journal_truncated(plan: Plan) -> str:
    stage = Stage(plan)
    stage.done()
    _truncated(lambda s: s.world.agent.topics.journal, lambda s: 3)(stage)
    return stage.ends(STATE_ERROR, "Part of the journal is missing")


def _journal_spoilt(plan: Plan) -> str:
    stage = Stage(plan)
    stage.done()
    producer = Producer({"bootstrap.servers": stage.world.servers, "enable.idempotence": True})
    producer.produce(stage.world.agent.topics.journal, b"something else", partition=0)
    producer.flush(30)
    return stage.ends(STATE_ERROR, "It was damaged")


def _snapshot_spoilt(plan: Plan) -> str:
    """A snapshot is damaged; the other, or the journal, is not."""
    stage = Stage(plan, settings=SNAPSHOTS)
    for _ in range(4):
        stage.done(150)
    agent = stage.world.agent
    producer = Producer({"bootstrap.servers": stage.world.servers, "enable.idempotence": True})
    for slot in "A":
        producer.produce(agent.topics.snapshots, b"damaged", f"{agent.input}|{slot}|0".encode(), 0)
    producer.flush(30)
    return stage.goes_on()


def _more_partitions(scope: Scope) -> Callable[[Plan], str]:
    def work(plan: Plan) -> str:
        stage = Stage(plan, scope=scope)
        stage.done()
        asked = [NewPartitions(stage.world.agent.input, 3)]
        _resolve(stage.admin.create_partitions(asked, operation_timeout=20))
        if scope is Scope.PARTITION:
            return stage.ends(STATE_ERROR, "The input was repartitioned")
        return stage.goes_on()

    return work


def _full_disk(plan: Plan) -> str:
    """The disk of the broker is full for a while; the broker dies of it and comes back."""
    disk = plan.ground.directory / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", str(disk)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        raise NotTried("it takes the right to mount a small disk")
    try:
        return _on_small_disk(plan, disk)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False, capture_output=True)


def _on_small_disk(plan: Plan, disk: Path) -> str:
    broker = plan.ground.broker("small", directory=disk / "broker")
    try:
        stage = Stage(plan, servers=broker.bootstrap_servers)
        stage.world.watch_dead_letters()
        worker = stage.work()
        stage.world.feed(30)
        _fill(disk / "filling")
        deadline = time.monotonic() + 60
        while broker.is_running() and time.monotonic() < deadline:
            # Somebody has to write for the disk to be noticed.
            stage.world.feed_one(b'{"a":"' + b"x" * 100_000, 0)
            stage.world.dead += 1
            time.sleep(0.1)
        if broker.is_running():
            raise Failure("the broker has not noticed that its disk is full: nothing was tried")
        worker.wait(5)
        (disk / "filling").unlink()
        broker.nodes[0].start()
        stage.world.flush()
        stage.world.settle(_supervised(stage, worker), 120)
        stage.world.check()
    finally:
        plan.ground.stop("small")
    return "the broker died of it and came back, nothing lost, nothing doubled"


def _supervised(stage: Stage, worker: WorkerProcess) -> WorkerProcess:
    """Return a worker that outlives an outage of its only broker; one that gave up is started again, once.

    A worker may give up because of the outage, with a status after which a supervisor starts it again: the
    deploy files name the others. It may do so for as long as it takes to notice: what it waited for when the
    broker died ends within `GIVES_UP_SECONDS`. Who is started when the broker is back has no such excuse.
    """
    world = stage.world
    wait_until(lambda: world.caught_up() or worker.status is not None, GIVES_UP_SECONDS)
    if worker.status is None:
        return worker
    if worker.status not in GAVE_WAY:
        raise Failure(f"a worker ended with {worker.status}: {world.last_words()}")
    return world.start()


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * (1 << 16))
        except OSError:
            return


OUTCOMES: dict[str, Callable[[Plan], str]] = {
    "the input is deleted under the worker": _deleted(0, STATE_ERROR, "does not exist any more"),
    "the predictions are deleted under the worker": _deleted(1, ENGINE_ERROR, "Unknown"),
    "the journal is deleted under the worker": _deleted(4, STATE_ERROR, "journal"),
    "the group's offsets have expired": _expired,
    "the group's offsets have expired, a model for each partition": _expired_by_partition,
    "the group's offsets are moved back": _moved_back,
    "the group's offsets are moved on": _moved_on,
    "the input is cut off ahead of the worker": _input_truncated,
    "the input is cut off behind the worker": _old_input_truncated,
    "the journal is cut off without a snapshot": _journal_truncated,
    "something else is written into the journal": _journal_spoilt,
    "a snapshot is damaged": _snapshot_spoilt,
    "the input gets more partitions": _more_partitions(Scope.TOPIC),
    "the input gets more partitions, a model for each": _more_partitions(Scope.PARTITION),
    "the disk of the broker is full": _full_disk,
}


def run(plan: Plan) -> Result:
    """See what comes of each, once; several at a time, since most of it is waiting."""
    result = Result("odd", what="odd events with the outcome they must have")
    tally = Tally(plan, result)
    started = time.monotonic()
    waiting: queue.SimpleQueue[tuple[str, Callable[[Plan], str]]] = queue.SimpleQueue()
    for outcome in OUTCOMES.items():
        waiting.put(outcome)

    def lane(number: int) -> None:
        while True:
            try:
                name, work = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                plan.say(f"{name}: {work(plan)}")
            except NotTried as reason:
                plan.say(f"{name}: not tried: {reason}")
                tally.skip(name, str(reason))
            except (Failure, AssertionError) as error:
                plan.say(f"{name}: FAILED: {error}")
                tally.fail(f"{name}: {error}")
            else:
                tally.count(name)

    in_lanes(4, tally, lane)
    result.seconds = time.monotonic() - started
    result.detail = f"not tried: {'; '.join(result.skipped)}" if result.skipped else ""
    return result.conclude(plan, len(OUTCOMES))
