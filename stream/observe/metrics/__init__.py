"""Every Prometheus metric, in one place. Nothing else knows that there is a Prometheus.

`catalog` says which metrics there are, `observer` counts, `answers` and `partitions` keep what is worked out
when somebody asks, `reading` and `text` write it for Prometheus, and `reference` prints docs/metrics.md.
"""

from stream.observe.metrics.catalog import WINDOWS as ACCURACY_WINDOWS
from stream.observe.metrics.exposition import exposition
from stream.observe.metrics.observer import Metrics

__all__ = ["ACCURACY_WINDOWS", "Metrics", "exposition"]
