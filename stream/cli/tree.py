"""`espalier tree`: the tree of an agent, from its change topic alone."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

from pathlib import Path

import click

from learners.outline import digest, render, size, to_dot, to_json
from stream.cli.options import agent_of, config_option
from stream.client.replica import Replica
from stream.config import Kafka, load
from stream.errors import EngineError
from stream.kafka.reading import read_to_end
from stream.kafka.topics import TopicAdmin
from stream.records.record import Partition


@click.command()
@click.argument("agent", required=False)
@config_option
@click.option("--model", help='Which model, for scope "partition": INPUT/PARTITION. [default: the first]')
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "dot"]), default="text", show_default=True
)
@click.option("--version", "version_", type=click.IntRange(min=0), help="The tree as it was after N changes.")
@click.option("--counts", is_flag=True, help="Show the instances behind each answer, as of its last change.")
def tree(
    agent: str | None, file: Path, model: str | None, form: str, version_: int | None, counts: bool
) -> None:
    """Show the tree of an agent, rebuilt from the change topic and checked against its digests.

    \b
    Examples:
      espalier tree
      espalier tree loans --counts
      espalier tree loans --format json > tree.json
      espalier tree loans --format dot | dot -Tsvg > tree.svg
      espalier tree loans --version 10
    """
    config = load(file)
    chosen = agent_of(config, agent)
    replica = Replica(chosen.name, model)
    for number in range(_partitions(config.kafka, chosen.topics.tree_changes)):
        place = Partition(chosen.topics.tree_changes, number)
        replica.follow((record.value for record in read_to_end(config.kafka, place)), until=version_)
    if form == "json":
        click.echo(to_json(replica.outline))
    elif form == "dot":
        click.echo(to_dot(replica.outline))
    else:
        nodes, leaves, depth = size(replica.outline)
        click.echo(render(replica.outline, counts=counts))
        click.echo(
            f"\n{chosen.name}: version {replica.version}, {nodes} nodes, {leaves} leaves, depth {depth}, "
            f"digest {digest(replica.outline)[:16]}",
            err=True,
        )


def _partitions(kafka: Kafka, topic: str) -> int:
    facts = TopicAdmin(kafka).describe([topic])
    if not facts:
        raise EngineError(f'there is no topic "{topic}". Make it with "espalier topics create"')
    return facts[topic].partitions
