"""The dashboards are what the code makes, fit Grafana's types, and can be read by a stranger."""

import importlib.metadata
import itertools
import json
import re
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard, units

from stream.observe.metrics.catalog import METRICS
from tests.needs import OBSERVE, missing
from tests.paths import REPOSITORY
from tests.stream.observe.expressions import DASHBOARDS, of_annotations, of_panels, of_rules, pages, panels

SDKS = ("1769699379!11.6.0", "1769699241")
"""Releases of the SDK that write the same dashboards, in the schema of Grafana 12."""
CORE_PANELS = {"timeseries", "stat", "table", "state-timeline"}
COLOURS = {"green", "orange", "red", "blue"}
PAGES = pages()
WIDTH = 24


@pytest.fixture
def _the_right_sdk() -> None:
    found = importlib.metadata.version("grafana-foundation-sdk")
    if found not in SDKS:
        missing(
            f"grafana-foundation-sdk is {found}; the dashboards are made with {' or '.join(SDKS)}", OBSERVE
        )


@pytest.mark.usefixtures("_the_right_sdk")
def test_the_dashboards_are_those_that_the_code_makes() -> None:
    # Not at the top: another release of the SDK has not all that is imported there.
    made = importlib.import_module("deploy.grafana.source.__main__").dashboards()
    kept = {file.stem: file.read_text() for file in DASHBOARDS.glob("*.json")}
    assert made == kept, "run: make dashboards"


@pytest.mark.usefixtures("_the_right_sdk")
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_in_a_dashboard_that_grafanas_types_do_not_know(name: str) -> None:
    """Read into the types and written again, a dashboard is the same; `make dashboards-types` asks tsc."""

    def without_own(page: dict[str, Any]) -> dict[str, Any]:
        """Leave out what a data source adds to annotations, and `make` takes out of variables."""
        page = json.loads(json.dumps(page))
        for annotation in page["annotations"]["list"]:
            for key in ("step", "titleFormat", "textFormat", "tagKeys", "useValueForTime", "target"):
                annotation.pop(key, None)
        for variable in page["templating"]["list"]:
            for key in ("auto", "auto_count", "auto_min"):
                variable.pop(key, None)
        return page

    page = without_own(PAGES[name])
    again = json.loads(
        json.dumps(dashboard.Dashboard.from_json(json.loads(json.dumps(page))), cls=JSONEncoder)
    )
    assert without_own(again) == page
    assert page["schemaVersion"] == 41


def test_there_are_the_four_dashboards_and_each_says_what_it_is_for() -> None:
    assert set(PAGES) == {"overview", "learner", "health", "compare"}
    for name, page in PAGES.items():
        assert page["uid"] == f"espalier-{name}"
        assert page["title"].startswith("Espalier / ")
        assert len(page["description"]) > 40
        assert page["tags"] == ["espalier"]
        assert [variable["name"] for variable in page["templating"]["list"]] == [
            "datasource",
            "job",
            "topic",
            "agent",
        ]


@pytest.mark.parametrize("name", PAGES)
def test_a_stranger_can_read_every_panel(name: str) -> None:
    known = {value for key, value in vars(units).items() if key.isidentifier() and isinstance(value, str)}
    titles = [panel["title"] for panel in panels(PAGES[name])]
    assert len(titles) == len(set(titles)), "two panels of one name"
    for panel in panels(PAGES[name]):
        title = panel["title"]
        assert panel["type"] in CORE_PANELS, title
        assert len(panel["description"]) > 20, title
        assert panel["description"].endswith("."), title
        assert panel["fieldConfig"]["defaults"]["unit"] in known, title
        for override in panel["fieldConfig"]["overrides"]:
            for told in override["properties"]:
                assert told["id"] != "unit" or told["value"] in known, title
        assert panel["fieldConfig"]["defaults"]["noValue"], title
        assert panel["datasource"]["uid"] == "${datasource}", title
        several = len(panel["targets"]) > 1
        for target in panel["targets"]:
            legend = target["legendFormat"]
            assert legend, title
            assert not legend.startswith("__"), title
            assert "{{" in legend or not re.search(r"\bby \(", target["expr"]), f"{title}: who is who?"
            assert target["datasource"]["uid"] == "${datasource}", title
        if several and panel["type"] != "table":
            assert len({target["legendFormat"] for target in panel["targets"]}) == len(panel["targets"]), (
                title
            )
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]), title


@pytest.mark.parametrize("name", PAGES)
def test_a_legend_names_the_labels_that_tell_its_lines_apart(name: str) -> None:
    for panel in panels(PAGES[name]):
        for target in panel["targets"]:
            outermost = re.match(r"(?:\w+\(\d+, )?\w+ by \(([^)]*)\)", target["expr"])
            if outermost:
                labels = {label.strip() for label in outermost[1].split(",")} - {"le"}
                shown = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
                assert labels == shown, f"{panel['title']}: {target['legendFormat']}"


@pytest.mark.parametrize("name", PAGES)
def test_no_panel_covers_another_and_none_leaves_the_page(name: str) -> None:
    places = [panel["gridPos"] for panel in PAGES[name]["panels"]]
    for place in places:
        assert place["x"] >= 0
        assert place["x"] + place["w"] <= WIDTH
        assert place["h"] > 0
    for one, other in itertools.combinations(places, 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart, (one, other)


def test_colours_are_grafanas_own_names_which_fit_light_and_dark() -> None:
    def colours(value: Any) -> set[str]:
        if isinstance(value, list):
            return set().union(*map(colours, value)) if value else set()
        if not isinstance(value, dict):
            return set()
        own = {text for key, text in value.items() if key in ("color", "iconColor") and isinstance(text, str)}
        return own.union(*map(colours, value.values()))

    assert set().union(*map(colours, PAGES.values())) == COLOURS


def test_every_link_leads_to_one_of_the_dashboards() -> None:
    uids = {page["uid"] for page in PAGES.values()}
    seen = set()
    for page in PAGES.values():
        for link in page["links"]:
            assert (link["type"], link["tags"]) == ("dashboards", ["espalier"])
        for panel in panels(page):
            for link in panel.get("links", []):
                found = re.match(r"/d/([\w-]+)\?", link["url"])
                assert found, link
                seen.add(found[1])
                assert set(re.findall(r"\${(\w+):", link["url"])) == {"datasource", "job", "topic", "agent"}
    assert seen <= uids
    assert seen


def test_every_metric_in_a_query_exists_and_every_metric_is_in_a_query() -> None:
    names = {metric.shown for metric in METRICS}
    names |= {
        metric.shown + ending
        for metric in METRICS
        if metric.kind == "histogram"
        for ending in ("_bucket", "_sum", "_count")
    }
    asked = {
        name
        for shipped in itertools.chain(of_panels(), of_annotations(), of_rules())
        for name in re.findall(r"(?<![:\w])espalier_\w+", shipped.expr)
    }
    assert asked <= names
    # What is told and not shown by default, and why.
    left_out = {
        "espalier_agent_info": "it fills the variables",
        "espalier_past_drops": "drops are among the changes of the tree, which are shown by kind",
        "espalier_label_delay_seconds": "no labels come late yet",
        "espalier_labels_pending": "no labels come late yet",
        "espalier_predict_seconds": "only where records have no label",
        "espalier_snapshot_seconds": "its size and age say enough",
        "espalier_restore_instances": "its progress says enough",
        "espalier_self_checks_total": "what they found is shown",
        "espalier_records_consumed_total": "the outcome of records is shown instead",
    }
    shown = {metric.shown for metric in METRICS if any(name.startswith(metric.shown) for name in asked)}
    assert {metric.shown for metric in METRICS} - shown - {"espalier_predictions_total"} == set(left_out)


def test_the_dashboards_and_the_data_source_are_provisioned() -> None:
    folder = REPOSITORY / "deploy" / "grafana" / "provisioning"
    (source,) = yaml.safe_load((folder / "datasources" / "prometheus.yaml").read_text())["datasources"]
    assert source["type"] == "prometheus"
    assert source["isDefault"] is True
    (provider,) = yaml.safe_load((folder / "dashboards" / "espalier.yaml").read_text())["providers"]
    assert provider["type"] == "file"
    compose = yaml.safe_load((REPOSITORY / "deploy" / "compose.yaml").read_text())
    mounts = dict(
        volume.split(":")[:2] for volume in compose["services"]["grafana"]["volumes"] if "./" in volume
    )
    assert mounts["./grafana/dashboards"] == provider["options"]["path"]
    assert mounts["./grafana/provisioning"] == "/etc/grafana/provisioning"
