"""The settings of a node: quick to start, strict enough to find faults, on the loopback address only.

`deploy/kafka/server.properties` is the same for people who run a single node by hand, each line explained.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stream.broker.kafka_ping import HOST

FEW_PARTITIONS = "4"
LOG_SETTINGS = "log4j2.properties"
QUICK_START = ("-XX:TieredStopAtLevel=1",)
"""Java options without the JVM's second compiler: a start takes two thirds of the CPU time, and the top speed
is lower. Right for tests and for programs that run once, wrong for measurements."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The two ports of a node: for clients, and for the controllers among themselves."""

    broker: int
    controller: int


def node_settings(number: int, ports: Sequence[Ports]) -> dict[str, str]:
    """Return the settings of node `number` (from 1) of a cluster with the given ports, one pair per node.

    With three nodes everything has three replicas of which two must have a record; every node is both broker
    and controller.
    """
    own = ports[number - 1]
    replicas = str(len(ports))
    in_sync = str(max(1, len(ports) - 1))
    voters = ",".join(f"{n}@{HOST}:{pair.controller}" for n, pair in enumerate(ports, start=1))
    return {
        "process.roles": "broker,controller",
        "node.id": str(number),
        "controller.quorum.voters": voters,
        "listeners": f"PLAINTEXT://{HOST}:{own.broker},CONTROLLER://{HOST}:{own.controller}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{own.broker}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        # Relative to the node's directory, where it runs: a comma in an absolute path would be taken for two.
        "log.dirs": "data",
        "default.replication.factor": replicas,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": in_sync,
        "share.coordinator.state.topic.replication.factor": replicas,
        "share.coordinator.state.topic.min.isr": in_sync,
        "offsets.topic.num.partitions": FEW_PARTITIONS,
        "transaction.state.log.num.partitions": FEW_PARTITIONS,
        "share.coordinator.state.topic.num.partitions": FEW_PARTITIONS,
        "group.initial.rebalance.delay.ms": "0",
        "group.min.session.timeout.ms": "1000",
        "group.consumer.min.session.timeout.ms": "1000",
        "group.consumer.min.heartbeat.interval.ms": "200",
        # A node that was killed may come back only when its old session has ended; 9 s by default.
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
        # 128 MB by default, taken at the start: a quarter of the heap of a node.
        "log.cleaner.dedupe.buffer.size": str(16 * 1024 * 1024),
    }


def write_properties(path: Path, settings: Mapping[str, str]) -> None:
    """Write `settings` as a Java properties file."""
    lines = (f"{name}={_escape(value)}\n" for name, value in settings.items())
    path.write_text("# Written again at every start.\n" + "".join(lines), encoding="utf-8")


def write_java_arguments(path: Path, jars: Sequence[Path], heap: str, options: Sequence[str]) -> None:
    """Write the options of the JVM to an argument file, which keeps its command line short enough to read."""
    arguments = [
        *options,
        f"-Xmx{heap}",
        "-XX:+ExitOnOutOfMemoryError",
        "-Djava.awt.headless=true",
        # Like log.dirs, relative to where the node runs.
        f"-Dlog4j2.configurationFile={LOG_SETTINGS}",
        "-cp",
        ":".join(str(jar) for jar in jars),
    ]
    quoted = ('"' + argument.replace("\\", "\\\\").replace('"', '\\"') + '"\n' for argument in arguments)
    path.write_text("".join(quoted), encoding="utf-8")


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")
