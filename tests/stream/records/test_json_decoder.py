"""What becomes of bytes: the catalogue of bad payloads, fuzzing, and the dead letter that keeps them."""

import hashlib
import json
import time
import unicodedata

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from learners.codes import Codes
from learners.schema import InstanceError, Misfit
from stream.config import Limits
from stream.errors import RejectedRecord
from stream.records.dead_letter import STUB_LIMIT, Rejected, dead_letter
from stream.records.fields import Fields, Nested
from stream.records.json_decoder import MAX_NUMBER, OP_HEADER, Decoded, Decoder
from stream.records.record import Headers, Output, Partition, Record
from tests.payloads import CATALOGUE, Payload

PLACE = Partition("in", 3)
MEGABYTES = Decoder("class", "id", max_bytes=4_000_000, max_depth=32)
USUAL = Decoder("class", "id", Limits().max_record_bytes, Limits().max_depth)


def record(value: bytes | None, key: bytes | None = None, headers: Headers = ()) -> Record:
    return Record(PLACE, 17, value, key, headers, timestamp_ms=1_700_000_000_000)


def outcome(decoder: Decoder, value: bytes | None) -> str:
    """Return the reason for which a value is refused by us or by a fresh model, or "accepted"."""
    try:
        decoded = decoder.decode(record(value))
        if decoded.label is None:
            Codes().look_up(decoded.values)
        else:
            Codes().encode(decoded.values, decoded.label)
    except RejectedRecord as error:
        assert error.stage == "decode"
        return error.reason
    except InstanceError as error:
        return error.misfit.value
    return "accepted"


def decoded(value: bytes) -> Decoded:
    return USUAL.decode(record(value))


# ---- the catalogue


@pytest.mark.parametrize("payload", CATALOGUE, ids=lambda p: f"{p.number}-{p.what.replace(' ', '-')}")
def test_a_payload_of_the_catalogue_is_accepted_or_has_its_reason(payload: Payload) -> None:
    assert outcome(MEGABYTES, payload.value) == payload.expected


def test_the_catalogue_is_complete() -> None:
    assert {payload.number[:3] for payload in CATALOGUE} == {f"P{n:02}" for n in range(1, 51)}


def test_what_is_longer_than_the_limit_is_not_looked_at() -> None:
    long = [payload for payload in CATALOGUE if len(payload.value) > Limits().max_record_bytes]
    assert len(long) >= 5
    assert {outcome(USUAL, payload.value) for payload in long} == {"too_large"}
    exactly = b'{"id":"' + b"x" * 91 + b'"}'
    assert Decoder("class", "id", 100, 32).decode(record(exactly)).values == {}
    assert outcome(Decoder("class", "id", 99, 32), exactly) == "too_large"


def test_a_long_key_counts_because_it_is_copied_into_the_prediction() -> None:
    with pytest.raises(RejectedRecord) as caught:
        USUAL.decode(record(b'{"x": 1}', key=b"k" * Limits().max_record_bytes))
    assert caught.value.reason == "too_large"


@pytest.mark.parametrize(
    "value",
    [b"[" * 262_144, b'{"a":' * 50_000, b"{" * 262_144, b'[{"a":' * 40_000],
    ids=["arrays", "objects", "braces", "both"],
)
def test_a_bomb_of_brackets_is_refused_at_once(value: bytes) -> None:
    def cost(one: bytes, expected: str) -> float:
        """The best of some tries: the machine may be busy with something else."""
        tries = []
        for _ in range(9):
            started = time.process_time()
            assert outcome(USUAL, one) == expected
            tries.append(time.process_time() - started)
        return min(tries)

    flat = b'{"x":[' + b"1," * ((len(value) - 10) // 2) + b"1]}"
    # Compared with as many bytes without any depth, in the same run: no clock says how fast a machine is.
    assert cost(value, "too_deep") < 10 * cost(flat, "accepted")


def test_brackets_inside_of_strings_are_no_nesting() -> None:
    assert outcome(USUAL, b'{"x": "' + b"[" * 500 + b'"}') == "accepted"
    assert outcome(USUAL, b'{"x": ["' + b'\\"[' * 100 + b'"]}') == "accepted"
    assert outcome(USUAL, b'{"x": ' + b"[" * 31 + b"]" * 31 + b"}") == "accepted"
    assert outcome(USUAL, b'{"x": ' + b"[" * 32 + b"]" * 32 + b"}") == "too_deep"


def test_a_record_without_a_value_has_a_reason_of_its_own() -> None:
    assert outcome(USUAL, None) == "null_value"


@pytest.mark.parametrize("value", ["[]", "{}", "[1, 2]", '{"y": 1}'])
@pytest.mark.parametrize(("field", "reason"), [("class", "bad_label"), ("id", "bad_id")])
def test_a_label_or_id_that_is_nested_is_refused(field: str, reason: str, value: str) -> None:
    for nested in Nested:
        decoder = Decoder("class", "id", 1_000, 32, Fields(nested=nested))
        text = f'{{"x": 1, "{field}": {value}}}'.encode()
        assert outcome(decoder, text) == ("wrong_type" if nested is Nested.REJECT else reason)


def test_a_row_of_digits_inside_of_a_string_is_no_number() -> None:
    digits = "1" * (MAX_NUMBER + 1)
    assert decoded(f'{{"id": "{digits}"}}'.encode()).id == digits
    assert outcome(USUAL, f'{{"x": 0.{digits}}}'.encode()) == "number_range"
    assert outcome(USUAL, f'{{"x": 0.{digits[: MAX_NUMBER - 2]}}}'.encode()) == "accepted"


def test_a_colon_inside_of_a_string_is_no_key() -> None:
    assert decoded(b'{"at": "12:30:00", "b:c": 1}').values == {"at": "12:30:00", "b:c": 1}


@pytest.mark.parametrize(
    ("op", "expected"),
    [(b"instance", "accepted"), (b"forget", "unknown_op"), (b"\xff", "unknown_op"), (None, "unknown_op")],
)
def test_an_operation_that_is_not_known_is_refused(op: bytes | None, expected: str) -> None:
    one = record(b'{"x": 1}', headers=(("trace", b"1"), (OP_HEADER, op)))
    if expected == "accepted":
        assert USUAL.decode(one).values == {"x": 1}
        return
    with pytest.raises(RejectedRecord) as caught:
        USUAL.decode(one)
    assert caught.value.reason == expected


# ---- labels and ids


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ('"yes"', "accepted"),
        ("0", "accepted"),
        ("false", "accepted"),
        ("1.5", "accepted"),
        ("null", "accepted"),
        ('""', "bad_label"),
        ("[]", "bad_label"),
        ("{}", "bad_label"),
    ],
)
def test_a_label_is_a_plain_value_that_is_not_empty(label: str, expected: str) -> None:
    assert outcome(USUAL, f'{{"x": 1, "class": {label}}}'.encode()) == expected


def test_labels_of_different_types_are_not_merged() -> None:
    codes = Codes()
    one = decoded(b'{"x": 1, "class": 1}')
    assert codes.encode(one.values, one.label) == codes.encode(one.values, 1.0)
    for other in ("1", True):
        with pytest.raises(InstanceError) as caught:
            codes.encode(one.values, other)
        assert caught.value.misfit is Misfit.TYPE_DRIFT
    assert codes.classes == ["1"]


@pytest.mark.parametrize(
    ("told", "expected"),
    [('"a-1"', "a-1"), ("17", 17), ("1.5", 1.5), ("null", None), ('""', "")],
)
def test_the_id_is_a_string_or_a_number_and_no_attribute(told: str, expected: object) -> None:
    one = decoded(f'{{"id": {told}, "x": 1, "class": "p"}}'.encode())
    assert one == Decoded({"x": 1}, "p", expected)  # type: ignore[arg-type]


@pytest.mark.parametrize("told", ["true", "false"])
def test_a_boolean_is_no_id(told: str) -> None:
    assert outcome(USUAL, f'{{"id": {told}}}'.encode()) == "bad_id"


def test_the_fields_of_label_and_id_can_have_other_names() -> None:
    decoder = Decoder("approved", "number", 1_000, 32)
    told = decoder.decode(record(b'{"number": 4, "approved": "yes", "class": "c", "id": 5}'))
    assert told == Decoded({"class": "c", "id": 5}, "yes", 4)


def test_names_that_look_alike_stay_apart() -> None:
    nfc, nfd = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))
    assert decoded(json.dumps({nfc: 1, nfd: 2}).encode()).values == {nfc: 1, nfd: 2}


# ---- fuzzing

plain = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text() | st.floats(-1e300, 1e300)
fields = st.dictionaries(st.text().filter(lambda name: name not in ("class", "id")), plain, max_size=8)
whole = st.builds(
    lambda values, label, name: {**values, "class": label, "id": name},
    fields,
    plain,
    st.none() | st.text() | st.integers(-(2**63), 2**63 - 1),
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Return a valid record in which some bytes were changed, left out, doubled or put in."""
    data = bytearray(json.dumps(draw(whole), ensure_ascii=draw(st.booleans())).encode())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.integers(0, 4)):
            case 0:
                data[at : at + 1] = draw(st.binary(max_size=2))
            case 1:
                del data[at : at + draw(st.integers(1, 6))]
            case 2:
                data[at:at] = data[at : at + draw(st.integers(1, 40))]
            case 3:
                data[at:at] = draw(st.sampled_from(_TOKENS))
            case _:
                del data[at:]
    return bytes(data)


_TOKENS = [
    *(b"{", b"}", b"[", b"]", b":", b",", b'"', b"\\", b"\\u", b"\\ud800", b"null", b"NaN", b"Infinity"),
    *(b"1e999", b"-", b"00", b"9" * 30, b"\xff", b"\x00", b"\xef\xbb\xbf", b"\xed\xa0\x80", b'"class":'),
]


@given(st.binary(max_size=200) | mutated())
@example(b'{"a":"\xff')
@example(b'{"a":' + b"9" * 4_299 + b',"b:":1}')
@example(b"\xff\xfe")
@example(b'\x00{\x00"')
def test_bytes_of_any_kind_are_decoded_or_refused_and_nothing_else(value: bytes) -> None:
    try:
        told = USUAL.decode(record(value))
    except RejectedRecord as error:
        assert error.stage == "decode"
        assert error.reason in DECODE_REASONS
        assert str(error)
        return
    # Whatever is accepted is what a strict reading of the same text says.
    pairs = json.loads(value, object_pairs_hook=list)
    assert len(dict(pairs)) == len(pairs)
    assert dict(pairs) == {**told.values} | {
        name: value for name, value in (("class", told.label), ("id", told.id)) if name in dict(pairs)
    }


DECODE_REASONS = {
    *("null_value", "empty", "too_large", "too_deep", "encoding", "json_syntax", "not_object"),
    *("duplicate_key", "wrong_type", "non_finite", "number_range", "bad_id", "unknown_op"),
}


@given(whole, st.booleans(), st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t: ")]))
def test_an_instance_is_read_as_it_was_written(
    instance: dict[str, object], ascii_only: bool, separators: tuple[str, str]
) -> None:
    text = json.dumps(instance, ensure_ascii=ascii_only, separators=separators)
    told = decoded(text.encode())
    assert {**told.values, "class": told.label, "id": told.id} == instance
    assert [type(value) for value in told.values.values()] == [
        type(value) for name, value in instance.items() if name not in ("class", "id")
    ]


@given(whole)
def test_an_accepted_instance_can_be_written_and_read_again(instance: dict[str, object]) -> None:
    once = decoded(json.dumps(instance).encode())
    again = decoded(msgspec.json.encode({**once.values, "class": once.label, "id": once.id}))
    assert again == once


# ---- dead letters


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
