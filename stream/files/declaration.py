"""Schema files: what is declared about the columns of data files. docs/files.md describes the format.

A schema file is a JSON object with an entry for each data file, named like the file without its endings:
`{"iris": {"columns": [{"name", "type", "values"}, ...], "class_values": [...]}}`.
"""

import json
from pathlib import Path

import msgspec

from learners.schema import AttributeType
from stream.config.messages import did_you_mean, quoted
from stream.files.csv_file import DataError, NotThere, no_file

ENDINGS = (".csv", ".jsonl", ".ndjson")


class Column(msgspec.Struct, frozen=True):
    """What is declared about one column."""

    name: str
    type: AttributeType = AttributeType.NOMINAL
    values: tuple[str, ...] | None = None


class Declaration(msgspec.Struct, frozen=True):
    """What is declared about one file: its attributes in order, and its classes."""

    columns: tuple[Column, ...] = ()
    class_values: tuple[str, ...] | None = None


def name_of(path: Path) -> str:
    """Return the name of a data file without ".gz" and without ".csv" or ".jsonl".

    >>> name_of(Path("data/text-oh0.wc.csv.gz"))
    'text-oh0.wc'
    """
    name = path.name.removesuffix(".gz")
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name


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


def with_entry(existing: bytes | None, name: str, declaration: Declaration) -> str:
    """Return a schema file with an entry for one data file, in place of the one it may have had.

    Args:
        existing: The schema file so far; its other entries are kept. None: there is none.
        name: The name of the entry.
        declaration: What it declares.

    Raises:
        msgspec.DecodeError: What is there is not a schema file.
    """
    entries = {} if existing is None else msgspec.json.decode(existing, type=dict[str, dict[str, object]])
    columns = [
        {"name": column.name, "type": column.type.value}
        | ({} if column.values is None else {"values": list(column.values)})
        for column in declaration.columns
    ]
    entries[name] = {"columns": columns}
    if declaration.class_values is not None:
        entries[name]["class_values"] = list(declaration.class_values)
    shown = [f"  {_json(entry)}: {_entry(fields)}" for entry, fields in entries.items()]
    return "{\n" + ",\n".join(shown) + "\n}\n"


def _entry(fields: dict[str, object]) -> str:
    """Return an entry with a line for each column: it is to be edited by hand."""
    parts = []
    for name, value in fields.items():
        if name == "columns" and isinstance(value, list) and value:
            columns = ",\n".join(f"      {_json(column)}" for column in value)
            parts.append(f"    {_json(name)}: [\n{columns}\n    ]")
        else:
            parts.append(f"    {_json(name)}: {_json(value)}")
    return "{\n" + ",\n".join(parts) + "\n  }" if parts else "{}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
