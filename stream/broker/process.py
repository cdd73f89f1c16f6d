"""Child processes with an owner: they die with this process, or are meant to outlive it.

`attached` processes are tethered (`die_with_parent.py`): when this process goes, however it goes, the kernel
ends them. That is a promise of Linux; elsewhere whoever started them ends them, and nobody after a `kill -9`.
"""

import contextlib
import os
import platform
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from stream.broker.errors import BrokerError, StartFailed

LINUX = platform.system() == "Linux"
DIE_WITH_PARENT = Path(__file__).with_name("die_with_parent.py")
SPAWN_SECONDS = 30.0
PS_SECONDS = 10.0
DEAD = {"Z", "X", "x"}
POLL_SECONDS = 0.02


def tethered(command: Sequence[str]) -> list[str]:
    """Return the command that runs `command` (its first word a path) so that it dies with this process."""
    if not LINUX:
        return list(command)
    return [sys.executable, "-I", "-S", str(DIE_WITH_PARENT), str(os.getpid()), *command]


def spawn(command: Sequence[str], *, directory: Path, output: Path, attached: bool) -> int:
    """Start `command` in `directory`, its output appended to the file `output`; return its process id.

    A session of its own keeps the Ctrl-C of a terminal away from it: who started it decides when it ends. The
    thread is there because Linux sends the signal of a tether when the *thread* that started the child ends,
    so this one lives as long as the child; waiting for it also means that no zombie is left.
    """
    born: queue.SimpleQueue[subprocess.Popen[bytes] | OSError] = queue.SimpleQueue()

    def give_birth_and_wait() -> None:
        try:
            with output.open("ab") as sink:
                child = subprocess.Popen(
                    tethered(command) if attached else list(command),
                    cwd=directory,
                    stdin=subprocess.DEVNULL,
                    stdout=sink,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            born.put(error)
            return
        born.put(child)
        child.wait()

    threading.Thread(
        target=give_birth_and_wait, name=f"wait-for-{Path(command[0]).name}", daemon=True
    ).start()
    child = born.get(timeout=SPAWN_SECONDS)
    if isinstance(child, OSError):
        raise StartFailed(
            f'cannot run "{command[0]}": {child}. Check that the file is there and "{directory}" is writable.'
        )
    return child.pid


def run(command: Sequence[str], *, directory: Path, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run `command`, tethered, to its end or to its time limit; return what it wrote and its status."""
    try:
        return subprocess.run(
            tethered(command),
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BrokerError(
            f'"{command[0]}" did not end within {seconds:g} s. Try again when this machine is less busy.'
        ) from None


class Ending(NamedTuple):
    """How a command ended: its exit status, and whether it was killed at its time limit."""

    status: int
    late: bool


def follow(
    command: Sequence[str], each: Callable[[str], None], *, directory: Path, seconds: float, text: str = ""
) -> Ending:
    """Run `command`, tethered, with `text` as its input, and call `each` with every line as it is written."""
    late = threading.Event()
    with subprocess.Popen(
        tethered(command),
        cwd=directory,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as child:

        def cut_off() -> None:
            late.set()
            child.kill()

        guard = threading.Timer(seconds, cut_off)
        guard.daemon = True
        guard.start()
        try:
            assert child.stdin is not None and child.stdout is not None
            with contextlib.suppress(BrokenPipeError), child.stdin:
                child.stdin.write(text)
            for line in child.stdout:
                each(line.rstrip())
            return Ending(child.wait(), late.is_set())
        finally:
            guard.cancel()
            child.kill()


def birth(pid: int) -> str | None:
    """Return when a process was born, in words of the system's own; None when it is gone, or a zombie.

    Process ids are given again, so an id is written down together with this. (Its command line will not do:
    while a process becomes another program, it has none.)
    """
    if LINUX:
        try:
            # The name, in parentheses, may contain anything; after it field 3, the state, and 22, the birth.
            fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            return None
        state, born = fields[0], fields[19]
    else:
        command = ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)]
        state, _, born = run(command, directory=Path("/"), seconds=PS_SECONDS).stdout.strip().partition(" ")
    return None if state[:1] in DEAD or not born else born.strip()


def send(pid: int, which: signal.Signals) -> None:
    """Send a signal to a process that may be gone already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, which)


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Look at `condition` until it holds, for at most so many seconds; return whether it came to hold."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True
