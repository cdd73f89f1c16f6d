"""The parts of the confluent engine that need no broker."""

from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from hypothesis import given
from hypothesis import strategies as st

from stream.config import Agent, Batch, Timeouts
from stream.errors import Abortable, ConfigError, Fatal, Fenced
from stream.kafka import reading
from stream.kafka.batch_poller import cut
from stream.kafka.client_errors import classify
from stream.kafka.clients import client
from stream.kafka.exclusive import ExclusiveMembership
from stream.kafka.membership import _leave
from stream.kafka.reading import ends_of
from stream.kafka.session import _Session
from stream.kafka.shared import SharedMembership
from stream.model.ports import unit_of
from stream.records.record import OutputColumn, Outputs, Partition
from tests.stream.kafka.messages import FakeMessage


@given(st.lists(st.integers(0, 3_000), max_size=30), st.integers(1, 10), st.integers(1_024, 5_000))
def test_a_batch_is_as_large_as_it_may_be_and_nothing_is_left_out(
    sizes: list[int], most: int, most_bytes: int
) -> None:
    messages: list[Any] = [FakeMessage(0, number, value=b"x" * size) for number, size in enumerate(sizes)]
    batch = Batch(max_batch=most, max_batch_bytes=most_bytes)
    taken, late = cut(messages, batch)
    assert taken + late == messages
    assert len(taken) <= most
    assert sum(map(len, taken)) <= most_bytes or len(taken) == 1
    if late and len(taken) < most:
        assert sum(map(len, taken)) + len(late[0]) > most_bytes


@pytest.mark.parametrize(
    ("code", "kind", "says"),
    [
        (KafkaError._UNKNOWN_PARTITION, Fatal, "espalier topics create"),
        (KafkaError._UNKNOWN_TOPIC, Fatal, "espalier topics create"),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, Fatal, "rights of this worker"),
        (KafkaError.PRODUCER_FENCED, Fenced, "another worker"),
        (KafkaError._TIMED_OUT, Abortable, ""),
        (KafkaError._STATE, Abortable, ""),
        (KafkaError.INVALID_TXN_STATE, Fatal, "cannot go on"),
        (KafkaError.UNKNOWN, Fatal, "cannot go on"),
    ],
)
def test_an_error_says_what_to_do(code: int, kind: type, says: str) -> None:
    error = classify(KafkaException(KafkaError(code)))
    assert type(error) is kind
    assert says in str(error)


def test_a_refusal_names_the_topics_that_were_written() -> None:
    error = KafkaException(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    assert "It was writing a.journal, in.predictions." in str(
        classify(error, {"in.predictions", "a.journal"})
    )


@pytest.mark.parametrize("kind", [Consumer, Producer])
@pytest.mark.parametrize("wrong", [{"no.such.property": 1}, {"fetch.wait.max.ms": "soon"}])
def test_properties_that_the_client_refuses_are_an_error_of_the_configuration(
    kind: type, wrong: dict[str, object]
) -> None:
    with pytest.raises(ConfigError, match=r"\[kafka.properties\]: the Kafka client refuses them: .+"):
        client(kind, {"bootstrap.servers": "127.0.0.1:1", "group.id": "g", **wrong})


class Told:
    """Takes any call, and remembers the arguments of the last one by its name."""

    def __init__(self, **answers: object) -> None:
        self.calls: dict[str, tuple[Any, ...]] = {}
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **named: Any) -> object:
            self.calls[name] = args
            return self._answers.get(name)

        return call


class Standing:
    """A processor that stands somewhere."""

    def __init__(self, next_offsets: dict[int, int]) -> None:
        self.next_offsets = next_offsets


def test_what_has_no_records_of_its_own_is_fenced_by_the_group_too() -> None:
    """Who has lost its partitions, and does not know it, must write neither a snapshot nor a better tree."""
    agent = Agent(name="a", input="in")
    session = _Session(None, agent, Batch(), print, Told(), {})  # type: ignore[arg-type]
    session._processors = {unit_of("in", 0): Standing({0: 7}), unit_of("in", 1): Standing({1: 9})}  # type: ignore[dict-item]
    writer, member = Told(), Told(lag=0, group_metadata="generation 5")
    session._begin(writer, [Outputs(OutputColumn("s"))], {}, member)  # type: ignore[arg-type]
    _, places, group, _ = writer.calls["write"]
    assert [(place.topic, place.partition, place.offset) for place in places] == [("in", 0, 7), ("in", 1, 9)]
    assert group == "generation 5"
    session._begin(writer, [Outputs(OutputColumn("s"))], {Partition("in", 1): (9, 12)}, member)  # type: ignore[arg-type]
    _, places, _, _ = writer.calls["write"]
    assert [(place.partition, place.offset) for place in places] == [(1, 12)]


class Moving:
    """A consumer of a partition whose leader changes."""

    def __init__(self, *codes: int) -> None:
        self._codes = list(codes)

    def get_watermark_offsets(self, place: TopicPartition, timeout: float) -> tuple[int, int]:
        if self._codes:
            raise KafkaException(KafkaError(self._codes.pop(0)))
        return 3, 7


def test_a_leader_that_changes_is_waited_for() -> None:
    moving = Moving(KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE)
    assert ends_of(moving, "t", 0) == (3, 7)  # type: ignore[arg-type]


def test_a_broker_that_does_not_know_a_new_topic_yet_is_asked_again() -> None:
    unknown = (
        KafkaError._UNKNOWN_PARTITION,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    )
    assert ends_of(Moving(*unknown), "t", 0) == (3, 7)  # type: ignore[arg-type]


def test_a_refusal_is_not_asked_again() -> None:
    with pytest.raises(KafkaException):
        ends_of(Moving(KafkaError.TOPIC_AUTHORIZATION_FAILED), "t", 0)  # type: ignore[arg-type]


def test_a_leader_that_does_not_come_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "REQUEST_SECONDS", 0.1)
    with pytest.raises(KafkaException):
        ends_of(Moving(*[KafkaError.NOT_LEADER_FOR_PARTITION] * 100), "t", 0)  # type: ignore[arg-type]


class Leaver:
    """A consumer that has changes of its group to tell, and is of the group until they are told."""

    def __init__(self, changes: int) -> None:
        self.told: list[str] = []
        self._changes = changes

    def unsubscribe(self) -> None:
        self.told.append("unsubscribe")

    def consume(self, count: int, seconds: float) -> list[object]:
        self.told.append("consume")
        self._changes -= 1
        if self._changes % 2:
            raise Abortable("what a change came to")
        return []

    def memberid(self) -> str:
        return "me" if self._changes > 0 else ""

    def close(self) -> None:
        self.told.append("close")


@pytest.mark.parametrize("changes", [0, 1, 4])
def test_a_client_is_closed_when_it_has_no_changes_left_to_tell(changes: int) -> None:
    leaver = Leaver(changes)
    _leave(leaver)  # type: ignore[arg-type]
    assert leaver.told == ["unsubscribe", *["consume"] * max(1, changes), "close"]


def test_a_group_that_does_not_let_go_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Timeouts, "leave_seconds", 0.0)
    leaver = Leaver(10**9)
    _leave(leaver)  # type: ignore[arg-type]
    assert leaver.told[-1] == "close"


def test_who_is_leaving_takes_no_partitions() -> None:
    spread = SharedMembership.__new__(SharedMembership)
    spread._is_leaving, spread._owned = True, set()
    spread._on_assign(Told(), [TopicPartition("in", 0)])  # type: ignore[arg-type]
    assert spread._owned == set()
    whole = ExclusiveMembership.__new__(ExclusiveMembership)
    whole._is_leaving, whole._has_lock = True, False
    whole._on_assign(Told(), [TopicPartition("a.journal", 0)])  # type: ignore[arg-type]
    assert not whole.is_active
