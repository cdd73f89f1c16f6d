"""The words that the dashboards are made of: a dashboard, its variables, and a few kinds of panels."""

from collections.abc import Sequence
from typing import NamedTuple

from grafana_foundation_sdk.builders import common as common_builders
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.builders import prometheus, stat, statetimeline, table, timeseries
from grafana_foundation_sdk.models import common, dashboard
from grafana_foundation_sdk.models import prometheus as prometheus_models

TAG = "espalier"
# Releases of the SDK differ in where they keep it.
_Ref = common.DataSourceRef if hasattr(common, "DataSourceRef") else dashboard.DataSourceRef
SOURCE = _Ref(type_val="prometheus", uid="${datasource}")
WHERE = 'job=~"$job",agent=~"$agent"'
"""Which series a panel is about. The agents to choose from are those on the topic that was chosen."""
RATE = "[$__rate_interval]"

Panel = timeseries.Panel | stat.Panel | table.Panel | statetimeline.Panel


class Query(NamedTuple):
    """What to ask Prometheus, and what to call what comes back."""

    expr: str
    legend: str
    ref: str = ""


class Step(NamedTuple):
    """From this value on, this colour; they are Grafana's own names, which fit light and dark."""

    value: float | None
    color: str


def rate(metric: str, by: str = "agent", more: str = "") -> str:
    """Return how fast a counter rises, summed."""
    return f"sum by ({by}) (rate({metric}{{{WHERE}{more}}}{RATE}))"


def quantile(share: float, histogram: str) -> str:
    """Return a quantile of a histogram for each agent."""
    return f"histogram_quantile({share}, sum by (agent, le) (rate({histogram}_bucket{{{WHERE}}}{RATE})))"


def latest(metric: str, by: str = "agent", more: str = "", how: str = "max") -> str:
    """Return a gauge; a worker that stands by has one too, which is 0 or not there."""
    return f"{how} by ({by}) ({metric}{{{WHERE}{more}}})"


def _targets(queries: Sequence[Query], *, instant: bool = False) -> list[prometheus.Dataquery]:
    targets = []
    for number, query in enumerate(queries):
        target = prometheus.Dataquery().expr(query.expr).legend_format(query.legend)
        target = target.ref_id(query.ref or chr(ord("A") + number)).datasource(SOURCE)
        if instant:
            target = target.instant().format(prometheus_models.PromQueryFormat.TABLE)
        else:
            target = target.range()
        targets.append(target)
    return targets


def _thresholds(steps: Sequence[Step]) -> builders.ThresholdsConfig:
    made = [dashboard.Threshold(value=step.value, color=step.color) for step in steps]
    return builders.ThresholdsConfig().mode(dashboard.ThresholdsMode.ABSOLUTE).steps(made)


def number(
    title: str,
    description: str,
    unit: str,
    *queries: Query,
    steps: Sequence[Step] = (Step(None, "blue"),),
    decimals: int | None = None,
    links: Sequence[builders.DashboardLink] = (),
) -> stat.Panel:
    """Return a panel that shows the newest value, large."""
    panel = (
        stat.Panel()
        .title(title)
        .description(description)
        .unit(unit)
        .datasource(SOURCE)
        .targets(list(_targets(queries)))
        .thresholds(_thresholds(steps))
        .color_mode(common.BigValueColorMode.VALUE)
        .graph_mode(common.BigValueGraphMode.AREA)
        .reduce_options(common_builders.ReduceDataOptions().calcs(["lastNotNull"]))
        .no_value("no data yet")
        .height(4)
        .span(6)
    )
    if decimals is not None:
        panel = panel.decimals(decimals)
    return panel.links(list(links)) if links else panel


def lines(
    title: str,
    description: str,
    unit: str,
    *queries: Query,
    width: int = 12,
    stacked: bool = False,
    bounds: tuple[float, float] | None = None,
    links: Sequence[builders.DashboardLink] = (),
) -> timeseries.Panel:
    """Return a panel of lines over time."""
    legend = (
        common_builders.VizLegendOptions()
        .display_mode(common.LegendDisplayMode.TABLE)
        .placement(common.LegendPlacement.BOTTOM)
        .show_legend(True)
        .calcs(["lastNotNull", "max"])
    )
    tooltip = (
        common_builders.VizTooltipOptions()
        .mode(common.TooltipDisplayMode.MULTI)
        .sort(common.SortOrder.DESCENDING)
    )
    panel = (
        timeseries.Panel()
        .title(title)
        .description(description)
        .unit(unit)
        .datasource(SOURCE)
        .targets(list(_targets(queries)))
        .legend(legend)
        .tooltip(tooltip)
        .color_scheme(builders.FieldColor().mode(dashboard.FieldColorModeId.PALETTE_CLASSIC_BY_NAME))
        .fill_opacity(30 if stacked else 8)
        .line_width(1)
        .show_points(common.VisibilityMode.NEVER)
        .no_value("no data yet")
        .height(9)
        .span(width)
    )
    if stacked:
        panel = panel.stacking(common_builders.StackingConfig().mode(common.StackingMode.NORMAL))
    if bounds is not None:
        panel = panel.axis_soft_min(bounds[0]).axis_soft_max(bounds[1])
    return panel.links(list(links)) if links else panel


def states(
    title: str, description: str, *queries: Query, mappings: dict[str, tuple[str, str]], width: int = 12
) -> statetimeline.Panel:
    """Return a panel of what held when; `mappings` gives each value its words and its colour."""
    options = {
        value: dashboard.ValueMappingResult(text=text, color=color, index=index)
        for index, (value, (text, color)) in enumerate(mappings.items())
    }
    return (
        statetimeline.Panel()
        .title(title)
        .description(description)
        .unit("none")
        .datasource(SOURCE)
        .targets(list(_targets(queries)))
        .mappings([dashboard.ValueMap(options=options)])
        .legend(
            common_builders.VizLegendOptions()
            .display_mode(common.LegendDisplayMode.LIST)
            .placement(common.LegendPlacement.BOTTOM)
            .show_legend(True)
            .calcs([])
        )
        .no_value("no data yet")
        .height(9)
        .span(width)
    )


def rows(
    title: str,
    description: str,
    unit: str,
    *queries: Query,
    transformations: Sequence[dashboard.DataTransformerConfig] = (),
    units: dict[str, str] | None = None,
    width: int = 12,
    height: int = 9,
) -> table.Panel:
    """Return a table of the newest values; `units` are those of columns that have one of their own."""
    panel = (
        table.Panel()
        .title(title)
        .description(description)
        .unit(unit)
        .datasource(SOURCE)
        .targets(list(_targets(queries, instant=True)))
        .transformations(list(transformations))
        .no_value("no data yet")
        .height(height)
        .span(width)
    )
    for name, one in (units or {}).items():
        panel = panel.override_by_name(name, [dashboard.DynamicConfigValue(id_val="unit", value=one)])
    return panel


def transform(name: str, **options: object) -> dashboard.DataTransformerConfig:
    """Return a transformation of what the queries gave."""
    return dashboard.DataTransformerConfig(id_val=name, options=options)


def link_to(uid: str, title: str) -> builders.DashboardLink:
    """Return a link from a panel to another of the dashboards, with the same agents and the same time."""
    return (
        builders.DashboardLink(title)
        .type(dashboard.DashboardLinkType.LINK)
        .url(
            f"/d/{uid}?${{datasource:queryparam}}&${{job:queryparam}}&${{topic:queryparam}}&${{agent:queryparam}}"
        )
        .keep_time(True)
        .include_vars(False)
    )


class Section(NamedTuple):
    """A row of a dashboard: a heading and what is under it."""

    title: str
    panels: tuple[Panel, ...]


def page(
    uid: str,
    title: str,
    description: str,
    sections: Sequence[Section],
    *,
    many_topics: bool = True,
    annotations: Sequence[builders.AnnotationQuery] = (),
) -> builders.Dashboard:
    """Return a dashboard."""
    made = (
        builders.Dashboard(title)
        .uid(uid)
        .description(description)
        .tags([TAG])
        .time("now-1h", "now")
        .refresh("30s")
        .timezone("browser")
        .readonly()
        .tooltip(dashboard.DashboardCursorSync.CROSSHAIR)
        .variables(list(_variables(many_topics)))
        .annotations(list(annotations))
        .link(
            builders.DashboardLink("Espalier")
            .type(dashboard.DashboardLinkType.DASHBOARDS)
            .tags([TAG])
            .as_dropdown(True)
            .include_vars(True)
            .keep_time(True)
            .icon("external link")
            .tooltip("The other dashboards, with the same agents and the same time")
        )
    )
    for section in sections:
        made = made.with_row(builders.Row(section.title))
        for panel in section.panels:
            made = made.with_panel(panel)
    return made


def _variables(
    many_topics: bool,
) -> tuple[
    builders.DatasourceVariable, builders.QueryVariable, builders.QueryVariable, builders.QueryVariable
]:
    source = (
        builders.DatasourceVariable("datasource")
        .label("Data source")
        .description("The Prometheus that scrapes the workers")
        .type("prometheus")
    )
    info = "espalier_agent_info"
    job = _choice("job", "Job", "The scrape job of the workers", f"label_values({info}, job)", many=True)
    topic = _choice(
        "topic",
        "Topic",
        "The input topic of the agents",
        f'label_values({info}{{job=~"$job"}}, topic)',
        many=many_topics,
    )
    agent = _choice(
        "agent",
        "Agent",
        "The agents on this topic",
        f'label_values({info}{{job=~"$job",topic=~"$topic"}}, agent)',
        many=True,
    )
    return source, job, topic, agent


def _choice(name: str, label: str, description: str, query: str, *, many: bool) -> builders.QueryVariable:
    made = (
        builders.QueryVariable(name)
        .label(label)
        .description(description)
        .datasource(SOURCE)
        .query({"query": query, "refId": f"variable-{name}", "qryType": 1})
        .refresh(dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(dashboard.VariableSort.ALPHABETICAL_ASC)
        .multi(many)
        .include_all(many)
    )
    if not many:
        return made
    everything = dashboard.VariableOption(selected=True, text=["All"], value=["$__all"])
    return made.current(everything)
