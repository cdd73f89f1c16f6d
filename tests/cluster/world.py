"""One schedule: workers on a fake cluster, and what happens to them, drawn from a seed."""

import contextlib
import importlib
import logging
import os
import random
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from stream.config import Batch, Kafka, Properties, Scope, State
from stream.errors import StreamError
from stream.kafka import batch_poller, exclusive, membership, session, shared, transactions
from stream.kafka.engine import KafkaEngine
from stream.kafka.topic_plan import plans_for
from stream.state import snapshot_writer
from tests.cluster.checks import Broken, check, check_dispositions
from tests.cluster.cluster import SESSION_SECONDS, Cluster
from tests.cluster.faults import Faults
from tests.cluster.records import INPUT, PARTITIONS, agent_of, ignore, maker_of, value_of
from tests.cluster.scheduler import Clock, Process, Scheduler, Threads

WORKERS = 3
MOST_SECONDS = 1_000.0
MOST_TURNS = 10_000
RESTART_SECONDS = 0.5
KAFKA = Kafka("fake:1", Properties({"transaction.timeout.ms": 3_000}))
CLOCK = Clock()
TIMED = (
    *(f"stream.kafka.{name}" for name in ("session", "checkpoints", "transactions", "reading", "offsets")),
    *(f"stream.kafka.{name}" for name in ("membership", "exclusive", "engine", "clients")),
    "stream.model.idle_time",
)
"""The modules that ask for the time."""


def _at_once(encode: Callable[[], bytes]) -> tuple[int, int]:
    """Make a snapshot in this process: the state of a schedule's model fits into the pipe."""
    reading, writing = os.pipe()
    state = encode()
    os.write(writing, zlib.compress(state, 1) + len(state).to_bytes(8, "little"))
    os.close(writing)
    os.set_blocking(reading, False)
    return reading, 0


@contextlib.contextmanager
def simulated() -> Iterator[None]:
    """Replace what the product takes from the operating system: the time, threads and `fork`."""
    changes: list[tuple[Any, str, object]] = [
        *((importlib.import_module(name), "time", CLOCK) for name in TIMED),
        (transactions, "threading", Threads(CLOCK)),
        (snapshot_writer, "_fork", _at_once),
        # Several pieces, over several transactions.
        (snapshot_writer, "PIECE_BYTES", 512),
        (snapshot_writer, "SHARE_BYTES", 512),
        # Waits are as long as the fake cluster's, so that schedules are short.
        (exclusive, "LOOK_AGAIN_SECONDS", 1e9),
        *((module, "IDLE_SECONDS", 1.0) for module in (batch_poller, membership, session, shared, exclusive)),
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in changes]
    logger = logging.getLogger("stream")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        for module, name, value in changes:
            setattr(module, name, value)
        yield
    finally:
        logger.setLevel(level)
        for module, name, old in before:
            setattr(module, name, old)


class Worker:
    """A process that runs the engine; it is started again when it ends."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.is_stopping = False
        self.is_over = False


class World:
    """Workers and a cluster, from a seed.

    Args:
        seed: Decides everything.
        scope: What a model learns from.
        is_calm: Whether there are no faults.
    """

    def __init__(self, seed: int, scope: Scope, *, is_calm: bool = False) -> None:
        self._rng = random.Random(f"{seed}-{scope}")
        self._scope = scope
        self._agent = agent_of(scope)
        self.scheduler = CLOCK.scheduler = Scheduler(self._rng, self._rng.choice((0.1, 0.25, 0.5)))
        self.faults = Faults(self._rng, is_calm=is_calm)
        plans = plans_for(self._agent, PARTITIONS)
        self.cluster = Cluster(
            self._rng, self.scheduler, self.faults, {plan.name: plan.partitions for plan in plans}
        )
        self._batch = Batch(max_batch=self._rng.choice((2, 3, 5, 8)), linger_ms=0)
        self._state = State(
            snapshot_records=self._rng.choice((1, 2, 10**6)),
            snapshot_seconds=1e9,
            trim_journal=self._rng.random() < 0.7,
        )
        self._left = self._rng.randrange(8, 19)
        self._workers: list[Worker] = []
        self._started = 0
        self._failure: Exception | None = None
        self.log: list[str] = []

    def run(self) -> None:
        """Live through the schedule.

        Raises:
            Broken: A promise was broken.
        """
        self._feed(self._rng.randrange(4, 9))
        for _ in range(self._rng.choice((1, 2, 2, 3))):
            self._start()
        if self.faults.is_over:
            self._feed(self._left)
        else:
            self._disturb()
        self._finish()
        self._end()
        check(self.cluster, self._scope)

    def close(self) -> None:
        """Kill whoever is left."""
        for worker in self._workers:
            self.scheduler.kill(worker.process)

    # ---- phases

    def _disturb(self) -> None:
        """Let things happen."""
        for _ in range(self._rng.randrange(1, 8)):
            for _ in range(self._rng.randrange(2, 50)):
                self._turn()
            self._happen(self.faults.event())

    def _finish(self) -> None:
        """Let the workers work until every record has been dealt with."""
        self._feed(self._left)
        for _ in range(self._rng.randrange(30)):
            self._turn()
        self.faults.is_over = True
        topics = self._agent.topics
        visible = self.cluster.brokers.visible
        if not self._alive():
            self._start()
        while visible[topics.predictions] + visible[topics.dead_letters] < visible[INPUT]:
            self._turn()
        # Those that stand still go on as well: what they do then is what matters.
        while any(worker.process.frozen_until > self.scheduler.now for worker in self._alive()):
            self._turn()

    def _end(self) -> None:
        self._ask_all_to_stop()
        self.scheduler.wake()
        while self.scheduler.turn():
            # One that gave way meanwhile was started again.
            self._ask_all_to_stop()
            self._watch()

    def _ask_all_to_stop(self) -> None:
        for worker in self._workers:
            worker.is_stopping = True

    def _turn(self) -> None:
        if not self._alive():
            self._start()
        self.scheduler.turn()
        self._watch()

    def _watch(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self.scheduler.now > MOST_SECONDS or self.scheduler.turns > MOST_TURNS:
            check_dispositions(self.cluster, self._scope)
            raise Broken("stands still: every record is dealt with, and the workers do not end")

    # ---- what happens

    def _happen(self, event: str) -> None:
        self.faults.counts[event] += 1
        self.log.append(f"{self.scheduler.now:.3f} {event}")
        alive = self._alive()
        if event == "feed":
            self._feed(self._rng.randrange(1, 5))
        elif event == "start" and len(alive) < WORKERS:
            self._start()
        elif event == "rebalance":
            self.cluster.group.shuffle()
        elif event == "delete offsets":
            # A group that has members keeps the offsets of what they subscribe to.
            if self._scope is Scope.TOPIC or not self.cluster.group.members:
                self.cluster.group.delete_offsets()
        elif event == "compact":
            self.cluster.brokers.compact(self._agent.topics.snapshots)
        elif event == "outage":
            self._outage()
        elif alive:
            worker = self._rng.choice(alive)
            if event == "kill":
                worker.is_over = True
                self.scheduler.kill(worker.process)
            elif event == "freeze":
                self.scheduler.freeze(worker.process, SESSION_SECONDS * self._rng.choice((0.3, 1.5, 3, 6)))
            elif event == "stop":
                worker.is_stopping = True
                self.scheduler.wake()

    def _outage(self) -> None:
        """Freeze everybody until the group is empty, delete its offsets, and start a worker meanwhile.

        Best in front of a commit: whoever is frozen there commits when it goes on.
        """
        for _ in range(100):
            if self.cluster.brokers.is_committing:
                break
            self._turn()
        frozen = self._alive()
        for worker in frozen:
            self.scheduler.freeze(worker.process, SESSION_SECONDS * self._rng.choice((2, 3, 4, 6)))
        self.scheduler.call_in(1.1 * SESSION_SECONDS, self._forget)

    def _forget(self) -> None:
        if not self.cluster.group.members:
            self.cluster.group.delete_offsets()
        self._start()

    def _alive(self) -> list[Worker]:
        return [worker for worker in self._workers if not worker.is_over]

    def _feed(self, count: int) -> None:
        for _ in range(min(count, self._left)):
            self._left -= 1
            number = self._rng.randrange(PARTITIONS)
            offset = self.cluster.brokers.logs[INPUT, number].end
            self.cluster.brokers.append(INPUT, number, value_of(number, offset))

    def _start(self) -> None:
        """Start a worker: under a name that is free, or under one that nobody has had."""
        taken = {worker.process.name for worker in self._alive()}
        free = [name for name in ("w0", "w1", "w2") if name not in taken]
        self._started += 1
        name = free[0] if free and self._rng.random() < 0.7 else f"x{self._started}"
        worker = Worker(Process(name))
        self._workers.append(worker)
        self.scheduler.start(worker.process, lambda: self._work(worker))

    def _work(self, worker: Worker) -> None:
        while not worker.is_stopping:
            engine = KafkaEngine(
                KAFKA,
                self._agent,
                self._batch,
                worker.process.name,
                ignore,
                self._state,
                self.cluster.clients,
            )
            try:
                engine.run(maker_of(self._scope), lambda: worker.is_stopping)
            except StreamError as error:
                self.log.append(f"{self.scheduler.now:.3f} {worker.process.name} ended: {error}")
                if error.exit_code not in (74, 75):
                    self._fail(Broken(f"a worker ended with {error.exit_code}: {error}"), worker)
                    return
                self.faults.counts[f"ended with {error.exit_code}"] += 1
                CLOCK.sleep(RESTART_SECONDS)
            except Exception as error:
                self._fail(error, worker)
                return
        worker.is_over = True

    def _fail(self, error: Exception, worker: Worker) -> None:
        worker.is_over = True
        self._failure = self._failure or error
