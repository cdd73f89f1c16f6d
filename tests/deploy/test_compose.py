"""The services of compose fit the program and each other."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from stream.cli import demo_producer
from stream.config.environment import variables
from stream.demo.generators import GENERATORS
from tests.deploy.files import (
    COMPOSE,
    DEPLOY,
    MANIFESTS,
    PORT,
    SERVICES,
    command_of,
    compose_config,
    ours,
)
from tests.paths import REPOSITORY
from tests.stream.observe.expressions import rules


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
