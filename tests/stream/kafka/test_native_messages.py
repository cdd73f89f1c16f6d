"""Messages become records, and outputs become messages, in native code."""

from typing import Any

from confluent_kafka import KafkaError
from hypothesis import given
from hypothesis import strategies as st

from stream.native.messages import Taker, first_repeat, next_offsets, places_of, produce_all
from stream.records.record import Partition, Record
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
