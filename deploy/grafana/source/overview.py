"""*Overview*: is it working, and is it any good?"""

from grafana_foundation_sdk.builders.dashboard import Dashboard

from deploy.grafana.source.panels import (
    RATE,
    WHERE,
    Panel,
    Query,
    Section,
    Step,
    latest,
    lines,
    link_to,
    number,
    page,
    rate,
)

UID = "espalier-overview"
PER_RECORD = (
    f"sum by (agent) (rate(espalier_operations_total{{{WHERE}}}{RATE})) / "
    f'sum by (agent) (rate(espalier_records_total{{{WHERE},outcome="learned"}}{RATE}) > 0)'
)


def overview() -> Dashboard:
    """Return the dashboard."""
    return page(
        UID,
        "Espalier / Overview",
        "Decision trees that learn along a Kafka stream: how fast, how far behind, and how often right.",
        [Section("Now", _now()), Section("Over time", _over_time())],
    )


def _now() -> tuple[Panel, ...]:
    good = [Step(None, "green"), Step(1, "orange"), Step(100, "red")]
    return (
        number(
            "Records a second",
            "Records answered, learned from or put aside, each second, over all chosen agents.",
            "recps",
            Query(f"sum(rate(espalier_records_total{{{WHERE}}}{RATE}))", "records a second"),
        ),
        number(
            "Accuracy",
            "Share of right answers among the last 1,000 records with a label, given before the label was "
            "learned. One figure for each agent.",
            "percentunit",
            Query(latest("espalier_accuracy_ratio", more=',window="1000"'), "{{agent}}"),
            steps=[Step(None, "red"), Step(0.5, "orange"), Step(0.8, "green")],
            decimals=1,
            links=[link_to("espalier-learner", "Learner: how good are the answers?")],
        ),
        number(
            "Records behind",
            "Records that are in the input and not yet processed, over all partitions. It should fall back "
            "to 0 after every burst.",
            "short",
            Query(f"sum(espalier_consumer_lag_records{{{WHERE}}})", "records behind"),
            steps=[Step(None, "green"), Step(10_000, "orange"), Step(1_000_000, "red")],
            links=[link_to("espalier-health", "Health: what is slow?")],
        ),
        number(
            "Time behind",
            "Age of the last record processed, in the partition furthest behind; 0 where all is read.",
            "s",
            Query(f"max(espalier_consumer_lag_seconds{{{WHERE}}})", "time behind"),
            steps=[Step(None, "green"), Step(30, "orange"), Step(300, "red")],
        ),
        number(
            "Dead letters",
            "Records of the last hour that could not be used; they are in the dead-letter topic, each with "
            "its reason.",
            "short",
            Query(
                f'sum(increase(espalier_records_total{{{WHERE},outcome="dead_letter"}}[1h]))',
                "dead letters in the last hour",
            ),
            steps=good,
            decimals=0,
            links=[link_to("espalier-health", "Health: for which reasons?")],
        ),
        number(
            "Nodes of the tree",
            "Decision nodes and leaves, over all models of an agent.",
            "short",
            Query(f"sum by (agent) (espalier_tree_nodes{{{WHERE}}})", "{{agent}}"),
        ),
        number(
            "Operations for each record",
            "What learning costs in the units of the papers (counts added, attributes scored, and the rest), "
            "for each record learned.",
            "short",
            Query(PER_RECORD, "{{agent}}"),
            decimals=1,
        ),
        number(
            "Workers up",
            "Workers that Prometheus reaches. Of a topic-wide agent one works and the others stand by.",
            "short",
            Query('sum(up{job=~"$job"})', "workers up"),
            steps=[Step(None, "red"), Step(1, "green")],
            decimals=0,
        ),
    )


def _over_time() -> tuple[Panel, ...]:
    return (
        lines(
            "Records by what became of them",
            "Learned: answered, then learned from. Predicted: answered only, for want of a label. Dead "
            "letter: could not be used.",
            "recps",
            Query(rate("espalier_records_total", "agent, outcome"), "{{agent}}: {{outcome}}"),
            stacked=True,
        ),
        lines(
            "Records behind, by agent",
            "Records in the input that are not yet processed, for each agent.",
            "short",
            Query(latest("espalier_consumer_lag_records", how="sum"), "{{agent}}"),
        ),
        lines(
            "Accuracy over the last 1,000 records",
            "Share of right answers, given before the label was learned.",
            "percentunit",
            Query(latest("espalier_accuracy_ratio", more=',window="1000"'), "{{agent}}"),
            bounds=(0, 1),
        ),
        lines(
            "What went wrong",
            "Dead letters, and transactions that were aborted and begun again, each second. Nothing is lost "
            "by either.",
            "cps",
            Query(rate("espalier_records_total", more=',outcome="dead_letter"'), "{{agent}}: dead letters"),
            Query(
                rate("espalier_transactions_total", more=',result="aborted"'),
                "{{agent}}: transactions aborted",
            ),
        ),
        lines(
            "Size of the tree",
            "Nodes by their kind. Decision nodes test an attribute, leaves answer.",
            "short",
            Query(latest("espalier_tree_nodes", "agent, kind", how="sum"), "{{agent}}: {{kind}}"),
        ),
        lines(
            "Cost of a record",
            "What learning costs in the units of the papers, for each record learned. It stays flat while "
            "the stream grows.",
            "short",
            Query(PER_RECORD, "{{agent}}"),
        ),
    )
