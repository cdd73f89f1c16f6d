"""Our agents in Faust applications: what they are given, what they show, and what is refused."""

import asyncio
import contextlib
import logging
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import faust
import msgspec
import pytest
from confluent_kafka import Producer
from faust.auth import SASLCredentials, SSLCredentials
from faust.sensors.prometheus import REGISTRY, generate_latest
from faust.types import TP

from lab.bench import on_faust
from stream.broker import Broker, Sources
from stream.broker.kafka_ping import free_port
from stream.config import Agent, Batch, Config, EngineName, Kafka, MetricsSettings, Properties
from stream.errors import EngineError
from stream.events import PartitionProgress
from stream.faust.agent import Batches, attach, espalier_app
from stream.faust.pages import shared_metrics
from stream.faust.settings import app_settings, kafka_of
from stream.faust.versions import KNOWN, check_versions
from stream.faust.worker import USUAL_PORT
from stream.kafka.sender import Sender
from stream.kafka.topics import TopicAdmin
from stream.worker import Worker
from tests.architecture.documents import blocks, table
from tests.contract.rigs import KafkaRig
from tests.paths import REPOSITORY

DOCUMENT = (REPOSITORY / "docs" / "faust.md").read_text()
ADDRESS = "127.0.0.1:9092"
SECONDS = 60.0

Names = Callable[[str], str]


def app_named(name: str, **settings: Any) -> faust.App:
    return faust.App(name, **{"broker": f"kafka://{ADDRESS}", **settings})


# ---- versions


@pytest.mark.parametrize("name", KNOWN)
def test_a_version_that_is_known_not_to_work_is_refused_by_name_with_one_that_does(name: str) -> None:
    with pytest.raises(EngineError) as caught:
        check_versions(lambda asked: {"faust": None, name: "0.4.1"}.get(asked, "99.0.0"))
    said = str(caught.value)
    assert f'"{name}" 0.4.1 does not work' in said
    assert f"pip install {name}=={KNOWN[name].tested}" in said
    assert not any(other in said for other in KNOWN if other != name)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(EngineError) as caught:
        check_versions({"faust": "1.10.4"}.get)
    assert all(name in str(caught.value) for name in ("pip uninstall faust", "cramjam", *KNOWN))


def test_a_version_is_compared_by_its_numbers() -> None:
    check_versions(lambda name: None if name == "faust" else "0.100.0rc1")


def test_what_is_called_tested_is_what_is_tested_and_what_the_document_says() -> None:
    check_versions()
    assert {name: version(name) for name in KNOWN} == {name: known.tested for name, known in KNOWN.items()}
    rows = table(DOCUMENT, "package", "works from", "tested")
    assert rows == [[f"`{name}`", known.first, known.tested] for name, known in KNOWN.items()]


def test_who_does_not_use_faust_does_not_import_it() -> None:
    code = "import sys, stream.cli.main, stream.worker; sys.exit('faust' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=False).returncode == 0


# ---- settings


def settings_with(**properties: str) -> dict[str, Any]:
    told = {name.replace("_", "."): value for name, value in properties.items()}
    kafka = Kafka("one:1,SASL_SSL://two:2", Properties(told))
    return app_settings(Config(agents=(Agent(name="a", input="in"),), kafka=kafka))


def test_faust_finds_the_brokers_that_we_do() -> None:
    told = settings_with()
    assert told["broker"] == ["kafka://one:1", "kafka://two:2"]
    assert "broker_credentials" not in told
    app = app_named("theirs", broker=["kafka://one:1", "kafka://two"])
    assert kafka_of(app) == Kafka("one:1,two:9092")


def test_passwords_and_certificates_are_carried_over() -> None:
    plain = settings_with(
        security_protocol="sasl_plaintext",
        sasl_mechanism="SCRAM-SHA-512",
        sasl_username="u",
        sasl_password="p",
    )["broker_credentials"]
    assert isinstance(plain, SASLCredentials)
    assert (plain.username, plain.password, plain.mechanism.value) == ("u", "p", "SCRAM-SHA-512")
    assert plain.ssl_context is None
    assert isinstance(settings_with(security_protocol="SSL")["broker_credentials"], SSLCredentials)


def tls_of(settings: dict[str, Any]) -> ssl.SSLContext:
    """Return what the client of an application is given for TLS."""
    credentials = settings["broker_credentials"]
    context = credentials.context if isinstance(credentials, SSLCredentials) else credentials.ssl_context
    assert isinstance(context, ssl.SSLContext)
    return context


@pytest.mark.parametrize(
    "more", [{}, {"ssl_endpoint_identification_algorithm": "https"}], ids=["by default", "asked for"]
)
@pytest.mark.parametrize(
    "how",
    [
        {"security_protocol": "SSL"},
        {"security_protocol": "ssl"},
        {"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN"},
    ],
)
def test_tls_checks_the_brokers_certificate_and_its_name(how: dict[str, str], more: dict[str, str]) -> None:
    context = tls_of(settings_with(**how, **more))
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_the_name_is_left_unchecked_only_where_that_is_asked_for() -> None:
    told = settings_with(security_protocol="SSL", ssl_endpoint_identification_algorithm="none")
    context = tls_of(told)
    assert not context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"security_protocol": "SASL_SSL"}, "GSSAPI"),
        ({"security_protocol": "SSL", "ssl_key_pem": "..."}, "ssl.key.pem"),
        ({"security_protocol": "SSL", "ssl_ca_location": "/nowhere"}, "certificates"),
    ],
)
def test_what_cannot_be_carried_over_is_said(properties: dict[str, str], said: str) -> None:
    with pytest.raises(EngineError, match=said):
        settings_with(**properties)


def test_credentials_that_only_faust_knows_must_be_given_to_us_as_well() -> None:
    app = app_named("theirs", broker_credentials=SASLCredentials(username="u", password="p"))
    with pytest.raises(EngineError, match=r"kafka\.properties"):
        kafka_of(app)


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


@pytest.fixture
def shop(broker: Broker, tmp_path: Path) -> Iterator[Path]:
    """The document's application as written, but for the address of the broker; returns its log."""
    (config,), (application,) = blocks(DOCUMENT, "toml"), blocks(DOCUMENT, "python")
    for name, text in (("espalier.toml", config), ("shop.py", application)):
        assert ADDRESS in text
        (tmp_path / name).write_text(text.replace(ADDRESS, broker.bootstrap_servers))
    commands = [line for block in blocks(DOCUMENT, "sh") for line in block.splitlines()]
    assert commands == ["espalier topics create -c espalier.toml", "faust -A shop worker"]
    binaries = Path(sys.executable).parent
    subprocess.run([str(binaries / "espalier"), *commands[0].split()[1:]], cwd=tmp_path, check=True)
    log = tmp_path / "log"
    arguments = [str(binaries / "faust"), *commands[1].split()[1:], "--without-web", "-l", "warn"]
    with log.open("wb") as file:
        process = subprocess.Popen(
            arguments,
            cwd=tmp_path,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={"PYTHONPATH": str(REPOSITORY)},
        )
        try:
            yield log
        finally:
            process.terminate()
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(SECONDS)
                pytest.fail(f"the application did not stop:\n{log.read_text()}")


@pytest.mark.broker
def test_the_application_of_the_document_works_as_written(broker: Broker, shop: Path) -> None:
    """Large orders abroad come back; once this has been learned there are warnings, one for each."""
    rig = KafkaRig(broker.bootstrap_servers)
    sender = Sender(rig.kafka)
    for number in range(60):
        large, abroad = number % 2, number // 2 % 2
        order = {"id": f"o{number}", "amount": 200 if large else 20, "country": "there" if abroad else "here"}
        if number < 40:
            order["returned"] = "yes" if large and abroad else "no"
        sender.send("orders", msgspec.json.encode(order))
    sender.flush()
    expected = {f"o{number}" for number in range(40, 60) if number % 4 == 3}

    def warned() -> list[str]:
        records = rig.read("warnings") if TopicAdmin(rig.kafka).describe(["warnings"]) else []
        return [msgspec.json.decode(record.value or b"")["order"] for record in records]

    deadline = time.monotonic() + 2 * SECONDS
    while not expected <= set(warned()):
        assert time.monotonic() < deadline, shop.read_text()
        time.sleep(0.2)
    told = warned()
    assert len(told) == len(set(told))
    assert {name for name in told if int(name[1:]) >= 40} == expected


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
