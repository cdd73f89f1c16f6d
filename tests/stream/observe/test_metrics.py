"""Every metric counts what it says, under labels from closed sets, and is served as Prometheus reads it."""

import json
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as openmetrics_families,
)
from prometheus_client.parser import text_string_to_metric_families

from learners.change import ChangeKind
from learners.learner import make_options
from learners.ops import OPERATIONS, OpCounts
from learners.outline import Size
from learners.registry import LEARNERS
from learners.schema import Misfit
from stream.assembly import processor_factory
from stream.config import Agent, Limits
from stream.events import (
    IGNORED,
    AttributeRetired,
    BatchPredicted,
    Committed,
    Event,
    FieldNoted,
    Learned,
    LearnTimed,
    ModelMeasured,
    PartitionProgress,
    Processed,
    Rebalanced,
    RecordRejected,
    RestoreFinished,
    RestoreProgress,
    SelfChecked,
    Started,
)
from stream.model.ports import unit_of
from stream.observe.metrics import ACCURACY_WINDOWS, Metrics, exposition
from stream.observe.metrics.catalog import ALL, METRICS, MOST_CLASSES, NONE, OTHER
from stream.observe.metrics.text_format import TextWriter
from stream.records.record import Partition, Record
from tests.every_event import one_of_each
from tests.stream.stories import INPUT, make, records_of, told_by

Series = tuple[str, tuple[tuple[str, str], ...]]
WINDOWS = (*map(str, ACCURACY_WINDOWS), ALL)


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
        if not sample.name.startswith("process_")
    }


def answered(hits: Sequence[bool], unlabelled: int = 0, agent: str = "a") -> BatchPredicted:
    """Return answers to records of class "yes", of which the wrong ones said "no"."""
    labels = np.array([0] * len(hits) + [-1] * unlabelled, dtype=np.int32)
    answers = np.array([0 if hit else 1 for hit in hits] + [0] * unlabelled, dtype=np.int32)
    return BatchPredicted(agent, hits, unlabelled, "in", labels, answers, ["yes", "no"])


def series(name: str, labels: Mapping[str, str]) -> Series:
    return name, tuple(sorted(labels.items()))


# ---- each event counts what it says


def test_answers_are_counted_by_whether_there_was_a_label_and_they_were_right(metrics: Metrics) -> None:
    told = observed(metrics, answered([True, True, False], 5))
    assert told.pop(series("espalier_records_total", {"agent": "a", "outcome": "predicted"})) == 5
    assert told.pop(series("espalier_predictions_total", {"agent": "a", "correct": "true"})) == 2
    assert told.pop(series("espalier_predictions_total", {"agent": "a", "correct": "false"})) == 1
    for window in WINDOWS:
        key = series("espalier_accuracy_ratio", {"agent": "a", "window": window})
        assert told.pop(key) == pytest.approx(2 / 3)
    of_yes = {"agent": "a", "class": "yes"}
    assert told.pop(series("espalier_confusion_total", {**of_yes, "answer": "yes"})) == 2
    assert told.pop(series("espalier_confusion_total", {**of_yes, "answer": "no"})) == 1
    assert told.pop(series("espalier_precision_ratio", of_yes)) == 1
    assert told.pop(series("espalier_recall_ratio", of_yes)) == pytest.approx(2 / 3)
    # Kappa is 0: with one class, chance would say the same. So is the precision of "no".
    assert set(told.values()) == {0}


def test_answers_without_their_classes_are_counted_all_the_same(metrics: Metrics) -> None:
    metrics.observe(BatchPredicted("a", [True, False, True], 2))
    assert value(metrics, "espalier_predictions_total", agent="a", correct="true") == 2
    assert value(metrics, "espalier_records_total", agent="a", outcome="predicted") == 2


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
    assert observed(metrics, RecordRejected("a", "json_syntax")) == {
        series("espalier_records_total", {"agent": "a", "outcome": "dead_letter"}): 1,
        series("espalier_dead_letters_total", {"agent": "a", "reason": "json_syntax"}): 1,
    }


@pytest.mark.parametrize("name", ["attributes_retired", "rebalances", "improve_units", "improvements"])
def test_what_an_agent_counts_begins_at_zero(metrics: Metrics, name: str) -> None:
    metrics.observe(Started("a", "in", "id5r", "topic"))
    assert value(metrics, f"espalier_{name}_total", agent="a") == 0


def test_a_field_that_was_ignored_is_counted_by_its_flag_and_a_retired_attribute_by_the_agent(
    metrics: Metrics,
) -> None:
    for event in (
        FieldNoted("a", "in", "notes", "too_long", "in", 0, 7),
        FieldNoted("a", "in", "tags", "nested", "in", 0, 8, records=40),
        FieldNoted("a", "in", "other", "nested", "in", 0, 9),
        AttributeRetired("a", "in", "user_id", 1_024, False, "in", 0, 10),
    ):
        metrics.observe(event)
    assert value(metrics, "espalier_fields_ignored_total", agent="a", flag="too_long") == 1
    assert value(metrics, "espalier_fields_ignored_total", agent="a", flag="nested") == 41
    assert value(metrics, "espalier_attributes_retired_total", agent="a") == 1


def test_the_size_is_the_sum_over_models_and_the_depth_the_deepest(metrics: Metrics) -> None:
    metrics.observe(ModelMeasured("a", "in/0", Size(nodes=9, leaves=6, depth=3), 100))
    metrics.observe(ModelMeasured("a", "in/1", Size(nodes=4, leaves=3, depth=1), 20))
    metrics.observe(ModelMeasured("b", "in", Size(nodes=1, leaves=1, depth=0), 1))
    metrics.observe(ModelMeasured("a", "in/1", Size(nodes=5, leaves=4, depth=1), 30))
    assert value(metrics, "espalier_tree_nodes", agent="a", kind="leaf") == 10
    assert value(metrics, "espalier_tree_nodes", agent="a", kind="decision") == 4
    assert value(metrics, "espalier_tree_depth", agent="a") == 3
    assert value(metrics, "espalier_instances_retained", agent="a") == 130
    assert value(metrics, "espalier_tree_nodes", agent="b", kind="leaf") == 1


def test_a_drop_of_the_past_is_a_tree_change_and_is_counted_by_its_rule(metrics: Metrics) -> None:
    options = make_options(LEARNERS["id5r"].options_type, {"preset": "adaptive"})
    agent = Agent(name="a", input=INPUT, learner="id5r", options=options)
    values = [
        json.dumps({"x": "ab"[n % 2], "class": "yn"[(n % 2) ^ (n >= 300)]}).encode() for n in range(600)
    ]
    told = told_by(make(agent, metrics.observe).process(records_of(values)), agent)
    drops = sum(change["kind"] == "dropped" for one in told.changes for change in one["changes"])
    assert drops == 1
    assert value(metrics, "espalier_past_drops", agent="a", rule="ddm") == drops
    assert value(metrics, "espalier_tree_changes_total", agent="a", kind="dropped") == drops


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
    assert observed(metrics, RestoreFinished("a", "in", 1_000, 2.5)) == {
        series("espalier_restore_seconds", {"agent": "a"}): 2.5,
        series("espalier_restore_instances", {"agent": "a"}): 1_000,
        series("espalier_restore_progress_ratio", {"agent": "a"}): 1,
    }


def test_a_restore_shows_how_far_it_is(metrics: Metrics) -> None:
    metrics.observe(RestoreProgress("a", "in", 250, 0.25))
    assert value(metrics, "espalier_restore_progress_ratio", agent="a") == 0.25
    assert value(metrics, "espalier_restore_instances", agent="a") == 250


def test_the_learner_is_timed_by_whether_it_had_anything_to_learn(metrics: Metrics) -> None:
    for learned in (7, 0, 3):
        metrics.observe(LearnTimed("a"))
        metrics.observe(LearnTimed("a", learned))
    assert value(metrics, "espalier_learn_seconds_count", agent="a") == 2
    assert value(metrics, "espalier_predict_seconds_count", agent="a") == 1


def test_the_lag_in_seconds_is_the_age_of_the_last_record_until_the_end_is_reached() -> None:
    clock = [1_000.0]
    metrics = Metrics(now=lambda: clock[0])
    place = {"agent": "a", "topic": "in", "partition": "0"}
    metrics.observe(PartitionProgress("a", "in", 0, 0, 10, lag=5, written_ms=990_000))
    assert value(metrics, "espalier_consumer_lag_seconds", **place) == 10
    clock[0] = 1_060.0  # Nothing has come since: it gets later all the same.
    assert value(metrics, "espalier_consumer_lag_seconds", **place) == 70
    metrics.observe(PartitionProgress("a", "in", 0, 10, 15, lag=0, written_ms=991_000))
    assert value(metrics, "espalier_consumer_lag_seconds", **place) == 0
    assert value(metrics, "espalier_end_to_end_seconds_sum", agent="a") == 10 + 69


def test_a_clock_that_is_ahead_of_the_records_makes_no_negative_delay() -> None:
    metrics = Metrics(now=lambda: 1.0)
    metrics.observe(PartitionProgress("a", "in", 0, 0, 10, lag=5, written_ms=99_000))
    assert value(metrics, "espalier_end_to_end_seconds_sum", agent="a") == 0
    place = {"agent": "a", "topic": "in", "partition": "0"}
    assert value(metrics, "espalier_consumer_lag_seconds", **place) == 0


def test_a_self_check_shows_its_verdict_and_what_id3_spent(metrics: Metrics) -> None:
    assert value(metrics, "espalier_tree_matches_batch", agent="a") is None
    metrics.observe(SelfChecked("a", "in", "same", OpCounts(e_scores=12)))
    assert value(metrics, "espalier_tree_matches_batch", agent="a") == 1
    assert value(metrics, "espalier_id3_operations", agent="a", operation="e_scores") == 12
    metrics.observe(SelfChecked("a", "in", "skipped"))
    assert value(metrics, "espalier_tree_matches_batch", agent="a") == 1
    metrics.observe(SelfChecked("a", "in", "different", OpCounts()))
    assert value(metrics, "espalier_tree_matches_batch", agent="a") == 0
    for result in ("same", "skipped", "different"):
        assert value(metrics, "espalier_self_checks_total", agent="a", result=result) == 1


def test_one_tree_that_differs_is_not_covered_up_by_another_that_does_not(metrics: Metrics) -> None:
    for model, result in (("in/0", "same"), ("in/1", "different"), ("in/0", "same")):
        metrics.observe(SelfChecked("a", model, result, OpCounts()))
    assert value(metrics, "espalier_tree_matches_batch", agent="a") == 0
    metrics.observe(SelfChecked("a", "in/1", "same", OpCounts()))
    assert value(metrics, "espalier_tree_matches_batch", agent="a") == 1


def test_an_agent_that_has_seen_nothing_counts_from_zero(metrics: Metrics) -> None:
    metrics.observe(Started("a", "in", "id5r", "topic"))
    assert value(metrics, "espalier_agent_info", agent="a", topic="in", learner="id5r", scope="topic") == 1
    assert value(metrics, "espalier_records_total", agent="a", outcome="dead_letter") == 0
    assert value(metrics, "espalier_transactions_total", agent="a", result="aborted") == 0
    assert value(metrics, "espalier_accuracy_ratio", agent="a", window="100") is None


def test_progress_counts_the_records_read_and_shows_the_lag(metrics: Metrics) -> None:
    place = {"agent": "a", "topic": "in", "partition": "3"}
    # What was there before this worker came has not been read by it.
    metrics.observe(PartitionProgress("a", "in", 3, first=1_000, consumed=1_100, lag=50))
    assert value(metrics, "espalier_records_consumed_total", **place) == 100
    assert value(metrics, "espalier_consumer_lag_records", **place) == 50
    metrics.observe(PartitionProgress("a", "in", 3, first=1_100, consumed=1_150, lag=0))
    assert value(metrics, "espalier_records_consumed_total", **place) == 150
    assert value(metrics, "espalier_consumer_lag_records", **place) == 0


# ---- partitions that go


def progress(agent: str, partition: int) -> PartitionProgress:
    return PartitionProgress(agent, "in", partition, first=0, consumed=10, lag=5)


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


# ---- accuracy


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4_000)), min_size=1, max_size=8))
def test_accuracy_is_the_share_of_right_answers_in_each_window(runs: list[tuple[bool, int]]) -> None:
    # Runs of equal answers cross the bounds of every window with few draws.
    metrics = Metrics()
    answers: list[bool] = []
    for correct, length in runs:
        answers += [correct] * length
        metrics.observe(answered([correct] * length, 3))
        for window in ACCURACY_WINDOWS:
            last = answers[-window:]
            told = value(metrics, "espalier_accuracy_ratio", agent="a", window=str(window))
            assert told == (pytest.approx(sum(last) / len(last)) if last else None)
        told = value(metrics, "espalier_accuracy_ratio", agent="a", window=ALL)
        assert told == (pytest.approx(sum(answers) / len(answers)) if answers else None)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.lists(st.booleans(), max_size=90)), max_size=8))
def test_the_accuracy_of_one_agent_is_not_that_of_another(batches: list[tuple[str, list[bool]]]) -> None:
    metrics = Metrics()
    for agent, hits in batches:
        metrics.observe(answered(hits, 0, agent))
    for agent in "ab":
        last = [hit for one, hits in batches if one == agent for hit in hits][-100:]
        told = value(metrics, "espalier_accuracy_ratio", agent=agent, window="100")
        assert told == (pytest.approx(sum(last) / len(last)) if last else None)


Coded = tuple[list[int], list[int]]


@given(
    st.lists(
        st.integers(0, 700).flatmap(
            lambda n: st.tuples(
                st.lists(st.integers(-1, 13), min_size=n, max_size=n),
                st.lists(st.integers(-1, 13), min_size=n, max_size=n),
            )
        ),
        min_size=1,
        max_size=4,
    )
)
def test_confusion_precision_recall_and_kappa_are_those_of_the_definitions(batches: list[Coded]) -> None:
    metrics = Metrics()
    names = [f"c{n}" for n in range(14)]
    for labels, answers in batches:
        coded = np.array(labels, dtype=np.int32), np.array(answers, dtype=np.int32)
        metrics.observe(BatchPredicted("a", [], labels.count(-1), "in", *coded, names))
    pairs = [pair for batch in batches for pair in zip(*batch, strict=True) if pair[0] >= 0]

    def shown(code: int) -> str:
        return NONE if code < 0 else names[code] if code < MOST_CLASSES else OTHER

    seen: dict[tuple[str, str], int] = {}
    for label, answer in pairs:
        key = (shown(label), shown(answer))
        seen[key] = seen.get(key, 0) + 1
    told = {
        (dict(labels)["class"], dict(labels)["answer"]): amount
        for (name, labels), amount in samples(metrics).items()
        if name == "espalier_confusion_total"
    }
    assert told == seen
    for name in names[:MOST_CLASSES]:
        of = sum(n for (label, _), n in seen.items() if label == name)
        said = sum(n for (_, answer), n in seen.items() if answer == name)
        right = seen.get((name, name), 0)
        for ratio, whole in (("recall", of), ("precision", said)):
            share = value(metrics, f"espalier_{ratio}_ratio", **{"agent": "a", "class": name})
            assert share == (pytest.approx(right / whole) if whole else None)
    if pairs:
        agreed = sum(label == answer for label, answer in pairs) / len(pairs)
        groups = {*(label for label, _ in seen), *(answer for _, answer in seen)}
        chance = (
            sum(
                sum(n for (label, _), n in seen.items() if label == one)
                * sum(n for (_, answer), n in seen.items() if answer == one)
                for one in groups
            )
            / len(pairs) ** 2
        )
        kappa = value(metrics, "espalier_kappa_ratio", agent="a", window=ALL)
        assert kappa == pytest.approx((agreed - chance) / (1 - chance) if chance < 1 else 0)


def test_the_codes_of_two_models_of_an_agent_are_told_apart(metrics: Metrics) -> None:
    """Each model numbers the classes in the order in which it has met them."""
    zero = np.zeros(3, dtype=np.int32)
    metrics.observe(BatchPredicted("a", [], 0, "in/0", zero, zero, ["yes", "no"]))
    metrics.observe(BatchPredicted("a", [], 0, "in/1", zero, zero, ["no", "yes"]))
    for name in ("yes", "no"):
        labels = {"agent": "a", "class": name, "answer": name}
        assert value(metrics, "espalier_confusion_total", **labels) == 3


def test_the_last_answers_are_forgotten_with_the_last_partition_and_the_counts_are_not(
    metrics: Metrics,
) -> None:
    metrics.observe(Rebalanced("a", (("in", 0), ("in", 1)), ()))
    metrics.observe(answered([True, False]))
    metrics.observe(Rebalanced("a", (), (("in", 0),)))
    assert value(metrics, "espalier_accuracy_ratio", agent="a", window="100") == 0.5
    assert value(metrics, "espalier_partitions_assigned", agent="a") == 1
    metrics.observe(Rebalanced("a", (), (("in", 1),)))
    for window in WINDOWS:
        assert value(metrics, "espalier_accuracy_ratio", agent="a", window=window) is None
    assert value(metrics, "espalier_predictions_total", agent="a", correct="true") == 1
    metrics.observe(answered([True]))
    assert value(metrics, "espalier_accuracy_ratio", agent="a", window=ALL) == 1


# ---- served


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
