"""What suites stand on: brokers, a fork server, a directory; and what a suite gives back."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Self

from stream.broker import QUICK_START, Broker
from stream.broker.cluster import ANYWHERE
from stream.broker.install import Sources
from stream.broker.kafka_ping import free_port
from tests.faults.forkserver import Workers
from tests.faults.world import Failure

FREQUENT = {
    # A transaction that nobody finishes is ended soon; deleted topics go soon.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
    "log.initial.task.delay.ms": "1000",
    "file.delete.delay.ms": "1000",
    "offsets.retention.check.interval.ms": "1000",
    "group.consumer.session.timeout.ms": "1500",
    "group.consumer.heartbeat.interval.ms": "300",
}


class Ground:
    """Brokers and workers for suites; everything is started when it is first asked for.

    Args:
        directory: For all that is written.
        servers: A broker that runs already; None: one is started.
        sources: Where Java and the jars of a broker come from.
    """

    def __init__(self, directory: Path, servers: str | None = None, sources: Sources = ANYWHERE) -> None:
        self.directory = directory
        self.workers = Workers()
        self._servers = servers
        self._sources = sources
        self._brokers: dict[str, Broker] = {}
        self._lock = threading.RLock()
        self._proxied = 0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *told: object) -> None:
        self.workers.close()
        for broker in self._brokers.values():
            broker.stop()

    @property
    def servers(self) -> str:
        """One node, for everything that does not need more."""
        with self._lock:
            if self._servers is None:
                self._servers = self.broker("one").bootstrap_servers
            return self._servers

    def broker(
        self,
        name: str,
        nodes: int = 1,
        directory: Path | None = None,
        properties: Mapping[str, str] = MappingProxyType({}),
    ) -> Broker:
        """A broker of one's own: it may be hurt."""
        with self._lock:
            if name not in self._brokers:
                self._brokers[name] = Broker.start(
                    directory or self.directory / f"broker-{name}",
                    nodes=nodes,
                    properties={**FREQUENT, **properties},
                    java_options=QUICK_START,
                    sources=self._sources,
                )
            return self._brokers[name]

    def proxied(self) -> tuple[Broker, int, int]:
        """A broker with a second listener, whose clients are told to come by a proxy.

        Returns it, the port of that listener, and the port where the proxy must listen.
        """
        with self._lock:
            if "proxied" not in self._brokers:
                # The first start chooses the ports, of which the second listener's settings are made.
                first = self.broker("proxied")
                self.stop("proxied")
                ports, behind, proxy = first.nodes[0].ports, free_port(), free_port()
                own = f"PLAINTEXT://127.0.0.1:{ports.broker}"
                names = ("PLAINTEXT", "PROXIED", "CONTROLLER")
                self.broker(
                    "proxied",
                    properties={
                        "listeners": f"{own},PROXIED://127.0.0.1:{behind},CONTROLLER://127.0.0.1:{ports.controller}",
                        "advertised.listeners": f"{own},PROXIED://127.0.0.1:{proxy}",
                        "listener.security.protocol.map": ",".join(f"{n}:PLAINTEXT" for n in names),
                    },
                )
                self._proxied = behind, proxy
            return self._brokers["proxied"], *self._proxied

    def stop(self, name: str) -> None:
        self._brokers.pop(name).stop()


@dataclass
class Result:
    """What a suite has come to.

    Attributes:
        suite: Its name.
        done: How many faults were survived.
        what: What they were.
        records: How many records went through meanwhile.
        seconds: How long it took.
        detail: What else is worth a word.
        failure: The promise that was broken, if one was.
        counts: How many faults of which kind.
        ends: With which status workers have ended by themselves, and how often.
        skipped: What could not be tried on this machine, and why.
    """

    suite: str
    done: int = 0
    what: str = ""
    records: int = 0
    seconds: float = 0.0
    detail: str = ""
    failure: str | None = None
    counts: Counter[str] = field(default_factory=Counter)
    ends: Counter[int] = field(default_factory=Counter)
    skipped: list[str] = field(default_factory=list)

    def conclude(self, plan: "Plan", planned: int, *, most_ends: int = 0) -> "Result":
        """Hold the suite to what it was asked for, unless it was told to stop before.

        Args:
            plan: What it was asked for.
            planned: How many faults it was to make; those that could not be tried count as well.
            most_ends: How many workers may have ended by themselves: no more than the faults explain.
        """
        if self.failure is None and not plan.is_over:
            if self.done + len(self.skipped) < planned:
                self.failure = f"only {self.done:,} of {planned:,} faults were made"
            elif self.ends.total() > most_ends:
                told = ", ".join(f"{count} with {status}" for status, count in self.ends.items())
                self.failure = (
                    f"workers ended by themselves ({told}), of which the faults explain {most_ends}"
                )
        return self

    def __str__(self) -> str:
        verdict = (
            f"FAILED: {self.failure}" if self.failure else "nothing lost, nothing doubled, the same tree"
        )
        told = f"{self.suite}: survived {self.done:,} {self.what}, {self.records:,} records"
        return f"{told}, {self.seconds:.0f} s{f' ({self.detail})' if self.detail else ''}: {verdict}"


@dataclass
class Plan:
    """What a suite is asked for.

    Attributes:
        ground: What it stands on.
        repeat: How many faults.
        seed: What chance is made from.
        bug: A seeded bug that its workers have; it is then to be caught.
        until: When to stop, by the monotonic clock.
        say: Told how far it is.
        patience: How many seconds a worker may stand still.
    """

    ground: Ground
    repeat: int
    seed: int = 0
    bug: str | None = None
    until: float = float("inf")
    say: Callable[[str], None] = print
    patience: float = 60.0

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.until


class Tally:
    """Counts faults over several threads, and remembers the first failure."""

    def __init__(self, plan: Plan, result: Result) -> None:
        self._plan = plan
        self._result = result
        self._lock = threading.Lock()
        self._taken = 0
        self._told = time.monotonic()

    def take(self) -> bool:
        """Whether there is one more fault to be made."""
        with self._lock:
            if self._result.failure or self._taken >= self._plan.repeat or self._plan.is_over:
                return False
            self._taken += 1
            return True

    def count(self, name: str, number: int = 1) -> None:
        with self._lock:
            self._result.done += number
            self._result.counts[name] += number
        self.tell(self._result.done)

    def tell(self, done: int) -> None:
        """Say how far it is, now and then."""
        with self._lock:
            if time.monotonic() - self._told > 20:
                self._told = time.monotonic()
                self._plan.say(f"{self._result.suite}: {done:,} of {self._plan.repeat:,}")

    def add_records(self, count: int) -> None:
        with self._lock:
            self._result.records += count

    def ended(self, status: int) -> None:
        """Note that a worker has ended by itself, and is started again."""
        with self._lock:
            self._result.ends[status] += 1

    def skip(self, name: str, reason: str) -> None:
        with self._lock:
            self._result.skipped.append(f"{name}: {reason}")

    @property
    def is_clean(self) -> bool:
        return self._result.failure is None

    def fail(self, message: str) -> None:
        with self._lock:
            self._result.failure = self._result.failure or message


def in_lanes(count: int, tally: Tally, work: Callable[[int], None]) -> None:
    """Run something several times side by side; the first failure is told to the tally."""

    def run(number: int) -> None:
        try:
            work(number)
        except (Failure, AssertionError) as error:
            tally.fail(str(error) or repr(error))
        except Exception as error:
            tally.fail(f"lane {number}: {error!r}")

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
