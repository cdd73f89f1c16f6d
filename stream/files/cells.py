"""A cell of a CSV file: whether it is a number, and how it is written in a record.

A cell is a number when it is written in ASCII as digits with an optional sign, decimal point and exponent,
and when a record can hold its value: a whole number of at most 64 bits, or a finite double. Spaces around it
do not count. "nan", "inf", "1e400", "1_000", "0x10" and "1,5" are text.
"""

import math
import re
from enum import Enum, auto
from functools import lru_cache

import msgspec

from learners.schema import MISSING
from stream.records.json_decoder import MAX_NUMBER

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_CODE = re.compile(r"[+-]?0\d", re.ASCII)
_JSON = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_INT64 = range(-(2**63), 2**63)
_SHORT = 64
"""Cells of at most this many characters are remembered: most of a file's cells are the same few."""
_REMEMBERED = 1 << 16


class CellKind(Enum):
    """What a cell looks like."""

    MISSING = auto()
    """Nothing, or the text of a missing value."""
    NUMBER = auto()
    CODE = auto()
    """A number that begins with 0 and another digit, as postal codes and article numbers do."""
    TEXT = auto()


def kind_of(cell: str) -> CellKind:
    """Return what a cell looks like.

    >>> [kind_of(cell).name for cell in ("1.5", " -3e2", "02134", "0.5", "NA", "", "?")]
    ['NUMBER', 'NUMBER', 'CODE', 'NUMBER', 'TEXT', 'MISSING', 'MISSING']
    """
    return _short_kind(cell) if len(cell) <= _SHORT else _kind(cell)


def number_of(cell: str) -> int | float | None:
    """Return the number that a cell holds; None where it holds none that a record can hold.

    >>> [number_of(cell) for cell in ("007", "+5", ".5", "1e400", "nan", "1_000")]
    [7, 5, 0.5, None, None, None]
    """
    text = cell.strip(" \t")
    if len(text) > MAX_NUMBER or not _NUMBER.fullmatch(text):
        return None
    if _WHOLE.fullmatch(text):
        whole = int(text)
        return whole if whole in _INT64 else None
    number = float(text)
    return number if math.isfinite(number) else None


def as_text(cell: str) -> str:
    """Return a cell as a JSON string; null where it is empty.

    >>> as_text("red"), as_text("")
    ('"red"', 'null')
    """
    return _short_text(cell) if len(cell) <= _SHORT else _text(cell)


def as_number(cell: str) -> str:
    """Return a cell as a JSON number that reads back as the same bits; null where it is missing.

    The digits are those of the cell where JSON allows them. What is no number stays a string.

    >>> [as_number(cell) for cell in ("0.10", "007", "+5", ".5", "1.", "", "?", "many")]
    ['0.10', '7', '5', '0.5', '1.0', 'null', 'null', '"many"']
    """
    return _short_number(cell) if len(cell) <= _SHORT else _number(cell)


def _kind(cell: str) -> CellKind:
    text = cell.strip(" \t")
    if not text or text == MISSING:
        return CellKind.MISSING
    if number_of(text) is None:
        return CellKind.TEXT
    return CellKind.CODE if _CODE.match(text) else CellKind.NUMBER


def _text(cell: str) -> str:
    return msgspec.json.encode(cell).decode() if cell else "null"


def _number(cell: str) -> str:
    text = cell.strip(" \t")
    if not text or text == MISSING:
        return "null"
    number = number_of(text)
    if number is None:
        return _text(cell)
    return text if _JSON.fullmatch(text) else repr(number)


_short_kind = lru_cache(_REMEMBERED)(_kind)
_short_text = lru_cache(_REMEMBERED)(_text)
_short_number = lru_cache(_REMEMBERED)(_number)
