"""Reading to where a topic ended when asked, also while somebody writes to it all the time."""

from collections.abc import Iterable

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from stream.config import Kafka
from stream.errors import BrokerUnavailable, EngineError
from stream.kafka import reading, topic_reader
from stream.kafka.clients import REQUEST_SECONDS
from stream.kafka.reading import follow, read_to_end
from stream.kafka.topics import TopicFacts
from stream.records.record import Partition
from tests.stream.kafka.messages import FakeMessage


class BusyTopic:
    """A consumer of a topic to which records come faster than they are read: no end is ever reported.

    Args:
        ends: Where each partition ended when it was asked.
        markers: The offsets in each partition that no reader sees.
    """

    def __init__(self, *ends: int, markers: Iterable[int] = ()) -> None:
        self.ends = ends
        self.is_closed = False
        self._markers = set(markers)
        self._next: dict[int, int] = {}

    def get_watermark_offsets(self, place: TopicPartition, timeout: float) -> tuple[int, int]:
        return 0, self.ends[place.partition]

    def assign(self, places: list[TopicPartition]) -> None:
        self._next = {p.partition: p.offset if p.offset >= 0 else 0 for p in places}

    def consume(self, count: int, seconds: float) -> list[FakeMessage]:
        messages = []
        for number, offset in self._next.items():
            assert offset < 1_000, "the reader does not stop"
            if offset not in self._markers:
                messages.append(FakeMessage(number, offset))
            self._next[number] = offset + 1
        return messages

    def close(self) -> None:
        self.is_closed = True


class ClosingTopic(BusyTopic):
    """The same, but its last transaction is the last thing in it: the client reports the end."""

    def consume(self, count: int, seconds: float) -> list[FakeMessage]:
        ended = [n for n, offset in self._next.items() if offset >= self.ends[n]]
        for number in ended:
            del self._next[number]
        eof = KafkaError(KafkaError._PARTITION_EOF)
        return [FakeMessage(n, self.ends[n], eof) for n in ended] + super().consume(count, seconds)


class Admin:
    """Knows a topic of so many partitions."""

    def __init__(self, partitions: int) -> None:
        self._partitions = partitions

    def describe(self, names: Iterable[str]) -> dict[str, TopicFacts]:
        return {name: TopicFacts(name, self._partitions, 1) for name in names}


def read(monkeypatch: pytest.MonkeyPatch, topic: BusyTopic) -> list[int]:
    monkeypatch.setattr(reading, "client", lambda kind, settings: topic)
    found = [record.offset for record in read_to_end(Kafka(), Partition("t", 0))]
    assert topic.is_closed
    return found


def tail(monkeypatch: pytest.MonkeyPatch, topic: BusyTopic, *, from_beginning: bool) -> list[tuple[int, int]]:
    monkeypatch.setattr(reading, "client", lambda kind, settings: topic)
    monkeypatch.setattr(reading, "TopicAdmin", lambda kafka: Admin(len(topic.ends)))
    records = follow(Kafka(), ["t"], from_beginning=from_beginning, until_end=True)
    found = [(record.partition.number, record.offset) for record in records if record is not None]
    assert topic.is_closed
    return found


@pytest.mark.parametrize("kind", [BusyTopic, ClosingTopic])
@pytest.mark.parametrize(
    ("markers", "expected"),
    [((), [0, 1, 2, 3, 4]), ((4,), [0, 1, 2, 3]), ((0, 3, 4, 5), [1, 2])],
    ids=["records only", "a marker at the end", "markers around the end"],
)
def test_a_busy_topic_is_read_to_where_it_ended(
    monkeypatch: pytest.MonkeyPatch, kind: type[BusyTopic], markers: tuple[int, ...], expected: list[int]
) -> None:
    assert read(monkeypatch, kind(5, markers=markers)) == expected
    assert tail(monkeypatch, kind(5, markers=markers), from_beginning=True) == [(0, n) for n in expected]


def test_each_partition_is_read_to_its_own_end(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tail(monkeypatch, BusyTopic(3, 0, 1), from_beginning=True)
    assert sorted(found) == [(0, 0), (0, 1), (0, 2), (2, 0)]


def test_an_empty_topic_has_been_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(monkeypatch, BusyTopic(0)) == []
    assert tail(monkeypatch, BusyTopic(0, 0), from_beginning=True) == []


def test_whoever_may_not_read_a_topic_learns_so_while_it_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a topic ends is said to everybody who may write to it."""
    topic = BusyTopic(0)
    refused = FakeMessage(0, 0, KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    monkeypatch.setattr(topic, "consume", lambda count, seconds: [refused])
    with pytest.raises(EngineError, match="t/0 cannot be read"):
        read(monkeypatch, topic)


def test_whoever_begins_at_the_end_is_there_already(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tail(monkeypatch, BusyTopic(5, 7), from_beginning=False) == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (KafkaError._TRANSPORT, BrokerUnavailable),
        (KafkaError._TIMED_OUT, BrokerUnavailable),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, EngineError),
    ],
)
def test_an_end_that_cannot_be_asked_for_is_a_clear_error(
    monkeypatch: pytest.MonkeyPatch, code: int, expected: type[Exception]
) -> None:
    topic = BusyTopic(5)

    def refuse(place: TopicPartition, timeout: float) -> tuple[int, int]:
        raise KafkaException(KafkaError(code))

    monkeypatch.setattr(topic, "get_watermark_offsets", refuse)
    with pytest.raises(expected) as caught:
        read(monkeypatch, topic)
    assert type(caught.value) is expected
    assert topic.is_closed


class SlowTopic(ClosingTopic):
    """The same, but every other time nothing has come yet."""

    _is_empty = False

    def consume(self, count: int, seconds: float) -> list[FakeMessage]:
        self._is_empty = not self._is_empty
        return [] if self._is_empty else super().consume(count, seconds)


class Clock:
    """The seconds that a reader sees."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_the_time_that_is_spent_on_a_record_is_not_the_brokers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of a slow learner takes minutes to be learned again; the journal is read on all the same."""
    clock, topic = Clock(), SlowTopic(4)
    monkeypatch.setattr(reading, "client", lambda kind, settings: topic)
    monkeypatch.setattr(reading, "time", clock)
    for _ in read_to_end(Kafka(), Partition("t", 0)):
        clock.now += 1_000
    monkeypatch.setattr(topic_reader, "Consumer", lambda settings: SlowTopic(4))
    monkeypatch.setattr(topic_reader, "time", clock)
    records = topic_reader.TopicReader(Kafka()).read("t", {0: topic_reader.Extent(0, 4)})
    found = []
    for record in records:
        found.append(record.offset)
        clock.now += 1_000
    assert found == [0, 1, 2, 3]


def test_a_broker_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, topic = Clock(), BusyTopic(4)

    def silence(count: int, seconds: float) -> list[FakeMessage]:
        clock.now += 1
        return []

    monkeypatch.setattr(topic, "consume", silence)
    monkeypatch.setattr(reading, "time", clock)
    with pytest.raises(BrokerUnavailable, match="could not be read to its end in time"):
        read(monkeypatch, topic)
    assert 2 * REQUEST_SECONDS < clock.now < 2 * REQUEST_SECONDS + 3
