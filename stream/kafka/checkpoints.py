"""What a session on confluent-kafka knows of its models' state: where it comes from and when it is kept."""

import logging
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from stream.config import Agent, Kafka, State, Timeouts
from stream.errors import Abortable, StateError
from stream.events import RestoreFinished, RestoreProgress, Snapshotted
from stream.kafka.client_errors import classify
from stream.kafka.clients import CONFLUENT, Clients, base_settings, client, consumer_settings
from stream.kafka.membership import Membership
from stream.kafka.reading import ends_of, read_to_end
from stream.model.number_hints import Observe
from stream.model.ports import MakeProcessor, Unit
from stream.model.processing import Processor
from stream.records.record import Output, Partition, Record
from stream.state.restore import RestoredModel as Standing
from stream.state.restore import restore
from stream.state.schedule import Schedule
from stream.state.snapshot_format import Manifest, SnapshotPoint
from stream.state.snapshot_writer import SnapshotWriter
from stream.state.snapshots import Snapshots

log = logging.getLogger(__name__)

JOURNAL_SECONDS = Timeouts().marker_seconds
"""How long a restore waits for the journal and the committed offsets to agree, after the journal was read."""
TELL_SECONDS = 2.0

CompletedSnapshots = list[tuple[Unit, Manifest]]
"""Snapshots whose last piece is in a transaction."""


class _ModelRevoked(Exception):  # noqa: N818 - what has happened is said by the name
    """The model being restored has gone to another worker."""


class _ModelCheckpoints:
    """What is known of the snapshots of one model."""

    def __init__(self, schedule: Schedule, slot: str, number: int) -> None:
        self.schedule = schedule
        self.slot = slot
        self.number = number
        self.running: SnapshotWriter | None = None
        self.started = 0.0
        self.older: Manifest | None = None


class CheckpointManager:
    """Restores models and makes their snapshots.

    Args:
        kafka: The cluster.
        agent: The agent.
        state: How its models are kept.
        observe: Told of everything that metrics count.
        make_processor: Makes the processor of a model.
        member: The worker's place in the group, to which signs of life are shown meanwhile.
        clients: What makes the clients.
    """

    def __init__(
        self,
        kafka: Kafka,
        agent: Agent,
        state: State,
        observe: Observe,
        make_processor: MakeProcessor,
        member: Membership,
        clients: Clients = CONFLUENT,
    ) -> None:
        self._kafka = kafka
        self._agent = agent
        self._state = state
        self._observe = observe
        self._make_processor = make_processor
        self._member = member
        self._clients = clients
        self._kept: dict[Unit, _ModelCheckpoints] = {}
        self._asker: Consumer | None = None
        self._admin: AdminClient | None = None

    # ---- restoring

    def restore(self, unit: Unit) -> Processor | None:
        """Make a model's processor from its topics and read on where it stands; None: the model has gone.

        What was committed is asked for first: offsets that are stable belong to a transaction that has been
        decided, so that its journal message is there or about to appear. It is asked for again before the
        topics are held to contradict themselves: they may have gone on, with another worker.

        Raises:
            StateError: The topics do not lead to what was committed.
            Abortable: Another worker has taken over, which we have not been told yet.
        """
        started = time.perf_counter()
        committed = self._member.committed(unit)
        try:
            snapshots, restored = self._stand(unit, committed)
        except _ModelRevoked:
            log.info("agent %s: model %s went while it was being restored", self._agent.name, unit.model)
            return None
        except StateError as error:
            now = self._member.committed(unit)
            if now == committed:
                raise
            raise Abortable(
                f"another worker goes on with {unit.model}, from offsets {committed} to {now}"
            ) from error
        schedule = Schedule(self._state.snapshot_records, self._state.snapshot_seconds)
        # What the snapshot held is what the journal did not bring.
        schedule.begun(time.monotonic(), max(0, restored.processor.retained - restored.replayed))
        schedule.learned(restored.replayed)
        self._kept[unit] = _ModelCheckpoints(schedule, snapshots.next_slot, snapshots.latest_number)
        self._member.start(unit, restored.processor.next_offsets)
        log.info(
            "agent %s: model %s restored, %d instances from the journal after snapshot %d",
            self._agent.name,
            unit.model,
            restored.replayed,
            restored.snapshot,
        )
        seconds = time.perf_counter() - started
        self._observe(RestoreFinished(self._agent.name, unit.model, restored.replayed, seconds))
        return restored.processor

    def _stand(self, unit: Unit, committed: dict[int, int]) -> tuple[Snapshots, Standing]:
        """Return a model that has reached what was committed, and the snapshots it has."""
        deadline: float | None = None
        while True:
            snapshots = Snapshots(unit.model, self._read(self._agent.topics.snapshots, unit, 0))
            restored = restore(
                lambda: self._make_processor(unit),
                unit.model,
                snapshots,
                lambda processor, start: self._journal(unit, processor, start),
            )
            state = restored.processor.next_offsets
            behind = _behind(state, committed)
            # From here on: reading to the end has waited for transactions that were open, however long.
            if deadline is None:
                deadline = time.monotonic() + JOURNAL_SECONDS
            if not behind:
                self._wait_for_offsets(unit, state, committed, deadline)
                return snapshots, restored
            if time.monotonic() > deadline:
                raise StateError(
                    f"{self._agent.topics.journal} does not reach the committed offsets of {unit.model}: "
                    f"{behind}. Part of the journal is missing, or the group's offsets were moved by hand"
                )
            self._show_life(unit)
            time.sleep(0.1)

    def _wait_for_offsets(
        self, unit: Unit, state: dict[int, int], committed: dict[int, int], deadline: float
    ) -> None:
        """Wait until the committed offsets have reached a journal that is ahead of them.

        Raises:
            Abortable: They have moved: the model is restored again from what is committed now.
            StateError: They have not moved in time.
        """
        while any(offset < state.get(partition, 0) for partition, offset in committed.items()):
            if time.monotonic() > deadline:
                raise StateError(
                    f"the group's offsets {committed} are behind those of the journal {state}. They were "
                    "moved back by hand: records would be learned twice. Give the agent another name to "
                    "learn from the beginning"
                )
            self._show_life(unit)
            time.sleep(0.1)
            now = self._member.committed(unit)
            if now != committed:
                raise Abortable(f"the offsets of {unit.model} went on from {committed} to {now}")

    def _journal(self, unit: Unit, processor: Processor, start: int) -> Iterator[Record]:
        """Yield the journal from an offset on, and tell now and then how far it has come."""
        whole = max(1, self._journal_end(unit) - start)
        told = time.monotonic()
        for record in self._read(self._agent.topics.journal, unit, start):
            yield record
            if time.monotonic() - told > TELL_SECONDS:
                told = time.monotonic()
                share = min(1.0, (record.offset - start) / whole)
                log.info("agent %s: restoring %s, %.0f %%", self._agent.name, unit.model, 100 * share)
                self._observe(RestoreProgress(self._agent.name, unit.model, processor.retained, share))

    def _read(self, topic: str, unit: Unit, start: int) -> Iterator[Record]:
        def alive() -> Iterator[None]:
            while True:
                self._show_life(unit)
                yield

        where = Partition(topic, unit.journal_partition)
        end = self._end(topic, unit)
        return read_to_end(self._kafka, where, start, alive(), self._agent.group, end, self._clients)

    def _show_life(self, unit: Unit) -> None:
        """Show the group a sign of life; give up a model that has gone to another worker."""
        self._member.keep_alive(0)
        if self._member.has_lost(unit):
            raise _ModelRevoked

    # ---- snapshots

    def learned(self, unit: Unit, records: int) -> None:
        """Note that a model has learned from records."""
        self._kept[unit].schedule.learned(records)

    def improved(self, unit: Unit, seconds: float) -> None:
        """Note that spare time was spent on a model."""
        self._kept[unit].schedule.improved(seconds)

    def is_due(self, processors: Mapping[Unit, Processor]) -> bool:
        """Whether it is time for a snapshot of some model."""
        return any(self._due(unit) for unit in processors)

    def _due(self, unit: Unit) -> bool:
        kept = self._kept[unit]
        return kept.running is None and kept.schedule.is_due(time.monotonic())

    def begin(self, processors: Mapping[Unit, Processor]) -> None:
        """Begin the snapshots that are due, at a moment when everything that was learned is committed."""
        for unit, processor in processors.items():
            if not self._due(unit):
                continue
            kept = self._kept[unit]
            kept.schedule.begun(time.monotonic(), processor.retained)
            kept.started = time.perf_counter()
            sequence, digest = processor.point
            point = SnapshotPoint(sequence, digest, self._journal_end(unit))
            kept.running = SnapshotWriter(unit.model, kept.slot, kept.number + 1, point, processor.snapshot)

    def _journal_end(self, unit: Unit) -> int:
        """Return where the next entry of the journal will be, or before that."""
        return self._end(self._agent.topics.journal, unit)

    def _end(self, topic: str, unit: Unit) -> int:
        """Return the high watermark of a model's partition: transactions that are open count."""
        if self._asker is None:
            settings = consumer_settings(self._kafka, self._agent.group)
            # Committed entries whose markers are still on their way count: readers of what is committed are
            # told an earlier end.
            self._asker = client(self._clients.consumer, {**settings, "isolation.level": "read_uncommitted"})
        try:
            return ends_of(self._asker, topic, unit.journal_partition)[1]
        except KafkaException as error:
            raise classify(error) from error

    def pieces(self) -> tuple[list[Output], CompletedSnapshots]:
        """Return what the next transaction is to hold of the snapshots under way, and which it completes."""
        outputs: list[Output] = []
        finished: CompletedSnapshots = []
        for unit, kept in self._kept.items():
            if kept.running is None or kept.running.is_over:
                continue
            try:
                pieces, manifest = kept.running.take(self._agent.topics.snapshots, unit.journal_partition)
            except StateError as error:
                log.warning("agent %s: %s. The next is tried in its turn", self._agent.name, error)
                kept.running = None
                continue
            outputs += pieces
            if manifest is not None:
                finished.append((unit, manifest))
        return outputs, finished

    def committed(self, finished: CompletedSnapshots) -> None:
        """Note that a transaction with the last of some snapshots has been committed."""
        for unit, manifest in finished:
            kept = self._kept.get(unit)
            if kept is None or kept.running is None:
                continue
            size, seconds = kept.running.bytes_written, time.perf_counter() - kept.started
            kept.slot = "A" if manifest.slot == "B" else "B"
            kept.number = manifest.number
            older, kept.older, kept.running = kept.older, manifest, None
            log.info(
                "agent %s: snapshot %d of %s, %d bytes", self._agent.name, manifest.number, unit.model, size
            )
            self._observe(Snapshotted(self._agent.name, unit.model, size, seconds))
            if self._state.trim_journal and older is not None:
                self._trim(unit, older.journal_offset)

    def _trim(self, unit: Unit, end: int) -> None:
        """Delete the journal up to what the older snapshot needs. Nobody waits for it."""

        def trimmed(future: "Future[object]") -> None:
            error = future.exception()
            if error is not None:
                log.warning("agent %s: the journal could not be trimmed: %s", self._agent.name, error)

        # The client must outlive what it was asked for.
        self._admin = self._admin or client(self._clients.admin, base_settings(self._kafka))
        place = TopicPartition(self._agent.topics.journal, unit.journal_partition, end)
        for future in self._admin.delete_records([place]).values():
            future.add_done_callback(trimmed)

    def drop(self, unit: Unit) -> None:
        """Forget a model that has gone."""
        kept = self._kept.pop(unit, None)
        if kept is not None and kept.running is not None:
            kept.running.drop()

    def close(self) -> None:
        """Forget everything."""
        for unit in list(self._kept):
            self.drop(unit)
        if self._asker is not None:
            self._asker.close()


def _behind(state: dict[int, int], committed: dict[int, int]) -> str:
    """Return where the journal has not reached what was committed, as text."""
    behind = {p: offset for p, offset in committed.items() if state.get(p, 0) < offset}
    return ", ".join(
        f"partition {p} at {state.get(p, 0)} instead of {offset}" for p, offset in behind.items()
    )
