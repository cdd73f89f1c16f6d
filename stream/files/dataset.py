"""Instances from a CSV file, all in memory: for experiments and benchmarks in Python.

The file has a header row; one column is the label, every other an attribute, and an empty cell is a missing
value. Which columns are numbers is declared in a schema file or found in the cells:
see `stream.files.columns`.
"""

import csv
import random
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, overload

from learners.schema import (
    MOST_CLASSES,
    MOST_VALUES,
    Attribute,
    AttributeType,
    Instance,
    Limits,
    Schema,
    Value,
)
from stream.files.cells import CellKind, kind_of, number_of
from stream.files.columns import Columns, look_at, no_rows, rows_of


class DatasetRow(NamedTuple):
    """One row: where it stood in the file, its values in the order of the attributes, and its label."""

    line: int
    values: tuple[Value, ...]
    label: Value


class Rows(Sequence[Instance]):
    """Rows that become instances when they are looked at: a dictionary for each would need far more room."""

    def __init__(self, names: Sequence[str], rows: Sequence[DatasetRow]) -> None:
        self.names = tuple(names)
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> Instance: ...
    @overload
    def __getitem__(self, place: slice) -> "Rows": ...
    def __getitem__(self, place: int | slice) -> "Instance | Rows":
        if isinstance(place, slice):
            return Rows(self.names, self.rows[place])
        row = self.rows[place]
        return Instance(dict(zip(self.names, row.values, strict=True)), row.label)

    def shuffled(self, seed: int) -> "Rows":
        """Return the rows in another order, the same for the same seed."""
        rows = list(self.rows)
        random.Random(seed).shuffle(rows)
        return Rows(self.names, rows)


class Dataset(NamedTuple):
    """The instances of a file and what is known about them.

    Attributes:
        label: The column that holds the class.
        instances: One for each row, in the order of the file.
        schema: The attributes in order with their types, and what was declared about values and classes.
        numeric: The columns that are read as numbers.
    """

    label: str
    instances: Rows
    schema: Schema
    numeric: tuple[str, ...]

    @property
    def limits(self) -> Limits:
        """Limits that the file cannot pass: they are there for strangers' input, and this one was chosen."""
        usual, most = Limits(), len(self.instances)
        return Limits(
            max_attributes=max(usual.max_attributes, len(self.schema.attributes)),
            max_values_per_attribute=min(max(usual.max_values_per_attribute, most), MOST_VALUES),
            max_classes=min(max(usual.max_classes, most), MOST_CLASSES),
            max_text=csv.field_size_limit(),
        )


def read_dataset(
    path: Path,
    *,
    label: str | None = None,
    schema: Path | None = None,
    text: Collection[str] = (),
    limit: int | None = None,
) -> Dataset:
    """Read a CSV file, compressed if its name ends with ".gz".

    Args:
        path: The file.
        label: The column that holds the class; the last one if not given.
        schema: The file with the declaration. Its entry is named like the data file without ".csv[.gz]".
        text: Columns that are text, whatever is in them.
        limit: How many rows to read.

    Raises:
        NotThere: There is no such file, column or entry.
        DataError: The file is not a CSV file with a header and at least one row.
    """
    columns = look_at(path, label=label, usual_id=None, schema=schema, text=text, limit=limit)
    rows = list(_rows(path, columns, limit))
    if not rows:
        raise no_rows(path)
    return Dataset(
        columns.label,
        Rows([column.name for column in columns.attributes], rows),
        Schema(
            tuple(Attribute(one.name, one.type, one.values or ()) for one in columns.attributes),
            columns.schema.classes,
        ),
        columns.numeric,
    )


def _rows(path: Path, columns: Columns, limit: int | None) -> Iterator[DatasetRow]:
    places = [columns.header.index(one.name) for one in columns.attributes]
    numeric = [
        place
        for place, one in zip(places, columns.attributes, strict=True)
        if one.type is AttributeType.NUMERIC
    ]
    label_at = columns.header.index(columns.label)
    texts: dict[str, str] = {}  # the reader makes a new string for every cell, most of which are the same
    for line, cells in rows_of(path, columns, limit):
        values: list[Value] = [texts.setdefault(cell, cell) or None for cell in cells]
        for place in numeric:
            values[place] = _value(cells[place])
        yield DatasetRow(line, tuple([values[place] for place in places]), values[label_at])


def _value(cell: str) -> Value:
    """Return the number that a cell holds, or its text where it holds none, for the learner to refuse."""
    number = number_of(cell)
    return number if number is not None else None if kind_of(cell) is CellKind.MISSING else cell
