"""`espalier bench` and `espalier reproduce`: they run in a checkout of the source, which alone has lab/."""

import subprocess
import sys
from importlib.util import find_spec

import click

MISSING = """\
espalier {name} is not part of the installed package. Get the source of Espalier and run there
  make install
  .venv/bin/espalier {name} --help"""
PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""Every argument goes to the laboratory, `--help` too."""


def run(name: str, arguments: tuple[str, ...]) -> None:
    """Run a command of the laboratory in a process of its own, and end as it ends.

    Raises:
        click.UsageError: There is no laboratory here.
    """
    if find_spec("lab") is None or find_spec("lab.cli") is None:
        raise click.UsageError(MISSING.format(name=name))
    with subprocess.Popen([sys.executable, "-m", "lab", name, *arguments]) as process:
        while process.poll() is None:
            try:
                process.wait()
            except KeyboardInterrupt:
                continue  # the laboratory got it as well, and says how far it has come
    sys.exit(process.returncode)


@click.command(context_settings=PASSED_ON, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bench(arguments: tuple[str, ...]) -> None:
    """Measure how fast Espalier is on this machine (in a checkout)."""
    run("bench", arguments)


@click.command(context_settings=PASSED_ON, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def reproduce(arguments: tuple[str, ...]) -> None:
    """Reproduce the papers' tables and figures (in a checkout)."""
    run("reproduce", arguments)
