"""The command `espalier`."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

import sys

import click

from stream.cli.audit import audit
from stream.cli.broker import broker
from stream.cli.config import config
from stream.cli.dead_letters import dead_letters
from stream.cli.demo import demo
from stream.cli.evaluate import evaluate
from stream.cli.laboratory import bench, reproduce
from stream.cli.metrics import metrics
from stream.cli.produce import produce
from stream.cli.redrive import redrive
from stream.cli.schema import schema
from stream.cli.tail import tail
from stream.cli.topics import topics
from stream.cli.tree import tree
from stream.cli.worker import worker
from stream.errors import StreamError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="espalier-kafka")
def espalier() -> None:
    """Decision trees trained along a Kafka stream.

    Labelled instances come in on a topic; agents answer each, learn from it, and publish predictions and
    every change of the tree. At every moment the tree is exactly the one a batch learner would build.

    \b
    Try it:
      espalier demo                              a broker, a stream, a growing tree
      espalier evaluate FILE.csv                 test-then-train over a file, without Kafka
      espalier schema FILE.csv                   which of its columns are numbers
    Run it:
      espalier broker start                      a real Kafka for development
      espalier topics create                     the topics of espalier.toml
      espalier worker                            its agents
      espalier produce FILE.csv --topic T        put instances in
      espalier tail T.predictions                watch what comes out
    """


for command in (
    audit,
    bench,
    broker,
    config,
    dead_letters,
    demo,
    evaluate,
    metrics,
    produce,
    redrive,
    reproduce,
    schema,
    tail,
    topics,
    tree,
    worker,
):
    espalier.add_command(command)


def main() -> None:
    """Run a command; what has a name among our errors ends with its message and its exit status."""
    try:
        espalier(prog_name="espalier")
    except StreamError as error:
        click.echo(f"espalier: {error}", err=True)
        sys.exit(error.exit_code)
