"""Snapshots on Kafka: their numbers and slots, what is trimmed behind them, and what a restart counts."""

import logging
from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from confluent_kafka import TopicPartition

from stream.config import Agent, Kafka, State
from stream.errors import StateError
from stream.events import Snapshotted
from stream.kafka import checkpoints
from stream.kafka.checkpoints import CheckpointManager
from stream.model.ports import Unit, unit_of
from stream.model.processor import LearningProcessor
from stream.records.record import Partition, Record
from stream.state.snapshot_format import Manifest
from tests.stream.stories import INPUT, make, records_of, told_by

AGENT = Agent(name="a", input=INPUT, learner="id5r-reference")
UNIT = unit_of(INPUT, None)


def value(number: int) -> bytes:
    return b'{"a": "%d", "b": "%d", "class": "%s"}' % (number % 3, number % 2, b"pq"[number % 4 // 2 :][:1])


class Cluster:
    """The journal and the snapshots topic of one model, and a group that has committed all of it."""

    def __init__(self) -> None:
        self.journal: list[bytes] = []
        self.begin = 0
        self.snapshots: list[Record] = []
        self.started: list[dict[int, int]] = []
        self.events: list[object] = []
        self.refusal: Exception | None = None
        self.clients = 0

    # ---- the group

    def committed(self, unit: object) -> dict[int, int]:
        return {0: len(self.journal)} if self.journal else {}

    def keep_alive(self, seconds: float | None = None) -> None: ...

    def has_lost(self, unit: object) -> bool:
        return False

    def start(self, unit: object, next_offsets: dict[int, int]) -> None:
        self.started.append(dict(next_offsets))

    # ---- the topics

    def read_to_end(
        self,
        kafka: object,
        where: Partition,
        start: int,
        alive: Iterator[None],
        group: str,
        end: int,
        clients: object,
    ) -> Iterator[Record]:
        if where.topic == AGENT.topics.snapshots:
            yield from self.snapshots
        else:
            for offset in range(max(start, self.begin), len(self.journal)):
                yield Record(where, offset, self.journal[offset])

    def delete_records(self, places: list[TopicPartition]) -> dict[str, "Future[None]"]:
        [place] = places
        assert (place.topic, place.partition) == (AGENT.topics.journal, 0)
        future: Future[None] = Future()
        if self.refusal is not None:
            future.set_exception(self.refusal)
        else:
            assert place.offset >= self.begin, "what was trimmed does not come back"
            self.begin = place.offset
            future.set_result(None)
        return {"journal": future}

    def spoil(self, manifest: Manifest) -> None:
        """Damage the first piece of a snapshot, and no other."""
        for index, record in enumerate(self.snapshots):
            if record.key == f"{UNIT.model}|{manifest.slot}|0".encode():
                self.snapshots[index] = record._replace(value=b"damaged")

    # ---- workers

    def worker(self, state: State) -> "Worker":
        return Worker(self, state)


class Worker:
    """A keeper and the processor that it has restored, in a loop as the engine has it."""

    def __init__(self, cluster: Cluster, state: State) -> None:
        self.cluster = cluster
        self.keeper = CheckpointManager(
            Kafka(),
            AGENT,
            state,
            cluster.events.append,
            lambda unit: make(AGENT),
            cluster,  # type: ignore[arg-type]
        )
        processor = self.keeper.restore(UNIT)
        assert isinstance(processor, LearningProcessor)
        self.processor = processor
        self.made: list[Manifest] = []

    def learn(self, count: int) -> None:
        """Learn records one by one; a snapshot that is due is made at once."""
        for _ in range(count):
            number = len(self.cluster.journal)
            outputs = self.processor.process(records_of([value(number)], number))
            self.cluster.journal += told_by(outputs, AGENT).journal
            self.keeper.learned(UNIT, 1)
            self.snapshot()

    def snapshot(self) -> None:
        processors = {UNIT: self.processor}
        if not self.keeper.is_due(processors):
            return
        self.keeper.begin(processors)
        assert not self.keeper.is_due(processors), "one is under way"
        while True:
            outputs, finished = self.keeper.pieces()
            for output in outputs:
                assert (output.topic, output.partition) == (AGENT.topics.snapshots, 0)
                offset = len(self.cluster.snapshots)
                place = Partition(output.topic, 0)
                self.cluster.snapshots.append(Record(place, offset, output.value, output.key))
            if finished:
                self.keeper.committed(finished)
                self.made += [manifest for _, manifest in finished]
                return

    @property
    def point(self) -> tuple[int, str]:
        return self.processor.point


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    cluster = Cluster()

    def admin(kind: object, settings: object) -> Cluster:
        cluster.clients += 1
        return cluster

    monkeypatch.setattr(checkpoints, "read_to_end", cluster.read_to_end)
    monkeypatch.setattr(checkpoints, "client", admin)
    monkeypatch.setattr(CheckpointManager, "_end", lambda keeper, topic, unit: len(cluster.journal))
    return cluster


OFTEN = State(snapshot_records=3, snapshot_seconds=1e9)
TRIMMING = State(snapshot_records=3, snapshot_seconds=1e9, trim_journal=True)


def test_snapshots_are_numbered_on_and_use_the_slots_in_turn_over_restarts(cluster: Cluster) -> None:
    made: list[Manifest] = []
    for _ in range(5):
        worker = cluster.worker(OFTEN)
        worker.learn(30)
        made += worker.made
    assert [manifest.number for manifest in made] == list(range(1, len(made) + 1))
    assert [manifest.slot for manifest in made] == [*"ABABABABABAB"][: len(made)]
    assert [manifest.sequence for manifest in made] == [manifest.journal_offset for manifest in made]
    assert len(made) >= 5
    assert sum(isinstance(event, Snapshotted) for event in cluster.events) == len(made)


def test_the_newest_snapshot_is_the_one_a_restart_begins_with(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    before = cluster.worker(OFTEN)
    before.learn(20)
    with caplog.at_level(logging.INFO):
        after = cluster.worker(OFTEN)
    assert after.point == before.point
    assert f"after snapshot {before.made[-1].number}" in caplog.text
    assert cluster.started == [{}, {0: 20}]


def test_the_journal_is_trimmed_up_to_the_older_of_the_two_snapshots(cluster: Cluster) -> None:
    worker = cluster.worker(TRIMMING)
    begins: list[int] = []
    for _ in range(60):
        worker.learn(1)
        older = worker.made[-2].journal_offset if len(worker.made) > 1 else 0
        assert cluster.begin == older
        begins.append(cluster.begin)
    assert len(set(begins)) >= 3
    assert cluster.clients == 1, "one client for all of it"


@pytest.mark.parametrize("spoilt", [0, 1])
def test_a_trimmed_journal_is_enough_when_either_snapshot_is_spoilt(cluster: Cluster, spoilt: int) -> None:
    before = cluster.worker(TRIMMING)
    before.learn(40)
    assert cluster.begin > 0
    cluster.spoil(before.made[-1 - spoilt])
    after = cluster.worker(TRIMMING)
    assert after.point == before.point
    for worker in (before, after):
        outputs = told_by(worker.processor.process(records_of([value(40)], 40)), AGENT)
        assert len(outputs.predictions) == 1
    assert after.point == before.point


def test_where_both_are_spoilt_a_trimmed_journal_is_a_clear_stop(cluster: Cluster) -> None:
    worker = cluster.worker(TRIMMING)
    worker.learn(40)
    for manifest in worker.made[-2:]:
        cluster.spoil(manifest)
    with pytest.raises(StateError, match="Part of the journal is missing"):
        cluster.worker(TRIMMING)


def test_nothing_is_trimmed_where_nobody_asked_for_it(cluster: Cluster) -> None:
    cluster.worker(OFTEN).learn(40)
    assert (cluster.begin, cluster.clients) == (0, 0)


def test_a_journal_that_cannot_be_trimmed_is_said_and_nothing_else_happens(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.refusal = RuntimeError("no right to delete")
    worker = cluster.worker(TRIMMING)
    worker.learn(40)
    assert "agent a: the journal could not be trimmed: no right to delete" in caplog.text
    assert cluster.begin == 0
    assert cluster.worker(TRIMMING).point == worker.point


def test_a_worker_that_restarts_often_still_makes_snapshots(cluster: Cluster) -> None:
    """What a restart had to replay counts: else the journal to be replayed would grow without end."""
    made: list[Manifest] = []
    for _ in range(12):
        worker = cluster.worker(State(snapshot_records=10, snapshot_seconds=1e9))
        worker.learn(4)
        made += worker.made
    assert [manifest.sequence for manifest in made] == [10, 20, 40]


def test_what_a_snapshot_held_counts_as_held_after_a_restart(cluster: Cluster) -> None:
    """The larger the model, the more records between two snapshots, whoever made the last one."""
    cluster.worker(State(snapshot_records=20, snapshot_seconds=1e9)).learn(20)
    worker = cluster.worker(State(snapshot_records=5, snapshot_seconds=1e9))
    worker.learn(19)
    assert not worker.made
    worker.learn(1)
    assert [manifest.sequence for manifest in worker.made] == [40]


def test_a_snapshot_that_cannot_be_made_is_said_and_the_next_one_is_made(
    cluster: Cluster, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = cluster.worker(OFTEN)

    def fail() -> bytes:
        raise MemoryError

    with monkeypatch.context() as broken:
        broken.setattr(worker.processor, "snapshot", fail)
        cluster.journal += told_by(worker.processor.process(records_of([value(0)])), AGENT).journal
        worker.keeper.learned(UNIT, 3)
        worker.keeper.begin({UNIT: worker.processor})
        while "could not be made" not in caplog.text:
            assert worker.keeper.pieces() == ([], [])
    assert not cluster.snapshots
    worker.learn(3)
    assert [manifest.number for manifest in worker.made] == [1]


def test_a_model_that_goes_takes_its_snapshot_along(cluster: Cluster) -> None:
    worker = cluster.worker(OFTEN)
    cluster.journal += told_by(worker.processor.process(records_of([value(0)])), AGENT).journal
    worker.keeper.learned(UNIT, 3)
    worker.keeper.begin({UNIT: worker.processor})
    worker.keeper.learned(UNIT, 100)
    assert not worker.keeper.is_due({UNIT: worker.processor}), "one at a time"
    finished: list[tuple[Unit, Manifest]] = []
    while not finished:
        _, finished = worker.keeper.pieces()
    worker.keeper.drop(UNIT)
    worker.keeper.committed(finished)
    # And it may have come back before the transaction was committed.
    assert worker.keeper.restore(UNIT) is not None
    worker.keeper.committed(finished)
    assert worker.keeper.pieces() == ([], [])
    assert not any(isinstance(event, Snapshotted) for event in cluster.events)
