"""`espalier schema`: write down which columns of a CSV file are numbers."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

from pathlib import Path

import click
import msgspec

from stream.cli.evaluation_view import note
from stream.files.columns import look_at
from stream.files.csv_file import DataError, no_file
from stream.files.declaration import Declaration, name_of, with_entry


@click.command()
@click.argument("csv", metavar="FILE.csv[.gz]", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="SCHEMA.json",
    type=click.Path(path_type=Path),
    help="Where to write. Entries for other files in it are kept. [default: standard output]",
)
@click.option(
    "--label", metavar="COL", help="The column with the class, not an attribute. [default: the last]"
)
@click.option(
    "--id",
    "id_column",
    metavar="COL",
    help='The column that names a row, not an attribute. [default: "id" if there is one]',
)
@click.option(
    "--text",
    multiple=True,
    metavar="COL",
    help="A column that is text although its cells are numbers. May be repeated.",
)
def schema(
    csv: Path, output: Path | None, label: str | None, id_column: str | None, text: tuple[str, ...]
) -> None:
    """Write the schema of a CSV file: its attributes in order, and which are numeric.

    A column is numeric when every cell that is not empty is a number; one with a number such as 02134, which
    begins with 0, is taken for a code and is nominal. Edit what is wrong, then give the file to --schema of
    `espalier evaluate` and `espalier produce`. docs/files.md describes the format.

    \b
    Examples:
      espalier schema loans.csv
      espalier schema loans.csv -o schema.json --label approved --text postcode
      espalier evaluate loans.csv --schema schema.json --label approved
    """
    columns = look_at(csv, label=label, id_column=id_column, text=text)
    for odd in columns.odd:
        note(str(odd))
    name = name_of(csv)
    try:
        existing = output.read_bytes() if output is not None and output.exists() else None
        written = with_entry(existing, name, Declaration(columns.attributes))
        if output is not None:
            output.write_text(written, "utf-8")
    except OSError as error:
        assert output is not None
        if output.is_file():
            raise no_file(output, error) from error
        raise click.BadParameter(
            f'"{output}" cannot be written: {error.strerror}. Name another', param_hint="--output"
        ) from error
    except msgspec.DecodeError as error:
        raise DataError(
            f'"{output}" is there and not a schema: {error}. Nothing was written. Name another file'
        ) from error
    if output is None:
        click.echo(written, nl=False)
        return
    numeric = len(columns.numeric)
    nominal = len(columns.attributes) - numeric
    click.echo(f'entry "{name}" in {output}: {numeric} numeric and {nominal} nominal columns')
