"""What is read from each partition: thousands of series, so they are kept as plain numbers."""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar, Sample

from stream.observe.metrics.catalog import METRICS, PREFIX

_SAYS = {metric.name: metric.says for metric in METRICS}
_LABELS = ("agent", "topic", "partition")


class Read(NamedTuple):
    """How far a partition has been read.

    Attributes:
        records: Offsets read by this worker.
        next_offset: The offset to read next.
        lag: How far that is from the end.
        written: When the last record read was written, in seconds since 1970; 0: not known.
        at: When this was noted.
    """

    records: int
    next_offset: int
    lag: int
    written: float
    at: float


class Partitions(Collector):
    """The partitions that this worker reads.

    Args:
        now: The time, in seconds since 1970.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._read: dict[tuple[str, str, int], Read] = {}
        self._labels: dict[tuple[str, str, int], dict[str, str]] = {}

    def progress(self, place: tuple[str, str, int], first: int, end: int, lag: int, written: float) -> None:
        """Note that a partition was read from one offset to before another."""
        before = self._read.get(place)
        start, records = (first, 0) if before is None else (before.next_offset, before.records)
        if not written and before is not None:
            written = before.written
        self._read[place] = Read(records + max(0, end - start), end, lag, written, self._now())

    def drop(self, place: tuple[str, str, int]) -> None:
        """Forget a partition that is read elsewhere now: its series would stand still for ever."""
        self._read.pop(place, None)
        self._labels.pop(place, None)

    def describe(self) -> list[Metric]:
        """Return what there may be, so that no other metric takes these names."""
        return list(self._families())

    def _families(self) -> tuple[CounterMetricFamily, GaugeMetricFamily, GaugeMetricFamily]:
        consumed = CounterMetricFamily(f"{PREFIX}records_consumed", _SAYS["records_consumed"], labels=_LABELS)
        lag, late = (
            GaugeMetricFamily(PREFIX + name, _SAYS[name], labels=_LABELS)
            for name in ("consumer_lag_records", "consumer_lag_seconds")
        )
        return consumed, lag, late

    def collect(self) -> Iterator[Metric]:
        """Return the series of this moment."""
        consumed, lag, late = self._families()
        consumed_name = f"{consumed.name}_total"
        now = self._now()
        # A copy first: the scrape comes from another thread than the records.
        for place, read in list(self._read.items()):
            labels = self._labels.get(place)
            if labels is None:
                agent, topic, number = place
                labels = self._labels[place] = {"agent": agent, "topic": topic, "partition": str(number)}
            # The last offset leads from a point on a dashboard to the record behind it.
            seen = Exemplar({"offset": str(read.next_offset - 1)}, 1.0, read.at)
            age = max(0.0, now - read.written) if read.lag and read.written else 0.0
            # Put there by hand: the families' own way makes the labels again for every sample.
            consumed.samples.append(Sample(consumed_name, labels, read.records, None, seen))
            lag.samples.append(Sample(lag.name, labels, read.lag))
            late.samples.append(Sample(late.name, labels, age))
        yield from (consumed, lag, late)
