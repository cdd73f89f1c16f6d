"""The rows of a file as the records of a topic.

A row of a CSV file becomes the JSON object that `espalier produce` sends, byte for byte, and a line of a
JSON Lines file is a record already. `espalier evaluate` reads both as a worker reads a topic, so that what it
says of a file holds for an agent as well.
"""

import random
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from learners.schema import AttributeType
from stream.files.cells import as_number, as_text
from stream.files.columns import Columns, rows_of
from stream.files.csv_file import DataError, open_bytes
from stream.files.declaration import ENDINGS

LABEL_FIELD, ID_FIELD = "class", "id"
"""The fields that an agent takes for the label and the id, unless it is configured otherwise."""
JSON_LINES = tuple(ending for ending in ENDINGS if ending != ".csv")


class FileRecord(NamedTuple):
    """A record from a file: the line it ends on, and its value."""

    line: int
    value: bytes


class RowEncoder:
    """Writes the rows of a CSV file as flat JSON objects.

    The id comes first, then the attributes in their order, then the label. Text is a string, a cell of a
    numeric column a number, and an empty cell null.

    Args:
        columns: What the columns are.
        label: The field that holds the class.
        id_field: The field that names a row. Where no column does, it holds the row's number, from 0.
    """

    def __init__(self, columns: Columns, label: str, id_field: str) -> None:
        places = [columns.header.index(one.name) for one in columns.attributes]
        self._cells = [
            (f",{as_text(one.name)}:", as_number if one.type is AttributeType.NUMERIC else as_text, place)
            for one, place in zip(columns.attributes, places, strict=True)
        ]
        self._id = f"{as_text(id_field)}:"
        self._id_at = None if columns.id is None else columns.header.index(columns.id)
        self._label = f",{as_text(label)}:"
        self._label_at = columns.header.index(columns.label)

    def encode(self, number: int, cells: Sequence[str]) -> bytes:
        """Return the row of a number as JSON."""
        name = str(number) if self._id_at is None else as_text(cells[self._id_at])
        values = "".join([key + write(cells[place]) for key, write, place in self._cells])
        return f"{{{self._id}{name}{values}{self._label}{as_text(cells[self._label_at])}}}".encode()


def csv_records(
    path: Path, columns: Columns, encoder: RowEncoder, limit: int | None = None
) -> Iterator[FileRecord]:
    """Yield the rows of a CSV file as records.

    Raises:
        DataError: The file is damaged, or a row is not as wide as the header.
    """
    for number, (line, cells) in enumerate(rows_of(path, columns, limit)):
        yield FileRecord(line, encoder.encode(number, cells))


def is_json_lines(path: Path) -> bool:
    """Whether the name of a file says that it has a JSON object on each line."""
    return path.name.removesuffix(".gz").endswith(JSON_LINES)


def json_lines(path: Path, limit: int | None = None) -> Iterator[FileRecord]:
    """Yield the lines of a file, compressed if its name ends with ".gz", as records.

    An empty line is a record without content, as it would be in a topic.

    Raises:
        NotThere: There is no such file.
        DataError: It is damaged.
    """
    with open_bytes(path) as file:
        try:
            for number, line in enumerate(islice(file, limit), start=1):
                yield FileRecord(number, line.rstrip(b"\r\n"))
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(
                f'"{path}" is damaged or not compressed with gzip: {error}. Get it again'
            ) from error


def shuffled(records: Iterable[FileRecord], seed: int) -> list[FileRecord]:
    """Return records in another order, the same for the same seed; all are kept in memory."""
    found = list(records)
    random.Random(seed).shuffle(found)
    return found
