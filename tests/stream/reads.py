"""Which settings are read, and where: attribute access of the configuration's structs is recorded."""

import inspect
import sys
import types
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest

from learners.learner import Options
from stream.config import Config
from tests.paths import REPOSITORY

PRODUCT = tuple(str(REPOSITORY / name) for name in ("stream", "learners"))
CONFIG = str(REPOSITORY / "stream" / "config")


def structs_in(kind: object) -> Iterator[type[msgspec.Struct]]:
    """Yield the structs that a type is made of, from the outside in; a learner's options left out."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        if issubclass(kind, Options):
            return
        yield kind
        for field in msgspec.structs.fields(kind):
            yield from structs_in(field.type)
    else:
        for part in get_args(kind):
            yield from structs_in(part)


STRUCTS = tuple(dict.fromkeys(structs_in(Config)))
"""Every table of the configuration."""
SETTINGS = {(kind, field.name) for kind in STRUCTS for field in msgspec.structs.fields(kind)}


class _Recorded:
    """A struct's field that notes who reads it. What compiled code reads by itself is not noticed."""

    def __init__(self, field: Any, readers: set[str]) -> None:
        self._field = field
        self._readers = readers

    def __get__(self, instance: object, owner: type | None = None) -> object:
        if instance is None:
            return self._field
        self._readers.add(_reader(sys._getframe(1)))
        return self._field.__get__(instance, owner)

    def __set__(self, instance: object, value: object) -> None:
        self._field.__set__(instance, value)


def _reader(frame: types.FrameType | None) -> str:
    """Return the file that reads; where it asks a method of the configuration, the file that calls it."""
    while frame is not None and frame.f_code.co_filename.startswith(CONFIG):
        frame = frame.f_back
    return "" if frame is None else frame.f_code.co_filename


def record(patch: pytest.MonkeyPatch) -> dict[tuple[type[msgspec.Struct], str], set[str]]:
    """Return a table that fills with the files which read each setting, until the patch is undone."""
    readers: dict[tuple[type[msgspec.Struct], str], set[str]] = defaultdict(set)
    for kind, name in SETTINGS:
        field = inspect.getattr_static(kind, name)
        patch.setattr(kind, name, _Recorded(field, readers[kind, name]))
    return readers


def unread(readers: dict[tuple[type[msgspec.Struct], str], set[str]]) -> list[str]:
    """Return the settings that no file of the product has read, the reader of configurations left out."""
    return sorted(
        f"{kind.__name__}.{name}"
        for kind, name in SETTINGS
        if not any(file.startswith(PRODUCT) for file in readers[kind, name])
    )
