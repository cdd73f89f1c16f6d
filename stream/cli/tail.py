"""`espalier tail`: watch a topic."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

from pathlib import Path

import click

from stream.cli.options import kafka_of, kafka_options
from stream.errors import EngineError
from stream.kafka.reading import follow
from stream.kafka.topics import TopicAdmin
from stream.printable import readable
from stream.records.record import Record


@click.command()
@click.argument("topic")
@kafka_options
@click.option("--from-beginning", is_flag=True, help="Begin with what is there already.")
@click.option("--until-end", is_flag=True, help="Stop at the end instead of waiting for more.")
@click.option("-n", "--records", type=click.IntRange(min=1), help="Stop after N.")
@click.option("--headers", is_flag=True, help="Show position and headers too: for dead letters.")
def tail(
    topic: str,
    file: Path,
    bootstrap_servers: str | None,
    from_beginning: bool,
    until_end: bool,
    records: int | None,
    headers: bool,
) -> None:
    """Print the committed records of a topic, one per line, as they come.

    \b
    Examples:
      espalier tail applications.predictions
      espalier tail applications.tree-changes --from-beginning --until-end
      espalier tail applications.dead-letters --from-beginning --headers
    """
    kafka = kafka_of(file, bootstrap_servers)
    if not TopicAdmin(kafka).describe([topic]):
        raise EngineError(
            f'there is no topic "{topic}". "espalier topics describe" lists those of the agents'
        )
    seen = 0
    for record in follow(kafka, [topic], from_beginning=from_beginning, until_end=until_end):
        if record is None:
            continue
        click.echo(_shown(record, headers=headers))
        seen += 1
        if seen == records:
            return


def _shown(record: Record, *, headers: bool) -> str:
    text = "(no value)" if record.value is None else readable(record.value)
    if not headers:
        return text
    told = " ".join(f"{readable(name.encode())}={readable(value or b'')}" for name, value in record.headers)
    return f"{record.partition}@{record.offset} {text} {told}".rstrip()
