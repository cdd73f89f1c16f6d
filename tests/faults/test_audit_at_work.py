"""An audit beside an agent that goes on working, and of a journal that begins behind a snapshot."""

import json
import random
from collections.abc import Callable, Iterator

import msgspec
import pytest

from learners.id5r.options import CoreOptions
from stream.audit import Auditor, AuditProgress, Inspection, Kind, Report, topic_scan
from stream.audit.findings import Findings
from stream.config import Agent, Kafka, Limits
from stream.errors import StateError
from stream.kafka.topic_reader import Extent
from stream.records.model_state import ModelState
from stream.records.record import Partition, Record
from stream.state.snapshot_format import SnapshotPoint
from stream.state.snapshot_writer import SnapshotWriter
from tests.stream.stories import INPUT, make

AGENT = Agent(name="a", input=INPUT, options=CoreOptions(significance=None))
TOPICS = AGENT.topics
Audit = Callable[..., Report]


def value_of(number: int) -> bytes:
    """Every eleventh is no record at all, every seventh has no label."""
    if number % 11 == 10:
        return b'{"a": nonsense'
    rng = random.Random(number)
    told: dict[str, object] = {name: rng.choice("xyz") for name in "abc"}
    if number % 7 != 6:
        told["class"] = "yes" if (told["a"] == told["b"]) != (told["c"] == "x") else "no"
    return json.dumps({"id": number, **told}).encode()


class Cluster:
    """An agent's topics, each of one partition, with a reader as an audit uses it.

    `works_at` names topics: whenever the audit asks how long one of them is, the agent has just committed
    another batch of `batch` records.
    """

    def __init__(self, works_at: frozenset[str] = frozenset(), batch: int = 20) -> None:
        self.processor = make(AGENT)
        names = (INPUT, TOPICS.journal, TOPICS.tree_changes, TOPICS.predictions, TOPICS.dead_letters)
        self.topics: dict[str, list[Record]] = {name: [] for name in (*names, TOPICS.snapshots)}
        self.begins: dict[str, int] = {}
        self.works_at = works_at
        self.batch = batch

    def put(self, topic: str, value: bytes | None, key: bytes | None = None, **rest: object) -> Record:
        place = Partition(topic, 0)
        record = Record(place, len(self.topics[topic]), value, key)._replace(**rest)  # type: ignore[arg-type]
        self.topics[topic].append(record)
        return record

    def work(self, batches: int = 1) -> None:
        for _ in range(batches):
            start = len(self.topics[INPUT])
            records = [self.put(INPUT, value_of(start + n)) for n in range(self.batch)]
            for output in self.processor.process(records):
                self.put(output.topic, output.value, output.key, headers=output.headers)

    def snapshot(self, slot: str, number: int, edit: Callable[[bytes], bytes] = bytes) -> int:
        """Write a snapshot of now; return how many entries the journal has."""
        state = edit(self.processor.snapshot())
        end = len(self.topics[TOPICS.journal])
        point = SnapshotPoint(*self.processor.point, end)
        running = SnapshotWriter(INPUT, slot, number, point, lambda: state)
        manifest = None
        while manifest is None:
            outputs, manifest = running.take(TOPICS.snapshots, 0)
            for output in outputs:
                self.put(output.topic, output.value, output.key)
        return end

    # ---- the reader

    def extents(self, topic: str) -> dict[int, Extent]:
        if topic in self.works_at:
            self.work()
        return {0: Extent(self.begins.get(topic, 0), len(self.topics[topic]))}

    def read(self, topic: str, extents: dict[int, Extent]) -> Iterator[Record]:
        begin, end = extents[0]
        yield from self.topics[topic][max(begin, self.begins.get(topic, 0)) : end]


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch) -> Audit:
    monkeypatch.setattr("stream.audit.topic_scan.time.sleep", lambda seconds: None)

    def run(cluster: Cluster, *, replay: bool = True) -> Report:
        def reader(kafka: Kafka) -> Cluster:
            return cluster

        def tell(progress: AuditProgress) -> None: ...

        monkeypatch.setattr(topic_scan, "TopicReader", reader)
        return Inspection(Kafka(), AGENT, Limits(), repeats=False, tell=tell).run(replay=replay)

    return run


LATER = (TOPICS.tree_changes, TOPICS.predictions, TOPICS.dead_letters, INPUT)
"""What is read after the journal, in this order."""


@pytest.mark.parametrize("works_at", [{topic} for topic in LATER] + [set(LATER), {*LATER, TOPICS.journal}])
def test_an_agent_at_work_is_not_found_guilty(audit: Audit, works_at: set[str]) -> None:
    cluster = Cluster(frozenset(works_at))
    cluster.work(10)
    before = len(cluster.topics[INPUT])
    report = audit(cluster)
    assert not list(report.findings)
    assert len(cluster.topics[INPUT]) > before, "the agent has worked meanwhile"
    # What is counted is what the journal had come to when it was read first, or more.
    assert report.dispositions["predicted"] + report.dispositions["dead_letters"] >= before


def test_what_is_ahead_of_the_journal_for_good_is_found(
    audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry of the journal is missing at its end, and nobody is at work who could still write it."""
    monkeypatch.setattr(topic_scan, "SETTLE_SECONDS", 0.05)
    cluster = Cluster()
    cluster.work(5)
    del cluster.topics[TOPICS.journal][-1]
    report = audit(cluster, replay=False)
    assert report.findings.counts[Kind.AHEAD] == 20


def test_damage_done_beside_an_agent_at_work_is_found(audit: Audit) -> None:
    cluster = Cluster(frozenset(LATER))
    cluster.work(10)
    del cluster.topics[TOPICS.predictions][50]
    assert set(audit(cluster).findings.counts) == {Kind.MISSING}


# ---- transactions


def change_of(cluster: Cluster, edit: Callable[[int, dict[str, int]], bool]) -> int:
    """Alter the cause of the first tree change that `edit` takes; return its number."""
    log = cluster.topics[TOPICS.tree_changes]
    for index, record in enumerate(log):
        told = json.loads(record.value or b"")
        if edit(index, told["cause"]):
            log[index] = record._replace(value=json.dumps(told).encode())
            return int(told["seq"])
    raise AssertionError("there is no such change")


@pytest.mark.parametrize("batch", [1, 2])
def test_a_tree_change_that_names_an_offset_of_the_next_transaction_is_torn(audit: Audit, batch: int) -> None:
    """The last change of a transaction says that the first record of the next one caused it."""
    cluster = Cluster(batch=batch)
    cluster.work(40)
    entries = [msgspec.json.decode(c.value or b"") for c in cluster.topics[TOPICS.tree_changes]]
    last_of = {change["cause"]["offset"] // batch: change["seq"] for change in entries}

    def next_one(index: int, cause: dict[str, int]) -> bool:
        transaction = cause["offset"] // batch
        is_last = last_of[transaction] == index + 1
        if is_last and (transaction + 1) in last_of:
            cause["offset"] = (transaction + 1) * batch
            return True
        return False

    assert change_of(cluster, next_one) > 0
    assert audit(cluster).findings.counts[Kind.TORN] == 1


@pytest.mark.parametrize(
    ("topic", "take"),
    [
        (TOPICS.journal, Auditor.take_journal),
        (TOPICS.tree_changes, Auditor.take_change),
        (TOPICS.predictions, Auditor.take_prediction),
        (TOPICS.dead_letters, Auditor.take_dead_letter),
    ],
)
@pytest.mark.parametrize("value", [None, b"", b"{", b'{"agent": "a"}', b"\xff"])
def test_a_record_that_cannot_be_read_is_reported_in_every_topic(
    topic: str, take: Callable[[Auditor, Record], None], value: bytes | None
) -> None:
    auditor = Auditor(AGENT)
    take(auditor, Record(Partition(topic, 0), 7, value))
    [finding] = auditor.finish().findings
    assert (finding.kind, finding.topic, finding.first) == (Kind.UNREADABLE, topic, 7)


# ---- a journal that begins behind a snapshot


def other_digest(state: bytes) -> bytes:
    """The state of a snapshot that says it holds another tree than it does."""
    told = msgspec.msgpack.decode(state, type=ModelState)
    return msgspec.msgpack.encode(msgspec.structs.replace(told, digest="0" * 64))


def trimmed(cluster: Cluster, edit: Callable[[bytes], bytes] = bytes) -> None:
    cluster.work(6)
    cluster.begins[TOPICS.journal] = cluster.snapshot("A", 1, edit)
    cluster.work(6)


def test_a_trimmed_journal_is_learned_again_from_its_snapshot(audit: Audit) -> None:
    cluster = Cluster()
    trimmed(cluster)
    report = audit(cluster)
    assert not list(report.findings)
    assert report.trees[INPUT] == (cluster.processor.version, cluster.processor.digest)


def test_a_snapshot_of_another_tree_is_found_by_learning_again(audit: Audit) -> None:
    cluster = Cluster()
    trimmed(cluster, other_digest)
    report = audit(cluster)
    assert set(report.findings.counts) == {Kind.WRONG_TREE}
    [finding] = report.findings
    assert "a snapshot of in leads to tree " in finding.message
    assert "but 000000000000 was written" in finding.message


def test_a_trimmed_journal_without_its_snapshot_is_found(audit: Audit) -> None:
    cluster = Cluster()
    trimmed(cluster)
    cluster.topics[TOPICS.snapshots].clear()
    assert set(audit(cluster).findings.counts) == {Kind.WRONG_TREE}


def test_a_model_refuses_a_snapshot_of_another_tree_and_stays_as_it_was() -> None:
    cluster = Cluster()
    cluster.work(6)
    state = cluster.processor.snapshot()
    fresh = make(AGENT)
    empty = fresh.point
    with pytest.raises(StateError, match=r"leads to tree .* but 000000000000 was written"):
        fresh.restore(other_digest(state))
    assert (fresh.point, fresh.next_offsets, fresh.version) == (empty, {}, 0)
    fresh.restore(state)
    assert fresh.point == cluster.processor.point


def test_offsets_that_follow_each_other_are_one_finding_that_names_the_first_and_the_last() -> None:
    findings = Findings()
    findings.add_each(Kind.MISSING, ("in", 0), [3, 5, 6, 7], "have no prediction")
    assert [one.message for one in findings] == [
        "offset 3 have no prediction",
        "offsets 5 to 7 (3) have no prediction",
    ]
    assert findings.counts[Kind.MISSING] == 4
