"""Read the samples of a registry, and what some events change in them."""

from collections.abc import Mapping, Sequence

import numpy as np

from stream.events import (
    BatchPredicted,
    Event,
    PartitionProgress,
)
from stream.observe.metrics import ACCURACY_WINDOWS, Metrics
from stream.observe.metrics.catalog import ALL

Series = tuple[str, tuple[tuple[str, str], ...]]
WINDOWS = (*map(str, ACCURACY_WINDOWS), ALL)


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


def progress(agent: str, partition: int) -> PartitionProgress:
    return PartitionProgress(agent, "in", partition, first=0, consumed=10, lag=5)
