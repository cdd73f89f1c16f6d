"""Topics on a broker: what there is, and making what an agent needs."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from confluent_kafka import (
    KafkaError,
    KafkaException,
)
from confluent_kafka.cimpl import NewTopic

from stream.config import Kafka
from stream.errors import EngineError
from stream.kafka.clients import CONFLUENT, REQUEST_SECONDS, Clients, base_settings, client, unavailable


class TopicPlan(NamedTuple):
    """A topic to be made."""

    name: str
    partitions: int
    settings: Mapping[str, str]


class TopicFacts(NamedTuple):
    """A topic as it is."""

    name: str
    partitions: int
    replicas: int


class TopicAdmin:
    """The topics of a cluster."""

    def __init__(self, kafka: Kafka, clients: Clients = CONFLUENT) -> None:
        self._kafka = kafka
        self._admin = client(clients.admin, base_settings(kafka))

    def describe(
        self, names: Iterable[str] | None = None, seconds: float = REQUEST_SECONDS
    ) -> dict[str, TopicFacts]:
        """Return the topics that exist, of those named or of all.

        Raises:
            BrokerUnavailable: No broker answers.
        """
        try:
            told = self._admin.list_topics(timeout=seconds).topics
        except KafkaException as error:
            raise unavailable(self._kafka, error) from error
        wanted = set(told) if names is None else set(names)
        return {
            name: TopicFacts(
                name, len(t.partitions), max((len(p.replicas) for p in t.partitions.values()), default=0)
            )
            for name, t in told.items()
            if name in wanted and t.error is None
        }

    def create(self, plans: Sequence[TopicPlan], replicas: int | None = None) -> list[str]:
        """Make the topics that are not there yet and return their names; wait until all can be used.

        Raises:
            EngineError: The broker refused one.
        """
        existing = self.describe([plan.name for plan in plans])
        missing = [plan for plan in plans if plan.name not in existing]
        if not missing:
            return []
        new = [
            NewTopic(
                plan.name, plan.partitions, -1 if replicas is None else replicas, config=dict(plan.settings)
            )
            for plan in missing
        ]
        for name, future in self._admin.create_topics(new, operation_timeout=REQUEST_SECONDS).items():
            try:
                future.result(timeout=2 * REQUEST_SECONDS)
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise EngineError(
                        f'the broker did not create topic "{name}": {error.args[0].str()}'
                    ) from error
        self._wait_for([plan.name for plan in missing])
        return [plan.name for plan in missing]

    def _wait_for(self, names: Sequence[str]) -> None:
        """Wait until topics just made are known to the broker that is asked."""
        deadline = time.monotonic() + REQUEST_SECONDS
        while len(self.describe(names)) < len(names):
            if time.monotonic() > deadline:
                raise EngineError(f"the topics {', '.join(names)} were created but do not appear")
            time.sleep(0.05)
