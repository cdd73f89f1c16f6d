"""Small integers for the names of attributes, values and classes, given out in the order they are met.

Codes are open: a new name gets the next number. They are a part of a learner's state, because the order in
which attributes were met decides ties. Code 0 of every attribute is the missing value.

For a learner that uses thresholds a number is its own code: a whole number of 64 bits in the same order.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from learners.schema import (
    MISSING,
    AttributeType,
    InstanceError,
    Limits,
    Misfit,
    Schema,
    Value,
    Values,
)
from learners.texts import number_code, text_of

Row = tuple[int, ...]
"""The codes of an instance's values, one per attribute; attributes met later than the row are missing."""

MISSING_CODE = 0
UNSEEN_CODE = -1
"""The code of a value that nothing has been learned about. Only answering meets it."""

_INT64 = range(-(2**63), 2**63)
_KINDS: Mapping[type, str] = {str: "string", bool: "boolean", int: "number", float: "number"}


class Growth(NamedTuple):
    """Names added since some moment: what a follower needs in order to read the codes that follow."""

    attributes: tuple[tuple[str, str], ...]  # name, kind ("" while only null has been met)
    kinds: tuple[tuple[int, str], ...]  # attribute, kind: for attributes that were only null before
    values: tuple[tuple[int, str], ...]  # attribute, text
    classes: tuple[str, ...]
    label_kind: str


class Mark(NamedTuple):
    """How far the codes had grown at some moment."""

    kinds: tuple[str, ...]
    values: tuple[int, ...]
    classes: int


class Codes:
    """The names met so far and their codes.

    Args:
        schema: What is declared; declared names get their codes first, in their order.
        limits: How many names of each sort are taken.
        reject_missing: Whether an instance to be learned must have a value for every attribute.
        numbers: Whether numbers are compared with thresholds, unless their attribute is declared nominal.
            Otherwise each is a value of its own.
    """

    def __init__(
        self,
        schema: Schema | None = None,
        limits: Limits | None = None,
        *,
        reject_missing: bool = False,
        numbers: bool = False,
    ) -> None:
        self.schema = schema or Schema()
        self.limits = limits or Limits()
        self.reject_missing = reject_missing
        self.numbers = numbers
        self.attributes: list[str] = []
        self.kinds: list[
            str
        ] = []  # "string", "boolean", "number", "any" (declared nominal), "" (only null met)
        self.values: list[list[str]] = []  # per attribute the text of each code
        self.classes: list[str] = []
        self.label_kind = "any" if self.schema.classes else ""
        self.grown = 0
        """How many names have been added so far: whoever keeps something by codes sees whether to look."""
        self._attribute_codes: dict[str, int] = {}
        self._value_codes: list[dict[str, int]] = []
        self._class_codes: dict[str, int] = {}
        self._declared = {a.name: a for a in self.schema.attributes}
        for attribute in self.schema.attributes:
            if attribute.wrong_cuts is not None:
                raise ValueError(f'attribute "{attribute.name}": {attribute.wrong_cuts}')
            code = self._add_attribute(
                attribute.name, "number" if attribute.type is AttributeType.NUMERIC else "any"
            )
            for text in attribute.values:
                if text != MISSING:  # which has its code already
                    self._add_value(code, text)
        for name in self.schema.classes:
            self._add_class(name)

    # ---- from values to codes

    def encode(self, values: Values, label: Value) -> tuple[Row, int]:
        """Return the codes of an instance that is to be learned, growing where names are new.

        Raises:
            InstanceError: The instance does not fit; nothing has grown.
        """
        row, new_attributes, new_values = self._read(values, growing=True)
        if self.reject_missing:
            self._refuse_missing(row, new_values, [*self.attributes, *(name for name, _ in new_attributes)])
        label_text, label_kind = self._read_label(label)
        # Everything has been checked: from here on nothing can fail.
        for name, kind in new_attributes:
            self._add_attribute(name, kind)
        for code, text, kind in new_values:
            if not self.kinds[code]:
                self.kinds[code] = kind
                self.grown += 1
            if not self.is_numeric(code):
                row[code] = self._add_value(code, text)
        self.label_kind = self.label_kind or label_kind
        class_code = self._class_codes.get(label_text)
        return tuple(row), self._add_class(label_text) if class_code is None else class_code

    def look_up(self, values: Values) -> Row:
        """Return the codes of a description that is only to be answered; nothing grows.

        Raises:
            InstanceError: The description does not fit.
        """
        row, _, new_values = self._read(values, growing=False)
        for code, _, _ in new_values:
            if code < len(row):
                row[code] = UNSEEN_CODE
        return tuple(row)

    def recall(self, values: Values) -> Row | None:
        """Return the codes of a description that may have been learned; None: some name in it was never met.

        Raises:
            InstanceError: The description does not fit.
        """
        row, new_attributes, new_values = self._read(values, growing=False)
        return None if new_values or any(kind for _, kind in new_attributes) else tuple(row)

    def is_numeric(self, attribute: int) -> bool:
        """Whether an attribute is compared with thresholds: its codes are those of numbers."""
        return self.numbers and self.kinds[attribute] == "number"

    def attribute_code(self, name: str) -> int:
        """Return the code of an attribute that has been met."""
        return self._attribute_codes[name]

    def value_code(self, attribute: int, text: str) -> int:
        """Return the code of a value that has been met."""
        return MISSING_CODE if text == MISSING else self._value_codes[attribute][text]

    def class_code(self, label: Value) -> int:
        """Return the code of a class, or -1 where it has not been met."""
        return -1 if label is None else self._class_codes.get(text_of(label), -1)

    def _read(
        self, values: Values, *, growing: bool
    ) -> tuple[list[int], list[tuple[str, str]], list[tuple[int, str, str]]]:
        """Check every value; return the row so far, the new attributes, and the new values per attribute."""
        row = [MISSING_CODE] * len(self.attributes)
        new_attributes: list[tuple[str, str]] = []
        new_values: list[tuple[int, str, str]] = []
        for name, value in values.items():
            code = self._attribute_codes.get(name)
            numeric = self._in_thresholds(code)
            missing = value is None or value == MISSING or self._is_sentinel(value, numeric=numeric)
            kind = "" if missing else self._kind(name, value, in_thresholds=numeric)
            if code is None:
                self._welcome_attribute(name, len(self.attributes) + len(new_attributes))
                code = len(self.attributes) + len(new_attributes)
                new_attributes.append((name, kind))
                row.append(MISSING_CODE)
            elif not missing and self.kinds[code] not in ("any", "", kind):
                raise InstanceError(
                    Misfit.TYPE_DRIFT,
                    name,
                    f'attribute "{name}" was a {self.kinds[code]} before and is a {kind} now. '
                    "Declare it nominal if both are meant",
                )
            if missing or value is None:
                continue
            known_kind = self.kinds[code] if code < len(self.attributes) else ""
            if self.numbers and kind == "number" and known_kind != "any":
                row[code] = number_code(float(value))
                if not known_kind:
                    new_values.append((code, "", kind))
                continue
            text = text_of(value)
            known = self._value_codes[code].get(text) if code < len(self.attributes) else None
            if known is None:
                if growing:
                    self._welcome_value(code, name, text)
                new_values.append((code, text, kind))
            else:
                row[code] = known
        if not growing:
            del row[len(self.attributes) :]
        return row, new_attributes, new_values

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

    def _kind(self, name: str, value: Value, *, in_thresholds: bool = False) -> str:
        kind = _KINDS.get(type(value))
        if kind is None:
            raise InstanceError(
                Misfit.WRONG_TYPE,
                name,
                f'field "{name}" must be a string, number, boolean or null, not {type(value).__name__}',
            )
        if isinstance(value, str) and not value.isascii():
            _check_encoding(name, value)
        if isinstance(value, str) and len(value) > self.limits.max_text:
            raise InstanceError(
                Misfit.STRING_TOO_LONG,
                name[:64],
                f'field "{name[:64]}" has {len(value)} characters, more than {self.limits.max_text}',
            )
        if isinstance(value, float) and not math.isfinite(value) and (math.isnan(value) or not in_thresholds):
            raise InstanceError(Misfit.NON_FINITE, name, f'field "{name}" is {value}, which is not a number')
        if type(value) is int and value not in _INT64:
            raise InstanceError(
                Misfit.NUMBER_RANGE, name, f'field "{name}" holds an integer of more than 64 bits'
            )
        return kind

    def _welcome_attribute(self, name: str, count: int) -> None:
        if not self.schema.takes_new_attributes:
            raise InstanceError(
                Misfit.UNKNOWN_ATTRIBUTE,
                name[:64],
                f'attribute "{name[:64]}" is not declared. Declare it or set schema.open = true',
            )
        _check_encoding(name, name)
        if len(name) > self.limits.max_text:
            raise InstanceError(
                Misfit.STRING_TOO_LONG, name[:64], f'the attribute name "{name[:64]}..." is too long'
            )
        if count >= self.limits.max_attributes:
            raise InstanceError(
                Misfit.TOO_MANY_ATTRIBUTES,
                name,
                f'attribute "{name}" would be number {count + 1}, more than {self.limits.max_attributes}',
            )

    def _welcome_value(self, code: int, name: str, text: str) -> None:
        declared = self._declared.get(name)
        if declared is not None and declared.values and not declared.open:
            raise InstanceError(
                Misfit.UNKNOWN_VALUE,
                name,
                f'attribute "{name}" has no value "{text[:64]}", only {list(declared.values)[:20]}',
            )
        if code < len(self.values) and len(self.values[code]) > self.limits.max_values_per_attribute:
            raise InstanceError(
                Misfit.TOO_MANY_VALUES,
                name,
                f'attribute "{name}" would have more than {self.limits.max_values_per_attribute} values',
            )

    def _read_label(self, label: Value) -> tuple[str, str]:
        if label is None or label == "":
            raise InstanceError(Misfit.BAD_LABEL, "label", "the label is empty")
        kind = self._kind("label", label)
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

    def _refuse_missing(
        self, row: list[int], new_values: list[tuple[int, str, str]], names: Sequence[str]
    ) -> None:
        known = {code for code, _, _ in new_values}
        for code, (value, name) in enumerate(zip(row, names, strict=True)):
            if value == MISSING_CODE and code not in known:
                raise InstanceError(Misfit.MISSING_VALUE, name, f'attribute "{name}" has no value')

    # ---- growth

    def _add_attribute(self, name: str, kind: str) -> int:
        self.grown += 1
        code = self._attribute_codes[name] = len(self.attributes)
        self.attributes.append(name)
        self.kinds.append(kind)
        self.values.append([MISSING])
        self._value_codes.append({})
        return code

    def _add_value(self, attribute: int, text: str) -> int:
        self.grown += 1
        code = self._value_codes[attribute][text] = len(self.values[attribute])
        self.values[attribute].append(text)
        return code

    def _add_class(self, name: str) -> int:
        self.grown += 1
        code = self._class_codes[name] = len(self.classes)
        self.classes.append(name)
        return code

    def mark(self) -> Mark:
        """Return how far the codes have grown."""
        return Mark(tuple(self.kinds), tuple(map(len, self.values)), len(self.classes))

    def growth(self, since: Mark) -> Growth:
        """Return what has been added since a mark."""
        known = len(since.kinds)
        return Growth(
            tuple(zip(self.attributes[known:], self.kinds[known:], strict=True)),
            tuple(
                (a, kind)
                for a, (kind, was) in enumerate(zip(self.kinds, since.kinds, strict=False))
                if kind != was
            ),
            tuple(
                (a, text)
                for a, texts in enumerate(self.values)
                for text in texts[since.values[a] if a < known else 1 :]
            ),
            tuple(self.classes[since.classes :]),
            self.label_kind,
        )

    def grow(self, growth: Growth) -> None:
        """Add what another `Codes` has added."""
        for name, kind in growth.attributes:
            self._add_attribute(name, kind)
        for attribute, kind in growth.kinds:
            self.kinds[attribute] = kind
        for attribute, text in growth.values:
            self._add_value(attribute, text)
        for name in growth.classes:
            self._add_class(name)
        self.label_kind = growth.label_kind or self.label_kind

    def dump(self) -> Growth:
        """Return everything beyond what the schema declares, to be given to `grow` of fresh codes."""
        return self.growth(Codes(self.schema, self.limits).mark())

    # ---- order

    def class_order(self, code: int) -> tuple[int, str]:
        """Return the sort key of a class among equally frequent ones: declared order first, then names.

        Never the order of appearance, which would make the tree depend on the order of arrival.
        """
        declared = len(self.schema.classes)
        return (code, "") if code < declared else (declared, self.classes[code])


def _check_encoding(name: str, text: str) -> None:
    """Refuse text with half a surrogate pair: it could be learned but never be written down."""
    try:
        text.encode()
    except UnicodeEncodeError:
        field = name.encode(errors="replace").decode()[:64]
        raise InstanceError(
            Misfit.ENCODING, field, f'field "{field}" holds text that is not Unicode'
        ) from None


def growth_from(data: object) -> Growth:
    """Return the growth that was written as plain lists."""
    return msgspec.convert(data, Growth)
