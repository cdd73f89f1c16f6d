"""*Learner*: what the tree has learned, how well, and at what cost."""

from grafana_foundation_sdk.builders.dashboard import AnnotationQuery, Dashboard

from deploy.grafana.source.panels import (
    RATE,
    SOURCE,
    WHERE,
    Panel,
    Query,
    Section,
    latest,
    lines,
    page,
    rate,
    rows,
    states,
    transform,
)

UID = "espalier-learner"
RESTRUCTURED = (
    f'sum by (agent, kind) (increase(espalier_tree_changes_total{{{WHERE},kind=~"pulled_up|replaced|folded"}}'
    "[1m])) > 0"
)
LEARNED = f'sum by (agent) (rate(espalier_records_total{{{WHERE},outcome="learned"}}{RATE}) > 0)'


def learner() -> Dashboard:
    """Return the dashboard."""
    return page(
        UID,
        "Espalier / Learner",
        "How good the answers are, how the tree changes, and what learning costs beside building it again.",
        [
            Section("Answers", _answers()),
            Section("Classes", _classes()),
            Section("Cost", _cost()),
            Section("The tree", _tree()),
        ],
        annotations=[
            AnnotationQuery()
            .name("Tree restructured")
            .datasource(SOURCE)
            .enable(True)
            .hide(False)
            .icon_color("orange")
            .expr(RESTRUCTURED)
        ],
    )


def _answers() -> tuple[Panel, ...]:
    return (
        lines(
            "Accuracy by window",
            "Share of right answers among the last 100, 1,000 and 10,000 records with a label, and since the "
            "worker started. A short window that falls below the long ones is drift.",
            "percentunit",
            Query(latest("espalier_accuracy_ratio", "agent, window"), "{{agent}}: last {{window}}"),
            bounds=(0, 1),
        ),
        lines(
            "Better than chance (kappa)",
            "Accuracy corrected for what guessing by the frequency of the classes would reach: 0 is no "
            "better than that, 1 is always right.",
            "percentunit",
            Query(latest("espalier_kappa_ratio", "agent, window"), "{{agent}}: last {{window}}"),
            bounds=(0, 1),
        ),
        lines(
            "Drift: the last 100 against the last 10,000",
            "By how much the newest answers are worse (below 0) or better than the long run. It returns to 0 "
            "as the tree is re-tied to what holds now.",
            "percentunit",
            Query(
                f'max by (agent) (espalier_accuracy_ratio{{{WHERE},window="100"}}) - '
                f'max by (agent) (espalier_accuracy_ratio{{{WHERE},window="10000"}})',
                "{{agent}}",
            ),
            width=24,
        ),
    )


def _classes() -> tuple[Panel, ...]:
    return (
        rows(
            "Confusion: what was it, and what was the answer?",
            "Records in the chosen time by their class (rows) and by the answer they got (columns). What is "
            "not on the diagonal was wrong.",
            "short",
            Query(
                f"sum by (class, answer) (increase(espalier_confusion_total{{{WHERE}}}[$__range]))",
                "{{class}} answered {{answer}}",
            ),
            transformations=[
                transform(
                    "groupingToMatrix",
                    columnField="answer",
                    rowField="class",
                    valueField="Value",
                    emptyValue="zero",
                )
            ],
        ),
        lines(
            "Share of each class",
            "Records with a label by their class, as a share of all. A change here is a drift of the stream "
            "itself.",
            "percentunit",
            Query(
                f"{rate('espalier_confusion_total', 'agent, class')} / ignoring(class) group_left() "
                f"({rate('espalier_confusion_total')} > 0)",
                "{{agent}}: {{class}}",
            ),
            bounds=(0, 1),
        ),
        lines(
            "Precision by class",
            "Of the answers that named a class, the share that was right; over the last 10,000 records.",
            "percentunit",
            Query(latest("espalier_precision_ratio", "agent, class"), "{{agent}}: {{class}}"),
            bounds=(0, 1),
        ),
        lines(
            "Recall by class",
            "Of the records of a class, the share that was answered so; over the last 10,000 records.",
            "percentunit",
            Query(latest("espalier_recall_ratio", "agent, class"), "{{agent}}: {{class}}"),
            bounds=(0, 1),
        ),
    )


def _cost() -> tuple[Panel, ...]:
    return (
        lines(
            "Operations for each record, by kind",
            "What learning one record costs, in the units of the papers.",
            "short",
            Query(
                f"sum by (agent, operation) (rate(espalier_operations_total{{{WHERE}}}{RATE})) / "
                f"ignoring(operation) group_left {LEARNED}",
                "{{agent}}: {{operation}}",
            ),
        ),
        lines(
            "How many times cheaper than ID3",
            "What ID3 would spend on one record, by building the tree again, divided by what was spent. "
            "ID3's cost is that of the last self-check, which builds the tree so.",
            "short",
            Query(
                f"sum by (agent) (max by (agent, operation) (espalier_id3_operations{{{WHERE}}})) / "
                f"(sum by (agent) (rate(espalier_operations_total{{{WHERE}}}{RATE})) / {LEARNED})",
                "{{agent}}",
            ),
        ),
        lines(
            "What ID3 would spend on each record",
            "Operations of building the tree again, as the last self-check did; a model of very many "
            "instances is not checked.",
            "short",
            Query(latest("espalier_id3_operations", "agent, operation"), "{{agent}}: {{operation}}"),
        ),
        lines(
            "Attributes pulled up",
            "Times an attribute was pulled up to the root of a subtree, and single transpositions of two "
            "levels, each second.",
            "cps",
            Query(
                rate(
                    "espalier_operations_total", "agent, operation", ',operation=~"pull_ups|transpositions"'
                ),
                "{{agent}}: {{operation}}",
            ),
        ),
    )


def _tree() -> tuple[Panel, ...]:
    return (
        lines(
            "Changes of the tree, by kind",
            "Changes each second. Grew: a leaf became a test. Pulled up: another test took a node, and "
            "nothing was forgotten. Folded: a test became a leaf.",
            "cps",
            Query(rate("espalier_tree_changes_total", "agent, kind"), "{{agent}}: {{kind}}"),
            stacked=True,
        ),
        lines(
            "Size and depth",
            "Nodes by their kind, and the tests on the longest path.",
            "short",
            Query(latest("espalier_tree_nodes", "agent, kind", how="sum"), "{{agent}}: {{kind}} nodes"),
            Query(latest("espalier_tree_depth"), "{{agent}}: depth"),
        ),
        lines(
            "Instances the tree stands for",
            "With a window or a cap on memory this stops growing.",
            "short",
            Query(latest("espalier_instances_retained", how="sum"), "{{agent}}"),
        ),
        states(
            "Is it the tree that ID3 would build?",
            "What the last self-check found. Anything but yes is a fault of the program: see the runbook.",
            Query(latest("espalier_tree_matches_batch", how="min"), "{{agent}}"),
            mappings={"1": ("yes", "green"), "0": ("no", "red")},
        ),
        lines(
            "Spare time spent on better trees",
            "Units of work each second that learners which can use it (lsid3, iidt-ts, iidt-ee) got while no "
            "record waited, and attempts each minute that made a tree better.",
            "short",
            Query(rate("espalier_improve_units_total"), "{{agent}}: units a second"),
            Query(f"60 * {rate('espalier_improvements_total')}", "{{agent}}: improvements a minute"),
        ),
        lines(
            "Before and after the last improvement",
            "What improving makes smaller: the leaves of the tree, or the errors to be expected of it.",
            "short",
            Query(latest("espalier_improve_quality", "agent, moment", how="sum"), "{{agent}}: {{moment}}"),
        ),
        lines(
            "Description length",
            "Bits that say the tree and bits that say what it gets wrong, of agents whose learner keeps "
            "their sum small (mdl). Exceptions that grow while the tree does not are noise; both growing "
            "is a concept that takes many tests.",
            "short",
            Query(latest("espalier_description_length", "agent, part", how="sum"), "{{agent}}: {{part}}"),
            width=24,
        ),
    )
