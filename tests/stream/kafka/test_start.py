"""Where a worker begins to read: at the end of what is decided, and never at records it has learned from."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import KafkaError, TopicPartition

from stream.config import Agent, Batch, Kafka, Timeouts
from stream.errors import Abortable, BrokerUnavailable, EngineError
from stream.kafka import reading
from stream.kafka.batch_poller import BatchPoller
from stream.kafka.reading import read_to_end
from stream.kafka.session import _Session
from stream.kafka.shared import SharedMembership
from stream.model.ports import Unit, unit_of
from stream.records.record import OutputColumn, Outputs, Partition, Record
from tests.stream.kafka.messages import FakeMessage

BEGIN, END = 5, 90
JOURNAL = Partition("a.journal", 0)


class Assigned:
    """A consumer of a group, of which all calls are noted."""

    def __init__(self, committed: dict[int, int] | None = None) -> None:
        self.calls: list[tuple[str, int, int]] = []
        self._committed = committed or {}

    def committed(self, places: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        return [TopicPartition(p.topic, p.partition, self._committed.get(p.partition, -1001)) for p in places]

    def get_watermark_offsets(self, place: TopicPartition, timeout: float) -> tuple[int, int]:
        return BEGIN, END

    def incremental_assign(self, places: list[TopicPartition]) -> None:
        self.calls += [("assign", place.partition, place.offset) for place in places]

    def pause(self, places: list[TopicPartition]) -> None:
        self.calls += [("pause", place.partition, 0) for place in places]

    def seek(self, place: TopicPartition) -> None:
        self.calls.append(("seek", place.partition, place.offset))

    def resume(self, places: list[TopicPartition]) -> None:
        self.calls += [("resume", place.partition, 0) for place in places]


def member_of(consumer: Assigned, owned: set[int]) -> SharedMembership:
    member = SharedMembership.__new__(SharedMembership)
    member._timeouts = Timeouts()
    member._agent, member._owned, member._intake = Agent(name="a", input="in"), owned, BatchPoller()
    member._assigned, member._observe, member._is_leaving = [], lambda event: None, False
    member._consumer = consumer  # type: ignore[assignment]
    return member


@pytest.mark.parametrize(("state", "expected"), [({}, BEGIN), ({2: 17}, 17)])
def test_a_partition_is_always_read_from_where_its_model_stands(state: dict[int, int], expected: int) -> None:
    consumer = Assigned()
    member = member_of(consumer, {1, 2})
    # What was read before the model was restored may have been dropped, or is about to be read again.
    stays: Any = FakeMessage(1, 5)
    member._intake.waiting = [FakeMessage(2, 0), stays, FakeMessage(2, 1)]  # type: ignore[list-item]
    member.start(unit_of("in", 2), state)
    assert consumer.calls == [("seek", 2, expected), ("resume", 2, 0)]
    assert member._intake.waiting == [stays]
    consumer.calls.clear()
    member.start(unit_of("in", 3), state)
    assert consumer.calls == []


def test_the_client_is_never_asked_to_look_an_offset_up() -> None:
    """It would look again after a seek, and go back to the beginning."""
    consumer = Assigned({1: 40})
    member = member_of(consumer, set())
    member._on_assign(consumer, [TopicPartition("in", number) for number in range(3)])  # type: ignore[arg-type]
    assert [call for call in consumer.calls if call[0] == "assign"] == [
        ("assign", 0, BEGIN),
        ("assign", 1, 40),
        ("assign", 2, BEGIN),
    ]
    for number in range(3):
        member.start(unit_of("in", number), {1: 40} if number == 1 else {})
    assert all(offset >= 0 for _, _, offset in consumer.calls)


# ---- a client that goes back


class Model:
    """A processor that notes what it has learned from."""

    def __init__(self, next_offsets: dict[int, int]) -> None:
        self.next_offsets = next_offsets
        self.learned: list[int] = []

    def process(self, records: list[Record]) -> Outputs:
        self.learned += [record.offset for record in records]
        return Outputs(OutputColumn("p"))


class Quiet:
    """Takes any call."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **named: None


class Spread(Quiet):
    """A worker's place in its group."""

    def unit_of(self, partition: Partition) -> Unit:
        return unit_of("in", partition.number)


def processed(model: Model, offsets: list[int]) -> list[int]:
    session = _Session(None, Agent(name="a", input="in"), Batch(), lambda event: None, Quiet(), {})  # type: ignore[arg-type]
    session._processors = {unit_of("in", 0): model}  # type: ignore[dict-item]
    records = [Record(Partition("in", 0), offset, b"") for offset in offsets]
    session._process(records, Spread())  # type: ignore[arg-type]
    return model.learned


@pytest.mark.parametrize("offsets", [[7, 8], [9], [120, 121]])
def test_records_that_follow_are_learned_from(offsets: list[int]) -> None:
    assert processed(Model({0: 7}), offsets) == offsets


@pytest.mark.parametrize("offsets", [[0, 1], [6, 7], [6]])
def test_records_that_were_learned_from_are_not_learned_from_again(offsets: list[int]) -> None:
    model = Model({0: 7})
    with pytest.raises(Abortable, match=f"went back to offset {offsets[0]} of in/0, expected 7"):
        processed(model, offsets)
    assert model.learned == []


# ---- an open transaction


def end_at(offset: int) -> FakeMessage:
    """The client says that it has come to the last stable offset."""
    return FakeMessage(0, offset, KafkaError(KafkaError._PARTITION_EOF))


class Journal:
    """A consumer of a journal: what comes of one call after the other."""

    def __init__(self, *polls: list[FakeMessage]) -> None:
        self.polls = list(polls)
        self.is_closed = False

    def assign(self, places: list[TopicPartition]) -> None: ...

    def consume(self, count: int, seconds: float) -> list[FakeMessage]:
        return self.polls.pop(0) if self.polls else []

    def close(self) -> None:
        self.is_closed = True


def read(monkeypatch: pytest.MonkeyPatch, journal: Journal, end: int, signs: list[int]) -> list[int]:
    monkeypatch.setattr(reading, "client", lambda kind, settings: journal)

    def alive() -> Iterator[None]:
        while True:
            signs.append(len(journal.polls))
            yield

    try:
        return [record.offset for record in read_to_end(Kafka(), JOURNAL, 0, alive(), "g", end)]
    finally:
        assert journal.is_closed


def test_the_end_of_a_journal_is_not_in_front_of_an_open_transaction(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    polls = [[FakeMessage(0, 0), end_at(2)], [], [], [FakeMessage(0, 2)], [end_at(4)]]
    signs: list[int] = []
    with caplog.at_level(logging.WARNING):
        assert read(monkeypatch, Journal(*polls), 4, signs) == [0, 2]
    assert "a.journal/0: a transaction is open at offset 2 of 4, waiting" in caplog.text
    # Meanwhile the group sees signs of life.
    assert len(signs) == 4


def test_a_transaction_that_was_aborted_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(monkeypatch, Journal([FakeMessage(0, 0), end_at(2)], [], [end_at(4)]), 4, []) == [0]


def test_without_an_open_transaction_nothing_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    signs: list[int] = []
    assert read(monkeypatch, Journal([FakeMessage(0, 0), end_at(4)]), 4, signs) == [0]
    assert (signs, caplog.text) == ([], "")


def test_a_transaction_that_stays_open_is_a_clear_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Timeouts, "open_transaction_seconds", 0.01)
    with pytest.raises(
        EngineError, match=r"open at offset 2 of a.journal/0 .*kafka-transactions.sh"
    ) as caught:
        read(monkeypatch, Journal([FakeMessage(0, 0), end_at(2)]), 4, [])
    assert caught.value.exit_code == 74


def test_a_broker_that_says_nothing_is_another_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Timeouts, "read_seconds", 0.01)
    with pytest.raises(BrokerUnavailable, match="could not be read to its end in time"):
        read(monkeypatch, Journal([FakeMessage(0, 0)]), 4, [])


def test_a_transaction_is_waited_for_as_long_as_it_can_stay_open() -> None:
    assert Timeouts().open_transaction_seconds > 15 + 10
    long = Timeouts.of({"transaction.timeout.ms": 600_000})
    assert long.open_transaction_seconds > 600 + 10
