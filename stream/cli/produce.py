"""`espalier produce`: put the rows of a CSV file into a topic."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

import time
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
import rich.progress

from stream.cli.options import kafka_of, kafka_options
from stream.config.wording import did_you_mean, quoted
from stream.csv_file import DataError, NotThere
from stream.dataset import read_dataset
from stream.engines.kafka import Sender, Topics
from stream.errors import EngineError


@click.command()
@click.argument("csv", type=click.Path(path_type=Path))
@click.option("--topic", required=True, help="The input topic of an agent.")
@click.option("--label", help="The column with the class. [default: the last]")
@click.option(
    "--id", "id_column", help='The column that names a row. [default: "id" if there is one, else its number]'
)
@click.option(
    "--schema", type=click.Path(path_type=Path), help="Column types: numeric ones become JSON numbers."
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
    schema: Path | None,
    rate: float | None,
    file: Path,
    bootstrap_servers: str | None,
) -> None:
    """Put the rows of a CSV file (.csv or .csv.gz, with a header) into a topic, as instances.

    Each row becomes a flat JSON object: its columns, the class under "class" and the id under "id". An empty
    cell is a missing value.

    \b
    Examples:
      espalier produce loans.csv --topic applications
      espalier produce loans.csv --topic applications --label approved --id number --rate 100
    """
    data = read_dataset(csv, label=label, schema=schema)
    id_column = _id_column(data.instances.names, id_column, csv)
    kafka = kafka_of(file, bootstrap_servers)
    if not Topics(kafka).describe([topic]):
        raise EngineError(f'there is no topic "{topic}". Make it with "espalier topics create"')
    sender = Sender(kafka)
    started = time.monotonic()
    rows = rich.progress.track(
        data.instances,
        description="producing",
        total=len(data.instances),
        disable=not click.get_text_stream("stderr").isatty(),
    )
    for number, instance in enumerate(rows):
        values = dict(instance.values)
        name = values.pop(id_column, number) if id_column else number
        sender.send(topic, msgspec.json.encode({"id": name, **values, "class": instance.label}))
        if rate is not None:
            time.sleep(max(0.0, started + (number + 1) / rate - time.monotonic()))
    sender.flush()
    click.echo(f"{len(data.instances)} instances in {topic}")


def _id_column(names: Sequence[str], wanted: str | None, path: Path) -> str | None:
    """Return the column that names a row, if there is one.

    Raises:
        DataError: There is no such column, or another would be taken for the id or the class of a row.
    """
    if wanted is not None and wanted not in names:
        raise NotThere(
            f'"{path}" has no column {quoted(wanted)} beside the label.{did_you_mean(wanted, names)}'
        )
    chosen = wanted or ("id" if "id" in names else None)
    for name in ("id", "class"):
        if name in names and name != chosen:
            raise DataError(
                f'"{path}" has a column {quoted(name)} that would be taken for the {name} of a row. Rename it'
            )
    return chosen
