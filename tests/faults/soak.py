"""Half an hour at half the top speed: memory and latency stay flat, and nothing is lost on the way."""

import json
import statistics
import threading
import time
from pathlib import Path
from typing import TypeVar

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from tests.faults.ground import Plan, Result, Tally
from tests.faults.world import Failure, World, instance

PROBE = 60_000
"""How many records the top speed is measured with."""
Number = TypeVar("Number", int, float)
WINDOW = 20_000
"""Instances the model retains: what it may hold for ever is not what is looked at here."""
DIFFERENT = 5_000
"""So many records are made, and come again and again."""


def run(plan: Plan) -> Result:
    """Measure the top speed, then feed half of it for so many minutes."""
    result = Result("soak", what="minutes at half the top speed")
    tally = Tally(plan, result)
    started = time.monotonic()
    try:
        result.detail = _soak(plan, tally)
    except (Failure, AssertionError) as error:
        tally.fail(str(error))
    result.seconds = time.monotonic() - started
    return result.conclude(plan, plan.repeat)


def _soak(plan: Plan, tally: Tally) -> str:
    world = World(
        plan.ground.servers,
        plan.ground.directory,
        plan.ground.workers,
        max_batch=2_000,
        seed=plan.seed,
        options={"window": WINDOW, "significance": "none"},
        settings={"state": {"snapshot_records": 50_000, "snapshot_seconds": 30}},
    )
    world.predictions.stop()
    feed = _Feed(world)
    watch = _Watch(world, feed)
    worker = world.start()
    feed.put(PROBE)
    begun = time.monotonic()
    if not watch.wait_for(PROBE, 120):
        raise Failure(f"a worker stands still: {world.last_words()}")
    top = PROBE / (time.monotonic() - begun)
    minutes = min(plan.repeat, max(0.0, (plan.until - time.monotonic()) / 60))
    end = time.monotonic() + 60 * minutes
    memory: list[int] = []
    watch.forget()
    while time.monotonic() < end:
        second = time.monotonic() + 0.1
        feed.put(max(1, int(top / 20)))
        if len(memory) < (time.monotonic() - end + 60 * minutes):
            memory.append(_resident(worker.pid))
        if worker.status is not None:
            raise Failure(f"the worker ended with {worker.status}: {world.last_words()}")
        time.sleep(max(0.0, second - time.monotonic()))
    if not watch.wait_for(feed.sent, 60):
        raise Failure(f"{watch.seen} predictions of {feed.sent}")
    if worker.stop() != 0:
        raise Failure(f"the worker ended with {worker.status}: {world.last_words()}")
    watch.stop()
    tally.count("minutes", round(minutes))
    tally.add_records(feed.sent)
    return f"{top:,.0f} records/s at the top; {_flat(memory, watch.delays)}"


def _flat(memory: list[int], delays: list[float]) -> str:
    """Compare the second fifth with the last: what grows, grows between them."""
    before, after = _fifth(memory, 1), _fifth(memory, 4)
    if statistics.median(after) > 1.10 * statistics.median(before) + (8 << 20):
        raise Failure(f"memory grew from {before} to {after}")
    early, late = sorted(_fifth(delays, 1)), sorted(_fifth(delays, 4))
    middle = early[len(early) // 2], late[len(late) // 2]
    if middle[1] > 2 * middle[0] + 0.05:
        raise Failure(f"the median latency grew from {middle[0]:.3f} s to {middle[1]:.3f} s")
    tail = sorted(delays)[int(0.99 * len(delays))]
    return (
        f"memory {statistics.median(before) / 2**20:.0f} MB, later {statistics.median(after) / 2**20:.0f}; "
        f"median latency {1_000 * middle[0]:.0f} ms, later {1_000 * middle[1]:.0f}, p99 {1_000 * tail:.0f} ms"
    )


def _fifth(values: list[Number], number: int) -> list[Number]:
    size = max(1, len(values) // 5)
    return values[number * size : (number + 1) * size] or values[-1:]


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4_096


class _Feed:
    """Puts records into the input and remembers when."""

    def __init__(self, world: World) -> None:
        self.sent = 0
        self.times: list[float] = []
        self._topic = world.agent.input
        self._values = [instance(number + 500, world.seed) for number in range(DIFFERENT)]
        self._producer = Producer({"bootstrap.servers": world.servers, "linger.ms": 2, "log_level": 0})

    def put(self, count: int) -> None:
        for _ in range(count):
            value = self._values[self.sent % DIFFERENT]
            while True:
                try:
                    self._producer.produce(self._topic, value, partition=0)
                    break
                except BufferError:
                    self._producer.poll(0.1)
            self.times.append(time.monotonic())
            self.sent += 1
        self._producer.poll(0)


class _Watch(threading.Thread):
    """Reads the predictions: each must be the next one, and of some it looks how late they are."""

    def __init__(self, world: World, feed: _Feed) -> None:
        super().__init__(daemon=True)
        self.seen = 0
        self.delays: list[float] = []
        self.failure: str | None = None
        self._feed = feed
        self._ended = threading.Event()
        self._consumer = Consumer(
            {"bootstrap.servers": world.servers, "group.id": "soak", "isolation.level": "read_committed"}
        )
        self._consumer.assign([TopicPartition(world.agent.topics.predictions, 0, 0)])
        self.start()

    def run(self) -> None:
        while not self._ended.is_set():
            for message in self._consumer.consume(1_000, 0.1):
                error = message.error()
                if error is not None:
                    if error.code() != KafkaError._PARTITION_EOF:
                        self.failure = error.str()
                    continue
                if self.seen % 50 == 0:
                    offset = json.loads(message.value() or b"")["source"]["offset"]
                    if offset != self.seen:
                        self.failure = f"the prediction of {offset} came where {self.seen} was expected"
                    self.delays.append(time.monotonic() - self._feed.times[self.seen])
                self.seen += 1
        self._consumer.close()

    def forget(self) -> None:
        self.delays.clear()

    def wait_for(self, count: int, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.seen < count and time.monotonic() < deadline:
            time.sleep(0.02)
        if self.failure:
            raise Failure(self.failure)
        return self.seen >= count

    def stop(self) -> None:
        self._ended.set()
        self.join(20)
