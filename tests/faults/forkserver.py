"""A process that has imported everything and forks workers from itself: a start costs milliseconds.

`python -m tests.faults.forkserver` reads one JSON object per line (`Order`), forks a child that runs the
command `espalier worker`, and writes one line when it was started and one when it ended. It has no threads
and no clients of its own, so that its children begin as clean as any process. `Workers` is its other end.
"""

import contextlib
import ctypes
import faulthandler
import gc
import importlib
import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, NamedTuple, Self

import stream
from stream.cli.main import main
from tests.faults import bugs, failpoints

_PR_SET_PDEATHSIG = 1
REPOSITORY = Path(stream.__file__).resolve().parents[1]


class Order(NamedTuple):
    """A worker to be started.

    Attributes:
        config: Its configuration file.
        log: Where it writes what it says.
        points: Fail points: their names, and at which time they are passed it dies.
        bug: A seeded bug, by name.
    """

    config: str
    log: str
    points: dict[str, int] = {}  # noqa: RUF012 - never written to
    bug: str | None = None


# ---- the server


def serve() -> None:
    parent = os.getppid()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    if os.environ.get("ESPALIER_ENGINE") == "faust":
        importlib.import_module("stream.faust.worker")
    gc.collect()
    gc.freeze()
    buffer = b""
    while True:
        ready, _, _ = select.select([0, reading], [], [])
        if reading in ready:
            os.read(reading, 1024)
        if 0 in ready:
            data = os.read(0, 65_536)
            if not data:
                return
            buffer += data
        while b"\n" in buffer:
            line, buffer = buffer.split(b"\n", 1)
            order = Order(**json.loads(line))
            pid = os.fork()
            if pid == 0:
                _work(order, parent)
            _say({"started": pid})
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            _say({"ended": pid, "status": os.waitstatus_to_exitcode(status)})


def _say(told: dict[str, Any]) -> None:
    os.write(1, json.dumps(told).encode() + b"\n")


def _work(order: Order, parent: int) -> None:
    """Be a worker; never returns."""
    status = 1
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        log = os.open(order.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        # Who stands still can be asked where.
        faulthandler.register(signal.SIGUSR2, all_threads=True)
        if order.bug:
            bugs.install(order.bug)
        failpoints.install(order.points)
        sys.argv = ["espalier", "worker", "-c", order.config]
        main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


# ---- the other end


class WorkerProcess:
    """A worker that was forked."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None
        self._ended = threading.Event()

    def ended(self, status: int) -> None:
        self.status = status
        self._ended.set()

    def wait(self, seconds: float) -> int | None:
        """Return its exit status, negative for a signal; None where it still runs after so many seconds."""
        self._ended.wait(seconds)
        return self.status

    def signal(self, which: signal.Signals) -> None:
        if self.status is None:
            # It may have ended a moment ago, and nobody has said so yet.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, which)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        assert self.wait(30) is not None

    def stop(self, seconds: float = 60) -> int | None:
        """Ask it to end in good order, and let it go on where it stops on the way; return its status."""
        self.signal(signal.SIGTERM)

        def has_ended() -> bool:
            self.go_on()
            return self.status is not None

        wait_until(has_ended, seconds)
        return self.status

    @property
    def is_stopped(self) -> bool:
        """Whether it stands still by a signal."""
        try:
            told = Path(f"/proc/{self.pid}/stat").read_text()
        except OSError:
            return False
        return told.rpartition(")")[2].split()[0] == "T"

    def go_on(self) -> None:
        """Let it go on if it stands still."""
        if self.is_stopped:
            self.signal(signal.SIGCONT)


class Workers:
    """Starts workers by a fork server."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.forkserver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=REPOSITORY,
        )
        self._started: queue.SimpleQueue[WorkerProcess] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._running: dict[int, WorkerProcess] = {}
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *told: object) -> None:
        self.close()

    def start(self, order: Order) -> WorkerProcess:
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.write(json.dumps(order._asdict()).encode() + b"\n")
            self._process.stdin.flush()
            return self._started.get(timeout=60)

    def close(self) -> None:
        """End the server; its workers die with it."""
        assert self._process.stdin is not None
        for worker in list(self._running.values()):
            worker.signal(signal.SIGKILL)
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            if "started" in told:
                worker = self._running[told["started"]] = WorkerProcess(told["started"])
                self._started.put(worker)
            else:
                self._running.pop(told["ended"]).ended(told["status"])


def wait_until(check: Any, seconds: float, pause: float = 0.02) -> bool:
    """Wait until something is so; return whether it is."""
    deadline = time.monotonic() + seconds
    while not check():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


if __name__ == "__main__":
    serve()
