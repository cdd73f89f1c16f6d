"""`espalier produce`: put the rows of a CSV file into a topic."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Self

import click

from stream.cli.evaluation_view import note, progress
from stream.cli.options import kafka_of, kafka_options
from stream.config.messages import quoted
from stream.errors import EngineError
from stream.files.columns import Columns, look_at
from stream.files.csv_file import DataError
from stream.files.records import ID_FIELD, LABEL_FIELD, RowEncoder, csv_records
from stream.kafka.sender import Sender
from stream.kafka.topics import TopicAdmin

INTERRUPTED = 130
"""The exit status of a command that Ctrl-C has ended, as shells have it."""
SHOWN_EVERY = 500
"""After how many records the progress bar moves: moving it takes longer than sending one."""


@click.command()
@click.argument("csv", metavar="FILE.csv[.gz]", type=click.Path(path_type=Path))
@click.option("--topic", required=True, help="The input topic of an agent.")
@click.option("--label", metavar="COL", help="The column with the class. [default: the last]")
@click.option(
    "--id",
    "id_column",
    metavar="COL",
    help='The column that names a row. [default: "id" if there is one, else its number]',
)
@click.option(
    "--text",
    multiple=True,
    metavar="COL",
    help="A column that is sent as strings although its cells are numbers. May be repeated.",
)
@click.option(
    "--schema",
    metavar="SCHEMA.json",
    type=click.Path(path_type=Path),
    help="Declared columns, as `espalier schema` writes them: the entry named like the file without .csv. "
    "[default: a column is numeric if all of its cells are]",
)
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), help="Records a second. [default: no limit]"
)
@kafka_options
def produce(
    csv: Path,
    topic: str,
    label: str | None,
    id_column: str | None,
    text: tuple[str, ...],
    schema: Path | None,
    rate: float | None,
    file: Path,
    bootstrap_servers: str | None,
) -> None:
    """Put the rows of a CSV file (.csv or .csv.gz, with a header) into a topic, as records.

    Each row becomes a flat JSON object: its id under "id", its columns in the order of the file, and the
    class under "class". A column is sent as numbers when every cell that is not empty is one (a line on
    standard error says which), every other as strings. An empty cell is null, a missing value. The label is
    always a string.

    An agent that reads the topic builds the tree that `espalier evaluate` shows for the file.

    \b
    Examples:
      espalier produce loans.csv --topic applications
      espalier produce loans.csv --topic applications --label approved --id number --rate 100
      espalier produce loans.csv --topic applications --text postcode
    """
    columns = look_at(csv, label=label, id_column=id_column, schema=schema, text=text)
    _check_fields(columns, csv)
    for line in columns.notes():
        note(line)
    kafka = kafka_of(file, bootstrap_servers)
    if not TopicAdmin(kafka).describe([topic]):
        raise EngineError(f'there is no topic "{topic}". Make it with "espalier topics create"')
    sender = Sender(kafka)
    sent = shown = 0
    try:
        with _Interruption() as interruption, progress(columns.rows, "producing") as advance:
            wait = _pace(rate)
            for record in csv_records(csv, columns, RowEncoder(columns, LABEL_FIELD, ID_FIELD)):
                interruption.check()
                sender.send(topic, record.value)
                sent += 1
                if sent % SHOWN_EVERY == 0 or rate is not None:
                    advance(sent - shown)
                    shown = sent
                interruption.during(wait, sent)
            sender.flush()
    except KeyboardInterrupt:
        sender.flush()
        of = "" if columns.rows is None else f" of {columns.rows}"
        click.echo(f"interrupted: {sent}{of} instances in {topic}", err=True)
        sys.exit(INTERRUPTED)
    click.echo(f"{sent} instances in {topic}")


class _Interruption:
    """Ends the command at Ctrl-C between two records, so that each record that was sent is counted.

    Python raises `KeyboardInterrupt` anywhere: also between sending a record and counting it. A second Ctrl-C
    does what it does without this.
    """

    def __init__(self) -> None:
        self._has_come = False
        self._may_raise = False
        self._before = signal.getsignal(signal.SIGINT)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        self._restore()

    def _restore(self) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._restore()
        self._has_come = True
        if self._may_raise:
            raise KeyboardInterrupt

    def check(self) -> None:
        """Raise what Ctrl-C has asked for."""
        if self._has_come:
            raise KeyboardInterrupt

    def during(self, wait: Callable[[int], None], sent: int) -> None:
        """Wait, which Ctrl-C may end at any moment."""
        self._may_raise = True
        try:
            self.check()
            wait(sent)
        finally:
            self._may_raise = False


def _pace(rate: float | None) -> Callable[[int], None]:
    """Return what is called with how many records have been sent, and waits where that is too many."""
    started = time.monotonic()

    def wait(sent: int) -> None:
        if rate is not None:
            time.sleep(max(0.0, started + sent / rate - time.monotonic()))

    return wait


def _check_fields(columns: Columns, path: Path) -> None:
    """Check that no attribute would be taken for the id or the class of a row.

    Raises:
        DataError: One would.
    """
    for name in (ID_FIELD, LABEL_FIELD):
        if any(column.name == name for column in columns.attributes):
            raise DataError(
                f'"{path}" has a column {quoted(name)} that would be taken for the {name} of a row. Rename it'
            )
