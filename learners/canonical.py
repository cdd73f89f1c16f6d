"""One text for every value, and one whole number for every number, in the same order."""

import math
import re
import struct

_DOUBLE, _BITS = struct.Struct("<d"), struct.Struct("<Q")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SIGN, _ALL = 1 << 63, (1 << 64) - 1


def text_of(value: str | bool | int | float) -> str:
    """Return the one text of a value, whatever way it was written.

    >>> [text_of(v) for v in ("red", True, 1, 1.0, -0.0, 2.50)]
    ['red', 'true', '1', '1', '0', '2.5']
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)


def as_sent(text: str, kind: str) -> str | bool | int | float:
    """Return a class with the type its labels are sent with: "string", "boolean", "number" or "any".

    >>> [as_sent("1", "number"), as_sent("2.5", "number"), as_sent("true", "boolean"), as_sent("1", "any")]
    [1, 2.5, True, '1']
    """
    if kind == "boolean":
        return text == "true"
    if kind == "number":
        return float(text) if set(text) & set(".en") else int(text)
    return text


def is_number(text: str) -> bool:
    """Return whether a text is a finite number as people and programs write it.

    >>> [is_number(text) for text in ("12", "-0.5", "1e3", "", "1_000", " 3", "nan", "0x1f")]
    [True, True, True, False, False, False, False, False]
    """
    return bool(_NUMBER.fullmatch(text)) and math.isfinite(float(text))


def number_code(number: float) -> int:
    """Return the code of a number: of two numbers the larger has the larger one, and none has 0.

    >>> import math
    >>> number_code(-1.5) < number_code(-0.0) == number_code(0.0) < number_code(1e-9) < number_code(math.inf)
    True
    """
    bits: int = _BITS.unpack(_DOUBLE.pack(number + 0.0))[0]
    return ~bits & _ALL if bits >> 63 else bits | _SIGN


def number_of(code: int) -> float:
    """Return the number that has a code.

    >>> [number_of(number_code(n)) for n in (-2.5, 0.0, 41.0)]
    [-2.5, 0.0, 41.0]
    """
    (number,) = _DOUBLE.unpack(_BITS.pack(code & ~_SIGN if code >> 63 else ~code & _ALL))
    return float(number)
