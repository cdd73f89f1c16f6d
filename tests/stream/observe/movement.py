"""Which metrics have moved: changed from the value they had when the agents began."""

import threading

from stream.events import Event, Started
from stream.observe.metrics import Metrics
from stream.observe.metrics.catalog import METRICS, PREFIX

Values = dict[tuple[str, ...], float]

CONSTANT = {
    "agent_info": "1 as long as the agent runs; the labels say what there is to say",
    "build_info": "1 as long as the worker runs; the labels say what there is to say",
}
"""Metrics that never change, and why."""
WAITING = {metric.name: metric.waits for metric in METRICS if metric.waits}
"""Metrics that nothing moves yet, and what they wait for, as the catalogue says."""


class Movement:
    """Metrics that are looked at after every event.

    A series that is not there counts as 0, so that one which appears with a value has moved. What an agent
    sets when it starts is no movement.
    """

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.moved: set[str] = set()
        self._start: Values = {}
        self._lock = threading.Lock()

    def observe(self, event: Event) -> None:
        """Count an event, and look what has moved. Several threads may call this."""
        with self._lock:
            self.metrics.observe(event)
            if isinstance(event, Started):
                self._start |= self._values()
            elif self.missing:
                self.moved |= {
                    key[0] for key, value in self._values().items() if value != self._start.get(key, 0)
                }

    def _values(self) -> Values:
        # The family's name, which a sample's name lengthens by `_total`, `_bucket` and the like.
        return {
            (family.name.removeprefix(PREFIX), sample.name, *sorted(map(":".join, sample.labels.items()))): (
                sample.value
            )
            for family in self.metrics.registry.collect()
            if family.name.startswith(PREFIX)
            for sample in family.samples
        }

    @property
    def missing(self) -> set[str]:
        """The metrics of the catalogue that have not moved, those that never do left out."""
        return {metric.name for metric in METRICS} - self.moved - set(CONSTANT)
