"""One node of the development broker: a JVM with a directory and two ports of its own."""

import contextlib
import signal
from pathlib import Path

from stream.broker.errors import PortTaken, StartFailed
from stream.broker.kafka_ping import cluster_at
from stream.broker.process import birth, run, send, spawn, wait_until
from stream.broker.settings import QUICK_START, Ports

FORMAT_SECONDS = 60.0
START_SECONDS = 120.0
STOP_SECONDS = 10.0
KILL_SECONDS = 10.0
_KEPT_LINES = 5


class BrokerNode:
    """A JVM that can be started, stopped, killed and frozen; its data and its ports stay the same.

    Args:
        number: From 1; Kafka's `node.id`.
        directory: Where its settings, data and logs are.
        java: The Java that runs it.
        ports: Where it listens.
        attached: Whether it dies with the process that starts it.
    """

    def __init__(self, number: int, directory: Path, java: Path, ports: Ports, *, attached: bool) -> None:
        self.number = number
        self.directory = directory
        self.ports = ports
        self._java = java
        self._attached = attached
        self._log_begin = 0

    def __repr__(self) -> str:
        return f"Node({self.number}, port={self.ports.broker}, running={self.is_running()})"

    @property
    def properties(self) -> Path:
        """Its settings, written again by every start of the broker."""
        return self.directory / "server.properties"

    @property
    def log(self) -> Path:
        """What Kafka logs."""
        return self.directory / "server.log"

    @property
    def pid(self) -> int | None:
        """Its process id; None when it does not run."""
        with contextlib.suppress(OSError, ValueError):
            number, _, born = (self.directory / "pid").read_text().strip().partition(" ")
            if birth(int(number)) == born:
                return int(number)
        return None

    def is_running(self) -> bool:
        """Whether its process exists; a frozen one does."""
        return self.pid is not None

    def answers(self) -> bool:
        """Whether it speaks Kafka's protocol and counts itself among the live brokers."""
        return cluster_at(self.ports.broker).get(self.number) == self.ports.broker

    def format(self, cluster_id: str) -> None:
        """Prepare its data directory, unless that was done before."""
        if (self.directory / "data" / "meta.properties").exists():
            return
        java = [str(self._java), "@java.args", *QUICK_START]
        command = [*java, "kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(self.properties)]
        result = run(command, directory=self.directory, seconds=FORMAT_SECONDS)
        if result.returncode != 0:
            said = _gist((result.stdout + result.stderr).splitlines())
            raise StartFailed(
                f'cannot format "{self.directory / "data"}": {said}. '
                "Check the settings that were given, or delete the directory and start again."
            )

    def launch(self) -> None:
        """Start its process, and do not wait."""
        self._log_begin = self.log.stat().st_size if self.log.exists() else 0
        output = self.directory / "stdout.log"
        output.unlink(missing_ok=True)
        command = [str(self._java), "@java.args", "kafka.Kafka", str(self.properties)]
        pid = spawn(command, directory=self.directory, output=output, attached=self._attached)
        (self.directory / "pid").write_text(f"{pid} {birth(pid)}\n")

    def start(self, seconds: float = START_SECONDS) -> None:
        """Start it, again or for the first time, and wait until it answers.

        A node of three answers only together with one other; to start several, `launch` them all and then let
        `Broker.wait_ready` wait.
        """
        self.launch()
        ready = wait_until(lambda: self.answers() or not self.is_running(), seconds)
        if not self.is_running():
            raise self.failure()
        if not ready:
            raise StartFailed(
                f'node {self.number} did not answer within {seconds:g} s. Read "{self.log}" and try again.'
            )

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Let it shut down cleanly; kill it when it has not ended in time."""
        self.ask_to_end()
        wait_until(lambda: not self.is_running(), seconds)
        self.kill()

    def ask_to_end(self) -> None:
        """Ask it to shut down, and do not wait; a frozen one is woken up for it."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it at once, as a power cut would, and wait until it is gone."""
        self._signal(signal.SIGKILL)
        if not wait_until(lambda: not self.is_running(), KILL_SECONDS):
            raise StartFailed(
                f"node {self.number} (process {self.pid}) cannot be killed. Look at the process with `ps`."
            )

    def freeze(self) -> None:
        """Stop its time: it keeps its connections and answers nothing."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen node go on."""
        self._signal(signal.SIGCONT)

    def failure(self) -> StartFailed:
        """Return the error that tells why its process ended, in its own last words."""
        words = self._last_words()
        if any("Address already in use" in line for line in words):
            return PortTaken(
                f"a port of node {self.number} ({self.ports.broker} or {self.ports.controller}) was taken by "
                "another program. Start again: another will be chosen."
            )
        return StartFailed(f'node {self.number} ended by itself: {_gist(words)}. Read "{self.log}".')

    def _last_words(self) -> list[str]:
        text = ""
        with contextlib.suppress(OSError), self.log.open("rb") as log:
            # The log may have been rolled over since the launch: then all of it is new.
            log.seek(self._log_begin if self.log.stat().st_size >= self._log_begin else 0)
            text = log.read().decode(errors="replace")
        with contextlib.suppress(OSError):
            text += (self.directory / "stdout.log").read_text(errors="replace")
        return text.splitlines()

    def _signal(self, which: signal.Signals) -> None:
        pid = self.pid
        if pid is not None:
            send(pid, which)


def _gist(words: list[str]) -> str:
    """Return the few lines that matter of what a JVM said before it ended: its errors without the stack."""
    lines = [line.strip() for line in words if line.strip() and not line.startswith("\tat ")]
    errors = [line for line in lines if "ERROR" in line or "FATAL" in line or "Exception" in line]
    return " / ".join(errors[:_KEPT_LINES] or lines[-_KEPT_LINES:]) or "it said nothing"
