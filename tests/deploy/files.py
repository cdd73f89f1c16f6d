"""The files in deploy/, parsed."""

import re
from typing import Any

import click
import yaml

from stream.cli.main import espalier
from stream.config import Config, MetricsSettings, parse
from tests.paths import REPOSITORY

DEPLOY = REPOSITORY / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
MANIFESTS = {
    file.stem: yaml.safe_load(file.read_text())
    for file in sorted((DEPLOY / "k8s").glob("*.yaml"))
    if file.stem != "kustomization"
}
PORT = MetricsSettings().port
HEALTH = {"/healthz", "/readyz", "/startupz"}


def dockerfile() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile and what follows each."""
    text = (DEPLOY / "Dockerfile").read_text()
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split(None, 1)[0], line.split(None, 1)[1].strip()) for line in text.splitlines() if line]


def ours(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith("ESPALIER_")}


def command_of(words: list[str]) -> None:
    """Fail unless these are a command of ours."""
    command: click.Command = espalier
    for word in words:
        assert isinstance(command, click.Group), words
        command = command.commands[word]


def compose_config() -> Config:
    """Return the configuration of the worker of compose, with the variables it is given by default."""
    told = " ".join(rest for name, rest in dockerfile() if name == "ENV")
    given = dict(re.findall(r"(ESPALIER_\w+)=(\S+)", told)) | ours(SERVICES["worker"]["environment"])
    defaults = {name: re.sub(r"\${\w+:-([^}]*)}", r"\1", value) for name, value in given.items()}
    return parse((DEPLOY / "espalier.toml").read_text(), "deploy/espalier.toml", defaults).config
