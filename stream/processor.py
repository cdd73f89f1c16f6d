"""The waist: records in, records out. It knows no broker, no clock and no thread.

A processor belongs to one model of one agent. Everything it knows is in its journal, so that a fresh one
that replays the journal goes on exactly where this one stands.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners import restore_learner
from learners.change import ChangeKind
from learners.codes import Mark, Row
from learners.core.id5r import ANSWERERS
from learners.learner import Anytime, BatchResult, Learner
from learners.learner import Learned as LearnerLearned
from learners.outline import digest, size
from learners.snapshot import SnapshotError
from stream.codec import Decoder, change_record, dead_letter, encode
from stream.errors import RejectedRecord, StateError
from stream.events import (
    Answered,
    Cause,
    Dropped,
    Event,
    Grown,
    Improved,
    Learned,
    Rejected,
    TreeChange,
    TreeName,
    TreeState,
    Turn,
)
from stream.fast.messages import next_offsets, places_of
from stream.fast.predictions import PredictionWriter
from stream.fast.rows import RowReader
from stream.intake import Codings, Intake, Segment
from stream.journal import FORMAT, WITH_IMPROVING, Block, JournalEntry, pack, unpack
from stream.model_state import ModelState, settings_digest
from stream.record import Output, Outputs, Record, Run
from stream.telling import Place, Telling, cause_of

Observe = Callable[[Event], None]


class Processor(Protocol):
    """All an engine knows of us."""

    next_offsets: dict[int, int]
    """For each input partition the offset to read next, as far as this model knows."""

    def process(self, records: list[Record]) -> Outputs:
        """Answer and learn from some records; what it returns must be committed in this order."""
        ...

    @property
    def point(self) -> tuple[int, str]:
        """How many entries the journal has, and the digest of the tree that came of them."""
        ...

    @property
    def retained(self) -> int:
        """How many instances the model stands for."""
        ...

    @property
    def can_improve(self) -> bool:
        """Whether spare time could make the tree better."""
        ...

    def improve(self, units: int) -> None:
        """Spend units of work on a better tree; what comes of it is written with the next batch."""
        ...

    def improved(self) -> Outputs | None:
        """Return what has come of spare time and is to be committed; None where none was spent."""
        ...

    def replay(self, entry: bytes) -> int:
        """Take over a message of the journal; return how many instances it held."""
        ...

    def snapshot(self) -> bytes:
        """Return the whole state."""
        ...

    def restore(self, state: bytes) -> None:
        """Take over the state that `snapshot` returned."""
        ...


class LearningProcessor:
    """Answers each record, then learns from it, and tells what came of it.

    Args:
        learner: The learner, fresh; a journal may be replayed into it.
        decoder: How records are taken apart.
        place: Which model this is and where its records go.
        observe: Told of everything that metrics count.
    """

    def __init__(self, learner: Learner, decoder: Decoder, place: Place, observe: Observe) -> None:
        self.next_offsets: dict[int, int] = {}
        self.version = 0
        self._place = place
        self._observe = observe
        self._sequence = 0
        self._digest = digest(None)
        self._settings = settings_digest(learner)
        self._writer = PredictionWriter(place.agent, place.model, learner.name, place.topic, ANSWERERS)
        self._decoder = decoder
        self._improved = 0
        self._better: list[Output] = []
        self._take(learner)
        self._outputs = Outputs(Run(place.predictions))

    def _take(self, learner: Learner) -> None:
        """Go on with a learner, and with the names it knows."""
        self.learner = learner
        self._anytime = learner if isinstance(learner, Anytime) else None
        decoder = self._decoder
        reader = (
            RowReader(learner.codes, decoder.label, decoder.id_field, decoder.max_bytes)
            if learner.takes_arrays
            else None
        )
        self._intake = Intake(learner.codes, decoder, reader, self._reject)

    @property
    def digest(self) -> str:
        """The digest of the tree."""
        return self._digest

    @property
    def point(self) -> tuple[int, str]:
        """How many entries the journal has, and the digest of the tree that came of them."""
        return self._sequence, self._digest

    @property
    def retained(self) -> int:
        """How many instances the model stands for."""
        return self.learner.retained

    def process(self, records: list[Record]) -> Outputs:
        """Answer each record, learn from it, and return everything that is to be produced."""
        outputs = self._outputs = Outputs(Run(self._place.predictions))
        if not records:
            return outputs
        outputs.others += self._better
        self._better = []
        mark = self.learner.codes.mark()
        blocks: list[Block] = []
        for segment in self._intake.segments(records):
            places = places_of(segment.records)
            self._run(segment, places)
            block = Block.of(segment.rows, segment.labels, places)
            if block is not None:
                blocks.append(block)
        for partition, (_, end) in next_offsets(records).items():
            self.next_offsets[partition.number] = end
        outputs.others.append(self._journal(blocks, mark))
        self._tell_size(outputs)
        return outputs

    def _tell_size(self, outputs: Outputs) -> None:
        outline_size = size(self.learner.outline_lately)
        held: int | None = getattr(self.learner, "model_bytes", None)
        changes = [one.value or b"" for one in outputs.others if one.topic == self._place.tree_changes]
        agent, model = self._place.agent, self._place.model
        bits: tuple[float, float] | None = getattr(self.learner, "description_bits", None)
        drops: tuple[str, int] | None = getattr(self.learner, "past_drops", None)
        self._observe(Grown(agent, model, outline_size, self.learner.retained, held, changes, bits, drops))

    # ---- spare time

    @property
    def can_improve(self) -> bool:
        """Whether spare time could make the tree better."""
        return self._anytime is not None and self._anytime.can_improve

    def improve(self, units: int) -> None:
        """Spend units of work on a better tree; what comes of it is written with the next batch.

        The units go into the journal before the instances that come after them, so that a replay spends as
        many at the same place.
        """
        learner, anytime = self.learner, self._anytime
        assert anytime is not None
        spent, done, saved = learner.ops, anytime.improvements, anytime.saved
        changes = anytime.improve(units)
        self._improved += units
        place = self._place
        if changes:
            told = LearnerLearned.of(changes, learner.ops - spent, learner.outline_lately)
            self._better.append(self._tree_change(None, told))
            self._observe(Learned(place.agent, 0, told.spent, tuple(change.kind for change in changes)))
        done = anytime.improvements - done
        after = anytime.worth if done else 0.0
        before = after + anytime.saved - saved
        self._observe(Improved(place.agent, place.model, units, done, before, after))

    def improved(self) -> Outputs | None:
        """Return what has come of spare time and is to be committed; None where none was spent."""
        if not self._improved:
            return None
        outputs = self._outputs = Outputs(Run(self._place.predictions), self._better)
        self._better = []
        outputs.others.append(self._journal([], self.learner.codes.mark()))
        self._tell_size(outputs)
        return outputs

    def _reject(self, record: Record, error: RejectedRecord) -> None:
        rejected = Rejected(record, error.reason, error.stage, str(error))
        self._outputs.others.append(dead_letter(rejected, self._place.dead_letters, self._place.agent))
        self._observe(Dropped(self._place.agent, error.reason, record.partition.number, record.offset))

    def _run(self, segment: Segment, places: NDArray[np.int64]) -> None:
        """Answer and learn records whose rows have one width, and tell what came of it."""
        labelled = segment.labels >= 0
        known = int(labelled.sum())
        before = self.learner.ops
        self._observe(Turn(self._place.agent))
        result = self._learn(segment.rows, segment.labels)
        self._observe(Turn(self._place.agent, known))
        spent = self.learner.ops - before
        told = Telling(segment, places, result.predictions, self._writer, self.learner.codes)
        start = 0
        kinds: list[ChangeKind] = []
        for index in result.changed:
            learned = result.learned[index]
            assert learned is not None
            self._predict(told, start, index + 1)
            cause = cause_of(segment.records[index], segment.ids[index])
            self._outputs.others.append(self._tree_change(cause, learned))
            kinds += [change.kind for change in learned.changes]
            start = index + 1
        self._predict(told, start, len(segment.records))
        answers, names = told.answered(), self.learner.codes.classes
        hits = (answers == segment.labels)[labelled].tolist()
        unlabelled, model = len(labelled) - known, self._place.model
        self._observe(Answered(self._place.agent, hits, unlabelled, model, segment.labels, answers, names))
        self._observe(Learned(self._place.agent, known, spent, tuple(kinds)))

    def _learn(self, rows: Sequence[Row] | Codings, labels: NDArray[np.int32]) -> BatchResult:
        # A learner that keeps what it is given must not get numbers of numpy, which no snapshot can hold.
        return self.learner.learn_batch(rows, labels if self.learner.takes_arrays else labels.tolist())

    def _predict(self, told: Telling, start: int, end: int) -> None:
        """Tell the predictions of records that were answered by the tree of this moment."""
        answers, records = self._outputs.answers, told.segment.records[start:end]
        tree = b'{"version":%d,"digest":"%b"' % (self.version, self._digest.encode())
        name = TreeName(self.version, self._digest)
        answers.values += told.predictions(self._place, tree, name, start, end)
        answers.keys += [record.key for record in records]
        answers.partitions += told.places[start:end, 0].tolist()

    def _tree_change(self, cause: Cause | None, learned: LearnerLearned) -> Output:
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
            cause=cause,
            changes=tuple(map(change_record, learned.changes)),
            operations=learned.spent.spent(),
            tree=TreeState(self.version, self._digest, before, nodes, leaves, depth),
        )
        return Output(
            self._place.tree_changes, encode(event), self._place.model.encode(), self._place.partition
        )

    # ---- the journal

    def _journal(self, blocks: list[Block], mark: Mark) -> Output:
        entry = JournalEntry(
            format=WITH_IMPROVING if self._improved else FORMAT,
            model=self._place.model,
            sequence=self._sequence,
            learner=self.learner.name,
            settings=self._settings,
            next_offsets=dict(self.next_offsets),
            growth=self.learner.codes.growth(mark),
            blocks=blocks,
            version=self.version,
            digest=self._digest,
            improved=self._improved,
        )
        self._improved = 0
        self._sequence += 1
        return Output(self._place.journal, pack(entry), self._place.model.encode(), self._place.partition)

    def replay(self, entry: bytes) -> int:
        """Take over a message of the journal, and check that the same tree comes of it.

        Raises:
            StateError: The journal is not one that this learner could have written.
        """
        told = unpack(entry)
        self._check(told)
        if told.improved:
            if self._anytime is None:
                raise StateError(f"entry {told.sequence} of {self._place.journal} improves a fixed learner")
            self._anytime.improve(told.improved)
        self.learner.codes.grow(told.growth)
        instances = 0
        for block in told.blocks:
            rows, labels = block.unpack()
            self._learn(rows if self.learner.takes_arrays else list(map(tuple, rows.tolist())), labels)
            instances += len(labels)
        self._digest = digest(self.learner.outline_lately)
        if self._digest != told.digest:
            raise StateError(
                f"entry {told.sequence} of {self._place.journal} leads to tree {self._digest[:12]}, "
                f"but {told.digest[:12]} was written. The learner or the journal has changed"
            )
        self._sequence = told.sequence + 1
        self.version = told.version
        self.next_offsets = dict(told.next_offsets)
        return instances

    def _check(self, told: JournalEntry) -> None:
        """Refuse an entry that does not follow on what has been replayed so far."""
        where = f"entry {told.sequence} of {self._place.journal}"
        if told.sequence != self._sequence:
            raise StateError(f"{where} follows entry {self._sequence - 1}. Part of the journal is missing")
        self._check_origin(told, where)

    def _check_origin(self, told: "JournalEntry | ModelState", where: str) -> None:
        if told.model != self._place.model:
            raise StateError(f'{where} is of model "{told.model}", not "{self._place.model}"')
        if told.learner != self.learner.name or told.settings != self._settings:
            raise StateError(
                f'{where} was written by learner "{told.learner}" with other settings or another schema. '
                "Set them back, or give the agent another name to begin anew"
            )

    # ---- snapshots

    def snapshot(self) -> bytes:
        """Return the whole state, which must be that of a moment when all of it is in the journal."""
        assert not self._improved, "units that are not in the journal would be spent again"
        return msgspec.msgpack.encode(
            ModelState(
                format=FORMAT,
                model=self._place.model,
                sequence=self._sequence,
                learner=self.learner.name,
                settings=self._settings,
                next_offsets=dict(self.next_offsets),
                version=self.version,
                digest=self._digest,
                learner_state=self.learner.snapshot(),
            )
        )

    def restore(self, state: bytes) -> None:
        """Take over a state, and check that it holds the tree it was made of.

        Raises:
            StateError: It is not the state of this model, or its tree is another.
        """
        where = f"a snapshot of {self._place.model}"
        try:
            told = msgspec.msgpack.decode(state, type=ModelState)
            self._check_origin(told, where)
            learner = restore_learner(told.learner_state, self.learner.codes.limits)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, SnapshotError) as error:
            raise StateError(f"{where} cannot be read: {error}") from error
        found = digest(learner.outline_lately)
        if found != told.digest:
            raise StateError(
                f"{where} leads to tree {found[:12]}, but {told.digest[:12]} was written. The learner or the "
                "snapshot has changed"
            )
        self._take(learner)
        self._sequence, self._digest, self.version = told.sequence, told.digest, told.version
        self.next_offsets = dict(told.next_offsets)
