"""An agent on fresh topics, what is fed to it, a plain reader of what it writes, and the check of it all."""

import functools
import hashlib
import json
import random
import signal
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient

from learners.id5r.options import CoreOptions
from stream.audit import Inspection, Report
from stream.config import Agent, Kafka, Limits, Scope
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin
from stream.records.record import Headers
from tests.faults.forkserver import Order, WorkerProcess, Workers, wait_until
from tests.faults.uninterrupted import Fed, uninterrupted
from tests.readers import PlainReader
from tests.settings import agent_table, settings_of

QUICK = {"session.timeout.ms": 1_000, "heartbeat.interval.ms": 250}


def instance(number: int, seed: int = 0) -> bytes:
    """Return a record; the class depends on three of its attributes, and at first now and then on luck."""
    rng = random.Random(number * 7_919 + seed)
    values = {name: rng.choice("xyz") for name in "abcde"}
    label = (values["a"] == values["b"]) != (values["c"] == "x")
    if number < 500 and rng.random() < 0.05:
        label = not label
    return json.dumps({"id": f"r{number}", **values, "class": "yes" if label else "no"}).encode()


@functools.cache
def admin_of(servers: str) -> AdminClient:
    """Return the client for orders to a cluster; it is kept, because an answer may come when nobody waits."""
    return AdminClient({"bootstrap.servers": servers, "log_level": 0})


class Seen(NamedTuple):
    """What a reader keeps of a record."""

    partition: int
    offset: int
    value: str


def seen_of(message: Message) -> Seen:
    digest = hashlib.sha256(message.value() or b"").hexdigest()[:16]
    return Seen(message.partition() or 0, message.offset() or 0, digest)


class Failure(AssertionError):  # noqa: N818 - a promise failed, not a program
    """A promise was broken."""


class World:
    """An agent on fresh topics.

    Args:
        servers: The brokers, for us.
        directory: For its configuration and logs.
        workers: Starts its workers.
        scope: Of the agent.
        partitions: Of its input.
        worker_servers: The brokers, for its workers; a proxy may stand in between.
        properties: More properties of its workers' clients.
        max_batch: How many records make a transaction.
        seed: What its records are made from.
        replicas: Of its topics; None: the broker's default.
        bug: A seeded bug of its workers.
        settings: More tables of its configuration, by name.
        bad: The share of records that are none.
        options: The learner's settings in its configuration; those of the checks are the default.
    """

    def __init__(
        self,
        servers: str,
        directory: Path,
        workers: Workers,
        *,
        scope: Scope = Scope.TOPIC,
        partitions: int = 1,
        worker_servers: str | None = None,
        properties: Mapping[str, Any] | None = None,
        max_batch: int = 10,
        seed: int = 0,
        replicas: int | None = None,
        bug: str | None = None,
        settings: Mapping[str, Any] | None = None,
        bad: float = 0.0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        name = f"w-{uuid.uuid4().hex[:10]}"
        self.servers = servers
        self.scope = scope
        self.partitions = partitions
        self.seed = seed
        self.bug = bug
        self.dead = 0
        self._bad = bad
        self._options = options or {"significance": "none"}
        self.agent = Agent(name=name, input=f"{name}.in", scope=scope, options=CoreOptions(significance=None))
        self.kafka = Kafka(servers)
        self.fed: list[list[Fed]] = [[] for _ in range(partitions)]
        self.dead_letters: PlainReader[Seen] | None = None
        self.log = directory / f"{name}.log"
        self._directory = directory
        self._workers = workers
        self._max_batch = max_batch
        self._settings = settings or {}
        # With KIP-848 the broker decides about sessions.
        modern = (properties or {}).get("group.protocol") == "consumer"
        self._properties = {**({} if modern else QUICK), **(properties or {})}
        self._worker_servers = worker_servers or servers
        self._topics = TopicAdmin(self.kafka)
        self._topics.create(plans_for(self.agent, partitions), replicas)
        self._producer = Producer(
            {"bootstrap.servers": servers, "enable.idempotence": True, "linger.ms": 1, "log_level": 0}
        )
        self.predictions = PlainReader(servers, self.agent.topics.predictions, seen_of)
        self.predictions.start()
        self._config(name)

    @property
    def produced(self) -> int:
        return sum(map(len, self.fed))

    def _config(self, instance_name: str) -> Path:
        file = self._directory / f"{instance_name}.toml"
        file.write_text(
            settings_of(
                self._worker_servers,
                agent_table(self.agent, options=self._options),
                instance=instance_name,
                kafka={"properties": self._properties},
                metrics={"enabled": False, "port": 0},
                batch={"max_batch": self._max_batch, "linger_ms": 1},
                **self._settings,
            )
        )
        return file

    # ---- during the faults

    def feed(self, count: int) -> None:
        """Put records into the input, in turn into its partitions."""
        for _ in range(count):
            number = self.produced
            value = instance(number, self.seed)
            if random.Random(number + self.seed).random() < self._bad:
                value, self.dead = value[:-1], self.dead + 1
            self.feed_one(value, number % self.partitions)
        self.flush()

    def feed_one(
        self, value: bytes | None, partition: int, key: bytes | None = None, headers: Headers = ()
    ) -> None:
        while True:
            try:
                self._producer.produce(self.agent.input, value, key, partition, headers=list(headers))
                break
            except BufferError:
                self._producer.poll(0.1)
        self._producer.poll(0)
        self.fed[partition].append(Fed(value, key, headers))

    def flush(self) -> None:
        if self._producer.flush(60):
            raise Failure("the input could not be fed")

    def start(
        self,
        points: Mapping[str, int] | None = None,
        instance_name: str | None = None,
        workers: Workers | None = None,
    ) -> WorkerProcess:
        config = self._config(instance_name or self.agent.name)
        order = Order(str(config), str(self.log), dict(points or {}), self.bug)
        return (workers or self._workers).start(order)

    def watch_dead_letters(self) -> None:
        """Read the dead letters too, where it is not known in advance which records become some."""
        self.dead_letters = PlainReader(self.servers, self.agent.topics.dead_letters, seen_of)
        self.dead_letters.start()

    def caught_up(self) -> bool:
        if self.dead_letters is not None:
            return self.predictions.count + self.dead_letters.count >= self.produced
        return self.predictions.count >= self.produced - self.dead

    # ---- after them

    def settle(self, worker: WorkerProcess, seconds: float = 90) -> None:
        """Let a worker finish, and end in good order."""
        wait_until(lambda: self.caught_up() or worker.status is not None, seconds)
        if not self.caught_up():
            how = "still runs" if worker.status is None else f"ended with {worker.status}"
            raise Failure(
                f"{self.predictions.count} predictions of {self.produced} after {seconds:.0f} s; the worker "
                f"{how}: {self.last_words()}"
            )
        status = worker.stop()
        # One that was started a moment ago may not have come to its first line yet.
        if status not in (0, -signal.SIGTERM):
            raise Failure(f"the worker ended with {status}: {self.last_words()}")

    def check(self) -> Report:
        """Check all that is promised: what readers saw, what the audit says, and which tree it came to."""
        # No worker is there any more: what is not read now was not written.
        self.predictions.finish()
        if self.dead_letters is not None:
            self.dead_letters.finish()
            self.dead = self.dead_letters.count
        report = Inspection(self.kafka, self.agent, Limits(), repeats=False, tell=lambda progress: None).run(
            replay=True
        )
        if report.findings.counts:
            told = "; ".join(str(finding) for finding in list(report.findings)[:5])
            kinds = ", ".join(f"{count} {kind}" for kind, count in report.findings.counts.items())
            raise Failure(f"the audit found {kinds}: {told}")
        counts = report.dispositions
        if (
            counts["predicted"] + counts["dead_letters"] != self.produced
            or counts["dead_letters"] != self.dead
        ):
            raise Failure(f"{self.produced} records were fed, but {counts} came of them")
        self._check_readers()
        self._check_trees(report)
        return report

    def _check_readers(self) -> None:
        """Who read during the faults has seen what one who reads now sees, in the same order."""
        again = PlainReader(self.servers, self.agent.topics.predictions, seen_of)
        again.start()
        again.finish()
        for number in range(self.partitions):
            during = [seen for seen in self.predictions.records if seen.partition == number]
            after = [seen for seen in again.records if seen.partition == number]
            if during != after:
                raise Failure(
                    f"partition {number} of the predictions: {len(during)} seen during the faults, "
                    f"{len(after)} after them, or others"
                )

    def _check_trees(self, report: Report) -> None:
        """The tree, and where order is given every single prediction, is that of an uninterrupted run."""
        digests, predictions = uninterrupted(self.agent, self.fed)
        came = {model: digest for model, (_, digest) in report.trees.items()}
        if came != digests:
            raise Failure(f"another tree than without faults: {came} instead of {digests}")
        if self.scope is Scope.PARTITION or self.partitions == 1:
            told = [
                [s.value for s in self.predictions.records if s.partition == n]
                for n in range(self.partitions)
            ]
            if told != predictions:
                raise Failure("other predictions than without faults")

    def delete(self) -> None:
        admin = admin_of(self.servers)
        names = [plan.name for plan in plans_for(self.agent, self.partitions)]
        for future in admin.delete_topics(names, operation_timeout=30).values():
            future.result(timeout=60)

    def last_words(self, standing: Sequence[WorkerProcess] = ()) -> str:
        """Return what its workers said last; and those who stand still are asked where."""
        for worker in standing:
            worker.signal(signal.SIGUSR2)
            time.sleep(0.5)
        try:
            lines = self.log.read_text(errors="replace").splitlines()
            kept = [line for line in lines if "|FAIL|" not in line and "client says: FAIL" not in line]
            return " / ".join(kept[-60 if standing else -6 :])
        except OSError:
            return "it said nothing"
