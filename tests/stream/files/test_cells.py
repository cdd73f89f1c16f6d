"""Cells of CSV files: what is a number, and that a record holds the very same one."""

import math
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from learners.canonical import number_code
from learners.registry import make_learner
from stream.files.cells import CellKind, as_number, as_text, kind_of, number_of
from stream.native.rows import RowReader
from stream.records.json_decoder import Decoder
from stream.records.record import Partition, Record

DECODER = Decoder("class", "id", 100_000, 8)
NUMBER, CODE, TEXT, MISSING = CellKind.NUMBER, CellKind.CODE, CellKind.TEXT, CellKind.MISSING


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        *(
            (cell, NUMBER)
            for cell in ("0", "7", "-7", "+5", ".5", "5.", "-0.0", "1e5", "1E-5", " 4\t", "0.10")
        ),
        *((cell, NUMBER) for cell in ("9223372036854775807", "-9223372036854775808", "1e-400", "0e9")),
        *((cell, CODE) for cell in ("007", "02134", "-05", "00", "01.5")),
        *(
            (cell, TEXT)
            for cell in ("nan", "NaN", "inf", "-Infinity", "1e400", "1_000", "0x10", "1,5", "1 2")
        ),
        *((cell, TEXT) for cell in ("٣", "１", "½", "e5", ".", "-", "+", "1e", "--1", "true", "NA", "5%")),
        *((cell, TEXT) for cell in ("9223372036854775808", "1" * 1_025, "0." + "1" * 1_024, "1\n")),
        *((cell, MISSING) for cell in ("", " ", "?")),
    ],
)
def test_the_kind_of_a_cell(cell: str, kind: CellKind) -> None:
    assert kind_of(cell) is kind
    assert (number_of(cell) is not None) == (kind in (NUMBER, CODE))


def plain(digits: str) -> st.SearchStrategy[str]:
    return st.text(digits, min_size=1, max_size=30)


NUMBERS = st.one_of(
    st.builds(
        "{}{}{}{}{}".format,
        st.sampled_from(["", "-", "+"]),
        plain("0123456789"),
        st.one_of(st.just(""), st.just("."), plain("0123456789").map(".{}".format)),
        st.one_of(
            st.just(""), st.integers(-330, 330).map("e{}".format), st.integers(0, 9).map("E+{}".format)
        ),
        st.sampled_from(["", " "]),
    ),
    plain("0123456789").map(".{}".format),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(2**63), 2**63 - 1).map(str),
)


def bits(number: float) -> bytes:
    return struct.pack("<d", number)


@given(NUMBERS)
@example("9007199254740993")
@example("-0")
@example("-0.0")
@example("2.2250738585072011e-308")
@example(
    "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207."
)
def test_a_number_is_read_back_bit_for_bit_in_both_ways(cell: str) -> None:
    number = number_of(cell)
    if number is None:
        assert as_number(cell) == as_text(cell)
        return
    assert isinstance(number, int) or math.isfinite(number)
    value = f'{{"x":{as_number(cell)},"class":"a"}}'.encode()
    [(name, read)] = DECODER.decode(Record(Partition("t", 0), 0, value)).values.items()
    assert name == "x" and type(read) in (int, float)
    # Whether a zero has a sign makes no difference to any learner.
    assert bits(float(read or 0)) == bits(float(cell) + 0.0)
    # The fast way, which reads known names straight from the bytes.
    learner = make_learner("id5r")
    learner.codes.encode({"x": 1.5}, "a")
    rows = RowReader(learner.codes, "class", "id", 100_000).read([value])
    if rows.understood[0]:
        assert int(rows.codes[0][0]) == number_code(float(cell))
    assert learner.codes.encode({"x": read}, "a")[0] == (number_code(float(cell)),)


@given(st.text(max_size=100))
def test_text_is_read_back_as_it_was(cell: str) -> None:
    value = f'{{"x":{as_text(cell)}}}'.encode()
    assert DECODER.decode(Record(Partition("t", 0), 0, value)).values == {"x": cell or None}
