"""Lives in child processes: what fails, or ends with a signal, is known by its seed."""

import math
import os
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tests.lives.agents import Life, make_life
from tests.lives.same import Difference
from tests.lives.ways import live

SLICE = 100
"""How many lives a child process has."""
SECONDS = 60
"""The CPU time after which a life counts as one without an end; where it waits, ten times that."""


class Failure(msgspec.Struct, frozen=True):
    """A life that failed; two failures of one kind have one cause, most likely."""

    seed: int
    learner: str
    kind: str
    message: str


@dataclass
class Result:
    """What some lives came to."""

    lives: int = 0
    learners: Counter[str] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)


class _Lived(msgspec.Struct):
    """A line that a child writes: before a life only its seed and learner, after it what came of it."""

    seed: int
    learner: str
    done: bool = False
    happened: dict[str, int] = {}
    failure: Failure | None = None


_line = msgspec.json.Decoder(_Lived)


def attempt(life: Life) -> tuple[Counter[str], Failure | None]:
    """Take one life here; a warning fails it, too."""
    name = life.agent.learner
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return live(life), None
    except Difference as difference:
        return Counter(), Failure(life.seed, name, difference.way, str(difference))
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"{type(error).__name__} at {Path(where.filename).name}:{where.name}"
        return Counter(), Failure(life.seed, name, kind, traceback.format_exc(limit=-6))


def run_all(
    first: int,
    lives: int,
    jobs: int,
    learner: str | None = None,
    watch: Callable[[Result], None] = lambda result: None,
) -> Result:
    """Take some lives, so many slices at a time, and return what they came to; `watch` sees it grow."""
    result = Result()
    waiting = [(start, min(start + SLICE, first + lives)) for start in range(first, first + lives, SLICE)]
    waiting.reverse()
    running: dict[int, tuple[Path, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < jobs:
                start, end = waiting.pop()
                path = Path(folder) / str(start)
                running[_begin(path, start, end, learner)] = path, end
            child, status = os.wait()
            path, end = running.pop(child)
            after = _take_in(path, status, result)
            path.unlink()
            watch(result)
            if after < end:  # it ended in the middle
                waiting.append((after, end))
    return result


def _begin(path: Path, start: int, end: int, learner: str | None) -> int:
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    status = 70
    try:
        with path.open("wb", buffering=0) as file:
            for seed in range(start, end):
                life = make_life(seed, learner)
                file.write(msgspec.json.encode(_Lived(seed, life.agent.learner)) + b"\n")
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                signal.alarm(math.ceil(10 * SECONDS))
                happened, failure = attempt(life)
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.alarm(0)
                done = _Lived(seed, life.agent.learner, True, happened, failure)
                file.write(msgspec.json.encode(done) + b"\n")
        status = 0
    finally:
        os._exit(status)


def _take_in(path: Path, status: int, result: Result) -> int:
    """Take in what a child has written; return the first seed it did not come to."""
    lines = [_line.decode(line) for line in path.read_bytes().splitlines()]
    for line in lines:
        if line.done:
            result.lives += 1
            result.learners[line.learner] += 1
            result.happened.update(line.happened)
            if line.failure is not None:
                result.failures.append(line.failure)
    last = lines[-1]
    if not last.done:
        result.lives += 1
        result.learners[last.learner] += 1
        kind = how_it_ended(status)
        result.failures.append(Failure(last.seed, last.learner, kind, kind))
    elif status:
        raise RuntimeError(f"a child failed between lives, after seed {last.seed}: {how_it_ended(status)}")
    return last.seed + 1


def how_it_ended(status: int) -> str:
    """Return what the exit status of a child says, in words."""
    if os.WIFSIGNALED(status):
        return f"the process ended with {signal.Signals(os.WTERMSIG(status)).name}"
    return f"the process ended with status {os.WEXITSTATUS(status)}"
