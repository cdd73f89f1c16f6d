"""The help of every command, commands without a broker, and `espalier topics`."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from stream.broker import Broker
from stream.cli.main import espalier
from tests.architecture.program import PROGRAM
from tests.settings import write_settings
from tests.stream.cli.sites import NOBODY, Site, failure, run, succeed
from tests.workers import espalier as in_process

# ---- help


def commands(command: click.Command = PROGRAM, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if path:
        yield path
    if isinstance(command, click.Group):
        for name, part in command.commands.items():
            yield from commands(part, (*path, name))


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_the_help_of_every_command_has_examples_that_begin_with_it(path: tuple[str, ...]) -> None:
    text = CliRunner().invoke(PROGRAM, [*path, "--help"], prog_name="espalier").stdout
    found = re.search(r"Examples?:\n(.+?)(\n\n|\n\Z)", text, re.DOTALL)
    assert found, text
    lines = found[1].splitlines()
    command = " ".join(("espalier", *path))
    assert any(re.search(rf"(^| ){command}( |$)", line) for line in lines), text
    assert all(len(line) <= 110 for line in text.splitlines())


def test_the_help_of_espalier_names_the_commands_to_begin_with() -> None:
    text = succeed("--help")
    for line in re.findall(r"^ +espalier (\w+)", text, re.MULTILINE):
        assert line in espalier.commands


def test_the_module_is_the_command(tmp_path: Path) -> None:
    told = in_process("--help", directory=tmp_path)
    assert told.returncode == 0
    assert told.stdout.startswith("Usage: espalier ")


# ---- no broker, no topic


@pytest.mark.parametrize(
    "arguments",
    [
        ["topics", "create"],
        ["topics", "describe"],
        ["tail", "somewhere"],
        ["tree"],
        ["produce", "loans.csv", "--topic", "somewhere"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_without_a_broker_a_command_says_where_it_looked_and_ends_with_69(
    site: Site, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stream.kafka.topics.REQUEST_SECONDS", 0.5)
    monkeypatch.setattr("stream.kafka.topics.TopicAdmin.describe.__defaults__", (None, 0.5))
    error = failure(run(*arguments))
    assert error.exit_code == 69
    assert str(error).startswith(f'no broker answers at "{NOBODY}"')
    assert "espalier broker start" in str(error)


@pytest.mark.broker
@pytest.mark.parametrize(
    "arguments", [["tail"], ["produce", "loans.csv", "--topic"]], ids=["tail", "produce"]
)
def test_a_topic_that_is_not_there_is_not_made(live: Site, arguments: list[str]) -> None:
    error = failure(run(*arguments, f"{live.input}s"))
    assert (error.exit_code, f'there is no topic "{live.input}s"' in str(error)) == (74, True)
    assert f"{live.input}s " not in succeed("topics", "describe")


# ---- topics


@pytest.mark.broker
def test_topics_are_made_once_with_the_partitions_that_were_asked_for(site: Site, broker: Broker) -> None:
    site.write(broker.bootstrap_servers, scope="partition")
    made = succeed("topics", "create", "--partitions", "3", "--replicas", "1")
    suffixes = ("", ".predictions", ".tree-changes", ".dead-letters")
    names = [site.input + suffix for suffix in suffixes] + [
        f"{site.agent}.journal",
        f"{site.agent}.snapshots",
    ]
    assert sorted(made.splitlines()) == sorted(f"created {name} (3 partitions)" for name in names)
    assert succeed("topics", "create", "--partitions", "5") == "nothing to do: all topics exist\n"


@pytest.mark.broker
def test_the_topics_of_a_second_agent_follow_the_input_that_is_there(live: Site, broker: Broker) -> None:
    other = {"name": f"{live.agent}2", "input": live.input, "scope": "partition"}
    agents: list[dict[str, object]] = [live.table, {**other, "topics": {"predictions": f"{live.input}.p2"}}]
    write_settings(live.directory, broker.bootstrap_servers, agents)
    made = succeed("topics", "create", "--partitions", "7")
    assert f"created {live.input}.p2 (1 partitions)" in made
    assert f"created {live.agent}2.journal (1 partitions)" in made
    assert live.input + ".tree-changes" not in made


@pytest.mark.broker
def test_describe_shows_which_topics_are_there(site: Site, broker: Broker) -> None:
    site.write(broker.bootstrap_servers)
    lines = [line for line in succeed("topics", "describe").splitlines() if site.input in line]
    assert len(lines) == 4
    assert all("missing" in line for line in lines)
    succeed("topics", "create", "--partitions", "2")
    told = succeed("topics", "describe")
    assert "missing" not in told
    row = next(line for line in told.splitlines() if f"{site.input} " in line)
    assert re.search(r"input\W+2\W+1\b", row)
    assert any(f"{site.agent}.journal" in line for line in told.splitlines())
