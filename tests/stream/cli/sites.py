"""Run commands of `espalier` in a directory with an `espalier.toml`."""

from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner, Result

from stream.cli.main import espalier
from stream.errors import StreamError
from tests.settings import write_settings

NOBODY = "127.0.0.1:1"
CSV = """number,income,history,approved
a1,high,good,yes
a2,low,bad,no
a3,low,good,yes
a4,,bad,no
a5,high,bad,no
"""


def run(*arguments: str) -> Result:
    """Run a command in this process; an error of ours is what it ends with."""
    return CliRunner().invoke(espalier, arguments)


def succeed(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def failure(result: Result) -> StreamError:
    assert isinstance(result.exception, StreamError), (result.output, result.exception)
    return result.exception


class Site(NamedTuple):
    """A directory with an `espalier.toml`, and the names in it."""

    directory: Path
    agent: str
    input: str

    @property
    def config(self) -> str:
        return str(self.directory / "espalier.toml")

    @property
    def table(self) -> dict[str, object]:
        return {"name": self.agent, "input": self.input}

    def write(self, broker: str, **more: object) -> None:
        write_settings(self.directory, broker, {**self.table, **more})


def records(topic: str) -> list[str]:
    return succeed("tail", topic, "--from-beginning", "--until-end").splitlines()
