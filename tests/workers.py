"""The command `espalier` as a process, the way anybody starts it: from a directory, with a log."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from tests.paths import REPOSITORY

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
COMMAND = (sys.executable, "-m", "stream")
SECONDS = 60.0


def espalier(
    *arguments: str, directory: Path, environment: Mapping[str, str] = ENVIRONMENT, seconds: float = SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def wait_until(ready: Callable[[], bool], seconds: float = SECONDS, pause: float = 0.02) -> bool:
    """Wait until something is so; return whether it is."""
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


class WorkerProcess:
    """`espalier worker`; as a context, it is killed at the end where it still runs.

    Args:
        directory: Where it is started: its `espalier.toml` is there unless `-c` names another.
        arguments: More words of the command.
        log: Where it writes what it says; behind what is there already.
        environment: Its environment.
    """

    def __init__(
        self,
        directory: Path,
        *arguments: str,
        log: Path | None = None,
        environment: Mapping[str, str] = ENVIRONMENT,
    ) -> None:
        self.log = log or directory / "worker.log"
        with self.log.open("ab") as file:
            self._begin = file.tell()
            self.process = subprocess.Popen(
                [*COMMAND, "worker", *arguments],
                cwd=directory,
                env=environment,
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *told: object) -> None:
        self.kill()

    def words(self) -> str:
        """Return all that it has said; of those that shared its log before, nothing."""
        return self.log.read_bytes()[self._begin :].decode(errors="replace")

    def said(self, pattern: str) -> "re.Match[str] | None":
        return re.search(pattern, self.words())

    def wait_for(self, pattern: str) -> "re.Match[str]":
        """Wait until it says something; it must not end before."""
        assert wait_until(lambda: bool(self.said(pattern)) or self.process.poll() is not None), self.words()
        found = self.said(pattern)
        assert found is not None, f"it never said {pattern}: {self.words()}"
        return found

    def wait(self, seconds: float = SECONDS) -> int | None:
        """Return the status with which it ended by itself; None: it still runs."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> int:
        """Ask it to end in good order; return its status.

        Until it has said which agents it runs, a signal ends it at once: it may have been started just now.
        """
        wait_until(lambda: bool(self.said("agents .* at ")) or self.process.poll() is not None)
        self.process.terminate()
        return self.process.wait(SECONDS)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(SECONDS)
