"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click
import msgspec

from stream.config import Agent, Config, Kafka, load

F = TypeVar("F", bound=Callable[..., object])

DEFAULT_FILE = Path("espalier.toml")

config_option = click.option(
    "-c",
    "--config",
    "file",
    type=click.Path(path_type=Path),
    default=DEFAULT_FILE,
    show_default=True,
    help="The configuration file.",
)


def kafka_options(command: F) -> F:
    """Add the options that say which cluster is meant."""
    bootstrap = click.option(
        "--bootstrap-servers",
        metavar="HOST:PORT",
        help="The brokers. [default: those of the configuration file, if there is one, else 127.0.0.1:9092]",
    )
    return config_option(bootstrap(command))


def kafka_of(file: Path, bootstrap_servers: str | None) -> Kafka:
    """Return the cluster that is meant: the option wins over the file, the file over the default."""
    kafka = Kafka() if file == DEFAULT_FILE and not file.exists() else load(file).kafka
    if bootstrap_servers is not None:
        kafka = msgspec.structs.replace(kafka, bootstrap_servers=bootstrap_servers)
    return kafka


def agent_of(config: Config, name: str | None) -> Agent:
    """Return the agent that is meant; the only one where none is named.

    Raises:
        click.UsageError: There is no such agent, or several to choose from.
    """
    names = [agent.name for agent in config.agents]
    if name is None and len(names) == 1:
        return config.agents[0]
    for agent in config.agents:
        if agent.name == name:
            return agent
    wanted = "which agent is meant" if name is None else f'there is no agent "{name}"'
    raise click.UsageError(f"{wanted}. The configuration has: {', '.join(names)}")
