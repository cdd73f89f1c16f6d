"""From the values of an instance to codes, by the names met so far, which are in `learners.vocabulary`.

What one field holds never makes an instance worthless: a value that cannot be taken is a missing one, with a
flag that says why. An attribute with more values than the limits allow is retired: it is missing in every
instance from then on.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learners.canonical import number_code, number_of, text_of
from learners.schema import (
    MISSING,
    AttributeType,
    InstanceError,
    Misfit,
    Value,
    Values,
)
from learners.vocabulary import MISSING_CODE, UNSEEN_CODE, Row, Vocabulary

FLAG_TOO_LONG = "too_long"
FLAG_WRONG_TYPE = "wrong_type"
FLAG_TOO_MANY_ATTRIBUTES = "too_many_attributes"
FIELD_FLAGS = frozenset({FLAG_TOO_LONG, FLAG_WRONG_TYPE, FLAG_TOO_MANY_ATTRIBUTES})
"""Why a value that is there is taken as a missing one."""

MOST_NOTED = 32
"""How many fields of one instance are named with a flag: an object may have any number of wrong ones."""

_INT64 = range(-(2**63), 2**63)
_INT64_DIGITS = 19
_FIELD_SHOWN = 64
_KINDS: Mapping[type, str] = {str: "string", bool: "boolean", int: "number", float: "number"}


class Coded(NamedTuple):
    """An instance, or a description, as codes.

    Attributes:
        row: The code of each attribute's value.
        label: The code of its class; -1: none.
        flags: Why values were taken as missing ones: sorted, each once.
        retired: The attributes that this instance retires, ascending; they are missing in its row already.
        noted: The field that each flag is about, by name; the first `MOST_NOTED` of them.
    """

    row: Row
    label: int
    flags: tuple[str, ...] = ()
    retired: tuple[int, ...] = ()
    noted: tuple[tuple[str, str], ...] = ()


class _Read(NamedTuple):
    """The values of an instance, checked: the row so far and what it would add."""

    row: list[int]
    attributes: list[tuple[str, str]]  # name, kind
    values: list[tuple[int, str, str]]  # attribute, text, kind
    retired: list[int]
    noted: list[tuple[str, str]]

    def coded(self, label: int) -> Coded:
        if not self.noted and not self.retired:
            return Coded(tuple(self.row), label)
        noted = tuple(sorted(set(self.noted)))[:MOST_NOTED]
        flags = tuple(sorted({flag for _, flag in self.noted}))
        return Coded(tuple(self.row), label, flags, tuple(sorted(self.retired)), noted)


class Codes(Vocabulary):
    """The names met so far, and instances read by them. The arguments are those of `Vocabulary`."""

    def encode(self, values: Values, label: Value) -> Coded:
        """Return the codes of an instance that is to be learned, growing where names are new.

        Raises:
            InstanceError: The instance does not fit; nothing has grown.
        """
        read = self._read(values, growing=True)
        row = read.row
        if self.reject_missing:
            self._refuse_missing(read)
        label_text, label_kind = self._read_label(label)
        if self.clock is not None:
            self.clock.admit(self._time_in(read, self.clock.attribute))
        # Everything has been checked: from here on nothing can fail.
        for name, kind in read.attributes:
            self._add_attribute(name, kind)
        for code, text, kind in read.values:
            if not self.kinds[code]:
                self._set_kind(code, kind)
            if not self.is_numeric(code):
                row[code] = self._add_value(code, text)
        for code in read.retired:
            self._retire(code)
        if label_kind and not self.label_kind:
            self._set_label_kind(label_kind)
        class_code = self._class_codes.get(label_text)
        return read.coded(self._add_class(label_text) if class_code is None else class_code)

    def _time_in(self, read: _Read, attribute: str) -> float | None:
        """Return the time as it will be learned; None where the field is left out, missing or no number."""
        kinds = [*self.kinds, *(kind for _, kind in read.attributes)]
        names = {name: len(self.attributes) + place for place, (name, _) in enumerate(read.attributes)}
        code = self._attribute_codes.get(attribute, names.get(attribute))
        if code is None or kinds[code] not in ("number", "") or not read.row[code]:
            return None
        return number_of(read.row[code])

    def admit(self, row: Row, label: int) -> None:
        """Let a row pass that was coded elsewhere, as `encode` would.

        Raises:
            InstanceError: It is to be learned and too far in the future.
        """
        column = self._time_column()
        if self.clock is not None and label >= 0:
            self.clock.admit(number_of(row[column]) if column < len(row) and row[column] > 0 else None)

    def admits_all(self, rows: NDArray[np.uint32] | NDArray[np.uint64], labels: NDArray[np.int32]) -> bool:
        """Let rows pass that were coded elsewhere, if all surely may; otherwise nothing is changed."""
        column = self._time_column()
        if self.clock is None:
            return True
        return column < rows.shape[1] and self.clock.admits_all(rows[labels >= 0, column].astype(np.uint64))

    def _time_column(self) -> int:
        """Return where the time is in a row; beyond all attributes where there is none."""
        code = None if self.clock is None else self._attribute_codes.get(self.clock.attribute)
        return len(self.attributes) if code is None or not self.is_numeric(code) else code

    def look_up(self, values: Values) -> Coded:
        """Return the codes of a description that is only to be answered; nothing grows.

        Raises:
            InstanceError: The description does not fit.
        """
        read = self._read(values, growing=False)
        for code, _, _ in read.values:
            if code < len(read.row):
                read.row[code] = UNSEEN_CODE
        return read.coded(-1)

    def recall(self, values: Values) -> Row | None:
        """Return the codes of a description that may have been learned; None: some name in it was never met.

        Raises:
            InstanceError: The description does not fit.
        """
        read = self._read(values, growing=False)
        return None if read.values or any(kind for _, kind in read.attributes) else tuple(read.row)

    def _read(self, values: Values, *, growing: bool) -> _Read:
        """Check every value and say what taking them would add."""
        read = _Read([MISSING_CODE] * len(self.attributes), [], [], [], [])
        row = read.row
        for name, value in values.items():
            code = self._attribute_codes.get(name)
            if code is None:
                flag = self._welcome_attribute(name, len(row))
                if flag is not None:
                    read.noted.append((name[:_FIELD_SHOWN], flag))
                    continue
            elif code in self.retired:
                continue
            taken, kind, flag = self._take(name, code, value)
            if flag is not None:
                read.noted.append((name, flag))
            if code is None:
                code = len(row)
                read.attributes.append((name, kind))
                row.append(MISSING_CODE)
            if taken is None:
                continue
            known_kind = self.kinds[code] if code < len(self.attributes) else ""
            if self.numbers and kind == "number" and known_kind != "any":
                row[code] = number_code(float(taken))
                if not known_kind:
                    read.values.append((code, "", kind))
                continue
            text = text_of(taken)
            known = self._value_codes[code].get(text) if code < len(self.attributes) else None
            if known is not None:
                row[code] = known
            elif growing and not self._welcome_value(code, name, text):
                read.retired.append(code)
            else:
                read.values.append((code, text, kind))
        if not growing:
            del row[len(self.attributes) :]
        return read

    def _take(self, name: str, code: int | None, value: Value) -> tuple[Value, str, str | None]:
        """Return a value as it is taken, its kind, and why it is missing although it is there.

        A missing value is None and has no kind.
        """
        in_thresholds = self._in_thresholds(code)
        if value is None or value == MISSING or self._is_sentinel(value, numeric=in_thresholds):
            return None, "", None
        kind = self._kind(name, value)
        if isinstance(value, str) and len(value) > self.limits.max_text:
            return None, "", FLAG_TOO_LONG
        if isinstance(value, float) and not math.isfinite(value) and (math.isnan(value) or not in_thresholds):
            raise _not_finite(name, value)
        if isinstance(value, str) and self._is_declared_numeric(name):
            number = _number_in(value)
            if number is None or self._is_sentinel(number, numeric=True):
                return None, "", FLAG_WRONG_TYPE if value and number is None else None
            value, kind = number, "number"
        if code is not None and self.kinds[code] not in ("any", "", kind):
            return None, "", FLAG_WRONG_TYPE
        if type(value) is int and value not in _INT64:
            value = _as_float(value)
            if math.isinf(value) and not in_thresholds:
                raise _not_finite(name, value)
        return value, kind, None

    def _is_declared_numeric(self, name: str) -> bool:
        declared = self._declared.get(name)
        return declared is not None and declared.type is AttributeType.NUMERIC

    def _is_sentinel(self, value: Value, *, numeric: bool) -> bool:
        """Whether a value is declared to mean "no value": a text, or a number that looks like one."""
        sentinels = self.schema.missing_values
        if not sentinels or isinstance(value, str) or not numeric:
            return bool(sentinels) and value in sentinels
        if isinstance(value, float) and math.isnan(value):
            return any(text.lower() == "nan" for text in sentinels)
        return type(value) in (int, float) and text_of(value) in sentinels  # type: ignore[arg-type]

    def _in_thresholds(self, attribute: int | None) -> bool:
        """Whether a number would be compared with thresholds, so that it may be infinite."""
        return self.numbers and (attribute is None or self.kinds[attribute] in ("number", ""))

    def _kind(self, name: str, value: Value) -> str:
        kind = _KINDS.get(type(value))
        if kind is None:
            raise InstanceError(
                Misfit.WRONG_TYPE,
                name,
                f'field "{name}" must be a string, number, boolean or null, not {type(value).__name__}',
            )
        if isinstance(value, str) and not value.isascii():
            _check_encoding(name, value)
        return kind

    def _welcome_attribute(self, name: str, count: int) -> str | None:
        """Return why an attribute that is new is left out; None: it is welcome."""
        if not self.schema.takes_new_attributes:
            raise InstanceError(
                Misfit.UNKNOWN_ATTRIBUTE,
                name[:_FIELD_SHOWN],
                f'attribute "{name[:_FIELD_SHOWN]}" is not declared. Declare it or set schema.open = true',
            )
        _check_encoding(name, name)
        if len(name) > self.limits.max_text:
            return FLAG_TOO_LONG
        return FLAG_TOO_MANY_ATTRIBUTES if count >= self.limits.max_attributes else None

    def _welcome_value(self, code: int, name: str, text: str) -> bool:
        """Return whether an attribute may have one more value; otherwise it is to be retired."""
        declared = self._declared.get(name)
        if declared is not None and declared.values and not declared.open:
            raise InstanceError(
                Misfit.UNKNOWN_VALUE,
                name,
                f'attribute "{name}" has no value "{text[:64]}", only {list(declared.values)[:20]}',
            )
        known = len(self.values[code]) if code < len(self.values) else 1
        return known <= self.limits.max_values_per_attribute

    def _read_label(self, label: Value) -> tuple[str, str]:
        if label is None or label == "":
            raise InstanceError(Misfit.BAD_LABEL, "label", "the label is empty")
        kind = self._kind("label", label)
        if isinstance(label, str) and len(label) > self.limits.max_text:
            raise InstanceError(
                Misfit.STRING_TOO_LONG,
                "label",
                f'field "label" has {len(label)} characters, more than {self.limits.max_text}',
            )
        if isinstance(label, float) and not math.isfinite(label):
            raise _not_finite("label", label)
        if type(label) is int and label not in _INT64:
            raise InstanceError(
                Misfit.NUMBER_RANGE, "label", 'field "label" holds an integer of more than 64 bits'
            )
        if self.label_kind not in ("", "any", kind):
            raise InstanceError(
                Misfit.TYPE_DRIFT, "label", f"the label was a {self.label_kind} before and is a {kind} now"
            )
        text = text_of(label)
        if text not in self._class_codes:
            if not self.schema.takes_new_classes:
                raise InstanceError(
                    Misfit.UNKNOWN_CLASS,
                    "label",
                    f'"{text[:64]}" is not one of the classes {list(self.schema.classes)[:20]}',
                )
            if len(self.classes) >= self.limits.max_classes:
                raise InstanceError(
                    Misfit.TOO_MANY_CLASSES,
                    "label",
                    f'class "{text[:64]}" would be number {len(self.classes) + 1}, '
                    f"more than {self.limits.max_classes}",
                )
        return text, kind

    def _refuse_missing(self, read: _Read) -> None:
        there = {code for code, _, _ in read.values}.union(self.retired, read.retired)
        names = [*self.attributes, *(name for name, _ in read.attributes)]
        for code, (value, name) in enumerate(zip(read.row, names, strict=True)):
            if value == MISSING_CODE and code not in there:
                raise InstanceError(Misfit.MISSING_VALUE, name, f'attribute "{name}" has no value')


def _number_in(text: str) -> int | float | None:
    """Return the number that a text is; None where it is none.

    >>> [_number_in(text) for text in ("12.5", "1e3", "-7", " 3", "1_0", "inf", "")]
    [12.5, 1000.0, -7, None, None, None, None]
    """
    if not text.isascii() or "_" in text or text != text.strip():
        return None
    if len(text) <= _INT64_DIGITS and text.lstrip("-").isdigit() and text.count("-") <= 1:
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _as_float(number: int) -> float:
    """Return an integer as a float; one that is too large for that is infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _not_finite(name: str, value: float) -> InstanceError:
    return InstanceError(Misfit.NON_FINITE, name, f'field "{name}" is {value}, which is not a number')


def _check_encoding(name: str, text: str) -> None:
    """Refuse text with half a surrogate pair: it could be learned but never be written down."""
    try:
        text.encode()
    except UnicodeEncodeError:
        field = name.encode(errors="replace").decode()[:64]
        raise InstanceError(
            Misfit.ENCODING, field, f'field "{field}" holds text that is not Unicode'
        ) from None
