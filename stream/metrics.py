"""Every Prometheus metric, in one place. Nothing else knows that there is a Prometheus.

Labels come from closed sets only (agent, topic, partition, outcome, reason, kind, operation): a label made
from data would let whoever writes the data fill our memory.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import assert_never

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

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

ACCURACY_WINDOWS = (100, 1_000, 10_000)
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class _Hits:
    """Whether the last answers were right. Windows are counted when somebody asks, not for every record."""

    def __init__(self) -> None:
        self._recent: deque[bool] = deque(maxlen=max(ACCURACY_WINDOWS))

    def add(self, hits: Sequence[bool]) -> None:
        self._recent.extend(hits)

    def ratio(self, window: int) -> float:
        # A copy first: the scrape comes from another thread than the records.
        recent = list(self._recent)[-window:]
        return sum(recent) / max(1, len(recent))


class Metrics:
    """Counts what it is told.

    Args:
        registry: Where the metrics are kept: one of its own for each worker and each test.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, labels, namespace="espalier", registry=self.registry)

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(name, text, labels, namespace="espalier", registry=self.registry)

        def histogram(name: str, text: str, *labels: str) -> Histogram:
            return Histogram(
                name, text, labels, namespace="espalier", registry=self.registry, buckets=_SECONDS
            )

        self._records = counter("records", "Records by what became of them.", "agent", "outcome")
        self._predictions = counter("predictions", "Answers to records with a label.", "agent", "correct")
        self._accuracy = gauge(
            "accuracy_ratio", "Share of right answers among the last records with a label.", "agent", "window"
        )
        self._operations = counter(
            "operations", "Operations of the learner, in the papers' units.", "agent", "operation"
        )
        self._changes = counter("tree_changes", "Changes of the tree.", "agent", "kind")
        self._nodes = gauge("tree_nodes", "Nodes of the tree.", "agent", "kind")
        self._depth = gauge("tree_depth", "Tests on the longest path of the tree.", "agent")
        self._retained = gauge("instances_retained", "Instances the tree stands for.", "agent")
        self._dead_letters = counter("dead_letters", "Records that could not be used.", "agent", "reason")
        self._batch_seconds = histogram("batch_seconds", "Time to answer and learn one batch.", "agent")
        self._commit_seconds = histogram("commit_seconds", "Time to produce and commit one batch.", "agent")
        self._transactions = counter("transactions", "Transactions by how they ended.", "agent", "result")
        self._consumed = counter("records_consumed", "Records read.", "topic", "partition", "agent")
        self._lag = gauge(
            "consumer_lag_records",
            "Offsets between the last commit and the end.",
            "agent",
            "topic",
            "partition",
        )
        self._rebalances = counter("rebalances", "Times partitions came or went.", "agent")
        self._restore_seconds = gauge("restore_seconds", "Time the last restore took.", "agent")
        self._hits: dict[str, _Hits] = {}
        self._sizes: dict[str, dict[str, Grown]] = {}
        self._offsets: dict[tuple[str, str, int], int] = {}

    def observe(self, event: Event) -> None:
        """Count an event."""
        match event:
            case Answered():
                self._answered(event)
            case Learned():
                self._learned(event)
            case Dropped():
                self._records.labels(event.agent, "dead_letter").inc()
                self._dead_letters.labels(event.agent, event.reason).inc()
            case Grown():
                self._grown(event)
            case Processed():
                self._batch_seconds.labels(event.agent).observe(event.seconds)
            case Committed():
                self._transactions.labels(event.agent, event.result).inc()
                if event.result == "committed":
                    self._commit_seconds.labels(event.agent).observe(event.seconds)
            case Rebalanced():
                self._rebalanced(event)
            case Restored():
                self._restore_seconds.labels(event.agent).set(event.seconds)
            case Progress():
                self._progress(event)
            case _:
                assert_never(event)

    def _answered(self, event: Answered) -> None:
        self._records.labels(event.agent, "predicted").inc(event.unlabelled)
        right = sum(event.hits)
        self._predictions.labels(event.agent, "true").inc(right)
        self._predictions.labels(event.agent, "false").inc(len(event.hits) - right)
        hits = self._hits.get(event.agent)
        if hits is None:
            hits = self._hits[event.agent] = _Hits()
            for window in ACCURACY_WINDOWS:
                gauge = self._accuracy.labels(event.agent, str(window))
                gauge.set_function(_reader(hits, window))
        hits.add(event.hits)

    def _learned(self, event: Learned) -> None:
        self._records.labels(event.agent, "learned").inc(event.records)
        for name, count in event.spent.spent().items():
            self._operations.labels(event.agent, name).inc(count)
        for kind in event.kinds:
            self._changes.labels(event.agent, kind.value).inc()

    def _grown(self, event: Grown) -> None:
        self._sizes.setdefault(event.agent, {})[event.model] = event
        self._show_sizes(event.agent)

    def _show_sizes(self, agent: str) -> None:
        """Show the sum over the agent's models; for the depth, the deepest."""
        models = self._sizes[agent].values()
        leaves = sum(grown.size.leaves for grown in models)
        self._nodes.labels(agent, "leaf").set(leaves)
        self._nodes.labels(agent, "decision").set(sum(grown.size.nodes for grown in models) - leaves)
        self._depth.labels(agent).set(max((grown.size.depth for grown in models), default=0))
        self._retained.labels(agent).set(sum(grown.retained for grown in models))

    def _rebalanced(self, event: Rebalanced) -> None:
        self._rebalances.labels(event.agent).inc()
        models = self._sizes.get(event.agent, {})
        for topic, partition in event.revoked:
            # A model that is kept elsewhere now has the name of the topic, or of one partition of it.
            if models.pop(topic, None) or models.pop(f"{topic}/{partition}", None):
                self._show_sizes(event.agent)
            # A series of a partition that is read elsewhere now would stand still for ever.
            if self._offsets.pop((event.agent, topic, partition), None) is not None:
                self._consumed.remove(topic, str(partition), event.agent)
                self._lag.remove(event.agent, topic, str(partition))

    def _progress(self, event: Progress) -> None:
        place = (event.agent, event.topic, event.partition)
        before = self._offsets.get(place, event.first)
        self._offsets[place] = event.consumed
        self._consumed.labels(event.topic, str(event.partition), event.agent).inc(
            max(0, event.consumed - before)
        )
        self._lag.labels(event.agent, event.topic, str(event.partition)).set(event.lag)


def _reader(hits: _Hits, window: int) -> Callable[[], float]:
    return lambda: hits.ratio(window)


def serve(metrics: Metrics, host: str, port: int) -> tuple[int, Callable[[], None]]:
    """Serve metrics on `/metrics`; return the port and how to stop it.

    Raises:
        OSError: The port is taken.
    """
    server, thread = start_http_server(port, host, metrics.registry)

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join(5)

    return server.server_port, stop
