"""A failing life made smaller: records are left out for as long as it fails in the same way."""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from tests.lives.agents import Life
from tests.lives.children import Failure, attempt, how_it_ended
from tests.lives.generator import Step

SECONDS = 60
"""How long to try."""


def shrunk(life: Life, kind: str) -> tuple[Life, str]:
    """Return a life of fewer records that fails in the same way, and what is said about it."""
    deadline = time.monotonic() + SECONDS
    message = "it does not fail again"
    again = _try(life)
    if again is None or again.kind != kind:
        return life, message
    message, size = again.message, max(1, len(life.steps) // 2)
    while size:
        start = 0
        while start < len(life.steps) and time.monotonic() < deadline:
            fewer = life._replace(steps=without(life.steps, start, start + size))
            failure = _try(fewer) if fewer.steps else None
            if failure is not None and failure.kind == kind:
                life, message = fewer, failure.message
            else:
                start += size
        size //= 2
    return life, message


def without(steps: tuple[Step, ...], start: int, end: int) -> tuple[Step, ...]:
    """Return steps without some; what happened before those happens before the next one."""
    left, rest = steps[:start], steps[end:]
    if not rest:
        return left
    marks, units = rest[0].marks, rest[0].units
    for step in steps[start:end]:
        marks |= step.marks
        units = units or step.units
    return (*left, Step(rest[0].record, marks, units), *rest[1:])


def _try(life: Life) -> Failure | None:
    """Take a life in a child process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "failure"
        sys.stdout.flush()
        child = os.fork()
        if not child:
            try:
                signal.alarm(SECONDS)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                path.write_bytes(msgspec.json.encode(attempt(life)[1]))
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        if not path.exists():
            ended = how_it_ended(status)
            return Failure(life.seed, life.agent.learner, ended, ended)
        return msgspec.json.decode(path.read_bytes(), type=Failure | None)
