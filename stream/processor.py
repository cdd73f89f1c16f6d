"""The waist: records in, records out. It knows no broker, no clock and no thread.

A processor belongs to one model of one agent. Everything it knows is in its journal, so that a fresh one
that replays the journal goes on exactly where this one stands.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import msgspec

from learners.codes import Mark, Row
from learners.learner import Learned as LearnerLearned
from learners.learner import Learner
from learners.learner import Prediction as Answer
from learners.outline import digest, size
from learners.schema import InstanceError
from stream.codec import Decoded, Decoder, change_record, dead_letter, encode
from stream.errors import RejectedRecord, StateError
from stream.events import (
    Answered,
    Cause,
    Dropped,
    Event,
    Grown,
    LeafCounts,
    Learned,
    Prediction,
    Rejected,
    Source,
    TreeChange,
    TreeName,
    TreeState,
)
from stream.journal import FORMAT, JournalEntry, pack, unpack
from stream.record import Output, Record

Observe = Callable[[Event], None]


class Processor(Protocol):
    """All an engine knows of us."""

    next_offsets: dict[int, int]
    """For each input partition the offset to read next, as far as this model knows."""

    def process(self, records: Sequence[Record]) -> Sequence[Output]:
        """Answer and learn from some records; what is returned must be committed before the next call."""
        ...

    def replay(self, entry: bytes) -> int:
        """Take over a message of the journal; return how many instances it held."""
        ...


class Place(NamedTuple):
    """Which model a processor keeps and where its records go.

    `partition` is the one of the journal and of the tree changes, which keeps them in order.
    """

    agent: str
    model: str
    partition: int
    predictions: str
    tree_changes: str
    dead_letters: str
    journal: str


class _Accepted(NamedTuple):
    """A record that fits, waiting to be answered and learned."""

    record: Record
    decoded: Decoded
    row: Row
    label: int


class LearningProcessor:
    """Answers each record, then learns from it, and tells what came of it.

    Args:
        learner: The learner, fresh; a journal may be replayed into it.
        decoder: How records are taken apart.
        place: Which model this is and where its records go.
        observe: Told of everything that metrics count.
    """

    def __init__(self, learner: Learner, decoder: Decoder, place: Place, observe: Observe) -> None:
        self.learner = learner
        self.next_offsets: dict[int, int] = {}
        self.version = 0
        self._decoder = decoder
        self._place = place
        self._observe = observe
        self._sequence = 0
        self._digest = digest(None)
        self._settings = _settings_digest(learner)

    @property
    def digest(self) -> str:
        """The digest of the tree."""
        return self._digest

    def process(self, records: Sequence[Record]) -> Sequence[Output]:
        """Answer each record, learn from it, and return everything that is to be produced."""
        outputs: list[Output] = []
        mark = self.learner.codes.mark()
        learned: list[_Accepted] = []
        waiting: list[_Accepted] = []
        for record in records:
            self.next_offsets[record.partition.number] = record.offset + 1
            try:
                accepted = self._accept(record)
            except RejectedRecord as error:
                rejected = Rejected(record, error.reason, error.stage, str(error))
                outputs.append(dead_letter(rejected, self._place.dead_letters, self._place.agent))
                self._observe(Dropped(self._place.agent, error.reason))
                continue
            if waiting and len(accepted.row) > len(waiting[-1].row):
                # An attribute has appeared: rows of one call to the learner have one width.
                self._run(waiting, outputs)
                waiting = []
            waiting.append(accepted)
            if accepted.label >= 0:
                learned.append(accepted)
        if waiting:
            self._run(waiting, outputs)
        if records:
            outputs.append(self._journal(learned, mark))
            self._observe(
                Grown(
                    self._place.agent, self._place.model, size(self.learner.outline()), self.learner.retained
                )
            )
        return outputs

    def _accept(self, record: Record) -> _Accepted:
        decoded = self._decoder.decode(record)
        try:
            if decoded.label is None:
                return _Accepted(record, decoded, self.learner.codes.look_up(decoded.values), -1)
            row, label = self.learner.codes.encode(decoded.values, decoded.label)
        except InstanceError as error:
            raise RejectedRecord(error.misfit.value, "learn", str(error)) from error
        return _Accepted(record, decoded, row, label)

    def _run(self, batch: Sequence[_Accepted], outputs: list[Output]) -> None:
        """Answer and learn a batch of rows of one width."""
        result = self.learner.learn_batch([one.row for one in batch], [one.label for one in batch])
        for one, answer, learned in zip(batch, result.predictions, result.learned, strict=True):
            outputs.append(self._prediction(one, answer))
            if learned is None:
                continue
            self._observe(
                Learned(self._place.agent, learned.spent, tuple(change.kind for change in learned.changes))
            )
            if learned.changes:
                outputs.append(self._tree_change(one, learned))

    def _prediction(self, one: _Accepted, answer: Answer) -> Output:
        label = self.learner.codes.classes[one.label] if one.label >= 0 else None
        correct = None if label is None else answer.answer == label
        self._observe(Answered(self._place.agent, answer.answer, label, correct))
        record = one.record
        event = Prediction(
            id=one.decoded.id,
            agent=self._place.agent,
            model=self._place.model,
            learner=self.learner.name,
            prediction=answer.answer,
            probabilities=answer.probabilities,
            path=answer.path,
            leaf=LeafCounts(dict(answer.counts)),
            flags=answer.flags,
            tree=TreeName(self.version, self._digest),
            source=Source(record.partition.topic, record.partition.number, record.offset),
            label=msgspec.UNSET if label is None else label,
            correct=msgspec.UNSET if correct is None else correct,
        )
        return Output(self._place.predictions, encode(event), record.key, record.partition.number)

    def _tree_change(self, one: _Accepted, learned: LearnerLearned) -> Output:
        record = one.record
        assert learned.digest is not None
        assert learned.size is not None
        before, self._digest = self._digest, learned.digest
        self.version += 1
        nodes, leaves, depth = learned.size
        event = TreeChange(
            agent=self._place.agent,
            model=self._place.model,
            learner=self.learner.name,
            seq=self.version,
            cause=Cause(record.partition.topic, record.partition.number, record.offset, one.decoded.id),
            changes=tuple(map(change_record, learned.changes)),
            operations=learned.spent.spent(),
            tree=TreeState(self.version, self._digest, before, nodes, leaves, depth),
        )
        return Output(
            self._place.tree_changes, encode(event), self._place.model.encode(), self._place.partition
        )

    # ---- the journal

    def _journal(self, learned: Sequence[_Accepted], mark: Mark) -> Output:
        entry = JournalEntry(
            format=FORMAT,
            model=self._place.model,
            sequence=self._sequence,
            learner=self.learner.name,
            settings=self._settings,
            next_offsets=dict(self.next_offsets),
            growth=self.learner.codes.growth(mark),
            rows=[one.row for one in learned],
            labels=[one.label for one in learned],
            positions=[(one.record.partition.number, one.record.offset) for one in learned],
            version=self.version,
            digest=self._digest,
        )
        self._sequence += 1
        return Output(self._place.journal, pack(entry), self._place.model.encode(), self._place.partition)

    def replay(self, entry: bytes) -> int:
        """Take over a message of the journal, and check that the same tree comes of it.

        Raises:
            StateError: The journal is not one that this learner could have written.
        """
        told = unpack(entry)
        self._check(told)
        self.learner.codes.grow(told.growth)
        for row, label in zip(told.rows, told.labels, strict=True):
            self.learner.learn(row, label)
        self._digest = digest(self.learner.outline())
        if self._digest != told.digest:
            raise StateError(
                f"entry {told.sequence} of {self._place.journal} leads to tree {self._digest[:12]}, "
                f"but {told.digest[:12]} was written. The learner or the journal has changed"
            )
        self._sequence = told.sequence + 1
        self.version = told.version
        self.next_offsets = dict(told.next_offsets)
        return len(told.rows)

    def _check(self, told: JournalEntry) -> None:
        """Refuse an entry that does not follow on what has been replayed so far."""
        where = f"entry {told.sequence} of {self._place.journal}"
        if told.model != self._place.model:
            raise StateError(f'{where} is of model "{told.model}", not "{self._place.model}"')
        if told.sequence != self._sequence:
            raise StateError(f"{where} follows entry {self._sequence - 1}. Part of the journal is missing")
        if told.learner != self.learner.name or told.settings != self._settings:
            raise StateError(
                f'{where} was written by learner "{told.learner}" with other settings or another schema. '
                "Set them back, or give the agent another name to begin anew"
            )


def _settings_digest(learner: Learner) -> str:
    """Return a digest of what decides how a learner grows its tree."""
    told = msgspec.json.encode([learner.name, learner.options, learner.schema], order="deterministic")
    return hashlib.sha256(told).hexdigest()[:16]
