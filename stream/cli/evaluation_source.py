"""What `espalier evaluate` reads: the rows of a CSV file or the lines of a JSON Lines file, as records."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from learners.registry import LEARNERS
from learners.schema import Attribute, Schema
from stream.cli.evaluation_view import note
from stream.config import Limits
from stream.config.messages import did_you_mean, quoted
from stream.files.columns import Columns, listed, look_at, no_rows
from stream.files.declaration import Declaration, name_of, read_declaration
from stream.files.records import ID_FIELD, LABEL_FIELD, FileRecord, RowEncoder, csv_records, json_lines
from stream.records.fields import Fields
from stream.records.json_decoder import Decoder


class InstanceSource(NamedTuple):
    """The records of a file, how they are taken apart, and what is declared about them."""

    records: Iterable[FileRecord]
    total: int | None
    schema: Schema
    limits: Limits
    decoder: Decoder
    unit: str


class Reading(NamedTuple):
    """What the command line says about the file."""

    path: Path
    label: str | None
    id_column: str | None
    text: tuple[str, ...]
    schema: Path | None
    fields: Fields
    limit: int | None

    def csv(self, learner: str) -> InstanceSource:
        """Return the rows of a CSV file as the records that `espalier produce` would send."""
        columns = look_at(
            self.path,
            label=self.label,
            id_column=self.id_column,
            schema=self.schema,
            text=self.text,
            limit=self.limit,
        )
        self._check_fields(columns)
        columns = columns.only(self.fields.is_attribute)
        for text in columns.notes():
            note(text)
        # A learner that has a use for numbers says so; the systems of 1989 compare values for equality only.
        numeric = columns.numeric
        if numeric and not LEARNERS[learner].takes_numbers:
            note(
                f"{quoted(learner)} compares values for equality only: each number in the numeric columns "
                f"({len(numeric)}: {listed(numeric)}) is a value of its own"
            )
        limits, width = Limits(), len(columns.attributes)
        if width > limits.max_attributes:
            note(
                f"{width:,} attributes are more than the {limits.max_attributes:,} that an agent takes. "
                "Raise limits.max_attributes and limits.max_record_bytes for one"
            )
            limits = msgspec.structs.replace(limits, max_attributes=width, max_record_bytes=2**31 - 1)
        id_field = columns.id or _unused(ID_FIELD, columns.header)
        encoder = RowEncoder(columns, columns.label, id_field)
        records = csv_records(self.path, columns, encoder, self.limit)
        decoder = Decoder(columns.label, id_field, limits.max_record_bytes, limits.max_depth, self.fields)
        return InstanceSource(
            _some(records, self.path), columns.rows, columns.schema, limits, decoder, "rows"
        )

    def _check_fields(self, columns: Columns) -> None:
        for option, names in (("--ignore", self.fields.ignore), ("--attributes", self.fields.attributes)):
            for name in names:
                if not any(Fields((name,)).is_ignored(column) for column in columns.header):
                    raise click.BadParameter(
                        f'"{self.path}" has no column {quoted(name)}.{did_you_mean(name, columns.header)} '
                        f"It has: {listed(columns.header)}",
                        param_hint=option,
                    )

    def json_lines(self) -> InstanceSource:
        """Return the lines of a JSON Lines file as records."""
        if self.text:
            raise click.BadParameter(
                "only the columns of a CSV file need it. In JSON a number is a number and a string is text; "
                "to compare numbers as text, declare the attribute nominal with --schema",
                param_hint="--text",
            )
        label, id_field = self.label or LABEL_FIELD, self.id_column or ID_FIELD
        declared = Declaration() if self.schema is None else read_declaration(self.schema, name_of(self.path))
        schema = Schema(
            tuple(
                Attribute(one.name, one.type, one.values or ())
                for one in declared.columns
                if one.name not in (label, id_field) and self.fields.is_attribute(one.name)
            ),
            declared.class_values or (),
        )
        limits = Limits()
        decoder = Decoder(label, id_field, limits.max_record_bytes, limits.max_depth, self.fields)
        return InstanceSource(json_lines(self.path, self.limit), None, schema, limits, decoder, "records")


def _some(records: Iterator[FileRecord], path: Path) -> Iterator[FileRecord]:
    """Yield records, of which there is at least one."""
    first = next(records, None)
    if first is None:
        raise no_rows(path)
    yield first
    yield from records


def _unused(name: str, header: Sequence[str]) -> str:
    while name in header:
        name += "_"
    return name
