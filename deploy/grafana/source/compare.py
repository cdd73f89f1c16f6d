"""*Compare*: agents side by side on one topic."""

from grafana_foundation_sdk.builders.dashboard import Dashboard

from deploy.grafana.source.panels import (
    RATE,
    WHERE,
    Panel,
    Query,
    Section,
    latest,
    lines,
    page,
    rows,
    transform,
)

UID = "espalier-compare"
LEARNED = f'sum by (agent) (rate(espalier_records_total{{{WHERE},outcome="learned"}}{RATE}) > 0)'
COLUMNS = (
    ("Accuracy, last 10,000", latest("espalier_accuracy_ratio", more=',window="10000"'), "percentunit"),
    ("Accuracy, all", latest("espalier_accuracy_ratio", more=',window="all"'), "percentunit"),
    ("Kappa, last 10,000", latest("espalier_kappa_ratio", more=',window="10000"'), "percentunit"),
    ("Records behind", latest("espalier_consumer_lag_records", how="sum"), "short"),
    ("Nodes", f"sum by (agent) (espalier_tree_nodes{{{WHERE}}})", "short"),
    ("Depth", latest("espalier_tree_depth"), "short"),
    ("Instances", latest("espalier_instances_retained", how="sum"), "short"),
)


def compare() -> Dashboard:
    """Return the dashboard."""
    return page(
        UID,
        "Espalier / Compare",
        "Learners side by side on one stream: who is right more often, and what it costs.",
        [Section("Side by side", _table()), Section("Over time", _over_time())],
        many_topics=False,
    )


def _table() -> tuple[Panel, ...]:
    queries = [Query(expr, "{{agent}}", chr(ord("A") + n)) for n, (_, expr, _) in enumerate(COLUMNS)]
    names = {f"Value #{query.ref}": title for query, (title, _, _) in zip(queries, COLUMNS, strict=True)}
    return (
        rows(
            "Agents on this topic",
            "The newest figures of each agent, a row for each.",
            "short",
            *queries,
            transformations=[
                transform("joinByField", byField="agent", mode="outer"),
                transform(
                    "organize",
                    renameByName={"agent": "Agent", **names},
                    excludeByName={f"Time {n + 1}": True for n in range(len(COLUMNS))} | {"Time": True},
                ),
            ],
            units={title: unit for title, _, unit in COLUMNS},
            width=24,
        ),
    )


def _over_time() -> tuple[Panel, ...]:
    return (
        lines(
            "Accuracy over the last 1,000 records",
            "Share of right answers, given before the label was learned.",
            "percentunit",
            Query(latest("espalier_accuracy_ratio", more=',window="1000"'), "{{agent}}"),
            bounds=(0, 1),
        ),
        lines(
            "Better than chance (kappa), last 10,000",
            "Accuracy corrected for guessing by the frequency of the classes.",
            "percentunit",
            Query(latest("espalier_kappa_ratio", more=',window="10000"'), "{{agent}}"),
            bounds=(0, 1),
        ),
        lines(
            "Records learned each second",
            "Agents on one topic read the same records, each at its own pace.",
            "recps",
            Query(LEARNED, "{{agent}}"),
        ),
        lines(
            "Operations for each record",
            "What learning costs in the units of the papers.",
            "short",
            Query(
                f"sum by (agent) (rate(espalier_operations_total{{{WHERE}}}{RATE})) / {LEARNED}", "{{agent}}"
            ),
        ),
        lines(
            "Time of the learner for each record",
            "Seconds that the learner alone took to answer and learn, for each record learned.",
            "s",
            Query(
                f"sum by (agent) (rate(espalier_learn_seconds_sum{{{WHERE}}}{RATE})) / {LEARNED}", "{{agent}}"
            ),
        ),
        lines(
            "Nodes of the tree",
            "Decision nodes and leaves.",
            "short",
            Query(f"sum by (agent) (espalier_tree_nodes{{{WHERE}}})", "{{agent}}"),
        ),
    )
