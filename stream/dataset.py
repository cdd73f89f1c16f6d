"""Instances from a CSV file, with or without a declaration of its columns.

The file has a header row; one column is the label, every other an attribute, and an empty cell is a missing
value. Without a declaration every value is text. A declaration is a JSON file with an entry for each data
file, `{"iris": {"columns": [{"name", "type", "values"}, ...], "class_values": [...]}}`.
"""

import csv
import math
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, overload

import msgspec

from learners.schema import Attribute, AttributeType, Instance, Limits, Schema, Value
from stream.config.wording import did_you_mean, quoted
from stream.csv_file import DataError, Lines, NotThere, header_of, no_file, open_text, records_of

LOOKED_AT = 1_000
FEW = 10
"""So many different numbers may be codes as well."""


class Column(msgspec.Struct, frozen=True):
    """What is declared about one column."""

    name: str
    type: AttributeType = AttributeType.NOMINAL
    values: tuple[str, ...] | None = None


class Declaration(msgspec.Struct, frozen=True):
    """What is declared about one file: its attributes in order, and its classes."""

    columns: tuple[Column, ...] = ()
    class_values: tuple[str, ...] | None = None


class Row(NamedTuple):
    """One row: where it stood in the file, its values in the order of the attributes, and its label."""

    line: int
    values: tuple[Value, ...]
    label: Value


class Rows(Sequence[Instance]):
    """Rows that become instances when they are looked at: a dictionary for each would need far more room."""

    def __init__(self, names: Sequence[str], rows: Sequence[Row]) -> None:
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
        schema: The attributes in order, and what was declared about them and about the classes.
        numeric: The columns that were declared to be numeric, whether or not they were read as numbers.
    """

    label: str
    instances: Rows
    schema: Schema
    numeric: tuple[str, ...]

    @property
    def like_numbers(self) -> list[str]:
        """The columns of text that hold nothing but numbers, and many different ones, at a glance."""
        found = []
        for place, name in enumerate(self.instances.names):
            cells = {row.values[place] for row in self.instances.rows[:LOOKED_AT]} - {None}
            texts = [cell for cell in cells if isinstance(cell, str)]
            if len(texts) > FEW and not any(isinstance(_number(text), str) for text in texts):
                found.append(name)
        return found

    @property
    def limits(self) -> Limits:
        """Limits that the file cannot pass: they are there for strangers' input, and this one was chosen."""
        usual, most = Limits(), len(self.instances)
        return Limits(
            max_attributes=max(usual.max_attributes, len(self.schema.attributes)),
            max_values_per_attribute=max(usual.max_values_per_attribute, most),
            max_classes=max(usual.max_classes, most),
            max_text=csv.field_size_limit(),
        )


def read_dataset(
    path: Path,
    *,
    label: str | None = None,
    schema: Path | None = None,
    numbers: bool = True,
    limit: int | None = None,
) -> Dataset:
    """Read a CSV file, compressed if its name ends with ".gz".

    Args:
        path: The file.
        label: The column that holds the class; the last one if not given.
        schema: The file with the declaration. Its entry is named like the data file without ".csv[.gz]".
        numbers: Whether the values of columns declared to be numeric become numbers. What does not look like
            one stays text, for the learner to refuse.
        limit: How many rows to read at the most.

    Raises:
        NotThere: There is no such file, column or entry.
        DataError: The file is not a CSV file with a header and at least one row.
    """
    declaration = Declaration() if schema is None else read_declaration(schema, name_of(path))
    with open_text(path) as file:
        records = records_of(file, path)
        header = header_of(records, path)
        label = _label(header, label, path)
        _check_declared(declaration, header, path)
        columns = _attributes(header, label, declaration)
        rows = list(islice(_rows(records, header, label, columns, numbers=numbers), limit))
    if not rows:
        raise DataError(f'"{path}" has a header but no rows. There is nothing to learn from')
    return Dataset(
        label,
        Rows([column.name for column in columns], rows),
        _schema(columns, _classes(header, label, declaration), numbers=numbers),
        tuple(column.name for column in columns if column.type is AttributeType.NUMERIC),
    )


def name_of(path: Path) -> str:
    """Return the name of a data file without ".csv" and ".gz".

    >>> name_of(Path("data/text-oh0.wc.csv.gz"))
    'text-oh0.wc'
    """
    return path.name.removesuffix(".gz").removesuffix(".csv")


def read_declaration(path: Path, name: str) -> Declaration:
    """Return what a schema file declares about the data file of a name.

    Raises:
        NotThere: There is no such file, or no entry of this name in it.
        DataError: It is not a schema file.
    """
    try:
        entries = msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw])
        if name not in entries:
            raise NotThere(
                f'the schema "{path}" has no entry {quoted(name)}.{did_you_mean(name, entries)} '
                "An entry is named like the data file without .csv"
            )
        return msgspec.json.decode(entries[name], type=Declaration)
    except OSError as error:
        raise no_file(path, error) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(
            f'"{path}" is not a schema: {error}. It holds an object with an entry {quoted(name)}: '
            '{"columns": [{"name", "type", "values"}], "class_values": [...]}'
        ) from error


# ---- rows


def _label(header: Sequence[str], label: str | None, path: Path) -> str:
    if label is None:
        return header[-1]
    if label not in header:
        raise NotThere(
            f'"{path}" has no column {quoted(label)}.{did_you_mean(label, header)} '
            f"It has: {', '.join(header[:20])}{', ...' if len(header) > 20 else ''}"
        )
    return label


def _rows(
    records: Lines,
    header: Sequence[str],
    label: str,
    columns: Sequence[Column],
    *,
    numbers: bool,
) -> Iterator[Row]:
    width, label_at = len(header), header.index(label)
    places = [header.index(column.name) for column in columns]
    numeric = [
        place
        for place, column in zip(places, columns, strict=True)
        if numbers and column.type is AttributeType.NUMERIC
    ]
    texts: dict[str, str] = {}  # the reader makes a new string for every cell, most of which are the same
    for line, cells in records:
        if len(cells) != width:
            raise DataError(
                f"line {line} has {len(cells)} fields where the header has {width}. "
                "Correct it, or put quotes round values that contain commas"
            )
        values: list[Value] = [texts.setdefault(cell, cell) or None for cell in cells]
        for place in numeric:
            values[place] = _number(cells[place])
        yield Row(line, tuple([values[place] for place in places]), values[label_at])


def _number(text: str) -> Value:
    """Return the number that a text says, or the text where it says none that a record can hold."""
    if not text:
        return None
    try:
        number = float(text)
        if "_" in text or not math.isfinite(number):
            return text
        return int(text) if text.lstrip("+-").isdecimal() else number
    except ValueError:
        return text


# ---- what is declared


def _check_declared(declaration: Declaration, header: Sequence[str], path: Path) -> None:
    for column in declaration.columns:
        if column.name not in header:
            raise DataError(
                f'the schema declares a column {quoted(column.name)} that "{path}" does not have.'
                f"{did_you_mean(column.name, header)} Give the schema of this file, or none"
            )


def _attributes(header: Sequence[str], label: str, declaration: Declaration) -> list[Column]:
    """Return the attributes in their order: as declared, then those of which nothing is said."""
    declared = {column.name for column in declaration.columns}
    others = [Column(name) for name in header if name not in declared]
    return [column for column in (*declaration.columns, *others) if column.name != label]


def _classes(header: Sequence[str], label: str, declaration: Declaration) -> tuple[str, ...]:
    """Return the declared classes: those of the last column, or the values of the label's own column."""
    for column in declaration.columns:
        if column.name == label:
            return column.values or ()
    return (declaration.class_values or ()) if label == header[-1] else ()


def _schema(columns: Sequence[Column], classes: tuple[str, ...], *, numbers: bool) -> Schema:
    return Schema(
        attributes=tuple(
            Attribute(
                column.name, column.type if numbers else AttributeType.NOMINAL, values=column.values or ()
            )
            for column in columns
        ),
        classes=classes,
    )
