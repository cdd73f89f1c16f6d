"""How long it takes from the producing of a record to its answer, as a reader of committed records sees it.

The sender and the reader are in this process, so that one clock serves both; the loop is in another.
"""

import threading
import time
from typing import NamedTuple

import msgspec
import numpy as np
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from numpy.typing import NDArray

from lab.bench.loops import Order, Running
from lab.bench.measure import PeerFailed
from stream.kafka.clients import REQUEST_SECONDS, base_settings, consumer_settings

TICK_SECONDS = 0.001
START_SECONDS = 60.0
WARM_SHARE = 0.3
"""How long records flow before those come that are measured, as a share of the time of these."""
TAIL_SECONDS = 20.0
"""How long the last answers are waited for. One that does not come counts as taking for ever."""

SENDER: dict[str, str | int | float | bool] = {
    "linger.ms": 1,
    # Otherwise a broker that is slow for a moment finds thousands of requests with one record each, which
    # take it longer than the records do, and what is measured is this queue.
    "max.in.flight.requests.per.connection": 5,
}


class Latency(NamedTuple):
    """Milliseconds from producing a record to reading its answer."""

    p50: float
    p99: float
    records: int


class _Named(msgspec.Struct):
    id: int


_id_of = msgspec.json.Decoder(_Named).decode


def records_needed(rate: int, seconds: float) -> int:
    """Return how many records there must be to send."""
    return round(rate * seconds * WARM_SHARE) + round(rate * seconds) + 1


def measure_latency(loop: str, order: Order, texts: list[bytes], rate: int, seconds: float) -> Latency:
    """Send records at a steady rate to a loop, and read its answers.

    Args:
        loop: One of `LOOPS`.
        order: What the loop is to do. Its topics are there and empty.
        texts: The records; each has its place in this list as its id.
        rate: Records a second.
        seconds: How long records are sent that count, after some that do not.
    """
    warm = round(rate * seconds * WARM_SHARE)
    count = records_needed(rate, seconds)
    if len(texts) < count:
        raise ValueError(f"{count} records are needed, not {len(texts)}")
    sent = np.full(count, np.nan)
    came = np.full(count, np.inf)
    running = Running(loop, order)
    reader = Consumer(consumer_settings(order.kafka, f"{order.name}.reader"))
    reader.assign([TopicPartition(order.output, 0, OFFSET_BEGINNING)])
    producer = Producer({**SENDER, **base_settings(order.kafka)})
    sender = threading.Thread(
        target=_send, args=(producer, order.input, texts, sent, rate), name="sender", daemon=True
    )
    try:
        # The first record goes alone: when its answer is there, everything has been set up.
        producer.produce(order.input, texts[0], partition=0)
        producer.flush(REQUEST_SECONDS)
        _read(reader, came, 1, START_SECONDS)
        if np.isinf(came[0]):
            raise PeerFailed(f"{order.name} did not answer within {START_SECONDS:g} s")
        sender.start()
        _read(reader, came, count - 1, count / rate + TAIL_SECONDS)
        sender.join()
    finally:
        reader.close()
        running.end()
    waited = (came - sent)[warm + 1 :] * 1_000
    p50, p99 = np.percentile(waited, (50, 99), method="higher")
    return Latency(float(p50), float(p99), len(waited))


def _send(producer: Producer, topic: str, texts: list[bytes], sent: NDArray[np.float64], rate: int) -> None:
    """Produce all but the first record, so many in each tick that the rate comes out."""
    began = time.perf_counter()
    number = 1
    while number < len(sent):
        due = min(len(sent), 1 + int((time.perf_counter() - began) * rate))
        while number < due:
            sent[number] = time.perf_counter()
            producer.produce(topic, texts[number], partition=0)
            number += 1
        producer.poll(0)
        time.sleep(TICK_SECONDS)
    producer.flush(REQUEST_SECONDS)


def _read(reader: Consumer, came: NDArray[np.float64], wanted: int, seconds: float) -> None:
    """Note when each answer comes, until so many have come or the time is up."""
    deadline = time.perf_counter() + seconds
    while wanted and time.perf_counter() < deadline:
        messages = reader.consume(1_000, TICK_SECONDS)
        now = time.perf_counter()
        for message in messages:
            if message.error() is None:
                came[_id_of(message.value() or b"").id] = now
                wanted -= 1
