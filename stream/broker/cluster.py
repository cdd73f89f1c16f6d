"""The development broker as a whole: one node, or three that replicate each other."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import NamedTuple, Self

from stream.broker.errors import AlreadyRunning, NotRunning, PortTaken, StartFailed, UnusableDirectory
from stream.broker.install import Installation, Sources, install
from stream.broker.jars import InstallProgress, Report
from stream.broker.kafka_ping import HOST, cluster_at, free_port
from stream.broker.node import START_SECONDS, STOP_SECONDS, BrokerNode
from stream.broker.process import wait_until
from stream.broker.settings import (
    LOG_SETTINGS,
    Ports,
    node_settings,
    write_java_arguments,
    write_properties,
)
from stream.broker.state import BrokerState, load, new_cluster_id, only_one_start, save

ATTEMPTS = 3
DEFAULT_HEAP = "512m"
ANYWHERE = Sources()
NO_PROPERTIES: Mapping[str, str] = MappingProxyType({})


def say_nothing(progress: InstallProgress) -> None:
    """Report progress to nobody."""


class _Recipe(NamedTuple):
    """How the nodes are to be run."""

    installation: Installation
    properties: Mapping[str, str]
    heap: str
    java_options: Sequence[str]


class Broker:
    """A running Apache Kafka on this machine.

    An attached one ends with the process that started it, even when that is killed; a detached one stays
    until somebody calls `stop` (`espalier broker stop`), and `find` finds it.

    Example:
        ```python
        with Broker.start(Path("scratch")) as broker:
            producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
            broker.nodes[0].kill()
            broker.nodes[0].start()          # the same port, the same data
        ```
    """

    def __init__(self, directory: Path, nodes: Sequence[BrokerNode]) -> None:
        self.directory = directory
        self.nodes = tuple(nodes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def bootstrap_servers(self) -> str:
        """The addresses for clients, as the property of that name wants them."""
        return ",".join(f"{HOST}:{node.ports.broker}" for node in self.nodes)

    @classmethod
    def start(
        cls,
        directory: Path,
        nodes: int = 1,
        *,
        attached: bool = True,
        properties: Mapping[str, str] = NO_PROPERTIES,
        heap: str = DEFAULT_HEAP,
        java_options: Sequence[str] = (),
        port: int | None = None,
        sources: Sources = ANYWHERE,
        report: Report = say_nothing,
        seconds: float = START_SECONDS,
    ) -> Self:
        """Start a broker in `directory` and return it when every node answers.

        1. Refuse when the directory has a running one, or was made for another number of nodes.
        2. Find a Java and provide the jars, downloading what is missing.
        3. Choose ports, write the settings, format what is new, start the nodes, wait for their answers.
        4. When somebody took a port in between, do 3 again with others.

        Whatever goes wrong, Ctrl-C included, no process is left behind.

        Args:
            directory: Where it keeps everything; used again, it keeps its topics and, where free, its ports.
            nodes: 1 or 3.
            attached: Whether it ends with this process.
            properties: Broker settings that are added to ours, or replace them.
            heap: The largest heap of each JVM, as Java writes sizes.
            java_options: More options of the JVM, such as `QUICK_START`.
            port: The first node's port, where it is free; otherwise another is chosen.
            sources: Where Java and the jars come from.
            report: Told how far it is.
            seconds: How long the nodes may take to answer.
        """
        directory = directory.absolute()
        with only_one_start(directory):
            before = _refuse_or_remember(directory, nodes)  # Step 1
            recipe = _Recipe(install(sources, report), properties, heap, java_options)  # Step 2
            attempt = 1
            while True:
                state = BrokerState(
                    cluster_id=before.cluster_id if before else new_cluster_id(),
                    java=str(recipe.installation.java),
                    attached=attached,
                    ports=_choose_ports(nodes, port, before),
                )
                broker = cls(directory, _nodes(directory, state))
                try:
                    save(directory, state)
                    broker._start_nodes(state, recipe, report, seconds)  # Step 3
                except PortTaken:
                    broker.kill()
                    if attempt == ATTEMPTS:
                        raise
                    attempt += 1  # Step 4
                except BaseException:
                    broker.kill()
                    raise
                else:
                    return broker

    @classmethod
    def find(cls, directory: Path) -> Self:
        """Return the broker that runs in `directory`, whoever started it."""
        directory = directory.absolute()
        state = load(directory)
        broker = cls(directory, _nodes(directory, state) if state else ())
        if not broker.is_running():
            raise NotRunning(f'no broker runs in "{directory}". Start one with `espalier broker start`.')
        return broker

    def is_running(self) -> bool:
        """Whether any of its nodes has a process."""
        return any(node.is_running() for node in self.nodes)

    def wait_ready(self, seconds: float = START_SECONDS, report: Report = say_nothing) -> None:
        """Wait until every node answers and knows all others."""
        everyone = {node.number: node.ports.broker for node in self.nodes}

        def settled() -> bool:
            known = [cluster_at(node.ports.broker) == everyone for node in self.nodes]
            report(InstallProgress("start", sum(known), len(known)))
            return all(known) or not all(node.is_running() for node in self.nodes)

        in_time = wait_until(settled, seconds)
        # Looked at last: a foreign broker on our port may have answered while ours could not bind it.
        for node in self.nodes:
            if not node.is_running():
                raise node.failure()
        if not in_time:
            logs = ", ".join(f'"{node.log}"' for node in self.nodes)
            raise StartFailed(f"the broker did not answer within {seconds:g} s. Read {logs} and try again.")

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Let all nodes shut down cleanly; kill those that have not ended in time.

        With three nodes the last one may wait for a quorum that is gone, and has to be killed; every record
        that was acknowledged is on the disk all the same.
        """
        for node in self.nodes:
            node.ask_to_end()
        wait_until(lambda: not self.is_running(), seconds)
        self.kill()

    def kill(self) -> None:
        """End all nodes at once, as a power cut would."""
        for node in self.nodes:
            node.kill()

    def _start_nodes(self, state: BrokerState, recipe: _Recipe, report: Report, seconds: float) -> None:
        log_settings = resources.files("stream.broker").joinpath(LOG_SETTINGS).read_text("utf-8")
        for node in self.nodes:
            node.directory.mkdir(exist_ok=True)
            write_properties(
                node.properties, {**node_settings(node.number, state.ports), **recipe.properties}
            )
            arguments = node.directory / "java.args"
            write_java_arguments(arguments, recipe.installation.jars, recipe.heap, recipe.java_options)
            (node.directory / LOG_SETTINGS).write_text(log_settings, "utf-8")
        report(InstallProgress("start", 0, len(self.nodes)))
        with ThreadPoolExecutor(len(self.nodes)) as pool:
            list(pool.map(lambda node: node.format(state.cluster_id), self.nodes))
        for node in self.nodes:
            node.launch()
        self.wait_ready(seconds, report)


def _refuse_or_remember(directory: Path, nodes: int) -> BrokerState | None:
    """Return what the directory remembers of an earlier broker, unless that is in the way of a new one."""
    if nodes not in (1, 3):
        raise UnusableDirectory(f"a broker has 1 node or 3, not {nodes}. Choose one of them.")
    before = load(directory)
    if before is None:
        return None
    running = Broker(directory, _nodes(directory, before))
    if running.is_running():
        raise AlreadyRunning(
            f'a broker is running in "{directory}" at {running.bootstrap_servers}. '
            "Use it, stop it with `espalier broker stop`, or name another directory."
        )
    if len(before.ports) != nodes:
        raise UnusableDirectory(
            f'"{directory}" belongs to a broker of {len(before.ports)} node(s), which cannot become {nodes}. '
            "Name another directory, or delete this one with the topics in it."
        )
    return before


def _nodes(directory: Path, state: BrokerState) -> list[BrokerNode]:
    return [
        BrokerNode(number, directory / f"node-{number}", Path(state.java), ports, attached=state.attached)
        for number, ports in enumerate(state.ports, start=1)
    ]


def _choose_ports(nodes: int, wish: int | None, before: BrokerState | None) -> tuple[Ports, ...]:
    """Return free ports, no two the same: the wished-for one, those of the last time, or any."""
    last = before.ports if before else (None,) * nodes
    taken: set[int] = set()

    def another(*wishes: int | None) -> int:
        port = free_port(other for other in wishes if other not in taken)
        while port in taken:
            port = free_port()
        taken.add(port)
        return port

    return tuple(
        Ports(
            broker=another(wish if number == 0 else None, old.broker if old else None),
            controller=another(old.controller if old else None),
        )
        for number, old in enumerate(last)
    )
