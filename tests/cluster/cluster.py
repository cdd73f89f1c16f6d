"""The fake cluster: brokers, one group, and the clients that reach them."""

import random
from functools import partial
from typing import Any

from stream.kafka.clients import Clients
from tests.cluster.broker import Brokers
from tests.cluster.consumer import FakeConsumer
from tests.cluster.faults import Faults
from tests.cluster.groups import Group
from tests.cluster.producer import FakeAdmin, FakeProducer
from tests.cluster.scheduler import Scheduler

SESSION_SECONDS = 0.6
"""How long a member may be silent. A tenth of the product's setting: schedules are short."""
MARKER_SECONDS = 0.3


class Cluster:
    """Everything outside of the workers.

    Args:
        rng: Decides everything.
        scheduler: Whose time it is.
        faults: What fails.
        partitions: The topics.
    """

    def __init__(
        self, rng: random.Random, scheduler: Scheduler, faults: Faults, partitions: dict[str, int]
    ) -> None:
        self.rng = rng
        self.scheduler = scheduler
        self.faults = faults
        self.brokers = Brokers(scheduler, self._marker_delay, partitions)
        self.group = Group(self.brokers, rng, SESSION_SECONDS)
        consumer: Any = partial(FakeConsumer, self)
        producer: Any = partial(FakeProducer, self)
        admin: Any = partial(FakeAdmin, self)
        self.clients = Clients(consumer, producer, admin)

    def _marker_delay(self) -> float:
        return self.rng.random() * MARKER_SECONDS if self.faults.happens("marker delayed") else 0.0
