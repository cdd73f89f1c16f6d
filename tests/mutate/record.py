"""Run the tests under coverage in a copy of the project, and keep which test runs which line."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.mutate.judge import copy_tree, environment
from tests.mutate.mutants import PACKAGES
from tests.mutate.reach import gather
from tests.mutate.recording import FILE
from tests.paths import REPOSITORY

SCRATCH = REPOSITORY / "build" / "mutants"


class Run(NamedTuple):
    """A run of pytest: the markers of its tests, and where they are."""

    markers: str
    paths: tuple[str, ...]


_BESIDE = ("tests/contract", "tests/deploy", "tests/espalier", "tests/lab", "tests/stream")
RUNS = {
    "learners": Run("not broker", ("tests/learners", "tests/lives")),
    "stream": Run("not broker", ("tests/architecture", "tests/faults", "tests/security", *_BESIDE)),
    "brokers": Run(
        "broker",
        (*_BESIDE, *(f"tests/faults/test_{name}.py" for name in ("audit", "idle_kill", "kill", "reader"))),
    ),
}
"""They run side by side. Left out: the long fault suites, the data sets, other people's learners."""


class Recording:
    """What is recorded in a folder.

    Args:
        scratch: The folder.
    """

    def __init__(self, scratch: Path) -> None:
        self.tree = scratch / "tree"
        self.data = scratch / "recorded"
        self.lines = scratch / "lines.json"
        self._sources = scratch / "sources.sha256"
        self.data.mkdir(parents=True, exist_ok=True)

    def is_current(self) -> bool:
        """Whether there is a recording, and of the sources as they are now."""
        return self.lines.exists() and self._sources.read_text() == fingerprint()

    def make(self, paths: Sequence[str] = ()) -> list[str]:
        """Record all runs, or add the tests of some paths; return the names of tests that did not pass."""
        copy_tree(self.tree)
        if paths:
            number = len(list(self.data.glob("more*.json")))
            runs = {f"more{number}": Run("not peers", tuple(paths))}
        else:
            runs = RUNS
            for old in self.data.iterdir():
                old.unlink()
        running = [self._start(name, run) for name, run in runs.items()]
        for process in running:
            process.wait()
        self._sources.write_text(fingerprint())
        return gather(self.data, self.tree, self.lines)

    def _start(self, name: str, run: Run) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-q"]
        command += ["-p", "tests.mutate.recording", "-p", "no:cacheprovider"]
        command += ["-m", f"{run.markers} and not data and not peers", *run.paths]
        files = {"COVERAGE_FILE": str(self.data / name), FILE: str(self.data / f"{name}.json")}
        with (self.data / f"{name}.log").open("w") as log:
            return subprocess.Popen(
                command,
                cwd=self.tree,
                env=environment(self.tree, HYPOTHESIS_PROFILE="ci", **files),
                stdout=log,
                stderr=subprocess.STDOUT,
            )


def fingerprint(root: Path = REPOSITORY) -> str:
    """Return a digest of the sources, whose lines a recording numbers."""
    found = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
    digests = {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in found
    }
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest()
