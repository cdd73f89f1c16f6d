"""What a demonstration runs on: a real Kafka with a worker, or the same agent over topics that are lists."""

import gc
import logging
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from stream.assembly import processor_factory
from stream.broker import Broker, Report, Sources
from stream.config import Agent, Batch, Config, Kafka, Limits
from stream.kafka.reading import follow
from stream.kafka.sender import Sender
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin
from stream.memory import MemoryBroker, MemoryEngine
from stream.model.number_hints import Observe
from stream.records.record import Record
from stream.worker import Worker

MAX_BATCH = 250
"""Records in a transaction: few, so that there is something new to see several times a second."""

LOOK_SECONDS = 0.1
SETTINGS_FILE = "espalier.toml"


class DemoRuntime(Protocol):
    """Where a demonstration takes place."""

    title: str
    """What it is, for people."""

    def send(self, number: int, value: bytes) -> None:
        """Put an instance into the input topic."""
        ...

    def flush(self) -> None:
        """Wait until all instances are in the topic."""
        ...

    def news(self) -> list[Record]:
        """Return what has been committed to the output topics since the last call; wait a moment for it.

        Raises:
            StreamError: The worker has failed.
        """
        ...

    def hints(self) -> list[tuple[str, str]]:
        """Return what a person could do with it in another terminal: a word, and a command."""
        ...

    def close(self, *, keep_files: bool = False) -> None:
        """End everything that was started.

        Args:
            keep_files: Whether to leave what was written, for somebody who wants to know what went wrong.
        """
        ...


def output_topics(agent: Agent) -> tuple[str, ...]:
    """Return the topics that tell what an agent does; the journal tells how far it has come."""
    topics = agent.topics
    return topics.predictions, topics.tree_changes, topics.dead_letters, topics.journal


class MemoryRuntime:
    """The agent in a thread, over topics that are lists."""

    def __init__(self, agent: Agent, partitions: int, observe: Observe) -> None:
        self.title = "in memory, without Kafka"
        self._agent = agent
        self._partitions = partitions
        self._broker = MemoryBroker()
        for plan in plans_for(agent, partitions):
            self._broker.create(plan.name, plan.partitions)
        self._read: dict[str, int] = {}
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(observe,), name="agent", daemon=True)
        self._thread.start()

    def _run(self, observe: Observe) -> None:
        engine = MemoryEngine(
            self._broker,
            self._agent.input,
            self._agent.topics.journal,
            self._agent.group,
            max_batch=MAX_BATCH,
            wait=lambda: not self._stop.wait(0.002),
            idle_share=self._agent.idle_share,
        )
        try:
            engine.run(processor_factory(self._agent, Limits(), observe), self._stop.is_set)
        except BaseException as error:
            self._failure = error

    def send(self, number: int, value: bytes) -> None:
        """Put an instance into the input topic."""
        self._broker.produce(self._agent.input, value, partition=number % self._partitions)

    def flush(self) -> None:
        """Do nothing: what was sent is there."""

    def news(self) -> list[Record]:
        """Return what is new."""
        time.sleep(LOOK_SECONDS)
        if self._failure is not None:
            raise self._failure
        fresh: list[Record] = []
        for topic in output_topics(self._agent):
            for number in range(self._broker.partitions(topic)):
                place = f"{topic}/{number}"
                records = self._broker.read(topic, number)[self._read.get(place, 0) :]
                self._read[place] = self._read.get(place, 0) + len(records)
                fresh += records
        return fresh

    def hints(self) -> list[tuple[str, str]]:
        """Return nothing: there is nothing that another process could look at."""
        return []

    def close(self, *, keep_files: bool = False) -> None:
        """End the thread. There are no files."""
        self._stop.set()
        self._thread.join(30)


class KafkaRuntime:
    """A real broker in a directory of its own, with the agent's topics, a worker, and a reader of them.

    Args:
        agent: The agent.
        partitions: Partitions of the input.
        observe: Told of everything that metrics count.
        root: Where the directory is made.
        sources: Where Java and the jars come from.
        report: Told how far the start of the broker is.

    Raises:
        BrokerError: There is no broker to be had.
    """

    def __init__(
        self, agent: Agent, partitions: int, observe: Observe, root: Path, sources: Sources, report: Report
    ) -> None:
        self._agent = agent
        self._directory = _fresh_directory(root)
        self._broker = Broker.start(self._directory, attached=True, sources=sources, report=report)
        try:
            self._set_up(partitions, observe)
        except BaseException:
            self._broker.kill()
            raise

    def _set_up(self, partitions: int, observe: Observe) -> None:
        kafka = Kafka(bootstrap_servers=self._broker.bootstrap_servers)
        self.title = f"Apache Kafka at {kafka.bootstrap_servers}"
        self._log = _LogFile(self._directory / "worker.log")
        _write_settings(self._directory / SETTINGS_FILE, kafka, self._agent)
        TopicAdmin(kafka).create(plans_for(self._agent, partitions))
        self._worker: Worker = Worker(
            Config(agents=(self._agent,), kafka=kafka, batch=Batch(max_batch=MAX_BATCH)), observe
        )
        self._worker.start()
        self._sender: Sender | None = Sender(kafka)
        self._reader: Iterator[Record | None] = follow(
            kafka, output_topics(self._agent), from_beginning=True, until_end=False
        )

    def send(self, number: int, value: bytes) -> None:
        """Put an instance into the input topic."""
        assert self._sender is not None
        self._sender.send(self._agent.input, value, str(number).encode())

    def flush(self) -> None:
        """Wait until all instances are in the topic."""
        assert self._sender is not None
        self._sender.flush()

    def news(self) -> list[Record]:
        """Return what is new."""
        self._worker.wait(0)
        fresh: list[Record] = []
        deadline = time.monotonic() + LOOK_SECONDS
        for record in self._reader:
            if record is None:
                break
            fresh.append(record)
            if time.monotonic() > deadline:
                break
        return fresh

    def hints(self) -> list[tuple[str, str]]:
        """Return how to look at the topics."""
        settings = f"-c {_shortest(self._directory / SETTINGS_FILE)}"
        return [
            ("answers", f"espalier tail {self._agent.topics.predictions} {settings}"),
            ("tree", f"espalier tree {settings}"),
        ]

    def close(self, *, keep_files: bool = False) -> None:
        """End the worker, then the clients, then the broker; remove what was written."""
        try:
            self._worker.stop()
            self._worker.wait(30)
        finally:
            # Before the broker goes: a client whose broker is gone complains on standard error. Clients end
            # when they are collected, and those with callbacks are part of a cycle.
            self._sender = None
            self._reader = iter(())
            gc.collect()
            self._broker.stop()
            self._log.close()
        if not keep_files:
            shutil.rmtree(self._directory, ignore_errors=True)


def _fresh_directory(root: Path) -> Path:
    """Make a directory for this process, and remove those of demonstrations that were killed."""
    for left in root.glob("[0-9]*"):
        if left.name.isdecimal() and not _is_alive(int(left.name)):
            shutil.rmtree(left, ignore_errors=True)
    directory = root / str(os.getpid())
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _shortest(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


class _LogFile:
    """What our own code logs, in a file: on the terminal it would run into the view."""

    def __init__(self, file: Path) -> None:
        self._handler = logging.FileHandler(file, encoding="utf-8")
        self._handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self._logger = logging.getLogger("stream")
        self._logger.addHandler(self._handler)
        self._logger.setLevel(logging.INFO)

    def close(self) -> None:
        self._logger.removeHandler(self._handler)
        self._handler.close()


def _write_settings(file: Path, kafka: Kafka, agent: Agent) -> None:
    """Write a configuration with which other commands find the demonstration."""
    lines = (
        "# The demonstration that is running; for `espalier tail`, `espalier tree` and the like.",
        "[kafka]",
        f'bootstrap_servers = "{kafka.bootstrap_servers}"',
        "[[agent]]",
        f'name = "{agent.name}"',
        f'input = "{agent.input}"',
        f'learner = "{agent.learner}"',
    )
    file.write_text("\n".join(lines) + "\n", "utf-8")
