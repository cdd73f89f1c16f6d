"""The manifests of Kubernetes fit the program and each other."""

import tomllib
from pathlib import Path

import yaml

from stream.config import parse
from tests.deploy.files import DEPLOY, HEALTH, MANIFESTS, PORT
from tests.paths import REPOSITORY
from tests.stream.observe.prometheus import RULES


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
