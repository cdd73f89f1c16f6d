"""Named steps of a worker's loop at which it can be made to die, put around its functions from outside.

The product has no code for this: a worker that is started by the fork server gets its functions wrapped
before it begins. A fail point is a name and a number: the process kills itself with SIGKILL when it passes
the point for the so-many-th time.
"""

import functools
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from stream.kafka.checkpoints import CheckpointManager
from stream.kafka.engine import KafkaEngine
from stream.model.processor import LearningProcessor
from stream.state import snapshot_writer
from tests.faults.producers import derive_producer

POINTS: Mapping[str, tuple[int, str]] = {
    "process.before": (6, "a batch was polled, nothing is done with it yet"),
    "process.after": (6, "answered and learned, nothing is produced yet"),
    "begin.after": (6, "a transaction is open and empty"),
    "produce": (60, "in the middle of the outputs"),
    "offsets.before": (6, "all outputs are produced"),
    "offsets.after": (6, "the offsets are in the transaction"),
    "commit.before": (6, "flushed by nobody, committed by nobody"),
    "commit.flushed": (6, "flushed, committed by nobody"),
    "commit.during": (6, "at a random moment of the commit"),
    "commit.after": (6, "committed, nobody knows it yet"),
    "init.before": (1, "before a predecessor is fenced"),
    "init.after": (1, "after a predecessor was fenced"),
    "restore": (30, "in the middle of the journal"),
    "restore.snapshot": (1, "a snapshot was read, the journal behind it was not"),
    "snapshot.begun": (2, "a copy of the process makes a snapshot"),
    "snapshot.pieces": (3, "pieces of a snapshot are about to be written"),
    "snapshot.written": (2, "a snapshot was committed, the journal is not trimmed yet"),
    "trim.after": (2, "the journal was trimmed"),
    "run.before": (1, "before anything"),
}
"""Every point, how often it may be passed before it is the last time, and what it means."""


STOP = ":stop"
"""At the end of a point's name: the process is stopped there instead of killed."""


class Points:
    """The points that are set in this process."""

    def __init__(self, points: Mapping[str, int]) -> None:
        self._left = dict(points)

    def pass_(self, name: str) -> None:
        for wanted, act in ((name, die), (f"{name}{STOP}", freeze)):
            if wanted in self._left:
                self._left[wanted] -= 1
                if self._left[wanted] == 0:
                    act()

    def is_set(self, name: str) -> bool:
        return name in self._left or f"{name}{STOP}" in self._left

    def is_next(self, name: str) -> bool:
        return self._left.get(name) == 1


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def freeze() -> None:
    """Stand still until somebody lets us go on, who will have started another in our place."""
    os.kill(os.getpid(), signal.SIGSTOP)


def _die_soon(most: float) -> None:
    delay = random.Random(time.monotonic_ns()).uniform(0, most)
    threading.Timer(delay, die).start()


def around(
    owner: Any, name: str, before: Callable[[], None] | None = None, after: Callable[[], None] | None = None
) -> None:
    """Wrap a function of a class or module."""
    inner = getattr(owner, name)

    @functools.wraps(inner)
    def wrapped(*args: Any, **named: Any) -> Any:
        if before:
            before()
        told = inner(*args, **named)
        if after:
            after()
        return told

    setattr(owner, name, wrapped)


def install(points: Mapping[str, int]) -> None:
    """Set some points in this process; snapshots are cut small, so that each takes several transactions."""
    snapshot_writer.PIECE_BYTES, snapshot_writer.SHARE_BYTES = 512, 1_024  # type: ignore[attr-defined]
    if not points:
        return
    here = Points(points)

    def at(name: str) -> Callable[[], None]:
        return lambda: here.pass_(name)

    def fragile(kind: Any) -> Any:
        class FragileProducer(kind):  # type: ignore[misc]
            """A producer that dies where it is told to."""

            def init_transactions(self, *args: Any) -> Any:
                here.pass_("init.before")
                told = super().init_transactions(*args)
                here.pass_("init.after")
                return told

            def begin_transaction(self, *args: Any) -> Any:
                told = super().begin_transaction(*args)
                here.pass_("begin.after")
                return told

            def produce(self, *args: Any, **named: Any) -> Any:
                told = super().produce(*args, **named)
                here.pass_("produce")
                return told

            def produce_batch(self, *args: Any, **named: Any) -> Any:
                told = super().produce_batch(*args, **named)
                here.pass_("produce")
                return told

            def send_offsets_to_transaction(self, *args: Any) -> Any:
                here.pass_("offsets.before")
                told = super().send_offsets_to_transaction(*args)
                here.pass_("offsets.after")
                return told

            def commit_transaction(self, *args: Any) -> Any:
                here.pass_("commit.before")
                if here.is_set("commit.flushed"):
                    self.flush(10)
                    here.pass_("commit.flushed")
                if here.is_next("commit.during"):
                    _die_soon(0.012)
                told = super().commit_transaction(*args)
                here.pass_("commit.after")
                return told

        return FragileProducer

    derive_producer(fragile)
    around(LearningProcessor, "process", at("process.before"), at("process.after"))
    around(LearningProcessor, "replay", after=at("restore"))
    around(LearningProcessor, "restore", after=at("restore.snapshot"))
    around(KafkaEngine, "run", before=at("run.before"))
    around(CheckpointManager, "begin", after=at("snapshot.begun"))
    around(CheckpointManager, "_trim", before=at("snapshot.written"), after=at("trim.after"))
    pieces = CheckpointManager.pieces

    def fragile_pieces(keeper: CheckpointManager) -> Any:
        told = pieces(keeper)
        if told[0]:
            here.pass_("snapshot.pieces")
        return told

    CheckpointManager.pieces = fragile_pieces  # type: ignore[assignment, method-assign]
