"""What the columns of a CSV file are: the label, the id, and which attributes are numbers.

A schema file says it, or else the cells do: a column is numeric when it has a number and every cell that is
not missing is one. A column in which a number begins with 0 and another digit is text, because it is most
likely a code. To find that out takes a pass over the file; it keeps no rows.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from learners.schema import Attribute, AttributeType, Schema
from stream.config.messages import did_you_mean, quoted
from stream.files.cells import CellKind, kind_of
from stream.files.csv_file import DataError, Lines, NotThere, header_of, open_text, records_of
from stream.files.declaration import Column, Declaration, name_of, read_declaration

ID = "id"
"""The column that names a row, where no other is given."""
_CHUNK = 1_024
_MOST_NAMES = 12


class Odd(NamedTuple):
    """A column of text in which most cells are numbers, and the first cell that made it text."""

    name: str
    cell: str
    line: int
    cells: int
    kind: CellKind

    def __str__(self) -> str:
        if self.kind is CellKind.CODE:
            return (
                f"column {quoted(self.name)} is read as text: {quoted(self.cell[:64])} on line {self.line} "
                "begins with 0, as codes do; declare it numeric with --schema if it is a number"
            )
        cells = "1 cell is" if self.cells == 1 else f"{self.cells:,} cells are"
        return (
            f"column {quoted(self.name)} is read as text: {cells} not a number, the first "
            f"{quoted(self.cell[:64])} on line {self.line}; leave them empty if they mean a missing value"
        )


class Columns(NamedTuple):
    """What the columns of a file are.

    Attributes:
        header: All columns, in the order of the file.
        label: The one that holds the class.
        id: The one that names a row, if any.
        attributes: Every other one with its type: as declared, then those about which nothing is declared.
        schema: What a learner is given in advance: nothing where no schema file was given.
        inferred: The attributes that are numeric because their cells are numbers.
        odd: Columns of text in which most cells are numbers.
        rows: How many rows there are; None where they were not counted.
    """

    header: tuple[str, ...]
    label: str
    id: str | None
    attributes: tuple[Column, ...]
    schema: Schema
    inferred: tuple[str, ...] = ()
    odd: tuple[Odd, ...] = ()
    rows: int | None = None

    @property
    def numeric(self) -> tuple[str, ...]:
        """The numeric attributes."""
        return tuple(one.name for one in self.attributes if one.type is AttributeType.NUMERIC)

    def only(self, kept: Callable[[str], bool]) -> "Columns":
        """Return the columns without the attributes that are not kept."""
        return self._replace(
            attributes=tuple(one for one in self.attributes if kept(one.name)),
            schema=msgspec.structs.replace(
                self.schema, attributes=tuple(one for one in self.schema.attributes if kept(one.name))
            ),
            inferred=tuple(filter(kept, self.inferred)),
            odd=tuple(one for one in self.odd if kept(one.name)),
        )

    def notes(self) -> Iterator[str]:
        """Yield what people should know about how the file is read."""
        if self.inferred:
            many = len(self.inferred) != 1
            yield (
                f"{len(self.inferred)} {'columns are' if many else 'column is'} read as numbers: "
                f"{listed(self.inferred)}; --text COL keeps one as text"
            )
        for odd in self.odd[:5]:
            yield str(odd)
        if self.id is not None:
            yield f"column {quoted(self.id)} names the rows and is not an attribute; --id COL names another"


def listed(names: Sequence[str]) -> str:
    """Return names with commas between them; of many only the first."""
    return ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")


def look_at(
    path: Path,
    *,
    label: str | None = None,
    id_column: str | None = None,
    usual_id: str | None = ID,
    schema: Path | None = None,
    text: Collection[str] = (),
    limit: int | None = None,
) -> Columns:
    """Find out what the columns of a CSV file are.

    The file is read once, unless everything is declared: then only its header is.

    Args:
        path: The file.
        label: The column that holds the class; the last one if not given.
        id_column: The column that names a row.
        usual_id: The column that does where none is given, if the file has it.
        schema: The file with the declaration. Its entry is named like the data file without ".csv[.gz]".
        text: Columns that are text, whatever is in them.
        limit: How many rows to look at.

    Raises:
        NotThere: There is no such file, column or entry.
        DataError: The file is not a CSV file with a header and at least one row.
    """
    if path == Path("-"):
        raise _only_once("standard input")
    declaration = Declaration() if schema is None else read_declaration(schema, name_of(path))
    with open_text(path) as file:
        records = records_of(file, path)
        header = header_of(records, path)
        label = header[-1] if label is None else _named(label, header, path)
        names = [name for name in header if name != label]
        id_column = _id_of(id_column, usual_id, names, path)
        for name in text:
            _named(name, header, path)
        _check_declared(declaration, header, path)
        declared = {column.name for column in declaration.columns}
        attributes = [
            Column(column.name) if column.name in text else column
            for column in (
                *declaration.columns,
                *(Column(name) for name in header if name not in declared),
            )
            if column.name not in (label, id_column)
        ]
        unknown = [one.name for one in attributes if one.name not in declared and one.name not in text]
        tallies, rows = {}, None
        if unknown:
            if not path.is_file():
                raise _only_once(f'"{path}"')
            tallies = {header.index(name): _Tally(name) for name in unknown}
            rows = _count(islice(_whole(records, header), limit), tallies)
            if not rows:
                raise no_rows(path)
    inferred = [tally.name for tally in tallies.values() if tally.is_numeric]
    attributes = [
        Column(one.name, AttributeType.NUMERIC) if one.name in inferred else one for one in attributes
    ]
    found = Schema()
    if schema is not None:
        found = Schema(
            tuple(Attribute(one.name, one.type, one.values or ()) for one in attributes),
            _classes(header, label, declaration),
        )
    odd = [tally.odd for tally in tallies.values() if tally.odd is not None]
    return Columns(
        tuple(header), label, id_column, tuple(attributes), found, tuple(inferred), tuple(odd), rows
    )


def rows_of(path: Path, columns: Columns, limit: int | None = None) -> Lines:
    """Yield the cells of each row with the line it ends on; all rows are as wide as the header.

    Raises:
        DataError: A row is not.
    """
    with open_text(path) as file:
        records = records_of(file, path)
        header_of(records, path)
        yield from islice(_whole(records, columns.header), limit)


def no_rows(path: Path) -> DataError:
    """Return the error of a file without rows."""
    return DataError(f'"{path}" has a header but no rows. There is nothing to learn from')


def _whole(records: Lines, header: Sequence[str]) -> Lines:
    width = len(header)
    for line, cells in records:
        if len(cells) != width:
            raise DataError(
                f"line {line} has {len(cells)} fields where the header has {width}. "
                "Correct it, or put quotes round values that contain commas"
            )
        yield line, cells


# ---- from the cells


@dataclass
class _Tally:
    """What has been seen in one column."""

    name: str
    kinds: Counter[CellKind] = field(default_factory=Counter)
    first: dict[CellKind, tuple[str, int]] = field(default_factory=dict)

    def add(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        for cell, count in Counter(cells).items():
            kind = kind_of(cell)
            self.kinds[kind] += count
            if kind in (CellKind.CODE, CellKind.TEXT) and kind not in self.first:
                self.first[kind] = cell, lines[cells.index(cell)]

    @property
    def is_numeric(self) -> bool:
        return bool(self.kinds[CellKind.NUMBER]) and not self.first

    @property
    def odd(self) -> Odd | None:
        """Why the column is text, where most of its cells are numbers."""
        kinds = self.kinds
        texts = kinds[CellKind.TEXT]
        if not self.first or texts >= kinds[CellKind.NUMBER] + kinds[CellKind.CODE]:
            return None
        kind = CellKind.TEXT if texts else CellKind.CODE
        return Odd(self.name, *self.first[kind], kinds[kind], kind)


def _count(records: Lines, tallies: dict[int, _Tally]) -> int:
    """Count the rows and what is in the columns that are to be looked at."""
    rows = 0
    while chunk := list(islice(records, _CHUNK)):
        rows += len(chunk)
        lines = [line for line, _ in chunk]
        for place, tally in tallies.items():
            tally.add([cells[place] for _, cells in chunk], lines)
    return rows


def _only_once(what: str) -> NotThere:
    return NotThere(
        f"{what} can be read only once, and finding the columns of numbers takes a pass over the whole file. "
        "Save it to a file first, or name a pipe and declare every column with --schema"
    )


# ---- from the command line and the schema


def _named(name: str, header: Sequence[str], path: Path) -> str:
    if name not in header:
        raise NotThere(
            f'"{path}" has no column {quoted(name)}.{did_you_mean(name, header)} '
            f"It has: {', '.join(header[:20])}{', ...' if len(header) > 20 else ''}"
        )
    return name


def _id_of(wanted: str | None, usual: str | None, names: Sequence[str], path: Path) -> str | None:
    if wanted is None:
        return usual if usual in names else None
    if wanted not in names:
        raise NotThere(
            f'"{path}" has no column {quoted(wanted)} beside the label.{did_you_mean(wanted, names)}'
        )
    return wanted


def _check_declared(declaration: Declaration, header: Sequence[str], path: Path) -> None:
    for column in declaration.columns:
        if column.name not in header:
            raise DataError(
                f'the schema declares a column {quoted(column.name)} that "{path}" does not have.'
                f"{did_you_mean(column.name, header)} Give the schema of this file, or none"
            )


def _classes(header: Sequence[str], label: str, declaration: Declaration) -> tuple[str, ...]:
    """Return the declared classes: those of the last column, or the values of the label's own column."""
    for column in declaration.columns:
        if column.name == label:
            return column.values or ()
    return (declaration.class_values or ()) if label == header[-1] else ()
