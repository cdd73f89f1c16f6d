"""`espalier metrics`: what a worker tells Prometheus."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

import click

from stream.observe.metrics.reference import reference


@click.group()
def metrics() -> None:
    """Read about the metrics of a worker.

    \b
    Example:
      espalier metrics docs
    """


@metrics.command()
def docs() -> None:
    """Print the reference of all metrics, in Markdown.

    \b
    Example:
      espalier metrics docs > docs/metrics.md
    """
    click.echo(reference(), nl=False)
