"""Whatever runs come in whatever order and are interrupted anywhere: each dead letter is sent at most once.

The topics are lists, the code is the one that runs on a broker.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream.config import Agent, Kafka
from stream.kafka import redrive as module
from stream.kafka.redrive import MAX_REDRIVES, Redrive, Why
from stream.kafka.topic_reader import Extent
from stream.kafka.topics import TopicFacts
from stream.records.dead_letters import ANY_REASON, MARK, Letter, Mark, NotALetter, parse
from stream.records.record import Output, Outputs, Partition, Record
from tests.stream.records.letters import letter

AGENT = Agent(name="a", input="in")
OTHER_AGENT = Agent(name="b", input="in")
LETTERS = AGENT.topics.dead_letters
REASONS = ("json_syntax", "bad_label", "wrong_type")
PARTITIONS = 2


class Interrupted(Exception):  # noqa: N818 - it is no error
    """The run was killed."""


class Cluster:
    """Topics as lists, and a script that says which transactions do not come to their end."""

    def __init__(self) -> None:
        self.logs: dict[Partition, list[Record]] = {}
        self.script: list[str] = []
        self.epoch = 0

    def append(self, output: Output) -> None:
        place = Partition(output.topic, output.partition or 0)
        log = self.logs.setdefault(place, [])
        log.append(Record(place, len(log), output.value, output.key, output.headers))

    def read(self, topic: str) -> list[Record]:
        return [record for place, log in sorted(self.logs.items()) if place.topic == topic for record in log]


class FakeReader:
    cluster: Cluster

    def __init__(self, kafka: Kafka) -> None:
        pass

    def extents(self, topic: str) -> dict[int, Extent]:
        return {n: Extent(0, len(self.cluster.logs.get(Partition(topic, n), []))) for n in range(PARTITIONS)}

    def read(self, topic: str, extents: dict[int, Extent]) -> Iterator[Record]:
        for number, extent in extents.items():
            yield from self.cluster.logs.get(Partition(topic, number), [])[extent.begin : extent.end]


class FakeWriter:
    cluster: Cluster

    def __init__(self, kafka: Kafka, transactional_id: str, partitions: object, retried: object) -> None:
        assert transactional_id == "a:redrive"
        self.cluster.epoch += 1
        self._epoch = self.cluster.epoch

    def write(self, outputs: Sequence[Outputs], offsets: object, group: object, committed: object) -> None:
        if self._epoch != self.cluster.epoch:
            raise Interrupted("fenced")
        fate = self.cluster.script.pop(0) if self.cluster.script else "whole"
        if fate == "before":
            raise Interrupted
        for one in outputs:
            for output in one:
                self.cluster.append(output)
        if fate == "after":
            raise Interrupted

    def settle(self) -> None:
        pass

    def close(self) -> None:
        pass


class FakeTopics:
    def __init__(self, kafka: Kafka) -> None:
        pass

    def describe(self, names: Sequence[str]) -> dict[str, TopicFacts]:
        return {name: TopicFacts(name, PARTITIONS, 1) for name in names}


@pytest.fixture(autouse=True)
def _fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TopicReader", FakeReader)
    monkeypatch.setattr(module, "TransactionalWriter", FakeWriter)
    monkeypatch.setattr(module, "TopicAdmin", FakeTopics)


def on(cluster: Cluster) -> Cluster:
    FakeReader.cluster = FakeWriter.cluster = cluster
    return cluster


def opened(reason: str | None = None, *, force: bool = False, batch: int = 3) -> Redrive:
    run = Redrive(Kafka(), AGENT, reason=reason, force=force, batch=batch, tell=lambda *told: None)
    run.open()
    run.read_marks()
    return run


def ids(cluster: Cluster) -> Counter[bytes | None]:
    return Counter(record.value for record in cluster.read(AGENT.input))


class Run(NamedTuple):
    """One run of the command: what it is given, and how its transactions end."""

    reason: str | None
    force: bool
    batch: int
    fates: list[str]


runs = st.builds(
    Run,
    st.one_of(st.none(), st.sampled_from(REASONS)),
    st.booleans(),
    st.integers(1, 5),
    st.lists(st.sampled_from(["whole", "before", "after"]), max_size=4),
)


class Some(NamedTuple):
    """A dead letter that comes to the topic."""

    reason: str
    partition: int
    redriven: int


letters = st.builds(
    Some, st.sampled_from(REASONS), st.integers(0, PARTITIONS - 1), st.integers(0, MAX_REDRIVES + 1)
)


@settings(max_examples=300)
@given(st.lists(st.one_of(runs, st.lists(letters, max_size=8)), max_size=12))
def test_each_is_sent_at_most_once_and_in_the_end_exactly_once(story: list[Run | list[Some]]) -> None:
    cluster = on(Cluster())
    count = 0
    for part in story:
        if isinstance(part, list):
            for one in part:
                redriven, place = one.redriven, one.partition
                cluster.append(letter(AGENT, count, reason=one.reason, partition=place, redriven=redriven))
                count += 1
            continue
        cluster.script = list(part.fates)
        with_marks = opened(part.reason, force=part.force, batch=part.batch)
        planned = with_marks.plan().chosen
        before = ids(cluster).total()
        try:
            sent = with_marks.run().chosen
            assert sent.counts == planned.counts
            assert ids(cluster).total() == before + sent.total
        except Interrupted:
            pass
        assert max(ids(cluster).values(), default=0) <= 1
    cluster.script = []
    opened(force=True).run()
    assert ids(cluster) == Counter(b"value %d" % number for number in range(count))
    assert opened(force=True).plan().chosen.total == 0
    assert opened(force=True).run().chosen.total == 0
    # In the order in which they were refused, where no reason was chosen before others.
    if all(isinstance(part, list) for part in story):
        for number in range(PARTITIONS):
            log = [record.value for record in cluster.logs.get(Partition(AGENT.input, number), [])]
            assert log == sorted(log, key=lambda value: int((value or b"").split()[1]))


def test_what_is_left_out_for_one_reason_is_sent_for_another() -> None:
    cluster = on(Cluster())
    for number in range(30):
        cluster.append(letter(AGENT, number, reason=REASONS[number % 3], partition=number % 2))
    assert opened("bad_label").run().chosen.counts == {("bad_label", ""): 10}
    assert opened("bad_label").run().chosen.total == 0
    assert opened("json_syntax").run().chosen.total == 10
    assert opened().run().chosen.counts == {("wrong_type", ""): 10}
    assert opened().run().done == 30
    assert set(ids(cluster).values()) == {1}


def test_what_was_sent_too_often_needs_force() -> None:
    cluster = on(Cluster())
    for number in range(8):
        cluster.append(letter(AGENT, number, redriven=number % 4))
    plan = opened().run()
    assert (plan.chosen.total, plan.left) == (6, {Why.TOO_OFTEN: 2})
    again = opened().plan()
    assert (again.chosen.total, again.left, again.done) == (0, {Why.TOO_OFTEN: 2}, 6)
    assert opened(force=True).run().chosen.total == 2
    assert opened(force=True).plan().chosen.total == 0
    # What was forced is not reported as refused any more.
    assert opened().plan().left == {}


def test_key_value_headers_and_partition_are_those_of_the_record() -> None:
    cluster = on(Cluster())
    theirs = (("trace", b"t"), ("trace", None), (MARK, b"1"), ("espalier.op", b"instance"))
    cluster.append(letter(AGENT, 7, partition=1, headers=theirs, redriven=2))
    opened().run()
    (record,) = cluster.read(AGENT.input)
    assert (record.partition.number, record.key, record.value) == (1, b"key 7", b"value 7")
    assert record.headers == (*theirs, ("espalier.redriven", b"3"))


def test_what_cannot_be_sent_is_counted_and_left() -> None:
    cluster = on(Cluster())
    cluster.append(letter(AGENT, 1, value=b"x" * 1_000_000))
    cluster.append(letter(OTHER_AGENT, 2))
    cluster.append(letter(AGENT, 3, source="elsewhere"))
    cluster.append(Output(LETTERS, b"what is this", None, 0))
    cluster.append(letter(AGENT, 5))
    plan = opened().run()
    assert plan.chosen.total == 1
    assert plan.left == dict.fromkeys((Why.OMITTED, Why.OTHER_AGENT, Why.OTHER_INPUT, Why.UNREADABLE), 1)
    assert [record.value for record in cluster.read(AGENT.input)] == [b"value 5"]


def test_the_marks_of_another_agent_say_nothing_about_ours() -> None:
    cluster = on(Cluster())
    cluster.append(letter(AGENT, 1))
    cluster.append(Mark("b", "in", ANY_REASON, True, 100).output(Partition(LETTERS, 0)))
    cluster.append(Mark("a", "elsewhere", ANY_REASON, True, 100).output(Partition(LETTERS, 0)))
    assert opened().run().chosen.total == 1


def test_a_record_cannot_forge_a_mark() -> None:
    """A refused record's own headers are copied into its dead letter, which is then no mark."""
    cluster = on(Cluster())
    mark = Mark("a", "in", ANY_REASON, True, 100).output(Partition(LETTERS, 0))
    cluster.append(letter(AGENT, 1))
    cluster.append(letter(AGENT, 2, value=mark.value, headers=mark.headers))
    assert opened().run().chosen.total == 2


def test_a_run_that_is_overtaken_sends_nothing_more() -> None:
    cluster = on(Cluster())
    for number in range(10):
        cluster.append(letter(AGENT, number))
    slow = opened()
    assert slow.plan().chosen.total == 10
    opened().run()
    with pytest.raises(Interrupted, match="fenced"):
        slow.run()
    assert set(ids(cluster).values()) == {1}


@pytest.mark.parametrize("value", [b"", b"{}", b"\xff", b'{"agent": 1}', None])
def test_a_damaged_mark_is_neither_a_mark_nor_a_letter(value: bytes | None) -> None:
    with pytest.raises(NotALetter):
        parse(Record(Partition(LETTERS, 0), 0, value, None, ((MARK, b"1"),)))


@pytest.mark.parametrize(("text", "count"), [(b"2", 2), (b"", 0), (b"-1", 0), (b"\xff", 0), (b"9" * 50, 0)])
def test_a_count_that_is_no_number_counts_as_none(text: bytes, count: int) -> None:
    output = letter(AGENT, 1, headers=(("espalier.redriven", text),))
    parsed = parse(Record(Partition(LETTERS, 0), 0, output.value, output.key, output.headers))
    assert isinstance(parsed, Letter)
    assert parsed.redriven == count


def test_transactions_are_no_larger_than_they_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = on(Cluster())
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    for number in range(9):
        cluster.append(letter(AGENT, number, value=b"%d" % number + b"x" * 39))
    opened(batch=1_000).run()
    marks = [parse(record) for record in cluster.read(LETTERS) if record.key == MARK.encode()]
    assert [mark.upto for mark in marks if isinstance(mark, Mark)] == [2, 4, 6, 8, 9]
