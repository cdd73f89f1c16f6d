"""A configuration while it is being read: what came from where, and everything that is wrong so far.

A wrong value does not end the reading. It is noted, the setting keeps its default, and the reading goes on,
so that one start shows all errors. What rests on a wrong value is not judged, because it would only be noise.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import NoReturn, TypeVar, get_args, get_origin

import msgspec

from stream.config.environment import Given
from stream.config.messages import (
    alternatives,
    choice,
    did_you_mean,
    field_docs,
    quoted,
    type_in_words,
    value_in_words,
)
from stream.config.toml_positions import KeyPath
from stream.errors import Problem

S = TypeVar("S", bound=msgspec.Struct)
Read = Callable[[object, KeyPath], object]

_ELEMENTS = {"agent": "agent", "attributes": "attribute"}


class Unusable(Exception):  # noqa: N818
    """Nothing can be made of a value. Why has been noted."""


class Draft:
    """What is known so far about one configuration.

    Args:
        file: The name of the file, as it is shown.
        lines: Where in the file each setting stands.
        given: The settings that the environment gives.
    """

    def __init__(self, file: str, lines: Mapping[KeyPath, int], given: Mapping[KeyPath, Given]) -> None:
        self._file = file
        self._lines = lines
        self._given = given
        self._labels: dict[KeyPath, str] = {}
        self._written_as: dict[KeyPath, KeyPath] = {}
        self._wrong: set[KeyPath] = set()
        self._problems: dict[Problem, int] = {}
        self.sources: dict[KeyPath, str] = {}
        """Where each setting that is not a default came from."""

    # ---- places

    def line(self, path: KeyPath) -> int:
        """Return the line of a setting, or of the innermost table around it that is written down."""
        written = self._written(path)
        for end in range(len(written), 0, -1):
            if written[:end] in self._lines:
                return self._lines[written[:end]]
        return 1

    def is_given(self, path: KeyPath) -> bool:
        """Return whether the environment gives a setting."""
        return path in self._given

    def place(self, path: KeyPath) -> str:
        """Return where a setting was given: a variable, or a line of the file."""
        if path in self._given:
            return self._given[path].variable
        return f"{self._file}:{self.line(path)}"

    def write_as(self, path: KeyPath, written: KeyPath) -> None:
        """Note that something is written in another way than its path says."""
        if written != path:
            self._written_as[path] = written

    def _written(self, path: KeyPath) -> KeyPath:
        for end in range(len(path), 0, -1):
            if path[:end] in self._written_as:
                return self._written_as[path[:end]] + path[end:]
        return path

    def label(self, path: KeyPath, name: object) -> None:
        """Give an element of an array the name by which messages call it."""
        *_, array, number = path
        assert isinstance(number, int)
        called = quoted(name) if isinstance(name, str) and name else str(number + 1)
        self._labels[path] = f"{_ELEMENTS.get(str(array), str(array))} {called}"

    # ---- problems

    def blame(self, path: KeyPath, message: str, *, within: KeyPath | None = None) -> None:
        """Note what is wrong with a setting.

        Args:
            path: The setting.
            message: What is wrong.
            within: The table that is named before the message: the one the setting is in, if not given.
        """
        self._wrong.add(path)
        place = self.place(path)
        order = 1_000_000_000 if path in self._given else self.line(path)
        self._problems.setdefault(
            Problem(place, self._heading(path[:-1] if within is None else within) + message), order
        )

    def is_sound(self, *paths: KeyPath) -> bool:
        """Return whether nothing is known to be wrong with some settings."""
        return self._wrong.isdisjoint(paths)

    def problems(self) -> list[Problem]:
        """Return what is wrong, in the order of the file, the environment last."""
        return [problem for problem, _ in sorted(self._problems.items(), key=lambda item: item[1])]

    def _heading(self, table: KeyPath) -> str:
        """Return the name of a table, to go before a message about something in it."""
        parts: list[str] = []
        for end in range(1, len(table) + 1):
            if table[:end] in self._labels:
                parts[-1:] = [self._labels[table[:end]]]  # `agent "loans"` in the place of `agent`
            else:
                parts.append(str(table[end - 1]))
        return "".join(f"{part}: " for part in parts)

    # ---- reading

    def table(
        self,
        kind: type[S],
        raw: object,
        path: KeyPath,
        readers: Mapping[str, Read] = MappingProxyType({}),
        stand_ins: Mapping[str, object] = MappingProxyType({}),
    ) -> S:
        """Return the struct that a table stands for.

        Args:
            kind: The struct.
            raw: What the file has in the place of the table.
            path: Where.
            readers: How to read the fields that need more than their type.
            stand_ins: What to go on with where a setting without a default is missing or wrong.

        Raises:
            Unusable: It is no table.
        """
        if not isinstance(raw, dict):
            self.wrong_type(path, "a table", raw)
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        for name in [name for name in raw if name not in fields]:
            self.blame((*path, name), f"unknown setting {choice(name, fields)}", within=path)
        values = dict(stand_ins)
        for name, field in fields.items():
            here = (*path, name)
            if name in raw:
                read = readers.get(name) or partial(self.value, field.type)
                with suppress(Unusable):
                    values[field.name] = read(raw[name], here)
            elif field.required:
                doc = field_docs(kind)[field.name].rstrip(".")
                self.blame(here, f"{quoted(name)} is missing. {doc}", within=path)
        return kind(**values)

    def value(self, kind: object, raw: object, path: KeyPath) -> object:
        """Return what a setting of some type is set to.

        Raises:
            Unusable: It is not of that type.
        """
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self.table(kind, raw, path)
        if get_origin(kind) is tuple:
            item = get_args(kind)[0]
            return self.elements(raw, path, partial(self.value, item))
        try:
            value: object = msgspec.convert(raw, kind, strict=path not in self._given)
        except msgspec.ValidationError:
            self.wrong_type(path, type_in_words(kind), raw, alternatives(kind))
        self.sources[path] = self.place(path)
        return value

    def elements(self, raw: object, path: KeyPath, read: Read) -> tuple[object, ...]:
        """Return the elements of a list that can be used.

        Raises:
            Unusable: It is no list.
        """
        if not isinstance(raw, list):
            hint = f" Write [[{path[-1]}]], with two brackets" if isinstance(raw, dict) else ""
            self.wrong_type(path, "a list", raw, hint=hint)
        values = []
        for number, one in enumerate(raw):
            here = (*path, number)
            if isinstance(one, dict):
                self.label(here, one.get("name"))
            try:
                values.append(read(one, here))
            except Unusable:
                self._wrong.add(path)
        self.sources[path] = self.place(path)
        return tuple(values)

    def wrong_type(
        self, path: KeyPath, expected: str, raw: object, allowed: Sequence[str] = (), hint: str = ""
    ) -> NoReturn:
        """Note that a value is not what it should be.

        Raises:
            Unusable: Always.
        """
        *above, last = path
        subject, table = f'"{last}"', tuple(above)
        if isinstance(last, int):
            subject, table = f'number {last + 1} of "{above[-1]}"', table[:-1]
        if isinstance(raw, str):
            hint = hint or did_you_mean(raw, allowed)
        given = self._given.get(path)
        # What is in a file that a variable names may be a secret, put there by mistake.
        found = "what is in the file" if given and given.from_file else value_in_words(raw)
        self.blame(path, f"{subject} must be {expected}, not {found}.{hint}".removesuffix("."), within=table)
        raise Unusable
