"""Every metric counts what it says, under labels from closed sets, and is served as Prometheus reads it."""

import json
import urllib.request
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from learners.change import ChangeKind
from learners.ops import OPERATIONS, OpCounts
from learners.outline import Size
from learners.schema import Misfit
from stream.agents import processor_factory
from stream.config import Agent, Limits
from stream.engine import unit_of
from stream.events import (
    Answered,
    Committed,
    Dropped,
    Event,
    Grown,
    Learned,
    Processed,
    Progress,
    Rebalanced,
    Restored,
)
from stream.metrics import ACCURACY_WINDOWS, Metrics, serve
from stream.record import Partition, Record

Series = tuple[str, tuple[tuple[str, str], ...]]


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def observed(metrics: Metrics, *events: Event) -> dict[Series, float]:
    """Return what changed by observing some events: every series and by how much."""
    before = samples(metrics)
    for event in events:
        metrics.observe(event)
    after = samples(metrics)
    gone = {series: -amount for series, amount in before.items() if series not in after}
    return gone | {
        series: amount - before.get(series, 0)
        for series, amount in after.items()
        if amount != before.get(series)
    }


def samples(metrics: Metrics) -> dict[Series, float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def series(name: str, labels: Mapping[str, str]) -> Series:
    return name, tuple(sorted(labels.items()))


# ---- each event counts what it says


def test_answers_are_counted_by_whether_there_was_a_label_and_they_were_right(metrics: Metrics) -> None:
    assert observed(metrics, Answered("a", [True, True, False], 5)) == {
        series("espalier_records_total", {"agent": "a", "outcome": "predicted"}): 5,
        series("espalier_predictions_total", {"agent": "a", "correct": "true"}): 2,
        series("espalier_predictions_total", {"agent": "a", "correct": "false"}): 1,
        **{
            series("espalier_accuracy_ratio", {"agent": "a", "window": str(window)}): pytest.approx(2 / 3)
            for window in ACCURACY_WINDOWS
        },
    }


def test_learning_counts_the_records_their_operations_and_their_changes(metrics: Metrics) -> None:
    spent = OpCounts(instance_count_additions=14, e_scores=6)
    kinds = (ChangeKind.GREW, ChangeKind.PULLED_UP, ChangeKind.GREW)
    assert observed(metrics, Learned("a", 7, spent, kinds)) == {
        series("espalier_records_total", {"agent": "a", "outcome": "learned"}): 7,
        series("espalier_operations_total", {"agent": "a", "operation": "instance_count_additions"}): 14,
        series("espalier_operations_total", {"agent": "a", "operation": "e_scores"}): 6,
        series("espalier_tree_changes_total", {"agent": "a", "kind": "grew"}): 2,
        series("espalier_tree_changes_total", {"agent": "a", "kind": "pulled_up"}): 1,
    }


def test_a_dead_letter_counts_as_a_record_and_by_its_reason(metrics: Metrics) -> None:
    assert observed(metrics, Dropped("a", "json_syntax")) == {
        series("espalier_records_total", {"agent": "a", "outcome": "dead_letter"}): 1,
        series("espalier_dead_letters_total", {"agent": "a", "reason": "json_syntax"}): 1,
    }


def test_the_size_is_the_sum_over_models_and_the_depth_the_deepest(metrics: Metrics) -> None:
    metrics.observe(Grown("a", "in/0", Size(nodes=9, leaves=6, depth=3), 100))
    metrics.observe(Grown("a", "in/1", Size(nodes=4, leaves=3, depth=1), 20))
    metrics.observe(Grown("b", "in", Size(nodes=1, leaves=1, depth=0), 1))
    metrics.observe(Grown("a", "in/1", Size(nodes=5, leaves=4, depth=1), 30))
    assert value(metrics, "espalier_tree_nodes", agent="a", kind="leaf") == 10
    assert value(metrics, "espalier_tree_nodes", agent="a", kind="decision") == 4
    assert value(metrics, "espalier_tree_depth", agent="a") == 3
    assert value(metrics, "espalier_instances_retained", agent="a") == 130
    assert value(metrics, "espalier_tree_nodes", agent="b", kind="leaf") == 1


def test_a_batch_is_timed(metrics: Metrics) -> None:
    metrics.observe(Processed("a", 100, 0.02))
    assert value(metrics, "espalier_batch_seconds_count", agent="a") == 1
    assert value(metrics, "espalier_batch_seconds_sum", agent="a") == 0.02
    assert value(metrics, "espalier_batch_seconds_bucket", agent="a", le="0.01") == 0
    assert value(metrics, "espalier_batch_seconds_bucket", agent="a", le="0.025") == 1


def test_a_transaction_is_counted_by_how_it_ended_and_timed_if_it_was_committed(metrics: Metrics) -> None:
    metrics.observe(Committed("a", "committed", 0.5))
    metrics.observe(Committed("a", "aborted", 7.0))
    for result in ("committed", "aborted"):
        assert value(metrics, "espalier_transactions_total", agent="a", result=result) == 1
    assert value(metrics, "espalier_commit_seconds_count", agent="a") == 1
    assert value(metrics, "espalier_commit_seconds_sum", agent="a") == 0.5


def test_a_restore_shows_how_long_it_took(metrics: Metrics) -> None:
    assert observed(metrics, Restored("a", "in", 1_000, 2.5)) == {
        series("espalier_restore_seconds", {"agent": "a"}): 2.5
    }


def test_progress_counts_the_records_read_and_shows_the_lag(metrics: Metrics) -> None:
    place = {"agent": "a", "topic": "in", "partition": "3"}
    # What was there before this worker came has not been read by it.
    metrics.observe(Progress("a", "in", 3, first=1_000, consumed=1_100, lag=50))
    assert value(metrics, "espalier_records_consumed_total", **place) == 100
    assert value(metrics, "espalier_consumer_lag_records", **place) == 50
    metrics.observe(Progress("a", "in", 3, first=1_100, consumed=1_150, lag=0))
    assert value(metrics, "espalier_records_consumed_total", **place) == 150
    assert value(metrics, "espalier_consumer_lag_records", **place) == 0


# ---- partitions that go


def progress(agent: str, partition: int) -> Progress:
    return Progress(agent, "in", partition, first=0, consumed=10, lag=5)


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
    metrics.observe(Progress("a", "in", 0, 0, 10, 0))
    metrics.observe(Rebalanced("a", (), (("in", 0),)))
    metrics.observe(Rebalanced("a", (("in", 0),), ()))
    metrics.observe(Progress("a", "in", 0, 500, 505, 0))
    place = {"agent": "a", "topic": "in", "partition": "0"}
    assert value(metrics, "espalier_records_consumed_total", **place) == 5
    assert value(metrics, "espalier_rebalances_total", agent="a") == 2


@pytest.mark.parametrize(("models", "left"), [(("in",), 0), (("in/0", "in/1"), 6)])
def test_the_tree_of_a_revoked_model_no_longer_counts(
    metrics: Metrics, models: tuple[str, ...], left: int
) -> None:
    for model in models:
        metrics.observe(Grown("a", model, Size(nodes=9, leaves=6, depth=3), 100))
    metrics.observe(Rebalanced("a", (), (("in", 0),)))
    assert value(metrics, "espalier_tree_nodes", agent="a", kind="leaf") == left
    assert value(metrics, "espalier_instances_retained", agent="a") == (100 if left else 0)


# ---- closed sets


def test_no_value_of_the_data_makes_a_series(metrics: Metrics) -> None:
    """Ten thousand records of which no two have a name, a value, a class, an id or a key in common."""
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
    before = {name for name, _ in samples(metrics)}
    count = len(samples(metrics))
    feed(500, 10_000)
    assert {name for name, _ in samples(metrics)} == before
    assert len(samples(metrics)) == count < 100
    assert value(metrics, "espalier_records_total", agent="a", outcome="dead_letter")


def test_every_label_value_is_of_a_closed_set_or_from_the_configuration(metrics: Metrics) -> None:
    closed: dict[str, set[str]] = {
        "agent": {"a"},
        "topic": {"in"},
        "partition": {"0"},
        "outcome": {"predicted", "learned", "dead_letter"},
        "correct": {"true", "false"},
        "window": {str(window) for window in ACCURACY_WINDOWS},
        "operation": set(OPERATIONS),
        "kind": {kind.value for kind in ChangeKind} | {"leaf", "decision"},
        "reason": {misfit.value for misfit in Misfit},
        "result": {"committed", "aborted"},
    }
    for event in one_of_each():
        metrics.observe(event)
    seen = {label for family in metrics.registry.collect() for s in family.samples for label in s.labels}
    assert seen - {"le"} == set(closed)
    for family in metrics.registry.collect():
        for sample in family.samples:
            for label, text in sample.labels.items():
                assert label == "le" or text in closed[label], sample


def one_of_each() -> Iterator[Event]:
    yield Answered("a", [False, True], 1)
    yield Learned("a", 2, OpCounts(*range(1, len(OPERATIONS) + 1)), tuple(ChangeKind))
    yield from (Dropped("a", misfit.value) for misfit in Misfit)
    yield Grown("a", "in", Size(3, 2, 1), 5)
    yield Processed("a", 10, 0.1)
    yield Committed("a", "committed", 0.1)
    yield Committed("a", "aborted", 0.1)
    yield Rebalanced("a", (("in", 0),), ())
    yield Restored("a", "in", 10, 0.1)
    yield Progress("a", "in", 0, 0, 10, 0)


# ---- accuracy


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4_000)), min_size=1, max_size=8))
def test_accuracy_is_the_share_of_right_answers_in_each_window(runs: list[tuple[bool, int]]) -> None:
    # Runs of equal answers cross the bounds of every window with few draws.
    metrics = Metrics()
    answers: list[bool] = []
    for correct, length in runs:
        answers += [correct] * length
        metrics.observe(Answered("a", [correct] * length, 3))
        for window in ACCURACY_WINDOWS:
            last = answers[-window:]
            told = value(metrics, "espalier_accuracy_ratio", agent="a", window=str(window))
            assert told == (sum(last) / len(last) if last else 0)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.lists(st.booleans(), max_size=90)), max_size=8))
def test_the_accuracy_of_one_agent_is_not_that_of_another(batches: list[tuple[str, list[bool]]]) -> None:
    metrics = Metrics()
    for agent, hits in batches:
        metrics.observe(Answered(agent, hits, 0))
    for agent in "ab":
        last = [hit for one, hits in batches if one == agent for hit in hits][-100:]
        told = value(metrics, "espalier_accuracy_ratio", agent=agent, window="100")
        expected = sum(last) / len(last) if last else 0
        assert told == (expected if agent in dict(batches) else None)


# ---- served


def test_metrics_are_served_as_prometheus_reads_them(metrics: Metrics) -> None:
    for event in one_of_each():
        metrics.observe(event)
    port, stop = serve(metrics, "127.0.0.1", 0)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            assert answer.status == 200
            assert answer.headers["Content-Type"].startswith("text/plain")
            text = answer.read().decode()
    finally:
        stop()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    told = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families.values()
        for sample in family.samples
        if not sample.name.endswith("_created")
    }
    assert told == samples(metrics)
    assert all(name.startswith("espalier_") for name in families)
    for family in families.values():
        assert family.documentation.endswith("."), family.name
        values = [sample.name for sample in family.samples if not sample.name.endswith("_created")]
        assert all(name.endswith("_total") == (family.type == "counter") for name in values)


def test_a_stopped_server_gives_its_port_back(metrics: Metrics) -> None:
    port, stop = serve(metrics, "127.0.0.1", 0)
    with pytest.raises(OSError, match="in use"):
        serve(metrics, "127.0.0.1", port)
    stop()
    again, stop = serve(Metrics(), "127.0.0.1", port)
    stop()
    assert again == port


def test_two_workers_in_one_process_do_not_share_their_counts() -> None:
    one, other = Metrics(), Metrics()
    one.observe(Dropped("a", "empty"))
    assert value(other, "espalier_dead_letters_total", agent="a", reason="empty") is None
