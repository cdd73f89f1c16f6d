"""The fields that records have, as users send them.

A column is a function of a record's number. It returns a signal, which the class may depend on, and the value
as it is written: `ABSENT` where the record does not have the field.
"""

from collections.abc import Callable
from random import Random
from typing import Any

ABSENT: Any = object()
Column = Callable[[int], tuple[int, Any]]
"""The signal is 0, 1, 2...; the value is anything that JSON can write."""

WORDS = (
    "red", "blue", "green", "dark red", "", "x", "y", "web", "ERR", "0", "1", "true", "null", "a:b", 'a"b',
    "a\\b",
)  # fmt: skip
PLANES = (
    "é", "ñ", "ß", "Ж", "ע", "ى", "中", "\u202e", "\u0301", "\u200d", "\u0000", "\u001f", "\x7f", "\uffff",
    "\ue000", "\ufdd0", "𝒳", "😀", "𠀀", "\U000e0041", "\U000f0000", "\U0010ffff",
)  # fmt: skip
ODD: tuple[object, ...] = (
    "?", "", "NaN", "NA", "-", " 3 ", "1e3", "12.5", "1_0", "١٢", -0.0, 0.0, 1e308, -1e308, 5e-324, 2**53 + 1,
    2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**30, True, False, 1, 1.0, 0, [1, "a"], {"k": 1}, {}, [],
    None, float("nan"), float("inf"), "x" * 21, "y" * 90, "\U0001f680" * 30,
)  # fmt: skip


def nominal(r: Random, n: int) -> Column:
    values = r.sample(WORDS, r.randint(2, 5))

    def column(i: int) -> tuple[int, Any]:
        signal = r.randrange(len(values))
        return signal, values[signal]

    return column


def boolean(r: Random, n: int) -> Column:
    def column(i: int) -> tuple[int, Any]:
        signal = r.random() < 0.5
        return int(signal), signal

    return column


def whole(r: Random, n: int) -> Column:
    span = r.choice((2, 6, 30, 10**6))

    def column(i: int) -> tuple[int, Any]:
        value = r.randint(-span, span)
        return int(value > 0), value

    return column


def grid(r: Random, n: int) -> Column:
    """Few numbers, so that whole records come again."""
    top = r.choice((3, 5))

    def column(i: int) -> tuple[int, Any]:
        value = r.randint(1, top)
        return value, value

    return column


def real(r: Random, n: int) -> Column:
    digits, mean = r.choice((0, 1, 3, 15)), r.choice((0.0, 60.0))

    def column(i: int) -> tuple[int, Any]:
        value = round(r.gauss(mean, 12), digits)
        return int(value > mean), value

    return column


def turning(r: Random, n: int) -> Column:
    """Integers that turn into floats."""
    at = r.randrange(n)

    def column(i: int) -> tuple[int, Any]:
        value = r.randint(0, 20)
        return int(value > 9), value + r.choice((0.0, 0.5)) if i >= at else value

    return column


def number_text(r: Random, n: int) -> Column:
    """Numbers as strings, some with units, some empty."""
    unit, odd = r.choice(("", "", "ms", "%")), r.choice((0.0, 0.1))

    def column(i: int) -> tuple[int, Any]:
        value = r.randint(0, r.choice((6, 40)))
        return int(value > 4), r.choice(
            ("", "-", "1e3", "1_000", "0x1F")
        ) if r.random() < odd else f"{value}{unit}"

    return column


def identifier(r: Random, n: int) -> Column:
    form = r.choice(("uuid", "number", "text"))

    def column(i: int) -> tuple[int, Any]:
        if form == "uuid":
            return 0, f"{r.getrandbits(32):08x}-{r.getrandbits(16):04x}"
        return 0, r.getrandbits(62) if form == "number" else f"d-{i}"

    return column


def moment(r: Random, n: int) -> Column:
    def column(i: int) -> tuple[int, Any]:
        return 0, f"2026-11-{1 + i // 24 % 30:02}T{i % 24:02}:00:00Z"

    return column


def clock(r: Random, n: int) -> Column:
    """Milliseconds that go on, some late, some far ahead."""
    step, now = r.choice((1, 10, 1000)), r.choice((0, 1_790_000_000_000))

    def column(i: int) -> tuple[int, Any]:
        x, at = r.random(), now + i * step
        if x < 0.9:
            return 0, at
        if x < 0.95:
            return 0, at - step * r.randint(1, 60)
        return 0, r.choice((at + step * 50, at + step * 10**6, at + 0.5, 1e300, -at, 10**18))

    return column


def free_text(r: Random, n: int) -> Column:
    def column(i: int) -> tuple[int, Any]:
        return 0, " ".join(r.choice(WORDS) for _ in range(r.randint(0, 12)))

    return column


def planes(r: Random, n: int) -> Column:
    """Values of every Unicode plane."""
    values = ["".join(r.choice(PLANES) for _ in range(r.randint(1, 3))) for _ in range(r.randint(2, 9))]

    def column(i: int) -> tuple[int, Any]:
        signal = r.randrange(len(values))
        return signal, values[signal]

    return column


def nested(r: Random, n: int) -> Column:
    form = r.randrange(5)
    inner = r.choice((nominal, whole, boolean))(r, n)

    def column(i: int) -> tuple[int, Any]:
        signal, value = inner(i)
        shapes: tuple[Any, ...] = (
            {"k": value, "id": i},
            [value, 1],
            {"k": {"l": value}, "m": [], "n": None},
            {"": value, "a.b": value},
            r.choice((value, {"k": value}, [value], {}, [])),
        )
        return signal, shapes[form]

    return column


def drifting(r: Random, n: int) -> Column:
    """A type that changes for good, or now and then."""
    first, then, at = nominal(r, n), r.choice((whole, boolean, real))(r, n), r.randrange(n)
    share = r.choice((0.05, 1.0))
    if r.random() < 0.5:
        first, then = then, first

    def column(i: int) -> tuple[int, Any]:
        return then(i) if i >= at and r.random() < share else first(i)

    return column


def many(r: Random, n: int) -> Column:
    """More values than any limit of these lives lets pass, sooner or later."""
    spread, number = r.choice((12, 60, 1000)), r.random() < 0.3

    def column(i: int) -> tuple[int, Any]:
        value = r.randrange(spread)
        return value % 2, value if number else f"v{value}"

    return column


def constant(r: Random, n: int) -> Column:
    value = r.choice(("2.4.1", 1, 0.5, True, None, "?"))
    return lambda i: (0, value)


KINDS = (
    nominal, nominal, nominal, boolean, whole, whole, real, real, turning, number_text, identifier, moment,
    free_text, planes, nested, drifting, many, many, constant,
)  # fmt: skip


def make_column(r: Random, n: int) -> Column:
    """Return a column of a random kind, which may come late, lack values, or hold odd ones."""
    column = r.choice(KINDS)(r, n)
    first = r.choice((1, 2, 3, n // 3, n // 2)) if r.random() < 0.35 else 0
    before = r.choice((None, ABSENT))
    lacking = r.choice((0.0, 0.0, 0.0, 0.05, 0.4))
    odd = r.choice((0.0, 0.0, 0.0, 0.0, 0.03))
    if not first and not lacking and not odd:
        return column

    def wrapped(i: int) -> tuple[int, Any]:
        signal, value = column(i)
        if i < first:
            return signal, before
        if lacking and r.random() < lacking:
            return signal, r.choice((None, ABSENT))
        if odd and r.random() < odd:
            return signal, r.choice(ODD)
        return signal, value

    return wrapped
