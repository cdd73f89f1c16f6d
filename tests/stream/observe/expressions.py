"""Every query that is shipped: of panels, annotations, variables, alerts and recording rules."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.paths import REPOSITORY
from tests.stream.observe.prometheus import RULES

DASHBOARDS = REPOSITORY / "deploy" / "grafana" / "dashboards"
COMPARISON = re.compile(r"\s+(?:==|!=|>=|<=|>|<)\s+-?[\d.]+\s*$")


class Shipped(NamedTuple):
    """A query and where it stands."""

    where: str
    expr: str


def pages() -> dict[str, dict[str, Any]]:
    """Return the dashboards by their names."""
    return {file.stem: json.loads(file.read_text()) for file in sorted(DASHBOARDS.glob("*.json"))}


def panels(page: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the panels of a dashboard that show something."""
    return [panel for panel in page["panels"] if panel["type"] != "row"]


def of_panels() -> Iterator[Shipped]:
    for name, page in pages().items():
        for panel in panels(page):
            for target in panel["targets"]:
                yield Shipped(f"{name}: {panel['title']}", target["expr"])


def of_annotations() -> Iterator[Shipped]:
    for name, page in pages().items():
        for annotation in page["annotations"]["list"]:
            yield Shipped(f"{name}: annotation {annotation['name']}", annotation["target"]["expr"])


def of_variables() -> Iterator[tuple[str, str, str]]:
    """Yield where a variable is, the series it looks at, and the label it offers."""
    for name, page in pages().items():
        for variable in page["templating"]["list"]:
            if variable["type"] == "query":
                found = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
                assert found, variable
                yield f"{name}: variable {variable['name']}", found[1], found[2]


def rules(file: Path = RULES) -> list[dict[str, Any]]:
    told = yaml.safe_load(file.read_text())
    return [rule for group in told["groups"] for rule in group["rules"]]


def of_rules() -> Iterator[Shipped]:
    """Yield every recording rule, and every alert without its threshold: what it would compare."""
    for rule in rules():
        if "record" in rule:
            yield Shipped(rule["record"], rule["expr"])
            continue
        expr = rule["expr"]
        absent = re.fullmatch(r"absent\((.*)\)", expr)
        for part in (absent[1] if absent else expr).split(" and "):
            bare, count = COMPARISON.subn("", part)
            assert count == 1, f"{rule['alert']}: an alert compares with a number: {part}"
            yield Shipped(f"{rule['alert']}: {part}", bare)


def filled_in(expr: str, rate: str = "15s", span: str = "1m") -> str:
    """Return a query as Grafana would send it, for all agents, over a run of seconds."""
    expr = expr.replace("$__rate_interval", rate).replace("$__range", span)
    expr = re.sub(r"\$(job|agent|topic)", ".+", expr)
    # A run of seconds has no past of hours.
    expr = re.sub(r"\[\d+[hm]\] offset \d+m", f"[{span}]", expr)
    assert "$" not in expr, expr
    return expr
