"""`espalier topics`: make and look at the topics that agents need."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

from pathlib import Path

import click
import rich.console
import rich.table

from stream.cli.options import config_option
from stream.config import load
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin, TopicPlan

PIPE_WIDTH = 1_000


@click.group()
def topics() -> None:
    """Make and look at the topics that the agents of a configuration need.

    \b
    Examples:
      espalier topics create
      espalier topics create --partitions 8 --replicas 3
      espalier topics describe
    """


@topics.command()
@config_option
@click.option(
    "--partitions",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Partitions of inputs that do not exist yet; the topics of an existing one follow it.",
)
@click.option("--replicas", type=click.IntRange(min=1), help="Replicas of each. [default: the broker's]")
def create(file: Path, partitions: int, replicas: int | None) -> None:
    """Make the topics that do not exist yet; leave the others alone.

    \b
    Examples:
      espalier topics create
      espalier topics create -c staging.toml --partitions 8 --replicas 3
    """
    config = load(file)
    cluster = TopicAdmin(config.kafka)
    existing = cluster.describe(agent.input for agent in config.agents)
    plans: dict[str, TopicPlan] = {}
    for agent in config.agents:
        count = existing[agent.input].partitions if agent.input in existing else partitions
        plans |= {plan.name: plan for plan in plans_for(agent, count)}
    made = cluster.create(list(plans.values()), replicas)
    for name in made:
        click.echo(f"created {name} ({plans[name].partitions} partitions)")
    if not made:
        click.echo("nothing to do: all topics exist")


@topics.command()
@config_option
def describe(file: Path) -> None:
    """Show the topics of each agent and whether they exist.

    \b
    Examples:
      espalier topics describe
    """
    config = load(file)
    table = rich.table.Table("agent", "topic", "for", "partitions", "replicas")
    known = TopicAdmin(config.kafka).describe()
    for agent in config.agents:
        names = {"input": agent.input} | {
            name: getattr(agent.topics, name) for name in agent.topics.__struct_fields__
        }
        for purpose, name in names.items():
            facts = known.get(name)
            told = ("missing", "") if facts is None else (str(facts.partitions), str(facts.replicas))
            table.add_row(agent.name, name, purpose.replace("_", " "), *told)
    console = rich.console.Console()
    if not console.is_terminal:
        # Whoever reads a pipe wants whole names, on one line.
        console.width = PIPE_WIDTH
    console.print(table)
