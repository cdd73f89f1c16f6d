"""Labels are from closed sets, and the series of a revoked partition vanish."""

import json

import pytest

from learners.change import ChangeKind
from learners.ops import OPERATIONS
from learners.outline import Size
from learners.schema import Misfit
from stream.assembly import processor_factory
from stream.config import Agent, Limits
from stream.events import (
    IGNORED,
    ModelMeasured,
    PartitionProgress,
    Rebalanced,
)
from stream.model.ports import unit_of
from stream.observe.metrics import Metrics
from stream.observe.metrics.catalog import METRICS, MOST_CLASSES, NONE, OTHER
from stream.records.record import Partition, Record
from tests.every_event import one_of_each
from tests.stream.observe.metric_samples import WINDOWS, progress, samples, value

# ---- partitions that go


def test_the_series_of_a_revoked_partition_vanish(metrics: Metrics) -> None:
    for event in (progress("a", 0), progress("a", 1), progress("b", 0)):
        metrics.observe(event)
    metrics.observe(Rebalanced("a", (), (("in", 0), ("in", 7))))
    left = {labels for name, labels in samples(metrics) if name == "espalier_consumer_lag_records"}
    assert {(dict(labels)["agent"], dict(labels)["partition"]) for labels in left} == {("a", "1"), ("b", "0")}
    gone = {"agent": "a", "topic": "in", "partition": "0"}
    assert value(metrics, "espalier_records_consumed_total", **gone) is None
    assert value(metrics, "espalier_consumer_lag_records", **gone) is None
    assert value(metrics, "espalier_rebalances_total", agent="a") == 1


def test_a_partition_that_comes_back_is_counted_from_where_it_stands(metrics: Metrics) -> None:
    metrics.observe(PartitionProgress("a", "in", 0, 0, 10, 0))
    metrics.observe(Rebalanced("a", (), (("in", 0),)))
    metrics.observe(Rebalanced("a", (("in", 0),), ()))
    metrics.observe(PartitionProgress("a", "in", 0, 500, 505, 0))
    place = {"agent": "a", "topic": "in", "partition": "0"}
    assert value(metrics, "espalier_records_consumed_total", **place) == 5
    assert value(metrics, "espalier_rebalances_total", agent="a") == 2


@pytest.mark.parametrize(("models", "left"), [(("in",), 0), (("in/0", "in/1"), 6)])
def test_the_tree_of_a_revoked_model_no_longer_counts(
    metrics: Metrics, models: tuple[str, ...], left: int
) -> None:
    for model in models:
        metrics.observe(ModelMeasured("a", model, Size(nodes=9, leaves=6, depth=3), 100))
    metrics.observe(Rebalanced("a", (), (("in", 0),)))
    assert value(metrics, "espalier_tree_nodes", agent="a", kind="leaf") == left
    assert value(metrics, "espalier_instances_retained", agent="a") == (100 if left else 0)


# ---- closed sets


def test_no_value_of_the_data_makes_a_series(metrics: Metrics) -> None:
    """Ten thousand records of which no two have a name, a value, a class, an id or a key in common.

    The first few classes have series of their own; after them no more come.
    """
    agent = Agent(name="a", input="in")
    limits = Limits(max_classes=20, max_attributes=20, max_values_per_attribute=20)
    processor = processor_factory(agent, limits, metrics.observe)(unit_of("in", None))
    place = Partition("in", 0)

    def feed(start: int, end: int) -> None:
        records = []
        for n in range(start, end):
            told: dict[str, object] = {"id": f"i{n}", f"a{n}" if n % 7 == 0 else "x": f"v{n}"}
            if n % 3:
                told["class"] = f"c{n}"
            told["y"] = n if n % 5 else [n]
            broken = f"{n}?" if n % 11 == 0 else ""
            headers = (("espalier.op", b"o%d" % n),) if n % 13 == 0 else ()
            records.append(Record(place, n, (broken + json.dumps(told)).encode(), b"k%d" % n, headers))
        processor.process(records)

    feed(0, 500)
    processor.process([Record(place, 500, b'{"x": "v"}')])
    before = {name for name, _ in samples(metrics)}
    count = len(samples(metrics))
    feed(501, 10_000)
    assert {name for name, _ in samples(metrics)} == before
    assert len(samples(metrics)) == count < 400
    assert value(metrics, "espalier_records_total", agent="a", outcome="dead_letter")


def test_every_label_value_is_of_a_closed_set_or_from_the_configuration(metrics: Metrics) -> None:
    closed: dict[str, set[str]] = {
        "agent": {"a"},
        "topic": {"in"},
        "partition": {"0"},
        "learner": {"id5r"},
        "scope": {"topic"},
        "outcome": {"predicted", "learned", "dead_letter"},
        "correct": {"true", "false"},
        "window": set(WINDOWS),
        "class": {f"c{n}" for n in range(MOST_CLASSES)} | {OTHER},
        "answer": {f"c{n}" for n in range(MOST_CLASSES)} | {OTHER, NONE},
        "operation": set(OPERATIONS),
        "kind": {kind.value for kind in ChangeKind} | {"leaf", "decision"},
        "part": {"tree", "exceptions"},
        "rule": {"ddm", "verified"},
        "moment": {"before", "after"},
        "reason": {misfit.value for misfit in Misfit},
        "flag": set(IGNORED),
        "result": {"committed", "aborted", "same", "different", "skipped", "failed"},
    }
    for event in one_of_each():
        metrics.observe(event)
    seen = {label for _, labels in samples(metrics) for label, _ in labels}
    assert seen - {"le", "version", "python"} == set(closed)
    for name, labels in samples(metrics):
        for label, text in labels:
            assert label in ("le", "version", "python") or text in closed[label], name


def test_one_of_each_event_gives_every_metric_a_value(metrics: Metrics) -> None:
    for event in one_of_each():
        metrics.observe(event)
    seen = {name.removesuffix("_count") for name, _ in samples(metrics)}
    assert {metric.shown for metric in METRICS} <= seen
