"""Which fields of a record are attributes: what to ignore, what alone to learn from, what is nested.

A name in `ignore` or `attributes` may contain `*` (any characters), and a name also covers the fields below
it: `user` covers `user.id`.
"""

from collections.abc import Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

import msgspec

from learners.schema import Value

MOST_NAMES = 10_000
"""How many names are remembered at most: a stream may invent them without end."""
OUT_OF_RANGE = "out_of_range"
"""The flag of a number that no double holds, which is read as a missing value."""

Tree = Mapping[str, object]


class Nested(StrEnum):
    """What becomes of a field that holds an object or an array."""

    IGNORE = "ignore"
    FLATTEN = "flatten"
    REJECT = "reject"


class Fields(msgspec.Struct, frozen=True):
    """The settings of an agent that say which fields are attributes.

    Args:
        ignore: Fields that are not learned from.
        attributes: The only fields that are learned from; empty: all.
        nested: What becomes of objects and arrays.
    """

    ignore: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    nested: Nested = Nested.IGNORE

    def is_ignored(self, name: str) -> bool:
        """Return whether `ignore` covers a field."""
        return _covers(self.ignore, name)

    def is_attribute(self, name: str) -> bool:
        """Return whether a field is learned from."""
        return not self.is_ignored(name) and (not self.attributes or _covers(self.attributes, name))


def _covers(patterns: tuple[str, ...], name: str) -> bool:
    """Return whether a name, or one above it, is among some patterns."""
    if not patterns:
        return False
    parts = name.split(".")
    above = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return any(fnmatchcase(one, pattern) for one in above for pattern in patterns)


class Chosen(NamedTuple):
    """The fields of a record that are kept.

    Attributes:
        values: Name and plain value of each.
        ignored: Fields of the record itself that are never kept, whatever they hold.
        nested: Fields of the record itself that are left out because they hold an object or an array.
        not_plain: The label or the id, where it holds an object or an array.
        flags: Fields that are read as missing, and the flag that says why.
        twice: A name that two fields have once objects are flattened; "": none.
    """

    values: dict[str, Value]
    ignored: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    not_plain: tuple[str, ...] = ()
    flags: tuple[tuple[str, str], ...] = ()
    twice: str = ""


class FieldFilter:
    """Chooses the fields of records; remembers what it has decided of a name.

    Args:
        fields: The settings.
        always: Fields that are kept whatever the settings say: the label and the id.
    """

    def __init__(self, fields: Fields, always: tuple[str, ...]) -> None:
        self.fields = fields
        self._always = frozenset(always)
        self._is_open = not fields.ignore and not fields.attributes
        self._decided: dict[str, bool] = {}

    def choose_plain(self, values: dict[str, Value]) -> Chosen:
        """Choose among the fields of a record without objects and arrays."""
        if self._is_open:
            return Chosen(values)
        ignored = tuple(name for name in values if not self.keeps(name))
        for name in ignored:
            del values[name]
        return Chosen(values, ignored)

    def choose(self, record: Tree) -> Chosen:
        """Choose among the fields of any record, under `nested` "ignore" or "flatten"."""
        values: dict[str, Value] = {}
        ignored: list[str] = []
        nested: list[str] = []
        not_plain: list[str] = []
        flags: list[tuple[str, str]] = []
        flatten = self.fields.nested is Nested.FLATTEN
        twice = ""
        # Not by recursion, and in the order in which the record has its fields.
        waiting: list[tuple[str, object, bool]] = [(name, value, True) for name, value in record.items()]
        waiting.reverse()
        while waiting:
            name, value, is_top = waiting.pop()
            if isinstance(value, dict | list) and name in self._always:
                not_plain.append(name)
            elif isinstance(value, dict) and flatten and not self._is_dropped(name):
                below = [(f"{name}.{key}", one, False) for key, one in value.items()]
                waiting.extend(reversed(below))
            elif not self.keeps(name):
                if is_top:
                    ignored.append(name)
            elif isinstance(value, dict | list):
                if is_top:
                    nested.append(name)
            elif name in values:
                twice = twice or name
            elif isinstance(value, float) and value in (float("inf"), float("-inf")):
                values[name] = None
                flags.append((name, OUT_OF_RANGE))
            else:
                values[name] = value  # type: ignore[assignment] # plain: nothing else is left in JSON
        return Chosen(values, tuple(ignored), tuple(nested), tuple(not_plain), tuple(flags), twice)

    def _is_dropped(self, name: str) -> bool:
        return bool(self.fields.ignore) and self.fields.is_ignored(name)

    def keeps(self, name: str) -> bool:
        """Return whether a field is read at all."""
        if self._is_open or name in self._always:
            return True
        known = self._decided.get(name)
        if known is None:
            known = self.fields.is_attribute(name)
            if len(self._decided) < MOST_NAMES:
                self._decided[name] = known
        return known
