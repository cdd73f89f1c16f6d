"""The systemd unit and the README of deploy/ fit the program."""

import importlib
import re
import shlex
from collections.abc import Iterator

import yaml

from stream.config.environment import variables
from stream.errors import ConfigError, NewerFormat, StateError
from tests.deploy.files import DEPLOY, SERVICES, command_of, compose_config

# ---- systemd


def unit() -> Iterator[tuple[str, str, str]]:
    section = ""
    for line in (DEPLOY / "systemd" / "espalier.service").read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield section, name, value


def test_the_unit_starts_the_worker_with_settings_that_exist() -> None:
    told = list(unit())
    assert {section for section, _, _ in told} == {"Unit", "Service", "Install"}
    for _, name, value in told:
        if name in ("ExecStart", "ExecStartPre"):
            program, *words = shlex.split(value)
            assert program == "/opt/espalier/bin/espalier"
            path = [word for word in words if not word.startswith(("-", "/"))]
            command_of(path)
        if name == "Environment":
            variable = value.partition("=")[0].removesuffix("_FILE")
            assert variable in variables() or variable.startswith("ESPALIER_KAFKA_PROPERTIES_")
    credentials = {value.partition(":")[0] for _, name, value in told if name == "LoadCredential"}
    used = {match for _, _, value in told for match in re.findall(r"%d/([\w-]+)", value)}
    assert used == credentials


def test_the_unit_does_not_start_again_where_that_cannot_help() -> None:
    (statuses,) = [value for _, name, value in unit() if name == "RestartPreventExitStatus"]
    hopeless = {error.exit_code for error in (ConfigError, StateError, NewerFormat)}
    assert {int(status) for status in statuses.split()} == hopeless


# ---- the words


def test_the_readme_of_deploy_names_every_folder_and_every_file_that_is_in_none() -> None:
    text = (DEPLOY / "README.md").read_text()
    rows = [row.split("|")[1] for row in text.splitlines() if row.startswith("| `")]
    named = {name.rstrip("/") for row in rows for name in re.findall(r"`([^`]+)`", row)}
    # What peers are measured with is no way to run anything.
    there = {path.name for path in DEPLOY.iterdir()} - {
        "README.md",
        "bench",
        "weka",
        "Dockerfile.dockerignore",
    }
    assert named == {name for name in there if not name.startswith("__")}


def test_the_readme_of_deploy_names_what_is_not_applied_with_the_rest() -> None:
    text = (DEPLOY / "README.md").read_text()
    applied = set(yaml.safe_load((DEPLOY / "k8s" / "kustomization.yaml").read_text())["resources"])
    for file in (DEPLOY / "k8s").glob("*.yaml"):
        if file.name not in (*applied, "kustomization.yaml"):
            assert f"`k8s/{file.name}`" in text, file.name
    assert (DEPLOY / "k8s" / "autoscaler.yaml").exists() and "autoscaler.yaml" not in applied


def test_the_readme_of_deploy_names_every_port_and_the_token() -> None:
    text = (DEPLOY / "README.md").read_text()
    assert f"?token={compose_config().http.token}" in text
    for service in ("worker", "prometheus", "grafana"):
        port = re.split(r"[:-]", SERVICES[service]["ports"][0])[1]
        assert port in text, service
    assert importlib.import_module("stream.cli.demo_producer").__name__ in text
