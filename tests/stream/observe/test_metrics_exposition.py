"""Metrics are served as Prometheus reads them, with exemplars that lead to a record."""

import math

from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as openmetrics_families,
)
from prometheus_client.parser import text_string_to_metric_families

from stream.events import (
    PartitionProgress,
    Processed,
    RecordRejected,
)
from stream.observe.metrics import Metrics, exposition
from stream.observe.metrics.text_format import TextWriter
from tests.every_event import one_of_each
from tests.stream.observe.metric_samples import samples, value


def test_numbers_without_end_are_written_as_prometheus_writes_them() -> None:
    registry = CollectorRegistry()
    gauge = Gauge("g", "A number.", ["n"], registry=registry)
    numbers = {"high": math.inf, "low": -math.inf, "none": math.nan}
    for name, number in numbers.items():
        gauge.labels(name).set(number)
    text = TextWriter().write(registry, openmetrics=False).decode()
    [family] = text_string_to_metric_families(text)
    assert {sample.labels["n"]: repr(sample.value) for sample in family.samples} == {
        name: repr(number) for name, number in numbers.items()
    }


def test_metrics_are_served_as_prometheus_reads_them(metrics: Metrics) -> None:
    for event in one_of_each():
        metrics.observe(event)
    told, media_type = exposition(metrics, "text/plain;version=0.0.4")
    assert media_type.startswith("text/plain")
    text = told.decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    shown = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families.values()
        for sample in family.samples
        if not sample.name.startswith("process_")
    }
    assert shown == samples(metrics)
    assert all(name.startswith(("espalier_", "process_")) for name in families)
    for family in families.values():
        assert family.documentation.endswith("."), family.name
        values = [sample.name for sample in family.samples]
        assert all(name.endswith("_total") == (family.type == "counter") for name in values)


def test_exemplars_lead_to_the_record(metrics: Metrics) -> None:
    metrics.observe(RecordRejected("a", "empty", partition=3, offset=77))
    metrics.observe(Processed("a", 10, 0.02, partition=3, offset=78))
    metrics.observe(PartitionProgress("a", "in", 3, 70, 80, 0, written_ms=1))
    text, media_type = exposition(metrics, "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
    assert media_type.startswith("application/openmetrics-text")
    found = {
        sample.name: dict(sample.exemplar.labels)
        for family in openmetrics_families(text.decode())
        for sample in family.samples
        if sample.exemplar is not None
    }
    assert found == {
        "espalier_dead_letters_total": {"partition": "3", "offset": "77"},
        "espalier_batch_seconds_bucket": {"partition": "3", "offset": "78"},
        "espalier_records_consumed_total": {"offset": "79"},
        "espalier_end_to_end_seconds_bucket": {"partition": "3", "offset": "79"},
    }
    plain, media_type = exposition(metrics)
    assert media_type.startswith("text/plain")
    assert b"offset" not in plain


def test_two_workers_in_one_process_do_not_share_their_counts() -> None:
    one, other = Metrics(), Metrics()
    one.observe(RecordRejected("a", "empty"))
    assert value(other, "espalier_dead_letters_total", agent="a", reason="empty") is None
