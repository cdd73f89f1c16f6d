"""What a consumer hands over, error messages among it: no record is skipped and none comes twice."""

from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, KafkaError, TopicPartition

from stream.config import Agent, Batch, Kafka
from stream.errors import Abortable, StateError
from stream.kafka import exclusive, shared
from stream.kafka.batch_poller import BatchPoller
from stream.kafka.clients import CONFLUENT
from stream.kafka.exclusive import ExclusiveMembership
from stream.kafka.shared import SharedMembership
from stream.model.ports import unit_of
from tests.stream.kafka.messages import FakeMessage

BATCH = Batch(max_batch=5, max_batch_bytes=1_024, linger_ms=0)


class Queue:
    """A consumer of one partition: messages that wait in the client, in their order."""

    def __init__(self, messages: list[FakeMessage]) -> None:
        self.messages = list(messages)

    def consume(self, count: int, seconds: float) -> list[FakeMessage]:
        taken, self.messages = self.messages[:count], self.messages[count:]
        return taken


def messages_of(kinds: str, *, size: int = 1) -> list[FakeMessage]:
    """Return messages: "." for a record, "!" for an error. Offsets are those of the records alone."""
    made: list[FakeMessage] = []
    offset = 0
    for kind in kinds:
        error = KafkaError(KafkaError._TIMED_OUT) if kind == "!" else None
        made.append(FakeMessage(0, offset, error, value=b"v" * size))
        offset += error is None
    return made


def session(kinds: str, size: int = 1) -> tuple[list[int], bool]:
    """Take what there is until an error is raised, which ends a session; return offsets, and whether it was.

    Whoever begins again reads from where the last transaction ended: what came behind the error is not lost
    with the session, but it must not have been handed over before, and nothing may come behind a gap.
    """
    intake, queue = BatchPoller(), Queue(messages_of(kinds, size=size))
    offsets: list[int] = []
    while queue.messages or intake.waiting:
        try:
            records = intake.take(queue, BATCH, 0)  # type: ignore[arg-type]
        except Abortable:
            return offsets, True
        assert records, "nothing was taken, and no error was raised"
        offsets += [record.offset for record in records]
    return offsets, False


KINDS = ["!", ".!", "!.", ".!.", "..!..!!...", "....!", "....!......", ".....!.....", "!!.!", "." * 17]


@pytest.mark.parametrize("size", [1, 300])
@pytest.mark.parametrize("kinds", KINDS)
def test_everything_before_an_error_comes_once_and_in_order_and_then_the_error(kinds: str, size: int) -> None:
    offsets, raised = session(kinds, size)
    before, error, _ = kinds.partition("!")
    assert offsets == list(range(len(before)))
    assert raised == bool(error)


def test_an_error_of_a_partition_that_goes_leaves_what_stands_behind_it() -> None:
    """The session goes on without the partition, and so must the records of the others."""
    wrong = FakeMessage(1, 4, KafkaError(KafkaError._TIMED_OUT))
    large = {"value": b"v" * 800}
    behind = [FakeMessage(0, 1), FakeMessage(0, 2, **large), FakeMessage(0, 3, **large), FakeMessage(0, 4)]
    intake, queue = BatchPoller(), Queue([FakeMessage(0, 0), wrong, *behind])
    assert [record.offset for record in intake.take(queue, BATCH, 0)] == [0]  # type: ignore[arg-type]
    intake.forget({1})
    taken: list[int] = []
    while queue.messages or intake.waiting:
        taken += [record.offset for record in intake.take(queue, BATCH, 0)]  # type: ignore[arg-type]
    assert taken == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (KafkaError._AUTO_OFFSET_RESET, "no longer holds the records that come next"),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, "does not exist any more"),
    ],
)
def test_an_input_that_has_gone_is_a_clear_stop(code: int, words: str) -> None:
    with pytest.raises(StateError, match=rf"t/0 {words}"):
        BatchPoller().take(Queue([FakeMessage(0, 0, KafkaError(code))]), BATCH, 0)  # type: ignore[arg-type]


# ---- taking over


class Consumer(Queue):
    """A consumer that is assigned partitions by hand."""

    made: list["Consumer"]

    def __init__(self, kind: object, settings: object) -> None:
        super().__init__([])
        self.assigned: list[tuple[int, int]] = []
        self.is_closed = False
        self.made.append(self)

    def assign(self, places: list[TopicPartition]) -> None:
        self.assigned = [(place.partition, place.offset) for place in places]

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def consumers(monkeypatch: pytest.MonkeyPatch) -> list[Consumer]:
    made: list[Consumer] = []
    monkeypatch.setattr(Consumer, "made", made, raising=False)
    monkeypatch.setattr(exclusive, "client", Consumer)
    monkeypatch.setattr(shared, "client", Consumer)
    return made


def whole_topic(inputs: int = 1) -> ExclusiveMembership:
    """Return a member that has the lock, as after `_on_assign`."""
    member = ExclusiveMembership.__new__(ExclusiveMembership)
    member._kafka, member._agent, member._clients = Kafka(), Agent(name="a", input="in"), CONFLUENT
    member._has_lock, member._inputs, member._look_again = True, inputs, float("inf")
    member._observe, member.before_leaving = _ignore, lambda: None
    member._unit, member._assigned, member._revoked = unit_of("in", None), [], []
    member._reader, member._intake = None, BatchPoller()
    return member


def _ignore(event: object) -> None:
    pass


def test_what_was_read_before_a_model_came_back_is_not_learned_again(consumers: list[Consumer]) -> None:
    """The lock goes and comes back: another worker has learned meanwhile what still waits in the queue."""
    member = whole_topic()
    member.start(member._unit, {})
    consumers[0].messages = messages_of("." * 9)
    first = member.poll(Batch(max_batch=4, max_batch_bytes=1_024, linger_ms=0), 0)
    assert [record.offset for record in first] == [0, 1, 2, 3]
    # More than fit by their size: some wait in the client, one in ours.
    consumers[0].messages = [FakeMessage(0, 4, value=b"v" * 800), FakeMessage(0, 5, value=b"v" * 800)]
    assert [record.offset for record in member.poll(BATCH, 0)] == [4]
    assert member._intake.waiting
    place = [TopicPartition("a.journal", 0)]
    member._on_lost(None, place)  # type: ignore[arg-type]
    assert consumers[0].is_closed
    assert member.poll(BATCH, 0) == []
    member._has_lock = True
    member.start(member._unit, {0: 7})
    assert consumers[1].assigned == [(0, 7)]
    consumers[1].messages = [FakeMessage(0, 7), FakeMessage(0, 8)]
    assert [record.offset for record in member.poll(BATCH, 0)] == [7, 8]


def test_a_model_that_is_restored_again_has_one_reader_and_an_empty_queue(consumers: list[Consumer]) -> None:
    """After an aborted transaction the same worker begins again, without having lost the lock."""
    member = whole_topic(2)
    member.start(member._unit, {1: 3})
    assert consumers[0].assigned == [(0, OFFSET_BEGINNING), (1, 3)]
    member._intake.waiting = [FakeMessage(0, 2), FakeMessage(1, 5)]  # type: ignore[list-item]
    member.start(member._unit, {0: 2, 1: 3})
    assert [one.is_closed for one in consumers] == [True, False]
    assert member._intake.waiting == []
    member._has_lock = False
    member.start(member._unit, {})
    assert len(consumers) == 2


def test_a_partition_that_goes_takes_what_was_read_from_it_along() -> None:
    events: list[Any] = []
    member = SharedMembership.__new__(SharedMembership)
    member._agent, member._owned, member._intake = Agent(name="a", input="in"), {0, 1, 2}, BatchPoller()
    member._assigned, member._revoked, member._observe = [unit_of("in", 1)], [], events.append
    stays: Any = FakeMessage(0, 5)
    member._intake.waiting = [FakeMessage(1, 3), stays, FakeMessage(2, 9)]  # type: ignore[list-item]
    member._on_lost(None, [TopicPartition("in", 2), TopicPartition("in", 1)])  # type: ignore[arg-type]
    assert member._intake.waiting == [stays]
    assert member.next_assigned() is None
    assert member.take_revoked() == [unit_of("in", 1), unit_of("in", 2)]
    assert not member.has_lost(unit_of("in", 1))
    assert [event.revoked for event in events] == [(("in", 1), ("in", 2))]
