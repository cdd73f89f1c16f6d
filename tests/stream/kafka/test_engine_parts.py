"""The parts of the confluent engine that need no broker."""

import logging
import threading
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from hypothesis import given
from hypothesis import strategies as st

from stream.config import Agent, Batch, Timeouts
from stream.errors import Abortable, ConfigError, Fatal, Fenced
from stream.kafka import reading, transactions
from stream.kafka.batch_poller import cut
from stream.kafka.client_errors import classify
from stream.kafka.clients import client
from stream.kafka.exclusive import ExclusiveMembership
from stream.kafka.membership import _leave
from stream.kafka.reading import ends_of
from stream.kafka.session import _Session
from stream.kafka.shared import SharedMembership
from stream.kafka.transactions import SLOW_SECONDS, EndTxnRetryDetector
from stream.model.ports import unit_of
from stream.native.messages import Taker, first_repeat, next_offsets, places_of, produce_all
from stream.records.record import OutputColumn, Outputs, Partition, Record
from tests.stream.kafka.messages import FakeMessage


def test_messages_become_records() -> None:
    told = [FakeMessage(1, 7, key=b"k", headers=[("h", b"x")]), FakeMessage(0, 3, value=None)]
    records, wrong = Taker().take(told)  # type: ignore[arg-type]
    assert wrong is None
    assert records == [
        Record(Partition("t", 1), 7, b"v", b"k", (("h", b"x"),), 9),
        Record(Partition("t", 0), 3, None, None, (), 9),
    ]


def test_records_before_an_error_are_not_lost() -> None:
    wrong: Any = FakeMessage(0, 2, error=KafkaError(KafkaError._ALL_BROKERS_DOWN))
    records, first = Taker().take([FakeMessage(0, 1), wrong, FakeMessage(0, 3)])  # type: ignore[list-item]
    assert [record.offset for record in records] == [1]
    assert first is wrong


offsets = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**62)), max_size=30)


@given(offsets)
def test_places_and_next_offsets_are_those_of_the_records(told: list[tuple[int, int]]) -> None:
    records = [Record(Partition("t", number), offset, b"") for number, offset in told]
    assert [tuple(place) for place in places_of(records).tolist()] == told
    spans = next_offsets(records)
    assert set(spans) == {record.partition for record in records}
    for partition, (first, end) in spans.items():
        mine = [offset for number, offset in told if number == partition.number]
        assert (first, end) == (mine[0], mine[-1] + 1)


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


def test_a_full_queue_says_how_far_it_came() -> None:
    sent: list[tuple[Any, ...]] = []

    def produce(*args: Any) -> None:
        if len(sent) == 2:
            raise BufferError
        sent.append(args)

    values, keys = [b"a", b"b", b"c"], [None, b"k", None]
    assert produce_all(produce, "t", values, keys, [0, 1, 2], 0) == 2
    assert sent == [("t", b"a", None, 0), ("t", b"b", b"k", 1)]
    sent.clear()
    assert produce_all(produce, "t", values, keys, [0, 1, 2], 2) == 3


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


# ---- disturbed commits


def said(listener: EndTxnRetryDetector, line: str, level: int = logging.DEBUG) -> None:
    listener.handle(logging.LogRecord("rdkafka", level, "", 0, line, (), None))


def test_a_commit_that_was_tried_twice_is_noticed_in_the_clients_log() -> None:
    listener = EndTxnRetryDetector()
    said(listener, "ENDTXN [rdkafka#producer-1]: EndTxn returned NO_ERROR in state CommittingTransaction")
    said(listener, "something else that returned _TRANSPORT")
    assert not listener.seen
    said(listener, "ENDTXN: EndTxn returned _TRANSPORT in state CommittingTransaction (may retry)")
    assert "_TRANSPORT" in listener.seen


def test_a_client_that_does_not_come_back_from_a_commit_is_given_up() -> None:
    for_ever = threading.Event()

    class Stuck:
        def commit_transaction(self, seconds: float) -> None:
            for_ever.wait()

    commit = transactions._PendingCommit(
        Stuck(),  # type: ignore[arg-type]
        [],
        None,
        set(),
        lambda seconds: None,
        Timeouts(transaction_ms=15),
    )
    with pytest.raises(Fatal, match="does not come back"):
        commit.settle()
    for_ever.set()


class Late:
    """A client that uses all the time it is given, and succeeds at the last moment or not at all."""

    def __init__(self, clock: list[float], offsets_at: int) -> None:
        self.clock = clock
        self._left = offsets_at

    def _spend(self, seconds: float) -> None:
        # A little less: a clock that shows the very end must not buy another attempt.
        self.clock[0] += 0.999 * seconds
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "late", retriable=True))

    def send_offsets_to_transaction(self, offsets: object, group: object, seconds: float) -> None:
        self._left -= 1
        if self._left:
            self._spend(seconds)

    def commit_transaction(self, seconds: float) -> None:
        self._spend(seconds)


@pytest.mark.parametrize("offsets_at", [0, 1, 2, 3])
def test_a_commit_is_over_before_its_client_is_given_up(
    monkeypatch: pytest.MonkeyPatch, offsets_at: int
) -> None:
    """A broker that is away for a while must not look like a client that hangs."""
    clock = [0.0]
    monkeypatch.setattr("stream.kafka.transactions.time.monotonic", lambda: clock[0])
    late = Late(clock, offsets_at)
    timeouts = Timeouts()
    commit = transactions._PendingCommit(
        late,  # type: ignore[arg-type]
        [object()],  # type: ignore[list-item]
        None,
        set(),
        lambda seconds: None,
        timeouts,
    )
    with pytest.raises(Abortable, match="late"):
        commit.settle()
    assert clock[0] < timeouts.settle_seconds


def test_a_commit_that_took_much_longer_than_usual_is_suspected() -> None:
    listener = EndTxnRetryDetector()
    for _ in range(20):
        listener.took(0.01)
    assert not listener.seen
    listener.took(SLOW_SECONDS / 2)
    assert not listener.seen
    listener.took(2 * SLOW_SECONDS)
    assert "took" in listener.seen


def test_the_first_commits_are_slow_for_other_reasons() -> None:
    listener = EndTxnRetryDetector()
    for _ in range(8):
        listener.took(9.0)
    assert not listener.seen


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


@given(offsets)
def test_a_record_that_comes_twice_in_a_batch_is_found(told: list[tuple[int, int]]) -> None:
    records = [Record(Partition("t", number), offset, b"") for number, offset in told]
    ends: dict[int, int] = {}
    expected = None
    for record in records:
        if record.offset <= ends.get(record.partition.number, -1):
            expected = record
            break
        ends[record.partition.number] = record.offset
    assert first_repeat(records) is expected
