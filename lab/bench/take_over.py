"""How long a stream stands still when its worker is killed and another takes over.

The sender and the reader are in this process, so that one clock serves both; the workers are in others.
"""

import time
from typing import NamedTuple

import msgspec
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from lab.bench.loops import Order, Running
from lab.bench.measure import PeerFailed
from stream.kafka.clients import base_settings, consumer_settings

TICK_SECONDS = 0.02
START_SECONDS = 60.0
JOIN_SECONDS = 5.0
"""How long a second worker is given to join the group, where it stands by."""


class TakeOver(NamedTuple):
    """Seconds from the death of a worker to the first answer of the next to a record sent after it."""

    seconds: float
    records: int


class _Named(msgspec.Struct):
    id: int


_id_of = msgspec.json.Decoder(_Named).decode


class _Line:
    """Sends a record each tick and notes which have been answered."""

    def __init__(self, order: Order, texts: list[bytes]) -> None:
        self._order = order
        self._texts = texts
        self._producer = Producer({"linger.ms": 0, **base_settings(order.kafka)})
        self._reader = Consumer(consumer_settings(order.kafka, f"{order.name}.reader"))
        self._reader.assign([TopicPartition(order.output, 0, OFFSET_BEGINNING)])
        self.sent = 0
        self.answered = -1

    def tick(self) -> None:
        self._producer.produce(self._order.input, self._texts[self.sent], partition=0)
        self._producer.poll(0)
        self.sent += 1
        for message in self._reader.consume(1_000, TICK_SECONDS):
            if message.error() is None:
                self.answered = max(self.answered, _id_of(message.value() or b"").id)

    def until_answered(self, number: int, seconds: float) -> None:
        deadline = time.perf_counter() + seconds
        while self.answered < number:
            if time.perf_counter() > deadline:
                raise PeerFailed(f"{self._order.name} did not answer within {seconds:g} s")
            self.tick()

    def close(self) -> None:
        self._reader.close()


def measure_take_over(loop: str, order: Order, texts: list[bytes]) -> TakeOver:
    """Kill a worker while another stands by, and records flow.

    Args:
        loop: One of `LOOPS`.
        order: What the workers are to do. Its topics are there and empty.
        texts: The records; each has its place in this list as its id.
    """
    line = _Line(order, texts)
    active = Running(loop, order)
    stand_by: Running | None = None
    try:
        line.until_answered(0, START_SECONDS)
        stand_by = Running(loop, order)
        joined = time.perf_counter() + JOIN_SECONDS
        while time.perf_counter() < joined:
            line.tick()
        active.kill()
        died, first = time.perf_counter(), line.sent
        line.until_answered(first, START_SECONDS)
        return TakeOver(time.perf_counter() - died, line.sent)
    finally:
        line.close()
        for running in (active, stand_by):
            if running is not None:
                running.end()
