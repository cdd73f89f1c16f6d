"""`python -m lab`: the commands of the laboratory; `espalier bench` and `espalier reproduce` run it."""

import sys

import click

from lab.cli.bench import bench
from lab.cli.reproduce import reproduce
from stream.errors import StreamError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def lab() -> None:
    """Measure Espalier, and reproduce the papers."""


lab.add_command(bench)
lab.add_command(reproduce)


def main() -> None:
    """Run a command; an error that has a name ends with its message and its exit status."""
    try:
        lab(prog_name="espalier")
    except StreamError as error:
        click.echo(f"espalier: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
