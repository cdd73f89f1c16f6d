"""Which columns are numbers, and what people are told about it."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from learners.schema import AttributeType, Schema
from stream.files.columns import Columns, look_at
from stream.files.csv_file import DataError, NotThere

Look = Callable[..., Columns]


@pytest.fixture
def look(tmp_path: Path) -> Look:
    def look(content: str, **more: object) -> Columns:
        path = tmp_path / "some.csv"
        path.write_text(content, "utf-8")
        return look_at(path, **more)  # type: ignore[arg-type]

    return look


def column(*cells: str) -> str:
    return "x,class\n" + "".join(f'"{cell}",a\n' for cell in cells)


@pytest.mark.parametrize(
    "cells",
    [("1", "2.5"), ("", "1"), ("1", "?"), (" 1", " "), ("0", "0.5"), ("-1e5", "+3", ".5"), ("1",)],
    ids=str,
)
def test_a_column_is_numeric_when_every_cell_that_is_not_missing_is_a_number(
    cells: tuple[str, ...], look: Look
) -> None:
    assert look(column(*cells)).inferred == ("x",)


@pytest.mark.parametrize(
    "cells",
    [("1", "a"), ("", ""), ("?",), ("1", "nan"), ("1", "1e400"), ("1_000",), ("7", "007"), ("1", "٣")],
    ids=str,
)
def test_any_other_column_is_text(cells: tuple[str, ...], look: Look) -> None:
    columns = look(column(*cells))
    assert columns.inferred == columns.numeric == ()
    assert columns.attributes[0].type is AttributeType.NOMINAL


def test_one_cell_far_down_makes_a_column_text(look: Look) -> None:
    columns = look(column(*map(str, range(5_000)), "n/a", *map(str, range(10)), "-"))
    assert columns.inferred == ()
    assert columns.rows == 5_012
    assert list(columns.notes()) == [
        'column "x" is read as text: 2 cells are not a number, the first "n/a" on line 5002; '
        "leave them empty if they mean a missing value"
    ]


def test_a_column_of_codes_is_text_and_that_is_said(look: Look) -> None:
    [said] = look(column("10115", "02134", "01001")).notes()
    assert said.startswith('column "x" is read as text: "02134" on line 3 begins with 0, as codes do; ')


def test_a_column_of_words_among_which_are_some_numbers_is_nothing_to_talk_about(look: Look) -> None:
    assert list(look(column("a1", "7", "b2", "c")).notes()) == []


def test_neither_the_label_nor_the_id_is_a_numeric_column(look: Look) -> None:
    columns = look("id,x,class\n1,2,3\n")
    assert (columns.id, columns.label, columns.inferred) == ("id", "class", ("x",))
    columns = look("id,x,class\n1,2,3\n", id_column="class", label="id")
    assert (columns.id, columns.label, columns.inferred) == ("class", "id", ("x",))
    columns = look("id,x,class\n1,2,3\n", id_column="x")
    assert columns.inferred == ("id",)


def test_one_line_says_which_columns_are_numbers(look: Look) -> None:
    assert list(look("a,b,c,class\n1,2,x,0\n").notes()) == [
        "2 columns are read as numbers: a, b; --text COL keeps one as text"
    ]
    assert list(look(column("1")).notes()) == ["1 column is read as numbers: x; --text COL keeps one as text"]
    names = [f"c{n}" for n in range(40)]
    [said] = look(f"{','.join(names)},class\n{'1,' * 40}a\n").notes()
    assert said.startswith("40 columns are read as numbers: c0, c1, ") and ", ...; --text" in said
    assert list(look("id,c,class\n1,x,0\n").notes()) == [
        'column "id" names the rows and is not an attribute; --id COL names another'
    ]


def test_text_wins_over_the_cells_and_over_the_schema(look: Look, tmp_path: Path) -> None:
    assert look("a,b,class\n1,2,0\n", text=["a"]).inferred == ("b",)
    schema = tmp_path / "SCHEMA.json"
    schema.write_text('{"some": {"columns": [{"name": "a", "type": "numeric"}]}}')
    assert look("a,b,class\n1,2,0\n", schema=schema, text=["a"]).numeric == ("b",)


def test_the_schema_wins_over_the_cells_and_the_cells_tell_the_rest(look: Look, tmp_path: Path) -> None:
    schema = tmp_path / "SCHEMA.json"
    schema.write_text('{"some": {"columns": [{"name": "b"}, {"name": "zip", "type": "numeric"}]}}')
    columns = look("a,b,zip,class\n1,2,02134,0\n", schema=schema)
    assert [(one.name, one.type.value) for one in columns.attributes] == [
        ("b", "nominal"),
        ("zip", "numeric"),
        ("a", "numeric"),
    ]
    assert columns.inferred == ("a",)
    assert [one.name for one in columns.schema.attributes] == ["b", "zip", "a"]


def test_without_a_schema_nothing_is_declared(look: Look) -> None:
    assert look("a,b,class\n1,x,0\n").schema == Schema()


def test_only_the_first_rows_are_looked_at_where_only_they_are_asked_for(look: Look) -> None:
    assert look(column("1", "2", "many") + "ragged\n", limit=2).inferred == ("x",)


@pytest.mark.parametrize("name", ["text", "label", "id_column"])
def test_a_column_that_is_not_there_is_named(name: str, look: Look) -> None:
    with pytest.raises(NotThere, match=r'no column "outlok".*Did you mean "outlook"'):
        look("outlook,b,class\n1,x,0\n", **{name: ["outlok"] if name == "text" else "outlok"})


def test_what_can_be_read_only_once_needs_a_schema(tmp_path: Path) -> None:
    pipe, schema = tmp_path / "some.csv", tmp_path / "SCHEMA.json"
    os.mkfifo(pipe)
    writing = os.open(pipe, os.O_RDWR)  # so that nobody waits for the other end
    try:
        os.write(writing, b"a,class\n1,0\n")
        with pytest.raises(NotThere, match=r"can be read only once.*--schema"):
            look_at(pipe)
        os.write(writing, b"a,class\n1,0\n")
        schema.write_text('{"some": {"columns": [{"name": "a", "type": "numeric"}]}}')
        assert look_at(pipe, schema=schema).numeric == ("a",)
    finally:
        os.close(writing)


def test_standard_input_is_refused_with_a_way_out() -> None:
    with pytest.raises(NotThere, match=r"standard input can be read only once.*Save it to a file"):
        look_at(Path("-"))


def test_a_compressed_file_is_looked_at_like_a_plain_one(tmp_path: Path) -> None:
    path = tmp_path / "some.csv.gz"
    path.write_bytes(gzip.compress(column("1", "").encode()))
    assert look_at(path).inferred == ("x",)


def test_a_file_without_rows_is_none(look: Look) -> None:
    with pytest.raises(DataError, match="has a header but no rows"):
        look("x,class\n")
