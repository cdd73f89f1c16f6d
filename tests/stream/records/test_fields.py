"""Which fields of a record are attributes, and that the fast way reads the same ones."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.codes import Codes
from learners.schema import Attribute, AttributeType, Limits, Schema
from stream.errors import RejectedRecord
from stream.model.row_decoder import RowDecoder, Segment
from stream.native.rows import RowReader
from stream.records.fields import Fields, Nested
from stream.records.json_decoder import Decoded, Decoder
from stream.records.record import Partition, Record

EVENT = {
    "id": "e-1",
    "user": {"id": 7, "country": "de", "tags": ["a"], "device": {"os": "x"}},
    "ts": "2026-11-17T00:00:07Z",
    "plan": "free",
    "logins": 12,
    "basket": [1, 2],
    "class": "stay",
}


def read(fields: Fields, value: object = None, label: str = "class") -> Decoded:
    text = value if isinstance(value, bytes) else json.dumps(EVENT if value is None else value).encode()
    decoder = Decoder(label, "id", 10_000, 32, fields)
    return decoder.decode(Record(Partition("in", 0), 0, text))


def test_nested_fields_are_left_out_unless_asked_for() -> None:
    decoded = read(Fields())
    assert decoded.values == {"ts": EVENT["ts"], "plan": "free", "logins": 12}
    assert (decoded.label, decoded.id, decoded.nested) == ("stay", "e-1", ("user", "basket"))


def test_objects_are_flattened_in_their_order_and_arrays_are_left_out() -> None:
    decoded = read(Fields(nested=Nested.FLATTEN))
    assert list(decoded.values) == ["user.id", "user.country", "user.device.os", "ts", "plan", "logins"]
    assert decoded.values["user.device.os"] == "x"


def test_a_nested_field_is_refused_by_name() -> None:
    with pytest.raises(RejectedRecord, match='field "user" holds an object') as caught:
        read(Fields(nested=Nested.REJECT))
    assert (caught.value.reason, caught.value.field) == ("wrong_type", "user")
    decoded = read(Fields(ignore=("user", "basket"), nested=Nested.REJECT))
    assert list(decoded.values) == ["ts", "plan", "logins"]


@pytest.mark.parametrize(
    ("ignore", "left"),
    [
        (("ts", "user"), ["plan", "logins"]),
        (("user.*", "ts"), ["plan", "logins"]),
        (("user.id", "*s"), ["user.country", "plan"]),
        (("user.device",), ["user.id", "user.country", "ts", "plan", "logins"]),
    ],
)
def test_what_is_ignored_is_no_attribute(ignore: tuple[str, ...], left: list[str]) -> None:
    decoded = read(Fields(ignore=ignore, nested=Nested.FLATTEN))
    if "*s" in ignore:  # user.device.os, ts and logins end so
        assert list(decoded.values) == left
    else:
        assert list(decoded.values) == left
    assert (decoded.label, decoded.id) == ("stay", "e-1")


def test_only_what_is_listed_is_an_attribute() -> None:
    assert list(read(Fields(attributes=("plan", "logins"))).values) == ["plan", "logins"]
    flat = read(Fields(attributes=("user.country", "plan"), nested=Nested.FLATTEN))
    assert list(flat.values) == ["user.country", "plan"]
    both = read(Fields(attributes=("user",), ignore=("user.id",), nested=Nested.FLATTEN))
    assert list(both.values) == ["user.country", "user.device.os"]


def test_the_label_may_be_a_nested_field() -> None:
    change = {"op": "c", "after": {"amount": 5, "status": "kept"}, "before": None}
    decoded = read(Fields(nested=Nested.FLATTEN, ignore=("before", "op")), change, "after.status")
    assert (decoded.values, decoded.label) == ({"after.amount": 5}, "kept")


def test_a_name_that_flattening_gives_twice_is_refused() -> None:
    with pytest.raises(RejectedRecord, match=r'two fields are called "a\.b"'):
        read(Fields(nested=Nested.FLATTEN), {"a.b": 1, "a": {"b": 2}})
    with pytest.raises(RejectedRecord, match='"b" is there twice'):
        read(Fields(nested=Nested.FLATTEN), b'{"a": {"b": 1, "b": 2}}')
    assert read(Fields(), b'{"a": {"b": 1, "b": 2}, "c": 1}').values == {"c": 1}


def test_a_number_that_no_double_holds_is_missing_and_flagged() -> None:
    decoded = read(Fields(), b'{"x": 1e400, "y": -1e999, "z": 1.5}')
    assert decoded.values == {"x": None, "y": None, "z": 1.5}
    assert decoded.flags == (("x", "out_of_range"), ("y", "out_of_range"))


# ---- the fast way

NAMES = st.sampled_from(["a", "b", "c", "d", "e", "a.b", "é", 'q"', "label", "id"])
PLAIN = st.one_of(
    st.sampled_from(["x", "y", "", "z" * 30, "é\U0001f680", 'a"b', "\\", "\n", "?", "1.5"]),
    st.integers(-3, 3),
    st.sampled_from([0.5, 2.25, 1e300, 2**70]),
    st.booleans(),
    st.none(),
)
NESTED = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)
)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {}, optional={"a": NESTED, "b": NESTED, "c": PLAIN, "d": NESTED, "e": PLAIN, "é": PLAIN}
    ).flatmap(lambda one: st.sampled_from(["p", "n", None]).map(lambda label: {**one, "label": label})),
    min_size=1,
    max_size=25,
)
PATTERNS = st.lists(st.sampled_from(["a", "b", "a.*", "*", "d", "e", "a.b", "é"]), max_size=3).map(tuple)
FIELDS = st.builds(Fields, PATTERNS, PATTERNS, st.sampled_from(Nested))
BENT = st.sampled_from([b"", b",", b"}", b"[", b'"', b"\xff", b"\\u00e9", b" ", b"1e400", b":"])


DECLARED = st.dictionaries(st.sampled_from("abcde"), st.sampled_from(AttributeType), max_size=3).map(
    lambda types: Schema(tuple(Attribute(name, kind) for name, kind in types.items()))
)


def intake(fields: Fields, schema: Schema, *, fast: bool) -> tuple[RowDecoder, Codes, list[str]]:
    limits = Limits(max_attributes=6, max_values_per_attribute=4, max_text=20)
    codes = Codes(schema, limits, numbers=True)
    decoder = Decoder("label", "id", 10_000, 4, fields)
    reader = RowReader(codes, "label", "id", 10_000, 4) if fast else None
    refused: list[str] = []
    return (
        RowDecoder(codes, decoder, reader, lambda _, error: refused.append(error.reason), lambda *_: None),
        codes,
        refused,
    )


def rows_of(segments: list[Segment]) -> list[object]:
    """Return what was read of each record: row, label, id, flags, and what was retired before it."""
    found: list[object] = []
    for one in segments:
        rows = one.rows if isinstance(one.rows, list) else one.rows.tolist()
        for index, row in enumerate(rows):
            codes = [code if code >= 0 else None for code in row]
            unseen = [None if code in (2**32 - 1, 2**64 - 1) else code for code in codes]
            retired = one.retired if index == 0 else ()
            found.append((unseen, int(one.labels[index]), one.ids[index], one.flags.get(index, ()), retired))
    return found


@given(RECORDS, FIELDS, DECLARED, st.data())
def test_the_fast_way_reads_the_fields_that_the_general_way_reads(
    records: list[dict[str, object]], fields: Fields, schema: Schema, data: st.DataObject
) -> None:
    values = [json.dumps(one, ensure_ascii=data.draw(st.booleans())).encode() for one in records]
    at = data.draw(st.integers(0, len(values) - 1))
    cut = data.draw(st.integers(0, len(values[at])))
    values[at] = values[at][:cut] + data.draw(BENT) + values[at][cut:]
    general, codes, refused = intake(fields, schema, fast=False)
    quick, other_codes, other_refused = intake(fields, schema, fast=True)
    for value in values:
        record = [Record(Partition("in", 0), 0, value)]
        assert rows_of(list(general.segments(record))) == rows_of(list(quick.segments(record)))
    assert refused == other_refused
    assert (codes.mark(), codes.dump()) == (other_codes.mark(), other_codes.dump())


def test_an_ignored_field_that_is_declared_is_never_read() -> None:
    """The fast way knows declared names before a record has shown that they are not attributes."""
    schema = Schema((Attribute("a", AttributeType.NUMERIC), Attribute("b", AttributeType.NUMERIC)), ("p",))
    records = [Record(Partition("in", 0), n, b'{"a": 1, "b": 2, "label": "p"}') for n in range(2)]
    rows = [
        rows_of(list(intake(Fields(("a",)), schema, fast=fast)[0].segments(records)))
        for fast in (False, True)
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 2


def test_what_is_ignored_does_not_slow_the_fast_way() -> None:
    codes = Codes(None, None, numbers=True)
    fields = Fields(ignore=("user_id", "ts"))
    decoder = Decoder("class", "id", 10_000, 32, fields)
    reader = RowReader(codes, "class", "id", 10_000, 32)
    reading = RowDecoder(codes, decoder, reader, lambda *_: None, lambda *_: None)

    def event(n: int) -> bytes:
        extra = {"user_id": f"u-{n}", "ts": f"00:00:{n}", "deep": {"a": [n, {"b": "é"}]}, "list": [n]}
        return json.dumps({**extra, "plan": "free", "logins": n % 7, "class": "stay"}).encode()

    list(reading.segments([Record(Partition("in", 0), 0, event(0))]))
    batch = [event(n) for n in range(1, 500)]
    assert reader.read(list(batch)).understood.all()
    assert codes.attributes == ["plan", "logins"]


@pytest.mark.parametrize("fast", [False, True])
def test_a_retired_attribute_may_be_missing_and_an_ignored_one_that_is_declared_may_not(fast: bool) -> None:
    """Where every record must have a value for every attribute."""
    schema = Schema((Attribute("must"),))
    codes = Codes(schema, Limits(max_values_per_attribute=2), reject_missing=True, numbers=True)
    refused: list[str] = []
    decoder = Decoder("class", "id", 1_000, 4, Fields(ignore=("other",)))
    reader = RowReader(codes, "class", "id", 1_000, 4) if fast else None
    reading = RowDecoder(
        codes, decoder, reader, lambda _, error: refused.append(error.reason), lambda *_: None
    )

    def read(**values: object) -> int:
        record = Record(Partition("in", 0), 0, json.dumps({**values, "class": "p"}).encode())
        return len(list(reading.segments([record])))

    assert [read(must="a", user=f"u{n}", other=n) for n in range(3)] == [1, 1, 1]
    assert codes.retired == {1}
    assert [read(must="a", user="u9"), read(must="a"), read(other=1)] == [1, 1, 0]
    assert refused == ["missing_value"]
    ignored = RowDecoder(
        codes,
        Decoder("class", "id", 1_000, 4, Fields(ignore=("must",))),
        RowReader(codes, "class", "id", 1_000, 4) if fast else None,
        lambda _, error: refused.append(error.reason),
        lambda *_: None,
    )
    record = Record(Partition("in", 0), 0, b'{"must": "a", "class": "p"}')
    assert list(ignored.segments([record, record])) == []
    assert refused == ["missing_value"] * 3
