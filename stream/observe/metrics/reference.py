"""docs/metrics.md, printed from the catalogue."""

from stream.observe.metrics.catalog import LABELS, METRICS

HEAD = """\
# Metrics

A worker serves them for Prometheus on `http://127.0.0.1:9464/metrics`: `[metrics]` in
[configuration.md](configuration.md). They come as plain text or as OpenMetrics, whose exemplars carry the
partition and the offset of a record. Times are in seconds, sizes in bytes, shares from 0 to 1. This page is
printed by `espalier metrics docs`.

| metric | type | labels | what it says |
|---|---|---|---|
"""

LABEL_HEAD = """
## Labels

They come from the configuration or from closed sets. The one that comes from the data, the class, is capped.

| label | values |
|---|---|
"""

TAIL = """
The series of a partition vanish when it goes to another worker; the trees of its models no longer count, and
the last answers are forgotten when no partition is left. Beside these there are the `process_*` metrics of
every Prometheus client: memory, CPU time, open files, and the start of the process. Alerts, and what to do
about them: [runbook.md](runbook.md).
"""


def reference() -> str:
    """Return the document."""
    rows = [
        f"| `{metric.shown}` | {metric.kind} | {', '.join(f'`{label}`' for label in metric.labels)} | "
        f"{metric.says}{f' Comes with {metric.waits}.' if metric.waits else ''} |\n"
        for metric in METRICS
    ]
    labels = [f"| `{name}` | {values} |\n" for name, values in LABELS.items()]
    return HEAD + "".join(rows) + LABEL_HEAD + "".join(labels) + TAIL
