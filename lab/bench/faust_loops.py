"""The loops of `espalier bench stream --engine faust`: what it takes to carry records in a Faust application.

`forward` is what Faust users write first: read an event, send it on. `per_event` has the same processor as
ours, fed by Faust's consumer event by event. `ours` is the engine as a worker runs it.
"""

import asyncio
import tempfile
from collections.abc import Callable
from typing import Any

import faust
from confluent_kafka import Consumer, TopicPartition

from lab.bench.loops import LINGER_SECONDS, Loop, Order, Watch
from stream.assembly import processor_factory
from stream.config import Batch, Config, EngineName, Limits
from stream.config import MetricsSettings as MetricsSettings
from stream.events import Event, PartitionProgress
from stream.faust.worker import run_in_faust
from stream.kafka.clients import consumer_settings
from stream.kafka.topics import TopicAdmin
from stream.kafka.transactions import TransactionalWriter
from stream.model.ports import unit_of
from stream.observe.metrics import Metrics
from stream.records.record import Partition, Record

LOOK_SECONDS = 0.02


def ours(order: Order, watch: Watch, stop: Callable[[], bool]) -> None:
    """Run our engine as `espalier worker --engine faust` does, with Faust's sensors and ours."""
    metrics = Metrics()
    done = 0

    def observe(event: Event) -> None:
        nonlocal done
        if isinstance(event, PartitionProgress):
            done = event.consumed
            watch.committed(done)
        metrics.observe(event)

    config = Config(
        agents=(order.agent,),
        engine=EngineName.FAUST,
        kafka=order.kafka,
        batch=Batch(max_batch=order.batch, linger_ms=round(LINGER_SECONDS * 1_000)),
        metrics=MetricsSettings(enabled=False),
    )
    run_in_faust(config, observe, metrics, lambda: watch.committed(done) or stop())


def forward(order: Order, watch: Watch, stop: Callable[[], bool]) -> None:
    """Read an event, send its bytes on."""

    async def carry(app: faust.App, source: Any) -> None:
        out = _raw(app, order.output)

        @app.agent(source)
        async def send_on(events: Any) -> None:
            done = 0
            async for event in events.events():
                await out.send(key=event.key, value=event.value)
                done += 1
                if done % 100 == 0 or done == order.records:
                    watch.committed(done)

    _run(order, watch, stop, carry)


def per_event(order: Order, watch: Watch, stop: Callable[[], bool]) -> None:
    """Read event by event as Faust gives them; answer, learn and write in batches and transactions."""
    group = Consumer(consumer_settings(order.kafka, f"{order.name}.events"))
    names = (order.output, order.agent.topics.tree_changes, order.agent.topics.dead_letters)
    facts = TopicAdmin(order.kafka).describe([*names, order.agent.topics.journal])
    partitions = {name: fact.partitions for name, fact in facts.items()}
    metrics = Metrics()
    processor = processor_factory(order.agent, Limits(), metrics.observe)(unit_of(order.input, None))
    writer = TransactionalWriter(order.kafka, f"{order.name}.events", partitions, lambda why: None)
    place = Partition(order.input, 0)

    def write(records: list[Record]) -> int:
        done = records[-1].offset + 1
        outputs = processor.process(records)
        offsets = [TopicPartition(order.input, 0, done)]
        writer.write([outputs], offsets, group.consumer_group_metadata(), lambda seconds: None)
        writer.settle()
        return done

    async def carry(app: faust.App, source: Any) -> None:
        @app.agent(source)
        async def learn(events: Any) -> None:
            records: list[Record] = []
            queue = events.channel.queue
            async for event in events.events():
                message = event.message
                records.append(Record(place, message.offset, message.value, message.key))
                if len(records) >= order.batch or queue.empty():
                    done = await asyncio.to_thread(write, records)
                    records = []
                    watch.committed(done)

    _run(order, watch, stop, carry)
    group.close()


def _raw(app: faust.App, name: str) -> Any:
    return app.topic(name, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")


def _run(order: Order, watch: Watch, stop: Callable[[], bool], carry: Any) -> None:
    async def main(directory: str) -> None:
        servers = [f"kafka://{server}" for server in order.servers.split(",")]
        app = faust.App(f"{order.name}.app", broker=servers, web_enabled=False, datadir=directory)
        await carry(app, _raw(app, order.input))
        await app.start()
        while not (stop() or watch.is_over):
            await asyncio.sleep(LOOK_SECONDS)
        await app.stop()

    with tempfile.TemporaryDirectory(prefix="espalier-bench-") as directory:
        asyncio.run(main(directory))


LOOPS: dict[str, Loop] = {"faust-forward": forward, "faust-events": per_event, "faust": ours}
