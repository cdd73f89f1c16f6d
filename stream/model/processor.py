"""The waist: records in, records out. It knows no broker, no clock and no thread.

A processor belongs to one model of one agent. Everything it knows is in its journal, so that a fresh one
that replays the journal goes on exactly where this one stands.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.capabilities import Anytime, Deferring
from learners.change import ChangeKind
from learners.clock import ClockState
from learners.id5r.options import ANSWERERS
from learners.learner import BatchResult, Learner
from learners.learner import Learned as LearnerLearned
from learners.outline import digest
from learners.registry import restore_learner
from learners.snapshot import SnapshotError
from learners.vocabulary import Mark, Row
from stream.errors import RejectedRecord, StateError
from stream.events import (
    BatchPredicted,
    Improved,
    Learned,
    LearnTimed,
)
from stream.model.fingerprint import StateSettings
from stream.model.happenings import attribute_retired, field_noted, model_measured, record_rejected
from stream.model.net_change import NetChange
from stream.model.number_hints import NumberHints, Observe
from stream.model.predictions import ModelRoute, PredictionBatch, cause_of
from stream.model.row_decoder import Codings, RowDecoder, Segment
from stream.model.tree_changes import change_output
from stream.native.messages import next_offsets, places_of
from stream.native.predictions import PredictionWriter
from stream.native.rows import RowReader
from stream.records.dead_letter import Rejected, dead_letter
from stream.records.journal import FORMAT, WITH_IMPROVING, WITH_RETIRED, Block, JournalEntry, pack, unpack
from stream.records.json_decoder import Decoder
from stream.records.model_state import ModelState
from stream.records.published import Cause, TreeName
from stream.records.record import Output, OutputColumn, Outputs, Record


class LearningProcessor:
    """Answers each record, then learns from it, and tells what came of it.

    Args:
        learner: The learner, fresh; a journal may be replayed into it.
        decoder: How records are taken apart.
        place: Which model this is and where its records go.
        observe: Told of everything that metrics count.
        net_changes: Whether only the net change of the tree is published, once for each call of `process`.
    """

    def __init__(
        self,
        learner: Learner,
        decoder: Decoder,
        place: ModelRoute,
        observe: Observe,
        *,
        net_changes: bool = False,
    ) -> None:
        self.next_offsets: dict[int, int] = {}
        self.version = 0
        self._place = place
        self._observe = observe
        self._net = NetChange() if net_changes else None
        self._sequence = 0
        self._digest = digest(None)
        self._settings = StateSettings(learner, decoder)
        self._hints = NumberHints(place, observe)
        self._writer = PredictionWriter(place.agent, place.model, learner.name, place.topic, ANSWERERS)
        self._decoder = decoder
        self._improved = 0
        self._better: list[Output] = []
        self._take(learner)
        self._outputs = Outputs(OutputColumn(place.predictions))

    def _take(self, learner: Learner) -> None:
        """Go on with a learner, and with the names it knows."""
        self.learner = learner
        self._anytime = learner if isinstance(learner, Anytime) else None
        self._deferring = learner if isinstance(learner, Deferring) else None
        if self._deferring is not None:
            self._deferring.publishes_each = self._net is None
        decoder = self._decoder
        reader = (
            RowReader(learner.codes, decoder.label, decoder.id_field, decoder.max_bytes, decoder.max_depth)
            if learner.takes_arrays
            else None
        )
        self._intake = RowDecoder(learner.codes, decoder, reader, self._reject, self._note)

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
        outputs = self._outputs = Outputs(OutputColumn(self._place.predictions))
        if not records:
            return outputs
        outputs.others += self._better
        self._better = []
        mark = self.learner.codes.mark()
        if self._net is not None:
            self._net.begin(self.learner)
        blocks: list[Block] = []
        for segment in self._intake.segments(records):
            places = places_of(segment.records)
            self._run(segment, places)
            block = Block.of(segment.rows, segment.labels, places, segment.retired)
            if block is not None:
                blocks.append(block)
        if self._net is not None:
            self._publish_net(self._net)
        self._hints.look(self.learner, records[-1])
        for partition, (_, end) in next_offsets(records).items():
            self.next_offsets[partition.number] = end
        outputs.others.append(self._journal(blocks, mark))
        self._tell_size(outputs)
        return outputs

    def _tell_size(self, outputs: Outputs) -> None:
        changes = [one.value or b"" for one in outputs.others if one.topic == self._place.tree_changes]
        self._observe(model_measured(self._place, self.learner, changes))

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
        outputs = self._outputs = Outputs(OutputColumn(self._place.predictions), self._better)
        self._better = []
        outputs.others.append(self._journal([], self.learner.codes.mark()))
        self._tell_size(outputs)
        return outputs

    def _reject(self, record: Record, error: RejectedRecord) -> None:
        message = str(error)
        rejected = Rejected(record, error.reason, error.stage, message, error.field)
        self._outputs.others.append(dead_letter(rejected, self._place.dead_letters, self._place.agent))
        self._observe(record_rejected(self._place, record, error))

    def _note(self, record: Record, field: str, flag: str) -> None:
        self._observe(field_noted(self._place, record, field, flag))

    def _retire(self, record: Record, id_text: bytes, attributes: tuple[int, ...]) -> None:
        """Leave attributes out of the tree, before the record that has one value too many is predicted."""
        learner = self.learner
        before = learner.ops
        changes = learner.retire(attributes)
        change = LearnerLearned.of(changes, learner.ops - before, learner.outline_lately)
        self._outputs.others.append(self._tree_change(cause_of(record, id_text), change))
        if self._net is not None:
            self._net.begin(learner)
        self._observe(Learned(self._place.agent, 0, change.spent, tuple(one.kind for one in changes)))
        for attribute in attributes:
            self._observe(attribute_retired(self._place, record, learner.codes, attribute))

    def _run(self, segment: Segment, places: NDArray[np.int64]) -> None:
        """Answer and learn records whose rows have one width, and tell what came of it."""
        if segment.retired:
            self._retire(segment.records[0], segment.ids[0], segment.retired)
        labelled = segment.labels >= 0
        known = int(labelled.sum())
        before = self.learner.ops
        self._observe(LearnTimed(self._place.agent))
        result = self._learn(segment.rows, segment.labels)
        self._observe(LearnTimed(self._place.agent, known))
        spent = self.learner.ops - before
        told = PredictionBatch(segment, places, result.predictions, self._writer, self.learner.codes)
        start = 0
        kinds: list[ChangeKind] = []
        for index in result.changed if self._net is None else ():
            learned = result.learned[index]
            assert learned is not None
            self._predict(told, start, index + 1)
            cause = cause_of(segment.records[index], segment.ids[index])
            self._outputs.others.append(self._tree_change(cause, learned))
            kinds += [change.kind for change in learned.changes]
            start = index + 1
        self._predict(told, start, len(segment.records), -1 if self._net is None else self._net.records)
        if self._net is not None:
            self._net.add(segment)
        answers, names = told.answered(), self.learner.codes.classes
        hits = (answers == segment.labels)[labelled].tolist()
        unlabelled, model = len(labelled) - known, self._place.model
        self._observe(
            BatchPredicted(self._place.agent, hits, unlabelled, model, segment.labels, answers, names)
        )
        self._observe(Learned(self._place.agent, known, spent, tuple(kinds)))

    def _learn(self, rows: Sequence[Row] | Codings, labels: NDArray[np.int32]) -> BatchResult:
        # A learner that keeps what it is given must not get numbers of numpy, which no snapshot can hold.
        return self.learner.learn_batch(rows, labels if self.learner.takes_arrays else labels.tolist())

    def _publish_net(self, net: NetChange) -> None:
        """Publish how the tree has changed since the transaction began."""
        before = self.learner.ops
        changes = net.changes(self.learner, self._deferring)
        kinds = tuple(change.kind for change in changes)
        self._observe(Learned(self._place.agent, 0, self.learner.ops - before, kinds))
        if not changes or net.last is None:
            return
        learned = LearnerLearned.of(changes, self.learner.ops - net.ops, self.learner.outline_lately)
        segment = net.last
        cause = cause_of(segment.records[-1], segment.ids[-1])
        self._outputs.others.append(self._tree_change(cause, learned, net.records))

    def _predict(self, told: PredictionBatch, start: int, end: int, since: int = -1) -> None:
        """Tell the predictions of records: by the tree of this moment, or by one that grew meanwhile."""
        answers, records = self._outputs.answers, told.segment.records[start:end]
        name = TreeName(self.version, self._digest)
        answers.values += told.predictions(self._place, name, start, end, since)
        answers.keys += [record.key for record in records]
        answers.partitions += told.places[start:end, 0].tolist()

    def _tree_change(
        self, cause: Cause | None, learned: LearnerLearned, net_of: int | msgspec.UnsetType = msgspec.UNSET
    ) -> Output:
        self.version += 1
        before, self._digest = self._digest, learned.digest or ""
        return change_output(self._place, self.learner.name, self.version, before, cause, learned, net_of)

    # ---- the journal

    @property
    def _clock(self) -> ClockState | None:
        clock = self.learner.codes.clock
        return None if clock is None else clock.state

    def _set_clock(self, state: ClockState | None) -> None:
        clock = self.learner.codes.clock
        if clock is not None and state is not None:
            clock.state = state

    def _journal(self, blocks: list[Block], mark: Mark) -> Output:
        retires = any(block.retired for block in blocks)
        entry = JournalEntry(
            format=WITH_RETIRED if retires else WITH_IMPROVING if self._improved else FORMAT,
            model=self._place.model,
            sequence=self._sequence,
            learner=self.learner.name,
            settings=self._settings.fingerprint,
            next_offsets=dict(self.next_offsets),
            growth=self.learner.codes.growth(mark),
            blocks=blocks,
            version=self.version,
            digest=self._digest,
            improved=self._improved,
            described=self._settings.write(is_first=not self._sequence),
            clock=self._clock,
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
            if block.retired:
                self.learner.retire(block.retired)
            rows, labels = block.unpack()
            if self._deferring is None:
                self._learn(rows if self.learner.takes_arrays else list(map(tuple, rows.tolist())), labels)
            else:
                self._deferring.learn_rows(rows, labels)
            instances += len(labels)
        if self._deferring is not None:
            self._deferring.publish()
        self._set_clock(told.clock)
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
        found = self._settings.differ(told.learner, told.settings, told.described)
        if found:
            raise StateError(
                f"{where} was written with other settings: {found}. Set them back, or give the agent another "
                "name to begin again"
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
                settings=self._settings.fingerprint,
                next_offsets=dict(self.next_offsets),
                version=self.version,
                digest=self._digest,
                learner_state=self.learner.snapshot(),
                described=self._settings.text,
                clock=self._clock,
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
            learner = restore_learner(told.learner_state, self.learner.codes.limits, self.learner.options)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, SnapshotError) as error:
            raise StateError(f"{where} cannot be read: {error}") from error
        found = digest(learner.outline_lately)
        if found != told.digest:
            raise StateError(
                f"{where} leads to tree {found[:12]}, but {told.digest[:12]} was written. The learner or the "
                "snapshot has changed"
            )
        self._take(learner)
        self._set_clock(told.clock)
        self._sequence, self._digest, self.version = told.sequence, told.digest, told.version
        self.next_offsets = dict(told.next_offsets)
