"""Alerts come when they should and not else, and each has a section that says what to do."""

import re
import subprocess
from pathlib import Path

import yaml

from tests.paths import REPOSITORY
from tests.stream.observe.expressions import rules
from tests.stream.observe.prometheus import RULES, program

TESTS = Path(__file__).parent / "rules_test.yaml"
RUNBOOK = REPOSITORY / "docs" / "runbook.md"


def promtool(*arguments: str) -> str:
    told = subprocess.run([program("promtool"), *arguments], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout


def test_the_rules_are_rules() -> None:
    assert "SUCCESS" in promtool("check", "rules", str(RULES))


def test_prometheus_takes_its_configuration(tmp_path: Path) -> None:
    text = (REPOSITORY / "deploy" / "prometheus" / "prometheus.yaml").read_text()
    config = tmp_path / "prometheus.yaml"
    config.write_text(text.replace("/etc/prometheus/rules.yaml", str(RULES)))
    assert "SUCCESS" in promtool("check", "config", str(config))


def test_every_alert_comes_when_it_should_and_not_else(tmp_path: Path) -> None:
    tests = tmp_path / "rules_test.yaml"
    tests.write_text(TESTS.read_text().replace("RULES", str(RULES)))
    assert "SUCCESS" in promtool("test", "rules", str(tests))


def test_every_rule_has_a_test_in_which_it_holds() -> None:
    told = yaml.safe_load(TESTS.read_text())["tests"]
    raised = {
        case["alertname"] for test in told for case in test.get("alert_rule_test", ()) if case["exp_alerts"]
    }
    assert raised == {rule["alert"] for rule in rules() if "alert" in rule}
    asked = "\n".join(case["expr"] for test in told for case in test.get("promql_expr_test", ()))
    alerts = "\n".join(rule["expr"] for rule in rules() if "alert" in rule)
    for rule in rules():
        if "record" in rule:
            assert rule["record"] in asked or rule["record"] in alerts


def test_every_alert_has_a_section_that_says_what_it_means_and_what_to_do() -> None:
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", RUNBOOK.read_text(), re.MULTILINE | re.DOTALL))
    alerts = {rule["alert"]: rule for rule in rules() if "alert" in rule}
    assert set(sections) == set(alerts)
    for name, rule in alerts.items():
        assert rule["annotations"]["runbook_url"] == f"docs/runbook.md#{name.lower()}"
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"]
        for word in ("**Means.**", "**Look.**", "**Do.**"):
            assert sections[name].count(word) == 1, f"{name}: {word}"
