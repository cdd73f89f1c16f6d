"""Our agents in Faust applications: other people's, and on a real broker."""

import asyncio
import contextlib
import logging
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from confluent_kafka import Producer
from faust.sensors.prometheus import REGISTRY, generate_latest
from faust.types import TP

from lab.bench import on_faust
from stream.broker import Broker, Sources
from stream.broker.kafka_ping import free_port
from stream.config import Agent, Batch, Config, EngineName, Kafka, MetricsSettings
from stream.errors import EngineError
from stream.events import PartitionProgress
from stream.faust.agent import Batches, attach, espalier_app
from stream.faust.pages import shared_metrics
from stream.faust.worker import USUAL_PORT
from stream.worker import Worker
from tests.contract.rigs import KafkaRig
from tests.stream.faust.applications import SECONDS, Names, app_named

# ---- other people's applications


def test_an_agent_of_ours_is_an_agent_of_the_application() -> None:
    app = app_named("theirs")
    agent = attach(app, Agent(name="ours", input="in"))
    assert app.agents["ours"] is agent
    with pytest.raises(EngineError, match=r'"ours" already\. Rename'):
        attach(app, Agent(name="ours", input="other"))


def test_an_application_that_asks_for_exactly_once_is_told_why_not(caplog: pytest.LogCaptureFixture) -> None:
    for guarantee, warnings in (("at_least_once", 0), ("exactly_once", 1)):
        caplog.clear()
        agent: Any = attach(
            app_named("theirs", processing_guarantee=guarantee), Agent(name="ours", input="in")
        )
        with caplog.at_level(logging.WARNING):
            agent.fun.__self__._check()
        assert caplog.text.count("exactly once already") == warnings


def test_an_application_and_an_agent_must_not_have_one_group() -> None:
    agent: Any = attach(app_named("shop"), Agent(name="a", input="in", group="shop"))
    with pytest.raises(EngineError, match='one consumer group, "shop"'):
        agent.fun.__self__._check()


def test_a_rebalance_of_the_application_neither_holds_up_nor_drops_what_our_agents_are_told() -> None:
    async def main() -> list[PartitionProgress]:
        app = app_named("theirs")
        batches: Any = Batches(app)
        reader = aiter(batches)
        progress = [
            PartitionProgress("ours", "in", 0, 10 * number, 10 * number + 10, 0) for number in range(3)
        ]
        # Before its first rebalance is over an application is suspended; afterwards its queues are emptied.
        assert not app.flow_control.is_active()
        for one in progress:
            await asyncio.wait_for(batches.put(one), 5)
        app.flow_control.resume()
        app.flow_control.suspend()
        app.flow_control.clear()
        got = [await asyncio.wait_for(anext(reader), 5) for _ in progress]
        assert got == progress
        return got

    assert len(asyncio.run(main())) == 3


# ---- on a broker


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


async def until(check: Callable[[], Awaitable[bool]]) -> None:
    deadline = time.monotonic() + SECONDS
    while not await check():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)


def compressed(servers: str, topic: str, codec: str, numbers: range) -> None:
    producer = Producer({"bootstrap.servers": servers, "compression.type": codec, "linger.ms": 50})
    for number in numbers:
        value = {"id": number, "a": "xyz"[number % 3], "b": "uv"[number % 2], "class": "pq"[number % 2]}
        producer.produce(topic, msgspec.json.encode(value), partition=0)
    assert producer.flush(30) == 0


@pytest.mark.broker
def test_an_application_shows_health_and_metrics_and_its_sensors_know_of_us(
    broker: Broker, topics: Names, tmp_path: Path
) -> None:
    """And records of every compression are read, by our agent and by one that Faust feeds."""
    rig = KafkaRig(broker.bootstrap_servers)
    agent = Agent(name=topics("a"), input=topics("in"))
    rig.create([agent], partitions=1)
    for number, codec in enumerate(("lz4", "snappy", "zstd", "gzip")):
        compressed(broker.bootstrap_servers, agent.input, codec, range(50 * number, 50 * number + 50))
    port = free_port()
    theirs: list[int] = []
    told: list[PartitionProgress] = []

    async def main() -> None:
        config = Config(agents=(agent,), kafka=rig.kafka)
        app = espalier_app(config, web_port=port, datadir=tmp_path, topic_partitions=1)

        @app.agent(app.topic(agent.input))
        async def read(stream: Any) -> None:
            async for value in stream:
                theirs.append(value["id"])

        app.agents[agent.name].add_sink(told.append)
        web = f"http://127.0.0.1:{port}"
        await app.start()
        try:
            await until(lambda: asyncio.sleep(0, sum(p.consumed - p.first for p in told) >= 200))
            await until(lambda: asyncio.sleep(0, len(theirs) >= 200))
            assert await asyncio.to_thread(get, f"{web}/espalier/livez") == (200, "alive\n")
            assert await asyncio.to_thread(get, f"{web}/espalier/readyz") == (200, f"{agent.name}: ready\n")
            _, ours = await asyncio.to_thread(get, f"{web}/espalier/metrics")
            _, both = await asyncio.to_thread(get, f"{web}/metrics")
            await app.agents[agent.name].stop()
            # An agent that Faust has stopped has finished its batch and left its group.
            assert f"agent-{agent.name}" not in {thread.name for thread in threading.enumerate()}
        finally:
            await app.stop()
        learned = f'espalier_records_total{{agent="{agent.name}",outcome="learned"}} 200.0'
        assert learned in ours
        assert learned in both
        assert 'faust_messages_received_per_topic_total{topic="' in both
        place = TP(agent.input, 0)
        assert app.monitor.tp_committed_offsets[place] == app.monitor.tp_end_offsets[place] == 200
        assert app.monitor.metric_counts[f"{agent.name}.records"] == 200

    asyncio.run(main())
    assert sorted(theirs) == list(range(200))
    assert len(rig.read(agent.topics.predictions)) == 200


@pytest.mark.broker
def test_a_worker_takes_another_port_for_faust_where_the_usual_one_is_taken(
    broker: Broker, topics: Names, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rig = KafkaRig(broker.bootstrap_servers)
    agent = Agent(name=topics("a"), input=topics("in"))
    rig.create([agent], partitions=1)
    config = Config(agents=(agent,), engine=EngineName.FAUST, kafka=rig.kafka)
    monkeypatch.delenv("WEB_PORT", raising=False)
    with contextlib.ExitStack() as stack, caplog.at_level(logging.INFO):
        with contextlib.suppress(OSError):  # whoever else has it serves as well
            stack.enter_context(socket.create_server(("127.0.0.1", USUAL_PORT)))
        worker = Worker(config, lambda event: None)
        worker.start()
        try:
            deadline = time.monotonic() + SECONDS
            while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/espalier/readyz", caplog.text)):
                assert time.monotonic() < deadline
                assert not worker.wait(0.05)
            assert int(found[1]) != USUAL_PORT
            while not _answers(found[0]):
                assert time.monotonic() < deadline
                assert not worker.wait(0.05)
        finally:
            worker.stop()
            assert worker.wait(SECONDS)


def _answers(url: str) -> bool:
    try:
        return get(url)[0] == 200
    except OSError:
        return False


@pytest.mark.broker
def test_a_sink_that_fails_begins_the_agent_anew_and_loses_nothing(
    broker: Broker, topics: Names, tmp_path: Path
) -> None:
    rig = KafkaRig(broker.bootstrap_servers)
    agent = Agent(name=topics("a"), input=topics("in"))
    rig.create([agent], partitions=1)
    compressed(broker.bootstrap_servers, agent.input, "none", range(300))
    fails = iter([True, True])
    ends: set[int] = set()

    def sink(progress: PartitionProgress) -> None:
        ends.add(progress.consumed)
        if next(fails, False):
            raise ValueError("somebody's own")

    async def main() -> None:
        config = Config(agents=(agent,), kafka=rig.kafka, batch=Batch(max_batch=30))
        app = espalier_app(config, web_enabled=False, datadir=tmp_path)
        app.agents[agent.name].add_sink(sink)
        await app.start()
        try:
            await until(lambda: asyncio.sleep(0, 300 in ends))
        finally:
            await app.stop()

    asyncio.run(main())
    told = [msgspec.json.decode(record.value or b"")["id"] for record in rig.read(agent.topics.predictions)]
    assert told == list(range(300))


@pytest.mark.broker
def test_a_failure_ends_the_application_and_its_worker_with_the_reason(broker: Broker, topics: Names) -> None:
    agent = Agent(name=topics("a"), input=topics("nowhere"))
    config = Config(
        agents=(agent,),
        engine=EngineName.FAUST,
        kafka=Kafka(broker.bootstrap_servers),
        metrics=MetricsSettings(enabled=False),
    )
    worker = Worker(config, lambda event: None)
    worker.start()
    with pytest.raises(EngineError, match="missing topics"):
        worker.wait(SECONDS)


@pytest.mark.broker
def test_the_bench_measures_ours_beside_an_agent_that_forwards(broker_sources: Sources) -> None:
    amount = on_faust.Amount(400, 2_000, 200, 1)
    report = on_faust.faust(amount, broker_sources, True, lambda what: None)
    assert [row[0] for row in report.tables[0].rows] == list(on_faust.TITLES.values())
    assert all(isinstance(row[1], float) and row[1] > 0 for row in report.tables[0].rows)
    assert len(report.goals) == 2


def test_metrics_of_a_process_are_in_the_registry_that_faust_shows() -> None:
    shared_metrics().observe(PartitionProgress("ours", "in", 0, 0, 7, 0))
    text = generate_latest(REGISTRY).decode()
    assert 'espalier_records_consumed_total{agent="ours"' in text
    assert text.count("# TYPE process_cpu_seconds_total") == 1
