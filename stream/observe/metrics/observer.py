"""From events to metrics. Nothing here waits for anything, so that the loop never does."""

import platform
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import assert_never

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from learners.ops import OPERATIONS
from stream.events import (
    IGNORED,
    AttributeRetired,
    BatchPredicted,
    Committed,
    Event,
    FieldNoted,
    Improved,
    Labelled,
    Learned,
    LearnTimed,
    ModelCreated,
    ModelMeasured,
    NumbersAsText,
    NumbersAsValues,
    PartitionProgress,
    Processed,
    Rebalanced,
    RecordRejected,
    RestoreFinished,
    RestoreProgress,
    SelfChecked,
    Snapshotted,
    Started,
)
from stream.observe.metrics.catalog import DELAYS, METRICS, PREFIX, SECONDS
from stream.observe.metrics.partition_lag import Partitions
from stream.observe.metrics.quality import Answers
from stream.observe.metrics.text_format import TextWriter

# When each counter began is known from the start of the process; a second series for each would say no more.
disable_created_metrics()  # type: ignore[no-untyped-call]

_OUTCOMES = ("learned", "predicted", "dead_letter")
_LATE = ("label_delay_seconds", "end_to_end_seconds")


class Metrics:
    """Counts what it is told.

    Args:
        registry: Where the metrics are kept: one of its own for each worker and each test.
        now: The time, in seconds since 1970.
    """

    def __init__(
        self, registry: CollectorRegistry | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self.registry = registry or CollectorRegistry()
        self.writer = TextWriter()
        self._now = now
        self._answers: dict[str, Answers] = {}
        self._sizes: dict[str, dict[str, ModelMeasured]] = {}
        self._described: set[str] = set()
        self._watching: dict[str, set[str]] = {}
        self._assigned: dict[str, set[tuple[str, int]]] = {}
        self._verdicts: dict[str, dict[str, bool]] = {}
        self._began: dict[str, float] = {}
        self._partitions = Partitions(now)
        collected = {"confusion", "accuracy_ratio", "kappa_ratio", "precision_ratio", "recall_ratio"}
        collected |= {"records_consumed", "consumer_lag_records", "consumer_lag_seconds"}
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, Histogram] = {}
        self._counted: dict[tuple[str, ...], Counter] = {}
        self._shown: dict[tuple[str, ...], Gauge] = {}
        for metric in METRICS:
            if metric.name in collected:
                continue
            told = (PREFIX + metric.name, metric.says, metric.labels)
            if metric.kind == "counter":
                self._counters[metric.name] = Counter(*told, registry=self.registry)
            elif metric.kind == "gauge":
                self._gauges[metric.name] = Gauge(*told, registry=self.registry)
            else:
                buckets = DELAYS if metric.name in _LATE else SECONDS
                self._histograms[metric.name] = Histogram(*told, registry=self.registry, buckets=buckets)
        self.registry.register(self._partitions)
        self.registry.register(_Quality(self._answers))
        ProcessCollector(registry=self.registry)
        self._gauges["build_info"].labels(_version(), platform.python_version()).set(1)

    def _count(self, name: str, *labels: str, by: float = 1, seen: dict[str, str] | None = None) -> None:
        key = (name, *labels)
        child = self._counted.get(key)
        if child is None:
            # The library looks a series up under a lock and by new texts; once is enough.
            child = self._counted[key] = self._counters[name].labels(*labels)
        child.inc(by, seen)

    def _set(self, name: str, *labels: str, to: float) -> None:
        key = (name, *labels)
        child = self._shown.get(key)
        if child is None:
            child = self._shown[key] = self._gauges[name].labels(*labels)
        child.set(to)

    def _time(self, name: str, agent: str, seconds: float, seen: dict[str, str] | None = None) -> None:
        self._histograms[name].labels(agent).observe(seconds, seen)

    def observe(self, event: Event) -> None:
        """Count an event."""
        match event:
            case BatchPredicted():
                self._answered(event)
            case Learned():
                self._learned(event)
            case LearnTimed():
                self._turn(event)
            case RecordRejected():
                self._count("records", event.agent, "dead_letter")
                self._count(
                    "dead_letters", event.agent, event.reason, seen=_seen(event.partition, event.offset)
                )
            case FieldNoted():
                self._count("fields_ignored", event.agent, event.flag, by=event.records)
            case AttributeRetired():
                self._count("attributes_retired", event.agent)
            case ModelMeasured():
                self._sizes.setdefault(event.agent, {})[event.model] = event
                self._show_sizes(event.agent)
            case Processed():
                self._time("batch_seconds", event.agent, event.seconds, _seen(event.partition, event.offset))
            case Committed():
                self._committed(event)
            case Rebalanced():
                self._rebalanced(event)
            case PartitionProgress():
                self._progress(event)
            case RestoreProgress() | RestoreFinished() | Snapshotted():
                self._state(event)
            case Started():
                self._started(event)
            case Improved():
                self._improved(event)
            case SelfChecked():
                self._self_checked(event)
            case Labelled():
                self._set("labels_pending", event.agent, to=event.pending)
                for seconds in event.delays:
                    self._time("label_delay_seconds", event.agent, seconds)
            case ModelCreated() | NumbersAsText() | NumbersAsValues():
                pass
            case _:
                assert_never(event)

    # ---- answers and trees

    def _started(self, event: Started) -> None:
        """Begin an agent's counts at zero: what rises from nothing cannot be seen to rise."""
        self._set("agent_info", event.agent, event.topic, event.learner, event.scope, to=1)
        for outcome in _OUTCOMES:
            self._count("records", event.agent, outcome, by=0)
        for correct in ("true", "false"):
            self._count("predictions", event.agent, correct, by=0)
        for result in ("committed", "aborted"):
            self._count("transactions", event.agent, result, by=0)
        for operation in OPERATIONS:
            self._count("operations", event.agent, operation, by=0)
        for flag in IGNORED:
            self._count("fields_ignored", event.agent, flag, by=0)
        self._count("attributes_retired", event.agent, by=0)
        self._count("rebalances", event.agent, by=0)
        self._count("improve_units", event.agent, by=0)
        self._count("improvements", event.agent, by=0)
        self._set("partitions_assigned", event.agent, to=0)
        self._set("restore_progress_ratio", event.agent, to=1)

    def _answered(self, event: BatchPredicted) -> None:
        self._count("records", event.agent, "predicted", by=event.unlabelled)
        if event.labels is None or event.answers is None:
            right, known = sum(event.hits), len(event.hits)
        else:
            labels, answers = event.labels, event.answers
            chosen = labels >= 0
            if not chosen.all():
                labels, answers = labels[chosen], answers[chosen]
            known = len(labels)
            quality = self._answers.setdefault(event.agent, Answers())
            right = quality.add(event.model, labels, answers, event.classes) if known else 0
        self._count("predictions", event.agent, "true", by=right)
        self._count("predictions", event.agent, "false", by=known - right)

    def _learned(self, event: Learned) -> None:
        self._count("records", event.agent, "learned", by=event.records)
        for name, count in event.spent.spent().items():
            self._count("operations", event.agent, name, by=count)
        for kind, number in Tally(event.kinds).items():
            self._count("tree_changes", event.agent, kind.value, by=number)

    def _turn(self, event: LearnTimed) -> None:
        now = time.perf_counter()
        if event.learned is None:
            self._began[event.agent] = now
            return
        name = "learn_seconds" if event.learned else "predict_seconds"
        self._time(name, event.agent, now - self._began.get(event.agent, now))

    def _show_sizes(self, agent: str) -> None:
        """Show the sum over the agent's models; for the depth, the deepest."""
        models = self._sizes[agent].values()
        leaves = sum(grown.size.leaves for grown in models)
        self._set("tree_nodes", agent, "leaf", to=leaves)
        self._set("tree_nodes", agent, "decision", to=sum(grown.size.nodes for grown in models) - leaves)
        self._set("tree_depth", agent, to=max((grown.size.depth for grown in models), default=0))
        self._set("instances_retained", agent, to=sum(grown.retained for grown in models))
        known = [grown.model_bytes for grown in models if grown.model_bytes is not None]
        if known or not models:
            self._set("model_bytes", agent, to=sum(known))
        bits = [grown.description_bits for grown in models if grown.description_bits is not None]
        if bits or (not models and agent in self._described):
            self._described.add(agent)
            self._set("description_length", agent, "tree", to=sum(tree for tree, _ in bits))
            self._set("description_length", agent, "exceptions", to=sum(data for _, data in bits))
        drops = [grown.past_drops for grown in models if grown.past_drops is not None]
        for rule in {rule for rule, _ in drops} | self._watching.get(agent, set()):
            self._watching.setdefault(agent, set()).add(rule)
            self._set("past_drops", agent, rule, to=sum(count for by, count in drops if by == rule))

    def _improved(self, event: Improved) -> None:
        self._count("improve_units", event.agent, by=event.units)
        self._count("improvements", event.agent, by=event.improvements)
        if event.improvements:
            self._set("improve_quality", event.agent, "before", to=event.before)
            self._set("improve_quality", event.agent, "after", to=event.after)

    def _self_checked(self, event: SelfChecked) -> None:
        self._count("self_checks", event.agent, event.result)
        if event.result in ("same", "different"):
            verdicts = self._verdicts.setdefault(event.agent, {})
            verdicts[event.model] = event.result == "same"
            self._set("tree_matches_batch", event.agent, to=all(verdicts.values()))
        for name, count in event.spent.spent().items() if event.spent is not None else ():
            self._set("id3_operations", event.agent, name, to=count)

    # ---- Kafka and state

    def _committed(self, event: Committed) -> None:
        self._count("transactions", event.agent, event.result)
        if event.result == "committed":
            self._time("commit_seconds", event.agent, event.seconds)
            self._set("state_last_commit_timestamp_seconds", event.agent, to=self._now())

    def _progress(self, event: PartitionProgress) -> None:
        written = event.written_ms / 1_000
        place = (event.agent, event.topic, event.partition)
        self._partitions.progress(place, event.first, event.consumed, event.lag, max(0.0, written))
        if written > 0:
            late = max(0.0, self._now() - written)
            self._time("end_to_end_seconds", event.agent, late, _seen(event.partition, event.consumed - 1))

    def _rebalanced(self, event: Rebalanced) -> None:
        self._count("rebalances", event.agent)
        assigned = self._assigned.setdefault(event.agent, set())
        assigned |= set(event.assigned)
        assigned -= set(event.revoked)
        self._set("partitions_assigned", event.agent, to=len(assigned))
        models = self._sizes.get(event.agent, {})
        for topic, partition in event.revoked:
            # A model that is kept elsewhere now has the name of the topic, or of one partition of it.
            if models.pop(topic, None) or models.pop(f"{topic}/{partition}", None):
                self._show_sizes(event.agent)
            self._partitions.drop((event.agent, topic, partition))
        if event.revoked and not assigned and event.agent in self._answers:
            self._answers[event.agent].forget()

    def _state(self, event: RestoreProgress | RestoreFinished | Snapshotted) -> None:
        match event:
            case RestoreProgress():
                self._set("restore_instances", event.agent, to=event.instances)
                self._set("restore_progress_ratio", event.agent, to=event.ratio)
            case RestoreFinished():
                self._set("restore_seconds", event.agent, to=event.seconds)
                self._set("restore_instances", event.agent, to=event.records)
                self._set("restore_progress_ratio", event.agent, to=1)
            case Snapshotted():
                self._time("snapshot_seconds", event.agent, event.seconds)
                self._set("snapshot_bytes", event.agent, to=event.size)
                self._set("snapshot_last_success_timestamp_seconds", event.agent, to=self._now())


class _Quality(Collector):
    """How good the answers are, worked out when somebody asks."""

    def __init__(self, answers: dict[str, Answers]) -> None:
        self._answers = answers
        self._labels: dict[tuple[str, ...], dict[str, str]] = {}

    def describe(self) -> list[Metric]:
        """Return what there may be, so that no other metric takes these names."""
        return list(self._families().values())

    def _families(self) -> dict[str, CounterMetricFamily | GaugeMetricFamily]:
        chosen = ("confusion", "accuracy_ratio", "kappa_ratio", "precision_ratio", "recall_ratio")
        return {
            metric.name: (CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily)(
                PREFIX + metric.name, metric.says, labels=metric.labels
            )
            for metric in METRICS
            if metric.name in chosen
        }

    def collect(self) -> Iterator[Metric]:
        """Return the series of this moment."""
        families = self._families()
        for agent, answers in list(self._answers.items()):
            quality = answers.quality()
            confusion = families["confusion"]
            for pair, count in quality.confusion.items():
                labels = self._labels.get((agent, *pair))
                if labels is None:
                    labels = {"agent": agent, "class": pair[0], "answer": pair[1]}
                    self._labels[agent, *pair] = labels
                # Put there by hand: the family's own way makes the labels again for every sample.
                confusion.samples.append(Sample(f"{confusion.name}_total", labels, count))
            for name in ("accuracy", "kappa", "precision", "recall"):
                for key, share in getattr(quality, name).items():
                    families[f"{name}_ratio"].add_metric([agent, key], share)
        yield from families.values()


def _seen(partition: int, offset: int) -> dict[str, str] | None:
    """Return what leads from a point on a dashboard to the record behind it."""
    return None if offset < 0 else {"partition": str(partition), "offset": str(offset)}


def _version() -> str:
    try:
        return version("espalier-kafka")
    except PackageNotFoundError:
        return "unknown"
