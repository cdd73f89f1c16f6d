"""`espalier config`: is the configuration right, and what does it come to?"""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

from pathlib import Path

import click

from learners.registry import LEARNERS
from stream.cli.options import config_option
from stream.config import Config, Loaded, read
from stream.config.docs import reference
from stream.config.effective import as_json, as_toml, rows
from stream.errors import ConfigError
from stream.kafka.kept_settings import can_reach, changed_settings


@click.group()
def config() -> None:
    """Check and show the configuration.

    \b
    Examples:
      espalier config check
      espalier config check -c staging.toml
      espalier config show
      ESPALIER_METRICS_PORT=9500 espalier config show --json
    """


@config.command()
@config_option
@click.option(
    "--offline", is_flag=True, help="Do not compare with the agents' state, even if there is a broker."
)
def check(file: Path, offline: bool) -> None:
    """Report everything that is wrong with the configuration.

    Says "ok" and ends with 0, or lists every error with its line and ends with 78. Where a broker can be
    reached, the settings are compared with those that each agent's state was made with: a worker refuses to
    start with settings that would grow another tree.

    \b
    Examples:
      espalier config check
      espalier config check -c staging.toml
      espalier config check --offline
    """
    config = _read(file).config
    agents = config.agents
    if not offline and can_reach(config.kafka):
        _compare_with_state(config)
    inputs = sorted({agent.input for agent in agents})
    click.echo(
        f"ok: {_counted(len(agents), 'agent')} ({', '.join(agent.name for agent in agents)}) "
        f"on {_counted(len(inputs), 'topic')} ({', '.join(inputs)})"
    )


@config.command()
@config_option
@click.option("--json", "in_json", is_flag=True, help="Print a JSON list instead of TOML.")
def show(file: Path, in_json: bool) -> None:
    """Print every setting in effect and where it came from.

    What is printed is itself a configuration file. Secrets appear as ***.

    \b
    Examples:
      espalier config show
      espalier config show -c staging.toml --json
      ESPALIER_KAFKA_BOOTSTRAP_SERVERS=kafka:9092 espalier config show
    """
    settings = rows(_read(file))
    click.echo(as_json(settings) if in_json else as_toml(settings))


@config.command()
def docs() -> None:
    """Print the reference of all settings, in Markdown.

    \b
    Example:
      espalier config docs > docs/configuration.md
    """
    click.echo(reference(LEARNERS), nl=False)


def _compare_with_state(config: Config) -> None:
    """End with 78 where settings differ from those of an agent's state."""
    found = False
    for agent in config.agents:
        for one in changed_settings(config.kafka, agent, config.limits) or ():
            found = True
            what = str(one) if one.name else "the settings are not those its state was made with"
            click.echo(
                f'agent "{agent.name}": {what}. Set it back, or give the agent another name to begin again',
                err=True,
            )
    if found:
        raise SystemExit(ConfigError.exit_code)


def _read(file: Path) -> Loaded:
    try:
        return read(file)
    except ConfigError as error:
        click.echo(str(error), err=True)
        raise SystemExit(error.exit_code) from None


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
