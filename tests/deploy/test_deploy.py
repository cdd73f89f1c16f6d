"""What is in deploy/ fits the program and itself: every image, port, path, name and variable."""

import importlib
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest
import yaml

from stream.cli import demo_producer
from stream.cli.main import espalier
from stream.config import Config, parse
from stream.config import MetricsSettings as MetricsSettings
from stream.config.environment import variables
from stream.demo.generators import GENERATORS
from stream.errors import ConfigError, NewerFormat, StateError
from tests.paths import REPOSITORY
from tests.stream.observe.expressions import rules
from tests.stream.observe.prometheus import RULES

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


# ---- the image


def test_the_image_runs_as_nobody_in_particular_with_the_health_check_of_the_worker() -> None:
    told = dockerfile()
    users = [rest for name, rest in told if name == "USER"]
    assert users == ["10001:10001"]
    assert told.index(("USER", users[0])) > max(
        n for n, (name, _) in enumerate(told) if name in ("RUN", "COPY")
    )
    (exposed,) = [rest for name, rest in told if name == "EXPOSE"]
    assert int(exposed) == PORT
    (check,) = [rest for name, rest in told if name == "HEALTHCHECK"]
    assert "/healthz" in check
    assert ("ENTRYPOINT", '["espalier"]') in told
    assert ("CMD", '["worker"]') in told
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert "espalier" in project["scripts"]
    bases = {rest.split()[0] for name, rest in told if name == "FROM"}
    assert bases == {"python:3.11-slim-bookworm"}
    assert project["requires-python"] == ">=3.11"


def test_everything_that_is_copied_into_the_image_is_there_and_is_not_ignored() -> None:
    allowed = {
        line.removeprefix("!")
        for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    copied: set[str] = set()
    for name, rest in dockerfile():
        if name == "COPY" and "--from" not in rest:
            copied |= {word.removeprefix("./") for word in rest.split()[:-1]}
    assert copied == allowed
    for name in copied:
        assert (REPOSITORY / name).exists(), name


def test_generated_files_do_not_get_into_the_image() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    for line in (REPOSITORY / ".gitignore").read_text().splitlines():
        if line.endswith(".c"):
            assert line in ignored, f"{line} would be built into the image as it is here"


def test_the_variables_of_the_image_are_settings() -> None:
    told = " ".join(rest for name, rest in dockerfile() if name == "ENV")
    settings = dict(re.findall(r"(ESPALIER_\w+)=(\S+)", told))
    assert settings["ESPALIER_METRICS_PORT"] == str(PORT)
    assert set(settings) <= set(variables())
    assert parse('[[agent]]\nname="a"\ninput="b"\n', "t", settings)


# ---- compose


def compose_config() -> Config:
    """Return the configuration of the worker of compose, with the variables it is given by default."""
    told = " ".join(rest for name, rest in dockerfile() if name == "ENV")
    given = dict(re.findall(r"(ESPALIER_\w+)=(\S+)", told)) | ours(SERVICES["worker"]["environment"])
    defaults = {name: re.sub(r"\${\w+:-([^}]*)}", r"\1", value) for name, value in given.items()}
    return parse((DEPLOY / "espalier.toml").read_text(), "deploy/espalier.toml", defaults).config


def test_the_agents_of_compose_are_a_configuration_and_its_producer_feeds_them() -> None:
    config = compose_config()
    (topic,) = {agent.input for agent in config.agents}
    assert len(config.agents) > 1, "there is something to compare"
    kafka = SERVICES["kafka"]["environment"]
    assert kafka["KAFKA_ADVERTISED_LISTENERS"] == f"PLAINTEXT://{config.kafka.bootstrap_servers}"
    words = SERVICES["producer"]["command"]
    assert words[0] == topic
    assert SERVICES["producer"]["entrypoint"] == ["python", "-m", demo_producer.__name__]
    context = demo_producer.main.make_context("producer", list(words))
    assert context.params["generator"] in GENERATORS


def test_kafka_is_the_release_that_the_tests_run_on() -> None:
    pom = ElementTree.parse(DEPLOY / "kafka" / "pom.xml").getroot()
    namespace = {"m": "http://maven.apache.org/POM/4.0.0"}
    (version,) = {
        dependency.findtext("m:version", namespaces=namespace)
        for dependency in pom.iterfind(".//m:dependency", namespace)
        if dependency.findtext("m:groupId", namespaces=namespace) == "org.apache.kafka"
    }
    assert SERVICES["kafka"]["image"] == f"apache/kafka:{version}"


def test_the_broker_of_compose_is_set_as_the_one_to_be_run_by_hand() -> None:
    """One node, one copy: what server.properties says of replication, the container says too."""
    text = (DEPLOY / "kafka" / "server.properties").read_text()
    by_hand = dict(
        line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#")
    )
    there = SERVICES["kafka"]["environment"]
    for name, value in by_hand.items():
        if "replication" in name or "min.isr" in name or name in ("min.insync.replicas", "process.roles"):
            assert there[f"KAFKA_{name.replace('.', '_').upper()}"] == value, name


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_waits_for_what_it_needs_and_what_it_mounts_is_there(name: str) -> None:
    service = SERVICES[name]
    for other, how in service.get("depends_on", {}).items():
        needed = SERVICES[other]
        if how["condition"] == "service_healthy":
            # Ours have the health check of the image.
            assert "test" in needed.get("healthcheck", {}) or needed["image"].startswith("espalier:"), other
            assert not needed.get("healthcheck", {}).get("disable"), other
        if how["condition"] == "service_completed_successfully":
            assert needed["restart"] == "no"
    for volume in service.get("volumes", ()):
        source, _target, *mode = volume.split(":")
        if source.startswith("."):
            assert (DEPLOY / source).exists(), volume
            assert mode == ["ro"], volume
        else:
            assert source in COMPOSE["volumes"], volume
    image = service["image"]
    assert re.search(r":[\w.]+$", image), f"{image} has no version"
    assert not image.endswith(":latest")
    for port in service.get("ports", ()):
        assert port.startswith("127.0.0.1:"), "everything is for this machine only"
    assert set(ours(service.get("environment", {}))) <= set(variables())


def test_the_build_of_compose_finds_its_dockerfile() -> None:
    for service in SERVICES.values():
        if "build" in service:
            context = (DEPLOY / service["build"]["context"]).resolve()
            assert context == REPOSITORY
            assert (context / service["build"]["dockerfile"]).is_file()


def test_the_commands_of_the_containers_exist() -> None:
    for service in SERVICES.values():
        if service["image"].startswith("espalier:") and "entrypoint" not in service:
            command_of(service["command"])
    (container,) = MANIFESTS["deployment"]["spec"]["template"]["spec"]["containers"]
    command_of(container["args"])


def test_prometheus_and_grafana_find_each_other_and_the_workers() -> None:
    prometheus = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yaml").read_text())
    jobs = {job["job_name"]: job for job in prometheus["scrape_configs"]}
    (found,) = jobs["espalier"]["dns_sd_configs"]
    assert found["names"] == ["worker"]
    assert "worker" in SERVICES
    assert found["port"] == PORT
    mounted = {volume.split(":")[1] for volume in SERVICES["prometheus"]["volumes"]}
    assert set(prometheus["rule_files"]) <= mounted
    words = SERVICES["prometheus"]["command"]
    assert f"--config.file={next(m for m in mounted if m.endswith('prometheus.yaml'))}" in words
    source = yaml.safe_load((DEPLOY / "grafana/provisioning/datasources/prometheus.yaml").read_text())
    assert source["datasources"][0]["url"] == "http://prometheus:9090"
    assert source["datasources"][0]["jsonData"]["timeInterval"] == prometheus["global"]["scrape_interval"]
    for service in ("prometheus", "grafana"):
        port = SERVICES[service]["ports"][0].rpartition(":")[2]
        assert f"localhost:{port}/" in " ".join(SERVICES[service]["healthcheck"]["test"])


def test_the_job_of_the_rules_is_the_job_of_compose_and_of_kubernetes() -> None:
    jobs = set(re.findall(r'job="(\w+)"', " ".join(rule["expr"] for rule in rules())))
    assert jobs == {"espalier"}
    # The operator names the job after the service.
    assert MANIFESTS["service"]["metadata"]["name"] == "espalier"


def test_the_home_of_grafana_is_one_of_the_dashboards() -> None:
    home = Path(SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
    mounts = {target: source for source, target, *_ in (v.split(":") for v in SERVICES["grafana"]["volumes"])}
    assert (DEPLOY / mounts[str(home.parent)] / home.name).is_file()


# ---- Kubernetes


def test_the_manifests_are_those_of_the_list_but_for_what_must_be_chosen() -> None:
    listed = yaml.safe_load((DEPLOY / "k8s" / "kustomization.yaml").read_text())["resources"]
    assert {Path(name).stem for name in listed} == set(MANIFESTS) - {"secret.example", "autoscaler"}
    assert {manifest["metadata"]["name"] for manifest in MANIFESTS.values()} == {"espalier"}


def test_the_rules_of_kubernetes_are_those_of_prometheus() -> None:
    assert MANIFESTS["prometheusrule"]["spec"] == yaml.safe_load(RULES.read_text())


def test_selectors_find_the_pods_of_the_deployment() -> None:
    spec = MANIFESTS["deployment"]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"] == labels
    assert MANIFESTS["service"]["spec"]["selector"] == labels
    assert MANIFESTS["poddisruptionbudget"]["spec"]["selector"]["matchLabels"] == labels
    assert MANIFESTS["servicemonitor"]["spec"]["selector"]["matchLabels"].items() <= (
        MANIFESTS["service"]["metadata"]["labels"].items()
    )
    target = MANIFESTS["autoscaler"]["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("Deployment", "espalier")
    assert MANIFESTS["poddisruptionbudget"]["spec"]["minAvailable"] < spec["replicas"]
    assert MANIFESTS["autoscaler"]["spec"]["minReplicas"] == spec["replicas"]


def test_the_pod_may_do_nothing_it_need_not() -> None:
    pod = MANIFESTS["deployment"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsUser"] == 10001
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "memory" in container["resources"]["limits"]
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert container["image"] == f"espalier:{project['version']}"


def test_the_probes_ask_what_the_worker_answers() -> None:
    (container,) = MANIFESTS["deployment"]["spec"]["template"]["spec"]["containers"]
    (port,) = container["ports"]
    assert port["containerPort"] == PORT
    routes = (REPOSITORY / "stream" / "page" / "routes.py").read_text()
    asked = {}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        told = container[probe]["httpGet"]
        assert told["port"] == port["name"]
        path, _, query = told["path"].partition("?")
        asked[path] = query
        assert f'"{path}"' in routes
    assert set(asked) == HEALTH
    assert asked["/readyz"] == "standby=ok"
    (endpoint,) = MANIFESTS["servicemonitor"]["spec"]["endpoints"]
    assert endpoint["port"] == MANIFESTS["service"]["spec"]["ports"][0]["name"]
    assert MANIFESTS["service"]["spec"]["ports"][0]["targetPort"] == port["name"]
    assert f'"{endpoint["path"]}"' in routes


def test_the_configuration_of_the_pod_is_one_with_its_secrets(tmp_path: Path) -> None:
    pod = MANIFESTS["deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    secrets = MANIFESTS["secret.example"]["stringData"]
    (mount,) = [mount for mount in container["volumeMounts"] if mount["name"] == "secrets"]
    given = {}
    for variable in container["env"]:
        path = Path(variable["value"])
        assert path.parent == Path(mount["mountPath"])
        assert path.name in secrets, variable
        here = tmp_path / path.name
        here.write_text(secrets[path.name])
        given[variable["name"]] = str(here)
    text = MANIFESTS["configmap"]["data"]["espalier.toml"]
    assert f"{mount['mountPath']}/ca.crt" in text
    assert "ca.crt" in secrets
    config = parse(text, "configmap.yaml", given).config
    assert config.http.token == secrets["http-token"]
    assert config.kafka.properties["sasl.password"] == secrets["sasl-password"]


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
