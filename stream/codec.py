"""Bytes to values, events to bytes. The only place that knows JSON.

A record is a flat JSON object. Whatever else it is becomes a `RejectedRecord` with a reason from a closed
set, decided by our own rules and not by what a parser happens to accept: see docs/records.md.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import NamedTuple, NoReturn

import msgspec

from learners.change import TreeChange
from learners.outline import AttributeTest, to_json
from learners.schema import Value
from stream.errors import RejectedRecord
from stream.events import Change, NodeTest, PathStep, RecordId, Rejected
from stream.record import Headers, Output, Record

OP_HEADER = "espalier.op"
VERSION = b"1"
MAX_NUMBER = 1_024
"""The longest number that is read, in characters. Nobody writes one; reading it is work for nothing."""
STUB_LIMIT = 900_000
"""What is longer than this is not copied into a dead letter, which would pass the client's message limit."""
_MAX_MESSAGE = 1_024
_OUR_HEADERS = ("espalier.dlq.", "__streams.errors.")
_INT64 = range(-(2**63), 2**63)
_AS_DIGITS = bytes(0x30 if byte in b"+-.0123456789Ee" else 0x20 for byte in range(256))
_TOO_MANY_DIGITS = b"0" * (MAX_NUMBER + 1)

_flat = msgspec.json.Decoder(dict[str, str | bool | int | float | None])
_encoder = msgspec.json.Encoder()


class Decoded(NamedTuple):
    """A record taken apart: the description, the label if it has one, and the id if it has one."""

    values: dict[str, Value]
    label: Value
    id: RecordId


class Decoder:
    """Takes records apart.

    Args:
        label: The field that holds the class.
        id_field: The field that names a record.
        max_bytes: The longest record that is looked at, key and value together: the key is copied into what
            is written.
        max_depth: How deep brackets may be nested before a record counts as a bomb rather than a mistake.
    """

    def __init__(self, label: str, id_field: str, max_bytes: int, max_depth: int) -> None:
        self.label = label
        self.id_field = id_field
        self.max_bytes = max_bytes
        self._max_depth = max_depth

    def decode(self, record: Record) -> Decoded:
        """Return what a record says.

        Raises:
            RejectedRecord: It is not a flat JSON object.
        """
        data = record.value
        if data is None:
            raise RejectedRecord("null_value", "decode", "the record has no value")
        size = len(data) + len(record.key or b"")
        if size > self.max_bytes:
            raise RejectedRecord(
                "too_large", "decode", f"the record has {size} bytes, more than {self.max_bytes}"
            )
        if record.headers:
            _check_op(record.headers)
        try:
            values: dict[str, Value] = _flat.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._why(data, error) from error
        # Every key has a colon of its own, so as many colons as keys means that no key came twice.
        if data.count(b":") != len(values) or (len(data) > MAX_NUMBER and _has_many_digits(data)):
            _look_again(data)
        label = values.pop(self.label, None)
        return Decoded(values, label, self._id_of(values))

    def _id_of(self, values: dict[str, Value]) -> RecordId:
        name = values.pop(self.id_field, None)
        if isinstance(name, bool):
            raise RejectedRecord("bad_id", "decode", f'the id "{self.id_field}" must be a string or a number')
        if type(name) is int and name not in _INT64:
            raise RejectedRecord(
                "number_range", "decode", f'the id "{self.id_field}" is an integer of more than 64 bits'
            )
        return name

    def _why(self, data: bytes, error: Exception) -> RejectedRecord:
        """Return the reason for which a record could not be decoded."""
        text = str(error)
        if not data.strip(b" \t\r\n"):
            return RejectedRecord("empty", "decode", "the record is empty")
        if isinstance(error, UnicodeDecodeError) or _is_other_text(data):
            return RejectedRecord(
                "encoding", "decode", "the record is not UTF-8 text without a byte-order mark"
            )
        if _is_deeper(data, self._max_depth):
            return RejectedRecord("too_deep", "decode", f"brackets are nested deeper than {self._max_depth}")
        if isinstance(error, msgspec.ValidationError):
            if text.startswith("Expected `object`"):
                return RejectedRecord("not_object", "decode", "the record is not a JSON object")
            if "out of range" in text:
                reason = "number_range" if "nteger" in text else "non_finite"
                return RejectedRecord(reason, "decode", f"a number cannot be represented: {text}")
            return RejectedRecord("wrong_type", "decode", f"a field holds no plain value: {text}")
        return _why_not_json(data, text)


def _check_op(headers: Headers) -> None:
    for name, value in headers:
        if name == OP_HEADER and value != b"instance":
            shown = (value or b"").decode(errors="replace")[:64]
            raise RejectedRecord(
                "unknown_op", "decode", f'the operation "{shown}" is not known. Use "instance"'
            )


def _is_other_text(data: bytes) -> bool:
    """Whether the bytes are text, but not UTF-8 without a byte-order mark."""
    encoding = json.detect_encoding(data)
    if encoding == "utf-8":
        return False
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _is_deeper(data: bytes, limit: int) -> bool:
    """Whether brackets outside strings are nested deeper than a limit."""
    if data.count(b"[") + data.count(b"{") <= limit:
        return False
    depth = 0
    in_string = escaped = False
    for byte in data:
        if escaped:
            escaped = False
        elif in_string:
            escaped = byte == 0x5C
            in_string = byte != 0x22
        elif byte == 0x22:
            in_string = True
        elif byte in b"[{":
            depth += 1
            if depth > limit:
                return True
        elif byte in b"]}":
            depth -= 1
    return False


def _why_not_json(data: bytes, told: str) -> RejectedRecord:
    """Ask a more lenient parser about what is not JSON: it takes NaN and half a surrogate pair."""

    def refuse_constant(name: str) -> NoReturn:
        raise RejectedRecord("non_finite", "decode", f"a number is {name}")

    try:
        json.loads(data, parse_constant=refuse_constant, parse_int=len, parse_float=len)
    except RejectedRecord as rejected:
        return rejected
    except (ValueError, RecursionError):
        return RejectedRecord("json_syntax", "decode", f"the record is not JSON: {told}")
    return RejectedRecord("encoding", "decode", "the record holds half a surrogate pair")


def _has_many_digits(data: bytes) -> bool:
    return _TOO_MANY_DIGITS in data.translate(_AS_DIGITS)


def _look_again(data: bytes) -> None:
    """Look again, slowly, at a record with more colons than keys or with a long row of digits.

    Raises:
        RejectedRecord: A key came twice, or a number is too long; otherwise they were inside of strings.
    """

    def check_keys(pairs: list[tuple[str, object]]) -> None:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise RejectedRecord("duplicate_key", "decode", f'the field "{name[:64]}" is there twice')
            seen.add(name)

    def check_number(text: str) -> None:
        if len(text) > MAX_NUMBER:
            raise RejectedRecord("number_range", "decode", f"a number has {len(text)} characters")

    json.loads(data, object_pairs_hook=check_keys, parse_int=check_number, parse_float=check_number)


# ---- events to bytes


def encode(event: msgspec.Struct) -> bytes:
    """Return an event as JSON."""
    return _encoder.encode(event)


def change_record(change: TreeChange) -> Change:
    """Return a change of the tree as it is published."""
    return Change(
        kind=change.kind,
        path=tuple(
            PathStep(test.attribute, value, at_most=msgspec.UNSET if test.at_most is None else test.at_most)
            for test, value in change.path
        ),
        old_test=_test_record(change.old_test),
        new_test=_test_record(change.new_test),
        score=change.score,
        margin=change.margin,
        subtree=msgspec.Raw(to_json(change.subtree).encode()),
        saved_bits=msgspec.UNSET if change.saved is None else change.saved,
    )


def _test_record(test: AttributeTest | None) -> NodeTest | None:
    if test is None:
        return None
    return NodeTest(test.attribute, msgspec.UNSET if test.at_most is None else test.at_most)


def dead_letter(rejected: Rejected, topic: str, agent: str) -> Output:
    """Return the dead letter of a record: its bytes, key and headers as they were, and why.

    Beside our own headers go those of Kafka Streams, for tools that know them. What a record says under our
    own names is not trusted and left out.
    """
    record = rejected.record
    message = rejected.message[:_MAX_MESSAGE]
    position: Mapping[str, str] = {
        "topic": record.partition.topic,
        "partition": str(record.partition.number),
        "offset": str(record.offset),
    }
    ours: dict[str, str] = {f"espalier.dlq.{name}": text for name, text in position.items()}
    ours |= {
        "espalier.dlq.agent": agent,
        "espalier.dlq.reason": rejected.reason,
        "espalier.dlq.stage": rejected.stage,
        "espalier.dlq.message": message,
        "espalier.dlq.timestamp": str(record.timestamp_ms),
        "espalier.dlq.version": VERSION.decode(),
        "__streams.errors.exception": f"espalier.{rejected.reason}",
        "__streams.errors.message": message,
    }
    ours |= {f"__streams.errors.{name}": text for name, text in position.items()}
    kept = tuple(pair for pair in record.headers if not pair[0].startswith(_OUR_HEADERS))
    value, key = record.value, record.key
    if value is not None and _bytes_in(value, key, kept) > STUB_LIMIT:
        ours |= {
            "espalier.dlq.omitted": "value",
            "espalier.dlq.omitted_bytes": str(len(value)),
            "espalier.dlq.sha256": hashlib.sha256(value).hexdigest(),
        }
        value = None
    if _bytes_in(value, key, kept) > STUB_LIMIT:
        ours["espalier.dlq.omitted"] = "key headers" if record.value is None else "value key headers"
        key, kept = None, ()
    added = tuple((name, text.encode(errors="replace")) for name, text in ours.items())
    return Output(topic, value, key, record.partition.number, kept + added)


def _bytes_in(value: bytes | None, key: bytes | None, headers: Headers) -> int:
    """Return about how many bytes a message has."""
    told = sum(len(name.encode()) + len(text or b"") + 8 for name, text in headers)
    return len(value or b"") + len(key or b"") + told
