"""The loops that are measured on a broker, each in a process of its own: what it takes to carry records.

`pass_through` is the floor: whoever reads, decodes, encodes, writes and commits cannot do with less. `agent`
is ours, as a worker runs it. `plain_river` is what people write today: no transactions, offsets now and then.
"""

import importlib
import json
import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from typing import NamedTuple

import msgspec
from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, Producer, TopicPartition

from lab.bench.measure import PeerFailed
from lab.bench.peers import river_tree
from stream.assembly import processor_factory
from stream.cli.gc_tuning import look_less_often
from stream.config import Agent, AgentTopics, Batch, Kafka, Limits
from stream.config.settings import DEFAULT_LEARNER
from stream.errors import EngineError
from stream.events import Event as StreamEvent
from stream.events import PartitionProgress
from stream.kafka.clients import REQUEST_SECONDS, base_settings, consumer_settings, producer_settings
from stream.kafka.engine import KafkaEngine
from stream.observe.metrics import Metrics

LINGER_SECONDS = 0.005
IDLE_SECONDS = 0.1
RUN_SECONDS = 180.0


class Order(NamedTuple):
    """What a loop is to do.

    Attributes:
        servers: The broker.
        name: A name that no other run has: for the group, the transactions and the output topics.
        input: The topic to read, of one partition.
        batch: How many records make a transaction.
        records: After how many records to end; 0: when told to.
        attributes: What the records have, for those who must know in advance.
        learner: Which learner our own loop has.
        idle_share: How much of its spare time it may use.
    """

    servers: str
    name: str
    input: str
    batch: int
    records: int = 0
    attributes: tuple[str, ...] = ()
    learner: str = DEFAULT_LEARNER
    idle_share: float = 0.5

    @property
    def kafka(self) -> Kafka:
        """The broker."""
        return Kafka(bootstrap_servers=self.servers)

    @property
    def agent(self) -> Agent:
        """The agent that does it."""
        return Agent(
            name=self.name,
            input=self.input,
            learner=self.learner,
            idle_share=self.idle_share,
            topics=AgentTopics(
                predictions=f"{self.name}.predictions",
                tree_changes=f"{self.name}.tree-changes",
                dead_letters=f"{self.name}.dead-letters",
            ),
        )

    @property
    def output(self) -> str:
        """The topic with the answers."""
        return self.agent.topics.predictions


class Carried(NamedTuple):
    """How long it took to carry some records, from the first commit to the last."""

    records: int
    wall: float
    cpu: float


class Watch:
    """Runs from the first commit, when everything has been set up, to the last.

    Args:
        records: After how many records it is done; 0: never.
    """

    def __init__(self, records: int) -> None:
        self._records = records
        self._first: tuple[int, float, float] | None = None
        self._last: tuple[int, float, float] | None = None

    def committed(self, done: int) -> bool:
        """Note that so many records have been committed; return whether these are all."""
        if not done:
            return False
        now = done, time.perf_counter(), time.process_time()
        self._first = self._first or now
        if not self._records or done < self._records:
            return False
        self._last = self._last or now
        return True

    @property
    def is_over(self) -> bool:
        """Whether all that were to be carried have been."""
        return self._last is not None

    def carried(self) -> Carried:
        """Return what came between the first commit and the last."""
        if self._first is None or self._last is None:
            return Carried(0, 0.0, 0.0)
        pairs = zip(self._last, self._first, strict=True)
        records, wall, cpu = (last - first for last, first in pairs)
        return Carried(int(records), wall, cpu)


Loop = Callable[[Order, Watch, Callable[[], bool]], None]


# ---- the loops


def pass_through(order: Order, watch: Watch, stop: Callable[[], bool]) -> None:
    """Consume, decode, encode an answer, produce, and commit both in one transaction."""
    consumer = _reader(order)
    producer = Producer(producer_settings(order.kafka, order.name))
    producer.init_transactions(2 * REQUEST_SECONDS)
    decode, encode = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
    topic = order.output
    try:
        while not stop():
            messages = _poll(consumer, order.batch)
            if not messages:
                continue
            producer.begin_transaction()
            for message in messages:
                record = decode(_value(message))
                answer = encode({"id": record["id"], "p": record["class"]})
                producer.produce(topic, answer, message.key(), 0)
            done = (messages[-1].offset() or 0) + 1
            offsets = [TopicPartition(order.input, 0, done)]
            producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), REQUEST_SECONDS)
            producer.commit_transaction(REQUEST_SECONDS)
            if watch.committed(done):
                return
    finally:
        consumer.close()


def agent(order: Order, watch: Watch, stop: Callable[[], bool]) -> None:
    """Run our engine as a worker does: the default learner, the journal, tree changes, metrics."""
    metrics = Metrics()
    done = 0

    def observe(event: StreamEvent) -> None:
        nonlocal done
        if isinstance(event, PartitionProgress):
            # Told once a batch has been committed.
            done = event.consumed
        metrics.observe(event)

    batch = Batch(max_batch=order.batch, linger_ms=round(LINGER_SECONDS * 1_000))
    loop = KafkaEngine(order.kafka, order.agent, batch, "bench", observe)
    loop.run(processor_factory(order.agent, Limits(), observe), lambda: watch.committed(done) or stop())


def plain_river(order: Order, watch: Watch, stop: Callable[[], bool]) -> None:
    """Consume, decode, let River answer and learn, produce; offsets are committed now and then."""
    tree = river_tree(order.attributes)
    consumer = _reader(order, auto_commit=True)
    producer = Producer({"linger.ms": 5, **base_settings(order.kafka)})
    topic = order.output
    try:
        while not stop():
            messages = _poll(consumer, order.batch)
            for message in messages:
                record = json.loads(_value(message))
                name, label = record.pop("id"), record.pop("class")
                answer = tree.predict_one(record)
                tree.learn_one(record, label)
                producer.produce(topic, json.dumps({"id": name, "p": answer}))
                producer.poll(0)
            if messages and watch.committed((messages[-1].offset() or 0) + 1):
                producer.flush(REQUEST_SECONDS)
                return
    finally:
        consumer.close()


LOOPS: dict[str, Loop] = {"pass-through": pass_through, "id5r": agent, "river": plain_river}
FAUST = "faust"
"""What the names of those begin with that need Faust, which is imported for them alone."""


def _reader(order: Order, *, auto_commit: bool = False) -> Consumer:
    settings = {**consumer_settings(order.kafka, order.name), "enable.auto.commit": auto_commit}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(order.input, 0, OFFSET_BEGINNING)])
    return consumer


def _poll(consumer: Consumer, most: int) -> list[Message]:
    """Poll as our engine does: wait for one record, then take what else is there."""
    messages = consumer.consume(1, IDLE_SECONDS)
    return messages + consumer.consume(most - 1, LINGER_SECONDS) if messages else []


def _value(message: Message) -> bytes:
    error = message.error()
    if error is not None:
        raise EngineError(f"{message.topic()} cannot be read: {error.str()}")
    return message.value() or b""


# ---- a process for each


class Running:
    """A loop in a process of its own.

    Args:
        loop: One of `LOOPS`.
        order: What it is to do.
    """

    def __init__(self, loop: str, order: Order) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._stop = spawn.Event()
        self._ours, theirs = spawn.Pipe()
        self._process = spawn.Process(
            target=_work, args=(loop, order, self._stop, theirs), name=order.name, daemon=True
        )
        self._process.start()
        theirs.close()

    def carried(self, seconds: float = RUN_SECONDS) -> Carried:
        """Wait for its end and return what it carried.

        Raises:
            PeerFailed: It failed, or did not come to an end in time.
        """
        try:
            if not self._ours.poll(seconds):
                raise PeerFailed(f"{self._process.name} did not end within {seconds:g} s")
            told = self._ours.recv()
        except EOFError:
            raise PeerFailed(f"{self._process.name} failed; it has said why above") from None
        finally:
            self.end()
        assert isinstance(told, Carried)
        return told

    def kill(self) -> None:
        """End the process as a power cut would."""
        self._process.kill()
        self._process.join()

    def end(self) -> None:
        """See to it that the process ends."""
        self._stop.set()
        self._process.join(REQUEST_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._ours.close()


def _work(loop: str, order: Order, stop: Event, answer: "Connection[object, object]") -> None:
    watch = Watch(order.records)
    known = LOOPS
    if loop.startswith(FAUST):
        known = importlib.import_module("lab.bench.faust_loops").LOOPS
    # As a worker does, and for all alike: the loops that learn nothing gain by it as well.
    look_less_often()
    known[loop](order, watch, stop.is_set)
    answer.send(watch.carried())
