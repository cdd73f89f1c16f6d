"""JSON bytes to the values of a record.

A record is a JSON object. Whatever else it is becomes a `RejectedRecord` with a reason from a closed set,
decided by our own rules and not by what a parser happens to accept: see docs/records.md. Which of its fields
are attributes is decided in `stream.records.fields`.
"""

import json
from typing import Any, NamedTuple, NoReturn

import msgspec

from learners.schema import Value
from stream.errors import MAX_FIELD, RejectedRecord
from stream.printable import clipped
from stream.records.fields import Chosen, FieldFilter, Fields, Nested
from stream.records.published import RecordId
from stream.records.record import UNREADABLE, Headers, Record

OP_HEADER = "espalier.op"
MAX_NUMBER = 1_024
"""The longest number that is read, in characters. Nobody writes one; reading it is work for nothing."""
_MAGIC = 0
"""The first byte of what a schema registry's serializer writes; four bytes of schema id follow."""
_REGISTRY_BYTES = 5
_INT64 = range(-(2**63), 2**63)
_AS_DIGITS = bytes(0x30 if byte in b"+-.0123456789Ee" else 0x20 for byte in range(256))
_TOO_MANY_DIGITS = b"0" * (MAX_NUMBER + 1)

_flat = msgspec.json.Decoder(dict[str, str | bool | int | float | None])
_any = msgspec.json.Decoder(dict[str, Any], float_hook=float)


class Decoded(NamedTuple):
    """A record taken apart.

    Attributes:
        values: The fields to learn from.
        label: The class; None: it has none.
        id: The id; None: it has none.
        ignored: Fields that are not attributes by the agent's settings.
        nested: Fields left out because they hold an object or an array.
        flags: Fields that are read as missing, each with the flag that says why.
    """

    values: dict[str, Value]
    label: Value
    id: RecordId
    ignored: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    flags: tuple[tuple[str, str], ...] = ()


class Decoder:
    """Takes records apart.

    Args:
        label: The field that holds the class.
        id_field: The field that names a record.
        max_bytes: The longest record that is looked at, key and value together: the key is copied into what
            is written.
        max_depth: How deep brackets may be nested before a record counts as a bomb rather than a mistake.
        fields: Which fields are attributes.
    """

    def __init__(
        self, label: str, id_field: str, max_bytes: int, max_depth: int, fields: Fields | None = None
    ) -> None:
        self.label = label
        self.id_field = id_field
        self.max_bytes = max_bytes
        self.max_depth = max_depth
        self.fields = fields or Fields()
        self._filter = FieldFilter(self.fields, (label, id_field))

    def decode(self, record: Record) -> Decoded:
        """Return what a record says.

        Raises:
            RejectedRecord: It is not a JSON object, or one that means nothing.
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
            _check_headers(record.headers)
        try:
            chosen = self._filter.choose_plain(_flat.decode(data))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            chosen = self._nested(data, error)
        values = chosen.values
        # Every key has a colon of its own, so as many colons as keys means that no key came twice.
        keys = len(values) + len(chosen.ignored)
        if data.count(b":") != keys or (len(data) > MAX_NUMBER and _has_many_digits(data)):
            _look_again(data, deep=self.fields.nested is Nested.FLATTEN)
        label = values.pop(self.label, None)
        if self.label in chosen.not_plain:
            message = f'the label "{self.label}" holds an object or an array'
            raise RejectedRecord("bad_label", "decode", message, self.label)
        if self.id_field in chosen.not_plain:
            raise self._bad_id()
        return Decoded(values, label, self._id_of(values), chosen.ignored, chosen.nested, chosen.flags)

    def _nested(self, data: bytes, error: Exception) -> Chosen:
        """Return the fields of a record that is not flat, or that has a number no double holds.

        Raises:
            RejectedRecord: It is no JSON object, or the settings refuse it.
        """
        if not isinstance(error, msgspec.ValidationError) or _is_deeper(data, self.max_depth):
            raise self._why(data, error) from error
        try:
            record = _any.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as other:
            raise self._why(data, other) from other
        if self.fields.nested is Nested.REJECT:
            self._refuse_nested(record)
        chosen = self._filter.choose(record)
        if chosen.twice:
            message = f'two fields are called "{clipped(chosen.twice, MAX_FIELD)}" once objects are flattened'
            raise RejectedRecord("duplicate_key", "decode", message, chosen.twice)
        return chosen

    def _refuse_nested(self, record: dict[str, Any]) -> None:
        for name, value in record.items():
            if isinstance(value, dict | list) and self._filter.keeps(name):
                kind = "an object" if isinstance(value, dict) else "an array"
                raise RejectedRecord(
                    "wrong_type",
                    "decode",
                    f'field "{clipped(name, MAX_FIELD)}" holds {kind}. Set nested = "ignore" or "flatten"',
                    name,
                )

    def _id_of(self, values: dict[str, Value]) -> RecordId:
        name = values.pop(self.id_field, None)
        if isinstance(name, bool):
            raise self._bad_id()
        if type(name) is int and name not in _INT64:
            message = f'the id "{self.id_field}" is an integer of more than 64 bits'
            raise RejectedRecord("number_range", "decode", message, self.id_field)
        return name

    def _bad_id(self) -> RejectedRecord:
        message = f'the id "{self.id_field}" must be a string or a number'
        return RejectedRecord("bad_id", "decode", message, self.id_field)

    def _why(self, data: bytes, error: Exception) -> RejectedRecord:
        """Return the reason for which a record could not be decoded."""
        text = str(error)
        if not data.strip(b" \t\r\n"):
            return RejectedRecord("empty", "decode", "the record is empty")
        if isinstance(error, UnicodeDecodeError) or _is_other_text(data):
            return RejectedRecord(
                "encoding", "decode", "the record is not UTF-8 text without a byte-order mark"
            )
        if data[0] == _MAGIC and len(data) >= _REGISTRY_BYTES:
            return RejectedRecord("json_syntax", "decode", _of_registry(data))
        if _is_deeper(data, self.max_depth):
            return RejectedRecord("too_deep", "decode", f"brackets are nested deeper than {self.max_depth}")
        if isinstance(error, msgspec.ValidationError):
            if text.startswith("Expected `object`"):
                return RejectedRecord("not_object", "decode", "the record is not a JSON object")
            if "out of range" in text:
                return RejectedRecord("number_range", "decode", f"a number cannot be represented: {text}")
        return _why_not_json(data, text)


def _check_headers(headers: Headers) -> None:
    if headers is UNREADABLE:
        raise RejectedRecord("bad_header", "decode", "the name of a header is not UTF-8")
    for name, value in headers:
        if name == OP_HEADER and value != b"instance":
            shown = (value or b"").decode(errors="replace")[:64]
            raise RejectedRecord(
                "unknown_op", "decode", f'the operation "{shown}" is not known. Use "instance"'
            )


def _of_registry(data: bytes) -> str:
    """Return what to say about a record that a serializer of a schema registry has written."""
    number = int.from_bytes(data[1:_REGISTRY_BYTES], "big")
    return (
        f"the record begins with a schema registry header (schema id {number}): it is Avro, Protobuf or JSON "
        "with a prefix of five bytes. Write plain JSON, without the registry's serializer"
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


def _look_again(data: bytes, *, deep: bool) -> None:
    """Look again, slowly, at a record with more colons than keys or with a long row of digits.

    Args:
        data: The record.
        deep: Whether the keys of nested objects matter as well.

    Raises:
        RejectedRecord: A key came twice, or a number is too long; otherwise they were inside of strings.
    """

    def keys_of(pairs: list[tuple[str, object]]) -> list[str]:
        keys = [name for name, _ in pairs]
        if deep:
            _check_distinct(keys)
        return keys

    def check_number(text: str) -> None:
        if len(text) > MAX_NUMBER:
            raise RejectedRecord("number_range", "decode", f"a number has {len(text)} characters")

    keys = json.loads(data, object_pairs_hook=keys_of, parse_int=check_number, parse_float=check_number)
    _check_distinct(keys)


def _check_distinct(keys: list[str]) -> None:
    if len(set(keys)) == len(keys):
        return
    name = next(name for index, name in enumerate(keys) if name in keys[:index])[:64]
    raise RejectedRecord("duplicate_key", "decode", f'the field "{name}" is there twice', name)
