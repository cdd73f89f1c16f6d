"""The row reader follows the codes: types, classes, missing values, limits and field names."""

import json
import threading
from itertools import product

import numpy as np
import pytest

from learners.codes import Codes
from learners.schema import Attribute, Limits, Schema
from learners.vocabulary import Growth
from stream.native.rows import RowReader
from tests.stream.native.row_checks import MAX_BYTES, agree, taught, understood, usual


def test_the_reader_keeps_up_with_the_codes() -> None:
    codes = Codes()
    reader = RowReader(codes, "class", "id", MAX_BYTES)
    for count in range(250):
        fields = {f"field {n % 40}": f"value {n}" for n in range(count, count + 3)}
        value = json.dumps({**fields, "class": f"class {count}"}).encode()
        assert not agree(reader, codes, [value]).understood[0]
        codes.encode(fields, f"class {count}")
        assert agree(reader, codes, [value]).understood[0]


def test_a_type_that_is_decided_later_is_minded() -> None:
    codes = taught(({"a": None, "b": 1}, "yes"))
    reader = RowReader(codes, "class", "id", MAX_BYTES)
    batch = [b'{"a":null}', b'{"a":1}', b'{"a":"1"}']
    assert agree(reader, codes, batch).understood.tolist() == [1, 0, 0]
    codes.encode({"a": "1"}, "yes")
    assert agree(reader, codes, batch).understood.tolist() == [1, 0, 1]


def growth(
    attributes: tuple[tuple[str, str], ...] = (),
    kinds: tuple[tuple[int, str], ...] = (),
    values: tuple[tuple[int, str], ...] = (),
    classes: tuple[str, ...] = (),
    label_kind: str = "",
) -> Growth:
    return Growth(attributes, kinds, values, classes, label_kind)


def test_a_type_is_minded_where_nothing_else_has_changed() -> None:
    codes = Codes(Schema((Attribute("a", values=("1",)),), classes=("1",)))
    reader = RowReader(codes, "class", "id", MAX_BYTES)
    batch = [b'{"a":1}', b'{"a":"1"}', b'{"class":1}', b'{"class":"1"}']
    assert agree(reader, codes, batch).understood.tolist() == [1, 1, 1, 1]
    codes.grow(growth(kinds=((0, "number"),)))
    assert agree(reader, codes, batch).understood.tolist() == [1, 0, 1, 1]
    codes.grow(growth(label_kind="string"))
    assert agree(reader, codes, batch).understood.tolist() == [1, 0, 0, 1]


def test_a_label_that_would_decide_the_type_of_all_labels_is_left_to_the_codes() -> None:
    codes = Codes()
    codes.grow(growth(classes=("yes",)))
    assert not understood(b'{"class":"yes"}', codes)


def test_of_two_attributes_of_one_name_the_later_is_meant() -> None:
    codes = taught(({"a": "x"}, "yes"))
    reader = RowReader(codes, "class", "id", MAX_BYTES)
    batch = [b'{"a":"x"}', b'{"a":"x","class":"yes"}'] * 2
    assert agree(reader, codes, batch).codes.tolist() == [[1]] * 4
    codes.grow(growth((("a", "string"),), (), ((1, "y"), (1, "x"))))
    assert agree(reader, codes, batch).codes.tolist() == [[0, 2]] * 4


def test_texts_that_begin_alike_are_told_apart() -> None:
    codes = taught(*(({"a": "eight888" + "b" * n}, "yes") for n in range(1, 300, 2)))
    batch = [f'{{"a":"eight888{"b" * n}"}}'.encode() for n in range(301)]
    rows = agree(RowReader(codes, "class", "id", MAX_BYTES), codes, batch)
    assert rows.understood.tolist() == [n % 2 for n in range(300)] + [0]


@pytest.mark.parametrize("label", ['q"', "b\\", "\n", "\x00", "\ud800"])
def test_a_label_field_that_cannot_be_written_without_an_escape_is_never_met(label: str) -> None:
    codes = taught(({}, "x"))
    raw = label.encode("utf-8", "surrogatepass")
    batch = [b'{"' + raw + b'":"x"}', b"{}", b'{"' + raw + b'"":"x"}']
    rows = agree(RowReader(codes, label, "id", MAX_BYTES), codes, batch, label)
    assert rows.understood.tolist() == [0, 1, 0]


def test_texts_that_mean_no_value_are_missing() -> None:
    schema = Schema((Attribute("a", values=("NA", "-1", "x")),), missing_values=("NA", "-1", "a longer text"))
    codes = Codes(schema)
    taught(({"b": "x"}, "yes"), codes=codes)
    batch = [b'{"a":"NA"}', b'{"a":"-1"}', b'{"a":-1}', b'{"b":"NA"}', b'{"b":"a longer text"}', b'{"b":"?"}']
    rows = agree(RowReader(codes, "class", "id", MAX_BYTES), codes, batch)
    assert rows.understood.all()
    assert rows.codes.tolist() == [[0, 0], [0, 0], [2, 0], [0, 0], [0, 0], [0, 0]]


def test_a_text_that_is_known_but_too_long_is_not_understood() -> None:
    schema = Schema((Attribute("a", values=("longer", "1000", "text")),), classes=("longer", "1000", "text"))
    codes = Codes(schema, Limits(max_text=4))
    batch = [b'{"a":"longer"}', b'{"a":"1000"}', b'{"class":"longer"}', b'{"class":1000}']
    rows = agree(RowReader(codes, "class", "id", MAX_BYTES), codes, batch)
    assert rows.understood.tolist() == [0, 1, 0, 1]


def test_where_missing_values_are_refused_a_record_to_be_learned_must_be_whole() -> None:
    codes = Codes(reject_missing=True)
    taught(({"a": "x", "b": "y"}, "yes"), codes=codes)
    batch = [b'{"a":"x","class":"yes"}', b'{"a":"x"}', b'{"a":"x","b":"y","class":"yes"}']
    batch += [b'{"a":"x","b":null,"class":"yes"}', b'{"a":"x","b":"?","class":"yes"}']
    rows = agree(RowReader(codes, "class", "id", MAX_BYTES), codes, batch)
    assert rows.understood.tolist() == [0, 1, 1, 0, 0]


@pytest.mark.parametrize(("label", "id_field"), [("a", "b"), ("b", "a"), ("a", "a"), ("c", 'd"'), ("\n", "")])
def test_the_fields_of_label_and_id_are_no_attributes(label: str, id_field: str) -> None:
    codes = taught(({"a": "x", "b": "x", "": "x"}, "x"))
    reader = RowReader(codes, label, id_field, MAX_BYTES)
    for names in product(["a", "b", "", "c", 'd"'], repeat=2):
        fields = ",".join(
            f"{json.dumps(name)}:{value}" for name, value in zip(names, ('"x"', '"x"'), strict=True)
        )
        agree(reader, codes, [f"{{{fields}}}".encode()], label, id_field)


def test_a_reader_is_never_used_by_two_threads_at_once() -> None:
    codes = usual()
    reader = RowReader(codes, "class", "id", MAX_BYTES)
    batch: list[bytes | None] = [b'{"string":"red","whole":17,"class":"no","id":4}'] * 500
    expected = reader.read(batch)
    wrong: list[str] = []

    def read() -> None:
        for _ in range(200):
            try:
                rows = reader.read(batch)
            except RuntimeError as error:
                assert "two threads" in str(error)
                continue
            if rows.ids != expected.ids or not np.array_equal(rows.codes, expected.codes):
                wrong.append("the rows differ")

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
