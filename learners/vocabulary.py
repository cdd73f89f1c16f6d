"""Small integers for the names of attributes, values and classes, given out in the order they are met.

Codes are open: a new name gets the next number. They are a part of a learner's state, because the order in
which attributes were met decides ties. Code 0 of every attribute is the missing value.

For a learner that uses thresholds a number is its own code: a whole number of 64 bits in the same order.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.canonical import text_of
from learners.clock import Clock
from learners.schema import MISSING, AttributeType, Limits, Schema, Value

Row = tuple[int, ...]
"""The codes of an instance's values, one per attribute; attributes met later than the row are missing."""

MISSING_CODE = 0
UNSEEN_CODE = -1
"""The code of a value that nothing has been learned about. Only predicting meets it."""

_MOST_CODE = 2**64 - 1


class Growth(NamedTuple):
    """Names added since some moment: what a follower needs in order to read the codes that follow."""

    attributes: tuple[tuple[str, str], ...]  # name, kind ("" while only null has been met)
    kinds: tuple[tuple[int, str], ...]  # attribute, kind: for attributes that were only null before
    values: tuple[tuple[int, str], ...]  # attribute, text
    classes: tuple[str, ...]
    label_kind: str
    retired: tuple[int, ...] = ()  # attributes


class Mark(NamedTuple):
    """How far the codes had grown at some moment."""

    kinds: tuple[str, ...]
    values: tuple[int, ...]
    classes: int
    retired: frozenset[int] = frozenset()


class CodeError(ValueError):
    """A row or a label has a code that nothing has; whoever is given it has learned nothing from it."""


class Vocabulary:
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
        self.retired: set[int] = set()
        """The attributes with more values than the limits allow: missing in every row from then on."""
        self.clock: Clock | None = None
        """Whether the time of an instance may be, where a learner retains by time."""
        self.grown = 0
        """How many changes there have been: whoever keeps something by codes sees whether to look."""
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

    def _set_kind(self, attribute: int, kind: str) -> None:
        self.grown += 1
        self.kinds[attribute] = kind

    def _set_label_kind(self, kind: str) -> None:
        self.grown += 1
        self.label_kind = kind

    def _retire(self, attribute: int) -> None:
        self.grown += 1
        self.retired.add(attribute)

    def mark(self) -> Mark:
        """Return how far the codes have grown."""
        return Mark(
            tuple(self.kinds), tuple(map(len, self.values)), len(self.classes), frozenset(self.retired)
        )

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
            tuple(sorted(self.retired - since.retired)),
        )

    def grow(self, growth: Growth) -> None:
        """Add what another `Codes` has added."""
        for name, kind in growth.attributes:
            self._add_attribute(name, kind)
        for attribute, kind in growth.kinds:
            self._set_kind(attribute, kind)
        for attribute, text in growth.values:
            self._add_value(attribute, text)
        for name in growth.classes:
            self._add_class(name)
        if growth.label_kind not in ("", self.label_kind):
            self._set_label_kind(growth.label_kind)
        for attribute in growth.retired:
            self._retire(attribute)

    def dump(self) -> Growth:
        """Return everything beyond what the schema declares, to be given to `grow` of fresh codes."""
        return self.growth(Vocabulary(self.schema, self.limits).mark())

    # ---- at the door of whoever is given codes

    def check(self, row: Sequence[int], label: int) -> None:
        """See to it that a row to be learned and its label are codes of these names.

        Raises:
            CodeError: They are not.
        """
        if not 0 <= label < len(self.classes):
            raise CodeError(f"the label {label} is none of {len(self.classes)} classes")
        if len(row) > len(self.attributes):
            raise CodeError(f"a row has {len(row)} values of {len(self.attributes)} attributes")
        for attribute, code in enumerate(row):
            top = _MOST_CODE if self.is_numeric(attribute) else len(self.values[attribute]) - 1
            if not 0 <= code <= top:
                raise CodeError(f'the code {code} is no value of attribute "{self.attributes[attribute]}"')

    def check_all(self, rows: Sequence[Sequence[int]], labels: Sequence[int]) -> None:
        """See to the same for rows, of which those without a label are only answered.

        Raises:
            CodeError: They are not codes of these names.
        """
        if len(rows) != len(labels):
            raise CodeError(f"there are {len(labels)} labels for {len(rows)} rows")
        for row, label in zip(rows, labels, strict=True):
            if label >= 0:
                self.check(row, label)

    def check_batch(self, rows: NDArray[np.unsignedinteger], labels: NDArray[np.signedinteger]) -> None:
        """See to the same for the rows of an array that have a label; the others are only answered.

        Raises:
            CodeError: They are not codes of these names.
        """
        if len(rows) != len(labels):
            raise CodeError(f"there are {len(labels)} labels for {len(rows)} rows")
        if rows.shape[1] > len(self.attributes):
            raise CodeError(f"a row has {rows.shape[1]} values of {len(self.attributes)} attributes")
        learned = labels >= 0
        if not learned.any():
            return
        if labels.max() >= len(self.classes):
            raise CodeError(f"the label {labels.max()} is none of {len(self.classes)} classes")
        for attribute in range(rows.shape[1]):
            column = rows[:, attribute] if learned.all() else rows[learned, attribute]
            if not self.is_numeric(attribute) and column.max() >= len(self.values[attribute]):
                code = column.max()
                raise CodeError(f'the code {code} is no value of attribute "{self.attributes[attribute]}"')

    # ---- order

    def class_order(self, code: int) -> tuple[int, str]:
        """Return the sort key of a class among equally frequent ones: declared order first, then names.

        Never the order of appearance, which would make the tree depend on the order of arrival.
        """
        declared = len(self.schema.classes)
        return (code, "") if code < declared else (declared, self.classes[code])

    def class_ranks(self, classes: int) -> list[int]:
        """Return for each of the first classes its place among equally frequent ones."""
        ranks = [0] * classes
        for place, code in enumerate(sorted(range(classes), key=self.class_order)):
            ranks[code] = place
        return ranks

    def in_tie_order(self, attributes: Iterable[int], first: Sequence[str]) -> list[int]:
        """Return attributes in the order in which ties are broken: those named first, then by their codes."""
        rank = {name: first.index(name) for name in first}
        return sorted(attributes, key=lambda a: (rank.get(self.attributes[a], len(first)), a))


def growth_from(data: object) -> Growth:
    """Return the growth that was written as plain lists."""
    return msgspec.convert(data, Growth)
