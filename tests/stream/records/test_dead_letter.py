"""A dead letter keeps the record it is made of, and always fits into a message."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream.errors import RejectedRecord
from stream.records.dead_letter import STUB_LIMIT, Rejected, dead_letter
from stream.records.record import Headers, Output, Record
from tests.stream.records.decoding import USUAL, record
from tests.stream.records.generated import mutated


def letter(one: Record, reason: str = "json_syntax", message: str = "it is not JSON") -> Output:
    return dead_letter(Rejected(one, reason, "decode", message), "in.dead-letters", "loans")


def test_a_dead_letter_keeps_value_key_and_headers() -> None:
    headers: Headers = (("trace", b"t-1"), ("trace", b"t-2"), ("none", None), ("raw", b"\xff\x00"))
    told = letter(record(b"\xff?", key=b"\x00k", headers=headers))
    assert (told.topic, told.partition) == ("in.dead-letters", 3)
    assert (told.value, told.key) == (b"\xff?", b"\x00k")
    assert told.headers[: len(headers)] == headers
    assert dict(told.headers[len(headers) :]) == {
        "espalier.dlq.reason": b"json_syntax",
        "espalier.dlq.stage": b"decode",
        "espalier.dlq.field": b"",
        "espalier.dlq.message": b"it is not JSON",
        "espalier.dlq.topic": b"in",
        "espalier.dlq.partition": b"3",
        "espalier.dlq.offset": b"17",
        "espalier.dlq.timestamp": b"1700000000000",
        "espalier.dlq.agent": b"loans",
        "espalier.dlq.version": b"1",
        "__streams.errors.exception": b"espalier.json_syntax",
        "__streams.errors.message": b"it is not JSON",
        "__streams.errors.topic": b"in",
        "__streams.errors.partition": b"3",
        "__streams.errors.offset": b"17",
    }


def test_a_dead_letter_of_nothing_has_no_value() -> None:
    assert letter(record(None), "null_value").value is None


def test_headers_that_pose_as_ours_are_replaced() -> None:
    spoofed: Headers = (
        ("espalier.dlq.reason", b"fine"),
        ("espalier.dlq.reason", b"finer"),
        ("espalier.dlq.omitted_bytes", b"0"),
        ("espalier.dlq.sha256", b"0"),
        ("espalier.dlq.attempt", b"99"),
        ("__streams.errors.stacktrace", b"0"),
        ("espalier.dlqs", b"a name of somebody else"),
    )
    headers = letter(record(b"?", headers=spoofed)).headers
    names = [name for name, _ in headers]
    assert len(set(names)) == len(names)
    assert not {"espalier.dlq.omitted_bytes", "espalier.dlq.sha256", "espalier.dlq.attempt"} & set(names)
    assert "__streams.errors.stacktrace" not in names
    assert dict(headers)["espalier.dlq.reason"] == b"json_syntax"
    assert dict(headers)["espalier.dlqs"] == b"a name of somebody else"


def test_a_value_that_would_pass_the_brokers_limit_becomes_a_stub() -> None:
    value = b"A" * (STUB_LIMIT + 1)
    told = letter(record(value, key=b"k", headers=(("trace", b"1"),)), "too_large")
    headers = dict(told.headers)
    assert (told.value, told.key, headers["trace"]) == (None, b"k", b"1")
    assert headers["espalier.dlq.omitted"] == b"value"
    assert headers["espalier.dlq.omitted_bytes"] == str(len(value)).encode()
    assert headers["espalier.dlq.sha256"] == hashlib.sha256(value).hexdigest().encode()


def test_a_value_within_the_limit_is_kept_whole() -> None:
    told = letter(record(b"A" * STUB_LIMIT), "too_large")
    assert told.value is not None
    assert len(told.value) == STUB_LIMIT
    assert not [name for name, _ in told.headers if "omitted" in name or "sha256" in name]


def size_of(told: Output) -> int:
    headers = sum(len(name.encode()) + len(value or b"") for name, value in told.headers)
    return len(told.value or b"") + len(told.key or b"") + headers


@pytest.mark.parametrize(
    ("value", "key", "headers", "omitted"),
    [
        (b"v" * 890_000, b"k" * 20_000, (), b"value"),
        (b"v" * 600_000, None, (("h", b"h" * 500_000),), b"value"),
        (b"v", b"k" * 950_000, (("trace", b"1"),), b"value key headers"),
        (b"v", None, tuple((f"h{n}", b"h" * 50) for n in range(15_000)), b"value key headers"),
        (None, b"k" * 950_000, (), b"key headers"),
    ],
    ids=["value-and-key", "value-and-header", "key", "many-headers", "key-alone"],
)
def test_a_dead_letter_always_fits_into_a_message(
    value: bytes | None, key: bytes | None, headers: Headers, omitted: bytes
) -> None:
    told = letter(record(value, key, headers), "too_large")
    assert size_of(told) < 950_000
    assert dict(told.headers)["espalier.dlq.omitted"] == omitted


def test_a_long_message_is_cut() -> None:
    told = letter(record(b"?"), message="ü" * 100_000)
    assert size_of(told) < 6_000


@given(st.binary(max_size=50) | mutated(), st.lists(st.tuples(st.text(), st.none() | st.binary())))
def test_every_refused_record_makes_a_dead_letter_with_its_bytes(
    value: bytes, headers: list[tuple[str, bytes | None]]
) -> None:
    one = record(value, headers=tuple(headers))
    try:
        USUAL.decode(one)
    except RejectedRecord as error:
        told = letter(one, error.reason, str(error))
        assert told.value == value
        assert told.headers[: len(headers)] == one.headers
