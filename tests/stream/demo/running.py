"""A demonstration as a process, its summary, and the tree it must come to."""

import contextlib
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from learners.outline import digest
from learners.registry import make_learner
from learners.schema import Instance
from stream.demo.generators import GENERATORS
from tests.paths import REPOSITORY

ESPALIER_DEMO = [sys.executable, "-c", "from stream.cli.demo import demo; demo()"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
SECONDS = 180.0


def espalier_demo(*arguments: str, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ESPALIER_DEMO, *arguments],
        cwd=directory,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@contextlib.contextmanager
def running_demo(*arguments: str, directory: Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A demonstration that is under way, and the lines it has printed until its first line of progress."""
    with subprocess.Popen(
        [*ESPALIER_DEMO, *arguments],
        cwd=directory,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        try:
            assert process.stdout is not None
            lines: list[str] = []
            for line in process.stdout:
                lines.append(line)
                if "accuracy" in line:
                    break
            yield process, lines
        finally:
            process.kill()


def summary(output: str) -> dict[str, str]:
    """The lines of a summary: a name, blanks, and a text."""
    found = re.findall(r"^([a-z ]{12}) (\S.*)$", output, re.MULTILINE)
    return {name.strip(): text for name, text in found}


def expected_digest(generator: str, records: int, seed: int = 1, name: str = "id5r") -> str:
    """The tree of so many records; it does not depend on their order."""
    learner = make_learner(name)
    for one in islice(GENERATORS[generator](seed), records):
        values = {name: value for name, value in one.items() if name not in ("id", "class")}
        learner.learn_one(Instance(values, one["class"]))
    return digest(learner.outline())


def is_refused(address: str) -> bool:
    host, port = address.rsplit(":", 1)
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) != 0
