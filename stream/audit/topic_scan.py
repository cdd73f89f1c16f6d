"""The topics of an agent read in the order that an audit needs."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from stream.assembly import processor_factory
from stream.audit.auditor import Auditor, Report
from stream.audit.replay_check import ChangeProof, JournalProof
from stream.config import Agent, Kafka, Limits, Scope
from stream.kafka.topic_reader import Extent, TopicReader
from stream.model.ports import Unit, unit_of
from stream.records.record import Partition, Record
from stream.state.snapshots import Snapshots

SETTLE_SECONDS = 15.0
"""How long the journal may take to reach what other topics show already."""


class AuditProgress(NamedTuple):
    """How far the reading of a topic is."""

    topic: str
    what: str
    records: int
    most: int
    is_done: bool


class Inspection:
    """An audit of an agent on a cluster.

    Args:
        kafka: The cluster.
        agent: The agent.
        limits: What it accepts; a replay needs them.
        repeats: Whether what comes again, the same, is passed over, as it does from at-least-once engines.
        tell: Told how far it is, about once a second.
    """

    def __init__(
        self,
        kafka: Kafka,
        agent: Agent,
        limits: Limits,
        *,
        repeats: bool,
        tell: Callable[[AuditProgress], None],
    ) -> None:
        self.instances: int | None = None
        """How many instances were learned again, where that was asked for."""
        self._agent = agent
        self._limits = limits
        self._tell = tell
        self._reader = TopicReader(kafka)
        self._auditor = Auditor(agent, repeats=repeats)

    def run(self, *, replay: bool = False) -> Report:
        """Read everything and return what is wrong; with `replay`, recompute the trees too."""
        auditor, topics = self._auditor, self._agent.topics
        journal = self._extents(topics.journal)
        self._take(topics.journal, journal, auditor.take_journal)
        auditor.mark()
        self._take(topics.tree_changes, self._extents(topics.tree_changes), auditor.take_change)
        self._take(topics.predictions, self._extents(topics.predictions), auditor.take_prediction)
        self._take(topics.dead_letters, self._extents(topics.dead_letters), auditor.take_dead_letter)
        self._take(self._agent.input, self._extents(self._agent.input), auditor.take_input)
        self._read_on(journal)
        if replay:
            self._replay()
            self._follow()
        return auditor.finish()

    def _extents(self, topic: str) -> dict[int, Extent]:
        extents = self._reader.extents(topic)
        for number, extent in extents.items():
            self._auditor.begin(Partition(topic, number), extent.begin)
        return extents

    def _take(self, topic: str, extents: dict[int, Extent], take: Callable[[Record], None]) -> None:
        for record in self._counted(topic, extents, "read"):
            take(record)

    def _read_on(self, before: dict[int, Extent]) -> None:
        """Read what has come to the journal since: an agent at work is ahead of what was read first."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while self._auditor.is_ahead() and time.monotonic() < deadline:
            now = self._reader.extents(self._agent.topics.journal)
            tail = {number: Extent(before[number].end, extent.end) for number, extent in now.items()}
            for record in self._reader.read(self._agent.topics.journal, tail):
                self._auditor.take_journal(record)
            before = now
            time.sleep(0.2)

    def _unit(self, number: int) -> Unit:
        """Return the model whose journal or changes are in a partition."""
        return unit_of(self._agent.input, number if self._agent.scope is Scope.PARTITION else None)

    def _replay(self) -> None:
        """Learn the journal again."""
        topic = self._agent.topics.journal
        make = processor_factory(self._agent, self._limits, lambda event: None)
        self.instances = 0
        for number, extent in self._reader.extents(topic).items():
            proof = JournalProof(self._unit(number), make, self._auditor.findings)
            if extent.begin > 0:
                # What was deleted of the journal is in a snapshot.
                proof.restore(Partition(topic, number), self._snapshots(number), partial(self._tail, extent))
            else:
                for record in self._counted(topic, {number: extent}, "learned again"):
                    proof.take(record)
            self.instances += proof.instances

    def _snapshots(self, number: int) -> Snapshots:
        topic = self._agent.topics.snapshots
        extents = {number: self._reader.extents(topic)[number]}
        return Snapshots(self._unit(number).model, self._counted(topic, extents, "read"))

    def _tail(self, whole: Extent, place: Partition, start: int) -> Iterator[Record]:
        """Yield the journal from an offset on."""
        extent = Extent(max(start, whole.begin), whole.end)
        return self._counted(place.topic, {place.number: extent}, "learned again")

    def _follow(self) -> None:
        """Follow the changes."""
        topic = self._agent.topics.tree_changes
        for number, extent in self._reader.extents(topic).items():
            proof = ChangeProof(self._agent.name, self._unit(number).model, self._auditor.findings)
            for record in self._counted(topic, {number: extent}, "followed"):
                proof.take(record)

    def _counted(self, topic: str, extents: dict[int, Extent], what: str) -> Iterator[Record]:
        """Yield the records of a topic and tell how far it is."""
        most = sum(extent.end - extent.begin for extent in extents.values())
        told, seen = time.monotonic(), 0
        for record in self._reader.read(topic, extents):
            seen += 1
            if time.monotonic() - told > 1:
                told = time.monotonic()
                self._tell(AuditProgress(topic, what, seen, most, is_done=False))
            yield record
        self._tell(AuditProgress(topic, what, seen, most, is_done=True))
