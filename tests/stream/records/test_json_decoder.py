"""What becomes of bytes: the catalogue of bad payloads, labels and ids."""

import json
import time
import unicodedata

import pytest

from learners.codes import Codes
from learners.schema import InstanceError, Misfit
from stream.config import Limits
from stream.errors import RejectedRecord
from stream.records.fields import Fields, Nested
from stream.records.json_decoder import MAX_NUMBER, OP_HEADER, Decoded, Decoder
from tests.payloads import CATALOGUE, Payload
from tests.stream.records.decoding import MEGABYTES, USUAL, decoded, outcome, record

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
