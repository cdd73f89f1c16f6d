"""The program as the rules of the house look at it: its source files and its commands."""

from collections.abc import Iterator

import click

from lab.__main__ import lab
from stream.cli.main import espalier
from tests.paths import REPOSITORY

PACKAGES = ("learners", "stream", "lab")
FILES = sorted(path for package in PACKAGES for path in (REPOSITORY / package).rglob("*.py"))


PROGRAM = click.Group("espalier", commands={**espalier.commands, **lab.commands})
"""The command line of a checkout, in which the laboratory's commands are those of lab/."""


def command_at(path: str) -> click.Command | None:
    command: click.Command | None = PROGRAM
    for name in path.split():
        command = command.commands.get(name) if isinstance(command, click.Group) else None
    return command


def commands(group: click.Group = PROGRAM, path: str = "") -> Iterator[str]:
    """Yield the paths of all commands that are not groups."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}"


def options_of(command: click.Command) -> set[str]:
    return {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
