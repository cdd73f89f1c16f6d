"""Dead letters sent to the input again, each at most once.

A transaction holds some records for the input and a mark in the topic of the dead letters that says how far
they were sent. Either both are there or neither, so that a run that was interrupted is gone on with by the
next one. Whoever begins takes the transactional id first, which ends every run that is under way, and then
reads the marks: what another run had committed is among them.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from stream.config import Agent, Kafka
from stream.errors import EngineError
from stream.kafka.topic_reader import Extent, TopicReader
from stream.kafka.topics import TopicAdmin
from stream.kafka.transactions import TransactionalWriter
from stream.records.dead_letters import ANY_REASON, REDRIVEN, Letter, Mark, NotALetter, Tally, parse
from stream.records.record import Output, OutputColumn, Outputs, Record

MAX_REDRIVES = 3
"""A record that failed again so often is not sent once more unless it is forced."""
MAX_BYTES = 8 << 20
"""How large the values of one transaction may be; one record may be larger."""

Tell = Callable[[str, int, int], None]
"""Told what is being done, how many records were read, and at most how many there are."""


class Why(StrEnum):
    """Why a dead letter is not sent."""

    OMITTED = "its value was left out because it was too large"
    TOO_OFTEN = f"it was sent {MAX_REDRIVES} times already and failed each time; --force sends it again"
    OTHER_INPUT = "its record came from another topic than the input of the agent"
    OTHER_AGENT = "it belongs to another agent"
    UNREADABLE = "it is not a dead letter of Espalier"


class RedrivePlan(NamedTuple):
    """What is sent, or would be: by reason and field; and what is not."""

    chosen: Tally
    left: Counter[Why]
    done: int
    """How many were sent by an earlier run."""


class RedriveProgress:
    """What the marks in the partitions of a topic say: which letters have been sent."""

    def __init__(self) -> None:
        self._upto: dict[tuple[int, str, str, bool], int] = {}

    def add(self, partition: int, mark: Mark) -> None:
        """Take a mark of a partition."""
        key = partition, mark.input, mark.reason, mark.force
        self._upto[key] = max(mark.upto, self._upto.get(key, 0))

    def has(self, letter: Letter) -> bool:
        """Whether a letter was sent; one that had been sent too often is sent by runs with force alone."""
        forced = (True,) if letter.redriven >= MAX_REDRIVES else (True, False)
        place, offset = letter.record.partition.number, letter.record.offset
        return any(
            offset < self._upto.get((place, letter.source.topic, reason, force), 0)
            for reason in (letter.reason, ANY_REASON)
            for force in forced
        )


class Redrive:
    """One run for one agent.

    Args:
        kafka: The cluster.
        agent: The agent.
        reason: Only letters with this reason; None: all.
        force: Whether letters are sent that were sent `MAX_REDRIVES` times already.
        batch: How many records make a transaction.
        tell: Told now and then how far it is.

    Raises:
        EngineError: A topic is missing, or the broker cannot be reached.
    """

    def __init__(
        self, kafka: Kafka, agent: Agent, *, reason: str | None, force: bool, batch: int, tell: Tell
    ) -> None:
        self._kafka = kafka
        self._agent = agent
        self._reason = reason
        self._force = force
        self._batch = batch
        self._tell = tell
        self._reader = TopicReader(kafka)
        self._writer: TransactionalWriter | None = None
        self._progress = RedriveProgress()
        self._extents: dict[int, Extent] = {}

    def open(self) -> None:
        """Become the one that writes: a run that is under way elsewhere ends with its next transaction."""
        names = (self._agent.input, self._agent.topics.dead_letters)
        known = TopicAdmin(self._kafka).describe(names)
        for name in names:
            if name not in known:
                raise EngineError(f'there is no topic "{name}". Make it with "espalier topics create"')
        partitions = {name: facts.partitions for name, facts in known.items()}
        self._writer = TransactionalWriter(
            self._kafka, f"{self._agent.group}:redrive", partitions, lambda why: None
        )

    def read_marks(self) -> None:
        """Find out what earlier runs have sent. What comes after this moment is left to the next run."""
        self._extents = self._reader.extents(self._agent.topics.dead_letters)
        for record in self._records("reading marks", self._extents):
            try:
                letter = parse(record)
            except NotALetter:
                continue
            if isinstance(letter, Mark) and letter.agent == self._agent.name:
                self._progress.add(record.partition.number, letter)

    def plan(self) -> RedrivePlan:
        """Return what a run would send."""
        plan = RedrivePlan(Tally(), Counter(), 0)
        for letter in self._choose("counting", self._extents, plan.left):
            if self._progress.has(letter):
                plan = plan._replace(done=plan.done + 1)
            else:
                plan.chosen.add(letter.reason, letter.field)
        return plan

    def run(self) -> RedrivePlan:
        """Send; return what was sent.

        Raises:
            EngineError: A transaction failed. What was committed is sent, the rest is not.
        """
        plan = RedrivePlan(Tally(), Counter(), 0)
        for number, extent in self._extents.items():
            waiting: list[Letter] = []
            size = 0
            for letter in self._choose("sending", {number: extent}, plan.left):
                if self._progress.has(letter):
                    plan = plan._replace(done=plan.done + 1)
                    continue
                length = len(letter.record.value or b"")
                if waiting and (len(waiting) == self._batch or size + length > MAX_BYTES):
                    self._send(waiting)
                    waiting, size = [], 0
                waiting.append(letter)
                size += length
                plan.chosen.add(letter.reason, letter.field)
            if waiting:
                self._send(waiting)
        return plan

    def close(self) -> None:
        """Leave."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _choose(self, what: str, extents: dict[int, Extent], left: Counter[Why]) -> Iterator[Letter]:
        """Yield the letters that are meant and can be sent; count the others."""
        for record in self._records(what, extents):
            try:
                letter = parse(record)
            except NotALetter:
                left[Why.UNREADABLE] += 1
                continue
            if isinstance(letter, Mark):
                continue
            if letter.agent != self._agent.name:
                left[Why.OTHER_AGENT] += 1
            elif self._reason is not None and letter.reason != self._reason:
                continue
            elif letter.source.topic != self._agent.input:
                left[Why.OTHER_INPUT] += 1
            elif letter.omitted:
                left[Why.OMITTED] += 1
            elif letter.redriven >= MAX_REDRIVES and not self._force and not self._progress.has(letter):
                left[Why.TOO_OFTEN] += 1
            else:
                yield letter

    def _records(self, what: str, extents: dict[int, Extent]) -> Iterator[Record]:
        most = sum(extent.end - extent.begin for extent in extents.values())
        for seen, record in enumerate(self._reader.read(self._agent.topics.dead_letters, extents), 1):
            self._tell(what, seen, most)
            yield record

    def _send(self, letters: list[Letter]) -> None:
        """Commit some letters of one partition, and the mark that they were sent."""
        assert self._writer is not None
        last = letters[-1].record
        sent = Counter(letter.reason for letter in letters)
        reason = ANY_REASON if self._reason is None else self._reason
        mark = Mark(self._agent.name, self._agent.input, reason, self._force, last.offset + 1, dict(sent))
        outputs = [self._output(letter) for letter in letters]
        outputs.append(mark.output(last.partition))
        self._writer.write(
            [Outputs(OutputColumn(self._agent.input), outputs)], [], None, lambda seconds: None
        )
        self._writer.settle()

    def _output(self, letter: Letter) -> Output:
        count = (REDRIVEN, str(letter.redriven + 1).encode())
        record = letter.record
        return Output(
            self._agent.input, record.value, record.key, letter.source.number, (*letter.headers(), count)
        )
