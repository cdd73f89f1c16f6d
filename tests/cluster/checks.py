"""What must hold when a schedule is over, read from the topics alone."""

import itertools
from collections import Counter

import msgspec
import numpy as np

from stream.config import Scope
from stream.errors import StateError
from stream.model.ports import Unit, unit_of
from stream.model.processing import Processor
from stream.records.journal import JournalEntry, unpack
from stream.records.record import Output, Partition, Record
from stream.state.restore import restore
from stream.state.snapshots import Snapshots
from tests.cluster.broker import Entry
from tests.cluster.cluster import Cluster
from tests.cluster.records import INPUT, PARTITIONS, agent_of, maker_of, undisturbed


class Broken(Exception):  # noqa: N818 - what has happened is said by the name
    """A promise was broken."""


def check(cluster: Cluster, scope: Scope) -> None:
    """Compare the topics with a run without a fault.

    Raises:
        Broken: They differ.
    """
    for place, log in cluster.brokers.logs.items():
        if log.open:
            raise Broken(f"a transaction is still open on {place}")
    check_dispositions(cluster, scope)
    units = (
        [unit_of(INPUT, n) for n in range(PARTITIONS)] if scope is Scope.PARTITION else [unit_of(INPUT, None)]
    )
    for unit in units:
        check_model(cluster, scope, unit)


def committed(cluster: Cluster, topic: str, number: int | None = None) -> list[Entry]:
    """Return the committed records of a topic, or of one of its partitions."""
    numbers = range(cluster.brokers.partitions[topic]) if number is None else [number]
    return [entry for n in numbers for _, entry in cluster.brokers.logs[topic, n].committed()]


def check_dispositions(cluster: Cluster, scope: Scope) -> None:
    """Every record has exactly one prediction or dead letter, in the order of its partition."""
    topics = agent_of(scope).topics
    found: Counter[tuple[int, int]] = Counter()
    for number in range(PARTITIONS):
        for topic in (topics.predictions, topics.dead_letters):
            offsets = [_source(entry) for entry in committed(cluster, topic, number)]
            found.update((number, offset) for offset in offsets)
            if offsets != sorted(offsets):
                raise Broken(f"reordered: {topic}/{number} has offsets {offsets}")
    for number in range(PARTITIONS):
        for offset in range(cluster.brokers.logs[INPUT, number].end):
            count = found.pop((number, offset), 0)
            if count != 1:
                word = "doubled" if count else "missing"
                raise Broken(f"{word}: offset {offset} of {INPUT}/{number} has {count} dispositions")
    if found:
        raise Broken(f"invented: {dict(found)}")


def _source(entry: Entry) -> int:
    for name, value in entry.headers:
        if name.endswith("offset"):
            return int(value or b"-1")
    return int(msgspec.json.decode(entry.value or b"{}")["source"]["offset"])


def check_model(cluster: Cluster, scope: Scope, unit: Unit) -> None:
    """Journal, snapshots, tree changes and predictions of a model lead to one tree, the right one."""
    agent = agent_of(scope)
    log = cluster.brokers.logs[agent.topics.journal, unit.journal_partition]
    kept = log.committed()
    entries = [unpack(entry.value or b"") for _, entry in kept]
    for before, after in itertools.pairwise(entries):
        if after.sequence != before.sequence + 1:
            raise Broken(f"journal: entry {after.sequence} follows entry {before.sequence} of {unit.model}")
    if entries and not log.start and entries[0].sequence:
        raise Broken(f"journal: the first entry of {unit.model} is number {entries[0].sequence}")
    processor = _restored(cluster, scope, unit)
    offsets = cluster.group.offsets
    for number, offset in processor.next_offsets.items():
        known = offsets.get((INPUT, number), offset)
        if known != offset:
            raise Broken(
                f"offsets: the group stands at {known} of partition {number}, the journal at {offset}"
            )
        if offset != cluster.brokers.logs[INPUT, number].end:
            raise Broken(f"offsets: the journal stands at {offset} of partition {number}")
    is_trimmed = scope is Scope.TOPIC and log.start > 0
    order = _all(cluster, scope, unit) if is_trimmed or scope is Scope.PARTITION else _learned(entries)
    outputs, digest, _ = undisturbed(scope, unit, order)
    if processor.point[1] != digest:
        raise Broken(f"wrong tree: {unit.model} has {processor.point[1][:12]} instead of {digest[:12]}")
    if is_trimmed:
        # The tree does not depend on the order of records over partitions; what was predicted does, and the
        # order is known from the journal alone.
        return
    for topic in (agent.topics.predictions, agent.topics.tree_changes):
        expected = [output for output in outputs if output.topic == topic]
        _compare(cluster, topic, expected, unit, scope)


def _restored(cluster: Cluster, scope: Scope, unit: Unit) -> Processor:
    topics = agent_of(scope).topics

    def read(topic: str, start: int) -> list[Record]:
        kept = cluster.brokers.logs[topic, unit.journal_partition].committed()
        where = Partition(topic, unit.journal_partition)
        return [Record(where, offset, entry.value, entry.key) for offset, entry in kept if offset >= start]

    try:
        return restore(
            lambda: maker_of(scope)(unit),
            unit.model,
            Snapshots(unit.model, read(topics.snapshots, 0)),
            lambda _, start: read(topics.journal, start),
        ).processor
    except StateError as error:
        raise Broken(f"state: {unit.model} cannot be restored: {error}") from error


def _all(cluster: Cluster, scope: Scope, unit: Unit) -> tuple[tuple[int, int], ...]:
    """Return all records of a model, one partition after the other."""
    numbers = range(PARTITIONS) if scope is Scope.TOPIC else [unit.journal_partition]
    return tuple((n, offset) for n in numbers for offset in range(cluster.brokers.logs[INPUT, n].end))


def _learned(entries: list[JournalEntry]) -> tuple[tuple[int, int], ...]:
    """Return the records that a model has learned from, in their order."""
    learned: list[tuple[int, int]] = []
    for entry in entries:
        for block in entry.blocks:
            places = np.frombuffer(block.places, dtype="<i8").reshape(-1, 2).tolist()
            learned += [(int(number), int(offset)) for number, offset in places]
    return tuple(learned)


def _compare(cluster: Cluster, topic: str, expected: list[Output], unit: Unit, scope: Scope) -> None:
    for number in range(cluster.brokers.partitions[topic]):
        if scope is Scope.PARTITION and number != unit.journal_partition:
            continue
        found = [entry.value for entry in committed(cluster, topic, number)]
        wanted = [
            one.value
            for one in expected
            if (one.partition or 0) % cluster.brokers.partitions[topic] == number
        ]
        if found != wanted:
            raise Broken(
                f"{topic}/{number}: {len(found)} records differ from the {len(wanted)} of an undisturbed run"
            )
