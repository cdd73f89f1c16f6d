"""A refused record says which field is wrong, and what it looks like where it is no JSON at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream.assembly import processor_factory
from stream.config import Agent, Limits
from stream.errors import MAX_FIELD, RejectedRecord
from stream.events import Event, RecordRejected
from stream.model.ports import unit_of
from stream.records.dead_letter import Rejected, dead_letter
from stream.records.fields import Fields, Nested
from stream.records.json_decoder import Decoder
from stream.records.record import Partition, Record

PLACE = Partition("in", 0)


def refusal(value: bytes, fields: Fields | None = None) -> RejectedRecord:
    with pytest.raises(RejectedRecord) as caught:
        Decoder("class", "id", 100_000, 20, fields).decode(Record(PLACE, 0, value))
    return caught.value


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=100)
plain = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.text(st.characters(codec="utf-8"))
)


@given(st.dictionaries(names, plain, max_size=4), names)
def test_a_field_that_is_no_plain_value_is_named_whatever_else_is_there(
    others: dict[str, object], name: str
) -> None:
    for field in ("class", "id", name):
        others.pop(field, None)
    for wrong, kind in (([1, {"x": 2}], "an array"), ({"a": [1]}, "an object")):
        error = refusal(json.dumps({**others, name: wrong}).encode(), Fields(nested=Nested.REJECT))
        if name not in ("class", "id"):
            assert (error.reason, error.field) == ("wrong_type", RejectedRecord("", "", "", name).field)
            assert f" holds {kind}" in str(error)
        for setting in Nested:
            error = refusal(json.dumps({**others, "class": wrong}).encode(), Fields(nested=setting))
            assert (error.reason, error.field) in {("bad_label", "class"), ("wrong_type", "class")}


def test_a_label_is_named_by_its_own_field() -> None:
    agent = Agent(name="a", input="in", label="churned")
    events: list[Event] = []
    processor = processor_factory(agent, Limits(max_classes=2), events.append)(unit_of("in", None))
    values = [b'{"x": "y", "churned": "%d"}' % number for number in range(3)]
    values += [b'{"x": "y", "churned": ""}', b'{"x": "y", "churned": {}}', b'{"label": "y", "churned": ""}']
    processor.process([Record(PLACE, number, value) for number, value in enumerate(values)])
    told = [(event.reason, event.field) for event in events if isinstance(event, RecordRejected)]
    assert told == [
        ("too_many_classes", "churned"),
        ("bad_label", "churned"),
        ("bad_label", "churned"),
        ("bad_label", "label"),
    ]


@given(st.integers(0, 2**32 - 1), st.binary(min_size=1, max_size=40))
def test_a_record_of_a_schema_registry_says_so(number: int, rest: bytes) -> None:
    data = b"\x00" + number.to_bytes(4, "big") + rest
    try:
        data.decode("utf-32-be" if not data[1] else "utf-16-be")
    except UnicodeDecodeError:
        error = refusal(data)
        assert error.reason == "json_syntax"
        assert f"begins with a schema registry header (schema id {number}):" in str(error)


def test_four_bytes_after_a_zero_are_no_registry_header() -> None:
    assert "registry" not in str(refusal(b"\x00\x00\x00\x11"))


def test_text_in_another_encoding_is_not_taken_for_a_registry_header() -> None:
    assert refusal('{"a": "b"}'.encode("utf-16-be")).reason == "encoding"


@pytest.mark.parametrize(
    ("value", "reason", "field"),
    [
        (b'{"a": 1, "a": 2}', "duplicate_key", "a"),
        (b'{"id": true}', "bad_id", "id"),
        (b"[]", "not_object", ""),
        (b"{", "json_syntax", ""),
    ],
)
def test_the_field_is_named_where_one_is_wrong_and_empty_where_it_is_the_record(
    value: bytes, reason: str, field: str
) -> None:
    error = refusal(value)
    assert (error.reason, error.field) == (reason, field)


def test_a_long_name_is_clipped_in_the_header_of_the_dead_letter() -> None:
    error = refusal(json.dumps({"n" * 500: 1}).encode().replace(b": 1", b': 1, "x": 1, "x": 2'))
    assert error.field == "x"
    long = RejectedRecord("wrong_type", "decode", "m", "n" * 500)
    assert len(long.field) == MAX_FIELD
    record = Record(PLACE, 0, b"x")
    letter = dead_letter(Rejected(record, "wrong_type", "decode", "m", long.field), "letters", "a")
    assert dict(letter.headers)["espalier.dlq.field"] == b"n" * (MAX_FIELD - 3) + b"..."
