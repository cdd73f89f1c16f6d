"""A worker that doubts itself: now and then a tree is compared with the one ID3 builds from its instances.

The learner's snapshot goes to a process of its own, which restores it, builds the tree again and compares the
digests; the loop pays for the snapshot alone. A model of too many instances is left out, as its check would
take longer than it is worth, and so is one with numbers among its attributes, which ID3 does not know;
`espalier audit` looks at all of them, from the topics.
"""

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from weakref import WeakValueDictionary

import msgspec
import numpy as np

from learners.id5r.learner import ID5R
from learners.id5r.state import State
from learners.ops import OpCounts
from learners.outline import Outline, digest
from learners.registry import restore_learner
from learners.snapshot import unpack
from learners.utgoff.id3 import id3
from learners.utgoff.reading import Reading
from learners.utgoff.selection import Selection
from learners.vocabulary import Row
from stream.events import Event, ModelMeasured, SelfChecked
from stream.model.number_hints import Observe
from stream.model.ports import MakeProcessor, Unit
from stream.model.processing import Processor
from stream.model.processor import LearningProcessor

log = logging.getLogger(__name__)

FIRST_SECONDS = 5.0
EVERY_SECONDS = 60.0
MOST_SECONDS = 120.0
MOST_INSTANCES = 100_000
MOST_DISTINCT = 20_000

Compare = Callable[[bytes], "SelfCheckFinding"]


class SelfCheckFinding(msgspec.Struct):
    """Whether the trees are the same, and what ID3 spent; `same` is None where they cannot be compared."""

    same: bool | None
    spent: dict[str, int]


class SelfCheck:
    """Compares the trees of a worker, one at a time.

    Args:
        observe: Told what came of it, and of every event that this is told.
        first: How long after the first batch the first comparison is made, in seconds.
        every: How long after that the next, for each agent.
        compare: Compares the learner that a snapshot is of.
        clock: The time.
    """

    def __init__(
        self,
        observe: Observe,
        *,
        first: float = FIRST_SECONDS,
        every: float = EVERY_SECONDS,
        compare: Compare | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._observe = observe
        self._first, self._every = first, every
        self._compare = compare or elsewhere
        self._clock = clock
        self._processors: WeakValueDictionary[tuple[str, str], LearningProcessor] = WeakValueDictionary()
        self._due: dict[str, float] = {}
        self._running: threading.Thread | None = None

    def watching(self, agent: str, make: MakeProcessor) -> MakeProcessor:
        """Return a function that makes the same processors, and has their trees compared."""

        def watched(unit: Unit) -> Processor:
            processor = make(unit)
            if isinstance(processor, LearningProcessor):
                self._processors[agent, unit.model] = processor
            return processor

        return watched

    def observe(self, event: Event) -> None:
        """Tell an event; after a batch, and in the thread that made it, look whether a check is due."""
        self._observe(event)
        if isinstance(event, ModelMeasured):
            now = self._clock()
            if now >= self._due.setdefault(event.agent, now + self._first):
                self._begin(event.agent, event.model, now)

    def _begin(self, agent: str, model: str, now: float) -> None:
        processor = self._processors.get((agent, model))
        # Asked for now: a restore may have given the processor another.
        learner = None if processor is None else processor.learner
        if not isinstance(learner, ID5R) or (self._running is not None and self._running.is_alive()):
            return
        self._due[agent] = now + self._every
        if learner.retained > MOST_INSTANCES or learner.tree.distinct > MOST_DISTINCT:
            self._observe(SelfChecked(agent, model, "skipped"))
            return
        snapshot = learner.photograph()
        self._running = threading.Thread(
            target=self._run, args=(agent, model, snapshot), name="self-check", daemon=True
        )
        self._running.start()

    def _run(self, agent: str, model: str, snapshot: bytes) -> None:
        try:
            finding = self._compare(snapshot)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            log.warning("agent %s: the self-check of model %s could not be made: %s", agent, model, error)
            self._observe(SelfChecked(agent, model, "failed"))
            return
        if finding.same is None:
            self._observe(SelfChecked(agent, model, "skipped"))
            return
        if not finding.same:
            log.error(
                "agent %s: the tree of model %s is not the one that ID3 builds from the same instances",
                agent,
                model,
            )
        result = "same" if finding.same else "different"
        self._observe(SelfChecked(agent, model, result, OpCounts(**finding.spent)))

    def wait(self) -> None:
        """Wait until no comparison is running."""
        if self._running is not None:
            self._running.join(MOST_SECONDS)


def elsewhere(snapshot: bytes) -> SelfCheckFinding:
    """Compare in a process of its own, which is nicer to others than this one.

    Raises:
        OSError: There can be no such process.
        ValueError: It did not say anything sensible.
        subprocess.SubprocessError: It failed, or took too long.
    """
    command = [sys.executable, "-m", "stream.observe.selfcheck"]
    told = subprocess.run(command, input=snapshot, capture_output=True, timeout=MOST_SECONDS, check=True)
    return msgspec.json.decode(told.stdout, type=SelfCheckFinding)


def here(snapshot: bytes) -> SelfCheckFinding:
    """Restore a learner and compare its tree with the one that ID3 builds from its instances."""
    learner = restore_learner(snapshot)
    if not isinstance(learner, ID5R):
        raise ValueError(f"{learner.name} cannot be compared")
    state = unpack(snapshot, learner.name, State)
    if state.numeric:
        # ID3 has names for values, not numbers.
        return SelfCheckFinding(None, {})
    spent = OpCounts()
    return SelfCheckFinding(
        digest(batch_tree(learner, state, spent)) == digest(learner.outline()), spent.spent()
    )


def batch_tree(learner: ID5R, state: State, ops: OpCounts) -> Outline | None:
    """Return the tree that ID3 builds from a learner's instances, with the learner's settings."""
    settings, codes = learner.options, learner.codes
    selection = Selection(
        settings.selection,
        settings.significance,
        pearsons=settings.significance_test == "chi2",
        records_per_value=settings.min_records_per_value if settings.significance is not None else 0,
    )
    rank = {name: place for place, name in enumerate(settings.tie_order)}
    tested = [a for a in range(state.width) if a not in state.retired]
    order = sorted(tested, key=lambda a: (rank.get(codes.attributes[a], len(rank)), a))
    labels = np.frombuffer(state.tree.labels, dtype="<u2").tolist()
    rows = np.frombuffer(state.tree.rows, dtype="<u2").reshape(len(labels), state.width).tolist()
    times = np.frombuffer(state.tree.times, dtype="<u4").tolist()
    instances: list[tuple[tuple[Row, int], int]] = [
        ((tuple(row), label), number)
        for row, label, number in zip(rows, labels, times, strict=True)
        if number
    ]
    return Reading(codes, selection).outline(id3(instances, tuple(order), selection, ops))


if __name__ == "__main__":
    os.nice(10)
    sys.stdout.buffer.write(msgspec.json.encode(here(sys.stdin.buffer.read())))
