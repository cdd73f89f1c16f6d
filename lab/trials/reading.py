"""Data sets as tables for batch learners: nominal and numeric columns as declared, texts as sparse counts."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from learners.rebuilt.table import Floats, Sparse, Table
from learners.schema import AttributeType
from stream.files.csv_file import DataError, NotThere, header_of, open_text, records_of
from stream.files.declaration import Column, name_of, read_declaration

SCHEMA = "SCHEMA.json"
TEXT = "text-"
"""How the names of files of word counts begin."""


def read_table(path: Path, without: Sequence[str] = ()) -> Table:
    """Return a data set as a table; the last column is the class.

    Args:
        path: The file. What its columns are is declared in a file beside it, that of word counts needs none.
        without: Columns that are left out.

    Raises:
        NotThere: There is no such file, or nothing is declared about it.
        DataError: It is not what is declared.
    """
    return _texts(path) if path.name.startswith(TEXT) else _declared(path, without)


def _declared(path: Path, without: Sequence[str]) -> Table:
    declared = read_declaration(path.parent / SCHEMA, name_of(path))
    with open_text(path) as text:
        lines = records_of(text, path)
        header = header_of(lines, path)
        rows = [cells for _, cells in lines]
    columns = [
        column for column in declared.columns if column.name in header[:-1] and column.name not in without
    ]
    x = np.empty((len(rows), len(columns)))
    for place, column in enumerate(columns):
        at = header.index(column.name)
        x[:, place] = _numbers(column, [row[at] for row in rows], path)
    classes = declared.class_values or tuple(sorted({row[-1] for row in rows}))
    codes = {name: code for code, name in enumerate(classes)}
    labels = np.array([codes[row[-1]] for row in rows], dtype=np.int32)
    arity = [0 if column.type is AttributeType.NUMERIC else len(column.values or ()) for column in columns]
    return Table.of(x, labels, len(classes), arity)


def _numbers(column: Column, cells: Sequence[str], path: Path) -> Floats:
    try:
        if column.type is AttributeType.NUMERIC:
            return np.array([float(cell) if cell else np.nan for cell in cells])
        codes = {text: float(code) for code, text in enumerate(column.values or ())}
        return np.array([codes[cell] if cell else np.nan for cell in cells])
    except (ValueError, KeyError) as error:
        raise DataError(
            f'column "{column.name}" of "{path}" has a value that is not declared: {error}'
        ) from error


def _texts(path: Path) -> Table:
    columns: list[int] = []
    values: list[float] = []
    start = [0]
    names: list[str] = []
    if not path.is_file():
        raise NotThere(f'there is no file "{path}"')
    with open_text(path) as text:
        width = len(next(text).rstrip("\r\n").split(",")) - 1
        for number, line in enumerate(text, 2):
            # Nearly all cells are 0, and none is quoted.
            cells = line.rstrip("\r\n").split(",")
            if len(cells) != width + 1:
                raise DataError(f'line {number} of "{path}" has another number of cells than the header')
            names.append(cells.pop())
            there = [place for place, cell in enumerate(cells) if cell != "0"]
            columns += there
            values += [float(cells[place]) for place in there]
            start.append(len(columns))
    classes = sorted(set(names))
    codes = {name: code for code, name in enumerate(classes)}
    x = Sparse(np.array(start, dtype=np.int64), np.array(columns, dtype=np.int32), np.array(values), width)
    return Table.of(x, np.array([codes[name] for name in names], dtype=np.int32), len(classes))
