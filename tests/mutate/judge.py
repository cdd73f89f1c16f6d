"""Whether a test notices a mutant: the tests that run its lines are run on it, the fastest first."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.mutate.chosen import FILE
from tests.mutate.mutants import PACKAGES, Mutant, statement_around
from tests.mutate.reach import Reach, module_of
from tests.paths import REPOSITORY

FIRST_OF_MODULE = 5
FIRST_TESTS = 60
LONGEST_TEST = 60.0
"""Seconds. A longer test judges no mutant: those are the long runs of the fault suites."""


class Verdict(NamedTuple):
    """What became of a mutant.

    Attributes:
        killer: The test that failed, or what else happened; None: it survived.
        timed_out: Whether the test did not end instead of failing.
        reached: Whether any test runs the changed lines, as far as coverage can tell.
    """

    killer: str | None
    timed_out: bool
    reached: bool

    def __str__(self) -> str:
        if self.killer is None:
            return "SURVIVED" if self.reached else "SURVIVED (no recorded test runs these lines)"
        return f"killed by {'time-out of ' if self.timed_out else ''}{self.killer}"


def copy_tree(directory: Path) -> None:
    """Make a copy of the project, compiled parts included, in place of what is in a directory."""
    shutil.rmtree(directory, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True)
    tracked = [REPOSITORY / name for name in listed.stdout.decode().split("\0") if name]
    compiled = [path for package in PACKAGES for path in (REPOSITORY / package).rglob("*.so")]
    for path in [*tracked, *compiled]:
        if path.is_file():
            copied = directory / path.relative_to(REPOSITORY)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copied)


def environment(tree: Path, **more: str) -> dict[str, str]:
    """Return the variables under which tests run in a copy of the project."""
    return {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", **more}


class Judge:
    """Judges mutants in a copy of the project, one at a time.

    Args:
        tree: The copy.
        reach: Which tests run a line.
        budget: How many seconds the tests of one stage may take by what was recorded; the fastest are run.
        broker: The directory of a running broker; None: tests that need one are not run.
    """

    def __init__(self, tree: Path, reach: Reach, budget: float, broker: Path | None) -> None:
        self._tree = tree
        self._reach = reach
        self._budget = budget
        self._broker = broker

    def judge(self, mutant: Mutant) -> Verdict:
        file = self._tree / mutant.path
        whole = file.read_text()
        lines = (mutant.line, mutant.last)
        near = self._reach.of_lines(mutant.path, *lines) or self._reach.of_lines(
            mutant.path, *statement_around(whole, mutant.line)
        )
        file.write_text(mutant.text)
        try:
            for tests in self.stages(near or self._reach.of_file(mutant.path)):
                killer = self._run(tests)
                if killer is not None:
                    return Verdict(
                        killer.removeprefix("time-out of "), killer.startswith("time-out of "), True
                    )
        finally:
            file.write_text(whole)
        return Verdict(None, False, bool(near))

    def stages(self, near: set[str]) -> Iterator[list[str]]:
        """Yield lists of tests, no test twice.

        1. Of each module with a test that runs the lines, the fastest such tests.
        2. All other tests that run the lines without a broker.
        3. The other tests of these modules: what one test computed, another may have kept and looked at.
        4. The tests that run the lines on a broker.
        """
        plain = self._fastest(near - self._reach.broker)
        seen: dict[str, int] = {}
        first: list[str] = []
        for name in plain:
            seen[module_of(name)] = seen.get(module_of(name), 0) + 1
            if seen[module_of(name)] <= FIRST_OF_MODULE and len(first) < FIRST_TESTS:
                first.append(name)
        yield first
        yield self._within(name for name in plain if name not in set(first))
        others = self._reach.of_modules(plain) - self._reach.broker - set(plain)
        yield self._within(self._fastest(others))
        if self._broker is not None:
            yield self._within(self._fastest(near & self._reach.broker))

    def _fastest(self, names: Iterable[str]) -> list[str]:
        seconds = self._reach.seconds
        return sorted(
            (name for name in names if seconds[name] <= LONGEST_TEST), key=lambda name: seconds[name]
        )

    def _within(self, names: Iterable[str]) -> list[str]:
        chosen: list[str] = []
        total = 0.0
        for name in names:
            total += self._reach.seconds[name]
            if total > self._budget:
                break
            chosen.append(name)
        return chosen

    def _run(self, names: list[str]) -> str | None:
        """Run tests until one fails; return which it was, None: all passed."""
        if not names:
            return None
        seconds = {name: self._reach.seconds[name] for name in names}
        needs_much = any(
            name in self._reach.broker or name.startswith("tests/stream/page/") for name in names
        )
        chosen = self._tree.parent / f"{self._tree.name}.chosen.json"
        limits = {name: 60 + 10 * seconds[name] for name in names}
        chosen.write_text(json.dumps({"limited": not needs_much, "limits": limits}))
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "--no-header",
            "--tb=no",
            "-p",
            "no:cacheprovider",
        ]
        command += ["-p", "tests.mutate.chosen", *dict.fromkeys(module_of(name) for name in names)]
        more = {"HYPOTHESIS_PROFILE": "ci", FILE: str(chosen)}
        if self._broker is not None:
            more["RUNNING_BROKER"] = str(self._broker)
        limit = 120 + 5 * sum(seconds.values())
        with subprocess.Popen(
            command,
            cwd=self._tree,
            env=environment(self._tree, **more),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as running:
            try:
                output, _ = running.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                return f"time-out of {len(names)} tests of {module_of(names[0])} and others"
            finally:
                _end(running)
        return killer_in(output, running.returncode)


def _end(running: subprocess.Popen[str]) -> None:
    """End a run and all that it started and left behind."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)


def killer_in(output: str, status: int) -> str | None:
    """Return which test failed by what pytest printed, and whether by a time-out; None: all passed."""
    if status in (0, 5):  # 5: no test was left
        return None
    failed = [line for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if not failed:
        return f"pytest, which ended with {status}"
    name, _, reason = failed[0].partition(" ")[2].partition(" - ")
    return f"time-out of {name}" if reason.startswith("Failed: Timeout") else name
