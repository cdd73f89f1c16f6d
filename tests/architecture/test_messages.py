"""A command that a message or a help text names is one that there is, with the options it names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from stream.cli.main import espalier
from tests.architecture.program import options_of
from tests.paths import REPOSITORY

SOURCES = sorted(
    path
    for folder in ("learners", "stream", "deploy")
    for path in (REPOSITORY / folder).rglob("*")
    if path.suffix in (".py", ".pyx", ".js", ".html", ".yaml", ".toml", ".service")
    or path.name == "Dockerfile"
)
NAMED = re.compile(r"\bespalier((?: [a-z]+(?:-[a-z]+)*)+)((?: --[a-z-]+)*)")
PROSE = ("espalier on", "espalier is")
"""What is no command: "espalier on Faust" in a table, and what a gardener calls one."""


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a file with their lines: of Python the strings, of everything else the lines."""
    if path.suffix != ".py":
        yield from enumerate(path.read_text().splitlines(), 1)
        return
    tree = ast.parse(path.read_text(), str(path))
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield node.lineno, "".join(map(str, parts))


def objections(text: str) -> Iterator[str]:
    """Yield what is wrong with the commands that a text names."""
    for found in NAMED.finditer(text):
        if found[0].startswith(PROSE):
            continue
        command: click.Command = espalier
        path = "espalier"
        for word in found[1].split():
            if not isinstance(command, click.Group):
                break
            path = f"{path} {word}"
            if word not in command.commands:
                yield f"there is no `{path}`"
                break
            command = command.commands[word]
        else:
            for option in found[2].split():
                if option not in options_of(command):
                    yield f"`{path}` has no {option}"


def named() -> list[tuple[str, str]]:
    return [
        (f"{path.relative_to(REPOSITORY)}:{line}", found[0])
        for path in SOURCES
        for line, text in texts(path)
        for found in NAMED.finditer(text)
    ]


def test_every_command_that_is_named_is_there() -> None:
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line}: {objection}"
        for path in SOURCES
        for line, text in texts(path)
        for objection in objections(text)
    ]
    assert not wrong
    told = named()
    assert len(told) > 80, "messages are read at all"
    assert {"espalier topics create", "espalier config docs", "espalier broker start"} <= {t for _, t in told}
    # In the middle of a text with values too.
    assert any(where.startswith("stream/kafka/topic_reader.py") for where, _ in told)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Write one with `espalier init`, or name another", ["there is no `espalier init`"]),
        ('Make it with "espalier topics make"', ["there is no `espalier topics make`"]),
        ("see `espalier evaluate --traces`", ["`espalier evaluate` has no --traces"]),
        ("see `espalier topics create --partitions`, espalier worker", []),
        ("espalier on Faust, id5r", []),
    ],
)
def test_what_is_not_there_is_found(text: str, wrong: list[str]) -> None:
    assert list(objections(text)) == wrong
