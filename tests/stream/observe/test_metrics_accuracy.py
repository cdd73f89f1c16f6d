"""Accuracy, confusion, precision, recall and kappa over the last predictions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream.events import (
    BatchPredicted,
    Rebalanced,
)
from stream.observe.metrics import ACCURACY_WINDOWS, Metrics
from stream.observe.metrics.catalog import ALL, MOST_CLASSES, NONE, OTHER
from tests.stream.observe.metric_samples import WINDOWS, answered, samples, value


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
