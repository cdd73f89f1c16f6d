"""A CSV file as it is on disk: plain or compressed, with a header, and with errors that name the line."""

import csv
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from stream.config.messages import did_you_mean, quoted
from stream.errors import StreamError

Lines = Iterator[tuple[int, list[str]]]
"""The cells of each row, with the line it ends on."""


class DataError(StreamError):
    """A data file is not what it should be."""

    exit_code = 65


class NotThere(DataError):  # noqa: N818 - what has happened is said by the name, as in stream/errors.py
    """The command line names a file, a column or an entry that is not there."""

    exit_code = 2


def open_text(path: Path) -> TextIO:
    """Open a file that may be compressed.

    Raises:
        NotThere: There is no such file.
    """
    try:
        if path.name.endswith(".gz"):
            return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
        return path.open(encoding="utf-8-sig", newline="")
    except OSError as error:
        raise no_file(path, error) from error


def open_bytes(path: Path) -> BinaryIO | gzip.GzipFile:
    """Open a file that may be compressed, to read its bytes.

    Raises:
        NotThere: There is no such file.
    """
    try:
        return gzip.GzipFile(path) if path.name.endswith(".gz") else path.open("rb")
    except OSError as error:
        raise no_file(path, error) from error


def no_file(path: Path, error: OSError) -> NotThere:
    """Return the error of a file that cannot be opened, with the nearest name beside it."""
    if not isinstance(error, FileNotFoundError):
        return NotThere(f'"{path}" cannot be read: {error.strerror or error}')
    neighbours = [near.name for near in path.parent.iterdir()] if path.parent.is_dir() else []
    return NotThere(f'there is no file "{path}".{did_you_mean(path.name, neighbours)}'.removesuffix("."))


def records_of(file: TextIO, path: Path) -> Lines:
    """Yield each row that is not blank, with the line it ends on.

    Raises:
        DataError: The file is damaged, or not CSV.
    """
    reader = csv.reader(file, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f'"{path}" is damaged or not compressed with gzip: {error}. Get it again') from error
    except UnicodeDecodeError as error:
        raise DataError(f'"{path}" is not UTF-8 text: {error}. Convert it first') from error
    except csv.Error as error:
        raise DataError(f'line {reader.line_num} of "{path}" is not CSV: {error}. Correct it') from error


def header_of(records: Lines, path: Path) -> list[str]:
    """Return the names of the columns, of which there are at least two, all different.

    Raises:
        DataError: The first row does not hold such names.
    """
    _, names = next(records, (0, []))
    if not names:
        raise DataError(f'"{path}" is empty. The first row must name the columns')
    if len(names) == 1:
        raise DataError(
            f'"{path}" has only the column {quoted(names[0])}. Attributes and a label are needed, '
            "with commas between them"
        )
    for place, name in enumerate(names):
        if not name.strip():
            raise DataError(f'column {place + 1} of "{path}" has no name. Name it in the header')
        if name in names[:place]:
            raise DataError(f'"{path}" has two columns {quoted(name)}. Rename one of them')
    return names
