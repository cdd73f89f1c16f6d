"""Every event changes the metrics that count it, and no others."""

import json

import pytest

from learners.change import ChangeKind
from learners.learner import make_options
from learners.ops import OpCounts
from learners.outline import Size
from learners.registry import LEARNERS
from stream.config import Agent
from stream.events import (
    AttributeRetired,
    BatchPredicted,
    Committed,
    FieldNoted,
    Learned,
    LearnTimed,
    ModelMeasured,
    PartitionProgress,
    Processed,
    RecordRejected,
    RestoreFinished,
    RestoreProgress,
    SelfChecked,
    Started,
)
from stream.observe.metrics import Metrics
from tests.stream.observe.metric_samples import WINDOWS, answered, observed, series, value
from tests.stream.stories import INPUT, make, records_of, told_by


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
