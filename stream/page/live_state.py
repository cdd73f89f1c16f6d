"""What the agents' threads tell, and what readers of the page look at.

Each part is written by one agent's thread alone, by replacing a value or by appending to a queue that forgets
its oldest entries: the learning loop never waits here, whoever reads.
"""

import time
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from learners.outline import Outline
from stream.config import Agent
from stream.events import (
    BatchPredicted,
    Committed,
    Event,
    ModelCreated,
    ModelMeasured,
    ModelView,
    PartitionProgress,
    Rebalanced,
    RecordRejected,
    RestoreFinished,
)

RECENT = 1_000
"""Records over which accuracy is told."""
WAITING_STEPS = 64
"""Batches with changes that wait for the presenter; of more, the oldest are forgotten."""
WAITING_BYTES = 65_536
"""Bytes of changes that wait of one batch."""
SHARE_WATCHED = 100
SHARE_UNWATCHED = 1_000
"""Counting a tree again may take one part in so many of the agent's time."""
SAVED_SECONDS = 0.02
"""How much of it may be saved up: a short burst of batches is counted to its last."""

_ALL = ("", 0)
"""The place of a lag that is known for all partitions together."""


class Shown(NamedTuple):
    """A tree at some moment."""

    version: int
    digest: str
    outline: Outline | None
    retained: int
    at: float


class Step(NamedTuple):
    """What a batch did to a tree: the tree after it, the last of its changes, and how many came before."""

    shown: Shown
    changes: Sequence[bytes]
    passed: int


class ModelBoard:
    """One model. `counted` is the last tree whose counts were those of its moment."""

    def __init__(self, agent: str, model: str, processor: ModelView) -> None:
        self.agent = agent
        self.model = model
        self.steps: deque[Step] = deque(maxlen=WAITING_STEPS)
        self.latest: Shown | None = None
        self.counted: Shown | None = None
        self._processor = weakref.ref(processor)
        self._credit = SAVED_SECONDS
        self._credit_at = time.monotonic()

    def look(self, changes: Sequence[bytes], *, watched: bool) -> None:
        """Take what is there; called by the thread that learns, between batches."""
        processor = self._processor()
        if processor is None:
            return
        now, learner = time.monotonic(), processor.learner
        earned = (now - self._credit_at) / (SHARE_WATCHED if watched else SHARE_UNWATCHED)
        self._credit_at, self._credit = now, min(SAVED_SECONDS, self._credit + earned)
        if self._credit > 0:
            began = time.thread_time()
            outline = learner.outline()
            self._credit -= time.thread_time() - began
            shown = Shown(processor.version, processor.digest, outline, learner.retained, time.time())
            self.latest = self.counted = shown
        elif changes or self.latest is None:
            shown = Shown(
                processor.version, processor.digest, learner.outline_lately, learner.retained, time.time()
            )
            self.latest = shown
        else:
            return
        if changes:
            last = _last(changes)
            self.steps.append(Step(shown, last, len(changes) - len(last)))


def _last(changes: Sequence[bytes]) -> Sequence[bytes]:
    """Return the last of some records, as many as may wait; at least one."""
    room = WAITING_BYTES
    for place in range(len(changes) - 1, -1, -1):
        room -= len(changes[place])
        if room < 0:
            return changes[min(place + 1, len(changes) - 1) :]
    return changes


class AgentBoard:
    """One agent: what it has done so far. Replaced or counted up by its own thread alone."""

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        self.learner = agent.learner
        self.input = agent.input
        self.answered = 0
        self.labelled = 0
        self.right = 0
        self.dead_letters = 0
        self.aborted = 0
        self.lags: Mapping[tuple[str, int], int] = {}
        self.models: Mapping[str, ModelBoard] = {}
        self._batches: deque[tuple[int, int]] = deque()
        self._in_batches = 0
        self._right_in_batches = 0
        self.recent: float | None = None

    @property
    def lag(self) -> int | None:
        """How many records have not been read yet, where that is known."""
        lags = self.lags
        return sum(lags.values()) if lags else None

    def take_lag(self, place: tuple[str, int], lag: int) -> None:
        """Note how far a partition's end is away; that is better than what somebody has said of them all."""
        self.lags = {**{one: known for one, known in self.lags.items() if one != _ALL}, place: lag}

    def take_answers(self, event: BatchPredicted) -> None:
        """Count answers. What is recent is known to the batch, not to the record."""
        labelled, right = len(event.hits), sum(event.hits)
        self.answered += labelled + event.unlabelled
        if not labelled:
            return
        self.labelled += labelled
        self.right += right
        batches = self._batches
        batches.append((labelled, right))
        self._in_batches += labelled
        self._right_in_batches += right
        while self._in_batches - batches[0][0] >= RECENT:
            gone, gone_right = batches.popleft()
            self._in_batches -= gone
            self._right_in_batches -= gone_right
        self.recent = self._right_in_batches / self._in_batches

    def forget(self, places: Sequence[tuple[str, int]]) -> None:
        """Drop what is kept elsewhere now: a model has the name of its topic, or of one partition of it."""
        gone = {topic for topic, _ in places} | {f"{topic}/{number}" for topic, number in places}
        self.models = {name: model for name, model in self.models.items() if name not in gone}
        self.lags = {place: lag for place, lag in self.lags.items() if place not in places}


class LiveState:
    """All agents of a worker.

    Args:
        agents: The agents.
    """

    def __init__(self, agents: Sequence[Agent]) -> None:
        self.agents: Mapping[str, AgentBoard] = {agent.name: AgentBoard(agent) for agent in agents}
        self.viewers = 0
        """How many pages are open: a tree that somebody looks at is counted more often."""

    def set_lag(self, agent: str, lag: int) -> None:
        """Hear how many records wait, from somebody who knows without a broker."""
        board = self.agents[agent]
        if set(board.lags) <= {_ALL}:
            board.lags = {_ALL: lag}

    def observe(self, event: Event) -> None:
        """Hear of an event; called by the agents' threads."""
        board = self.agents.get(event.agent)
        if board is None:
            return
        match event:
            case BatchPredicted():
                board.take_answers(event)
            case PartitionProgress():
                board.take_lag((event.topic, event.partition), event.lag)
            case RecordRejected():
                board.dead_letters += 1
            case Committed() if event.result == "aborted":
                board.aborted += 1
            case ModelCreated():
                model = ModelBoard(event.agent, event.model, event.standing)
                board.models = {**board.models, event.model: model}
            case ModelMeasured():
                self._look(board, event.model, event.changes)
            case RestoreFinished():
                self._look(board, event.model, ())
            case Rebalanced():
                board.forget(event.revoked)
            case _:
                pass

    def _look(self, board: AgentBoard, model: str, changes: Sequence[bytes]) -> None:
        """Take what a model's processor has to show; this is its thread, and it is between batches."""
        known = board.models.get(model)
        if known is not None:
            known.look(changes, watched=self.viewers > 0)
