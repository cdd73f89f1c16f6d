"""What the output topics of an agent have told so far."""

import time
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from learners.canonical import text_of
from learners.change import ChangeKind
from learners.outline import Size, digest, size
from stream.client.replica import Replica
from stream.config import Agent
from stream.records import published
from stream.records.journal import unpack
from stream.records.record import Record

RECENT = 1_000
KEPT_CHANGES = 100
RATE_SECONDS = 3.0

Steps = tuple[tuple[str, str], ...]
"""Attributes and values that lead from the root to a node."""

_prediction = msgspec.json.Decoder(published.Prediction)
_tree_change = msgspec.json.Decoder(published.TreeChange)


class Happened(NamedTuple):
    """One change of the tree: which record caused it, what it was, where, and when it was read here."""

    cause: published.RecordId
    kind: ChangeKind
    what: str
    place: Steps
    at: float


class DemoResults:
    """Counts and the tree, from records of the topics alone.

    Args:
        agent: Whose topics they are.
    """

    def __init__(self, agent: Agent) -> None:
        self.predictions = 0
        self.correct = 0
        self.dead_letters = 0
        self.classes: set[str] = set()
        self.changes: deque[Happened] = deque(maxlen=KEPT_CHANGES)
        self.drops: list[published.RecordId] = []
        """Which records made it drop the past."""
        self.replica = Replica(agent.name)
        self._topics = agent.topics
        self._recent: deque[bool] = deque(maxlen=RECENT)
        self._rate: deque[tuple[float, int]] = deque()
        self._committed = 0
        self._committed_version = 0

    @property
    def answered(self) -> int:
        """Records of which it is known what became of them."""
        return self.predictions + self.dead_letters

    @property
    def accuracy(self) -> float:
        """The share of right answers."""
        return self.correct / self.predictions if self.predictions else 0.0

    @property
    def recent_accuracy(self) -> float:
        """The share of right answers among the last so many."""
        return sum(self._recent) / len(self._recent) if self._recent else 0.0

    @property
    def size(self) -> Size:
        """The size of the tree."""
        return size(self.replica.outline)

    @property
    def digest(self) -> str:
        """The digest of the tree as it was rebuilt here."""
        return digest(self.replica.outline)

    def is_complete(self, records: int) -> bool:
        """Whether all has been read that so many records lead to.

        A transaction becomes visible topic by topic, so that the last prediction says nothing about the last
        change; the journal says how many changes there are.
        """
        return (
            self.answered >= records
            and self._committed >= records
            and self.replica.version >= self._committed_version
        )

    def rate(self) -> float:
        """Return how many records a second were answered of late."""
        now = time.monotonic()
        self._rate.append((now, self.answered))
        while len(self._rate) > 2 and self._rate[0][0] < now - RATE_SECONDS:
            self._rate.popleft()
        (began, before), (_, after) = self._rate[0], self._rate[-1]
        return (after - before) / (now - began) if now > began else 0.0

    def take(self, records: Iterable[Record]) -> None:
        """Read some records."""
        for record in records:
            topic, value = record.partition.topic, record.value or b""
            if topic == self._topics.predictions:
                self._predicted(_prediction.decode(value))
            elif topic == self._topics.tree_changes:
                self.replica.follow([value])
                self._changed(_tree_change.decode(value))
            elif topic == self._topics.dead_letters:
                self.dead_letters += 1
            elif topic == self._topics.journal:
                entry = unpack(value)
                self._committed = sum(entry.next_offsets.values())
                self._committed_version = entry.version

    def _predicted(self, told: published.Prediction) -> None:
        right = told.correct is True
        self.predictions += 1
        self.correct += right
        self._recent.append(right)
        if told.label is not msgspec.UNSET:
            self.classes.add(text_of(told.label))

    def _changed(self, told: published.TreeChange) -> None:
        now = time.monotonic()
        cause = "spare time" if told.cause is None else told.cause.id
        for change in told.changes:
            place = tuple((step.attribute, step.value) for step in change.path)
            self.changes.append(Happened(cause, change.kind, _in_words(change), place, now))
            if change.kind is ChangeKind.DROPPED:
                self.drops.append(cause)

    def drops_in_words(self, most: int) -> str:
        """Return how often the past was dropped, and the last records at which it was."""
        last = ", ".join(f"#{cause}" for cause in self.drops[-most:])
        more = "" if len(self.drops) <= most else "..., "
        return f"{len(self.drops)} times, at {more}{last}" if self.drops else "never"


def _in_words(change: published.Change) -> str:
    """Return what happened, without where."""
    new = "" if change.new_test is None else change.new_test.attribute
    old = "" if change.old_test is None else change.old_test.attribute
    match change.kind:
        case ChangeKind.PULLED_UP | ChangeKind.REPLACED:
            return f"{change.kind} {new} over {old}"
        case ChangeKind.GREW:
            return f"{change.kind} a test of {new}"
        case ChangeKind.FOLDED:
            return f"{change.kind} {old} into an answer"
        case ChangeKind.BRANCHED:
            return f"{change.kind} a new value"
        case ChangeKind.DROPPED:
            return f"{change.kind} the past: the answers had become worse"
        case ChangeKind.RETIRED:
            return f"{change.kind} {change.attribute}: it has too many values"
        case ChangeKind.RECUT:
            return f"{change.kind} the numbers"
        case _:
            return str(change.kind)
