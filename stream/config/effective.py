"""The configuration in effect: every setting, its value, and where it came from. Secrets are hidden."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from stream.config.properties import HIDDEN, Properties
from stream.config.reader import Loaded
from stream.config.toml_positions import KeyPath

DEFAULT = "default"
SECRET_SETTINGS = frozenset({"token"})

Plain = str | int | float | bool | None | list["Plain"]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class SettingRow(NamedTuple):
    """A setting in effect. `source` is "default", a line of the file, or a variable."""

    path: KeyPath
    value: Plain
    source: str


def rows(loaded: Loaded) -> list[SettingRow]:
    """Return every setting, in an order in which a TOML file can have them."""
    return [
        SettingRow(path, value, loaded.sources.get(path, DEFAULT))
        for path, value in _settings(loaded.config, ())
    ]


def as_json(settings: list[SettingRow]) -> str:
    """Return settings as a JSON document."""
    return json.dumps(
        [
            {"setting": ".".join(map(str, row.path)), "value": row.value, "source": row.source}
            for row in settings
        ],
        indent=2,
        ensure_ascii=False,
    )


def as_toml(settings: list[SettingRow]) -> str:
    """Return settings as a TOML file, each with a comment that says where it came from."""
    lines: list[str] = []
    table: KeyPath = ()
    for row in settings:
        if row.path[:-1] != table:
            table = row.path[:-1]
            lines += ["", _header(table)]
        lines.append(f"{_pair(row):<50}  # {row.source}")
    return "\n".join(lines)


def _settings(table: msgspec.Struct | Properties, above: KeyPath) -> Iterator[tuple[KeyPath, Plain]]:
    """Yield the single values of a table first, then the tables in it, then the arrays of tables."""
    tables: list[tuple[KeyPath, msgspec.Struct | Properties]] = []
    arrays: list[tuple[KeyPath, msgspec.Struct | Properties]] = []
    for name, value in _fields(table):
        path = (*above, name)
        if isinstance(value, msgspec.Struct | Properties):
            tables.append((path, value))
        elif isinstance(value, tuple) and value and isinstance(value[0], msgspec.Struct):
            arrays += (((*path, number), one) for number, one in enumerate(value))
        else:
            yield path, msgspec.to_builtins(value)
    for path, within in tables + arrays:
        yield from _settings(within, path)


def _fields(table: msgspec.Struct | Properties) -> Iterator[tuple[str, object]]:
    if isinstance(table, Properties):
        yield from table.shown().items()
    else:
        for field in msgspec.structs.fields(table):
            value = getattr(table, field.name)
            is_secret = field.encode_name in SECRET_SETTINGS and value is not None
            yield field.encode_name, HIDDEN if is_secret else value


def _header(table: KeyPath) -> str:
    names = ".".join(_key(name) for name in table if isinstance(name, str))
    return f"[[{names}]]" if isinstance(table[-1], int) else f"[{names}]"


def _pair(row: SettingRow) -> str:
    key = _key(str(row.path[-1]))
    if row.value is not None:
        return f"{key} = {_value(row.value)}"
    # There is no null in TOML; for a learner's option a word stands for it.
    return f'{key} = "none"' if "options" in row.path else f"# {key} is not set"


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _value(name)


def _value(value: Plain) -> str:
    if isinstance(value, float):
        return repr(value)
    # TOML writes these as JSON does, but for one character that it does not allow to stand for itself.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
