"""The engine on confluent-kafka: sessions in a row, each from joining the group to the first disturbance."""

import time

import msgspec

from stream.config import Agent, Batch, Kafka, Scope, State
from stream.errors import Abortable, EngineError, Fenced, StateError
from stream.events import Committed
from stream.kafka.checkpoints import CheckpointManager
from stream.kafka.clients import CONFLUENT, Clients
from stream.kafka.exclusive import ExclusiveMembership
from stream.kafka.membership import Membership
from stream.kafka.session import _Session, log
from stream.kafka.shared import SharedMembership
from stream.kafka.topics import TopicAdmin
from stream.model.number_hints import Observe
from stream.model.ports import Guarantee, MakeProcessor, Stop


class KafkaEngine:
    """Runs one agent on a Kafka cluster.

    Args:
        kafka: The cluster.
        agent: The agent.
        batch: How many records make a transaction.
        instance: The name of this worker among its peers.
        observe: Told of everything that metrics count.
        state: How models are kept.
        clients: What makes its clients: those of confluent-kafka, or what stands in for them.
    """

    guarantee = Guarantee.EXACTLY_ONCE

    def __init__(
        self,
        kafka: Kafka,
        agent: Agent,
        batch: Batch,
        instance: str,
        observe: Observe,
        state: State | None = None,
        clients: Clients = CONFLUENT,
    ) -> None:
        self._kafka = kafka
        self._agent = agent
        self._batch = batch
        self._instance = instance
        self._observe = observe
        self._state = state or State()
        self._clients = clients

    def run(self, make_processor: MakeProcessor, stop: Stop) -> None:
        """Work until told to stop; after a disturbance begin again from the topics."""
        partitions = self._check_topics()
        while not stop():
            member = self._member()
            keeper = CheckpointManager(
                self._kafka, self._agent, self._state, self._observe, make_processor, member, self._clients
            )
            session = _Session(
                self._kafka, self._agent, self._batch, self._observe, keeper, partitions, self._clients
            )
            try:
                session.work(member, stop)
            except (Abortable, Fenced) as error:
                # Crash-only: what was in memory is gone with the session, the topics say where to go on.
                log.warning("agent %s begins again from its journal: %s", self._agent.name, error)
                self._observe(Committed(self._agent.name, "aborted", 0.0))
                time.sleep(0.2)

    def _member(self) -> Membership:
        if self._agent.scope is Scope.PARTITION:
            return SharedMembership(self._kafka, self._agent, self._instance, self._observe, self._clients)
        return ExclusiveMembership(self._kafka, self._agent, self._observe, self._clients)

    def _check_topics(self) -> dict[str, int]:
        """Return how many partitions each of the agent's topics has.

        Raises:
            EngineError: One is missing, or the journal does not fit the input.
        """
        agent = self._agent
        topics = agent.topics
        needed = (agent.input, *msgspec.structs.astuple(topics))
        known = TopicAdmin(self._kafka, self._clients).describe(needed)
        missing = [name for name in needed if name not in known]
        if missing:
            raise EngineError(
                f'agent "{agent.name}": missing topics: {", ".join(missing)}. '
                'Make them with "espalier topics create"'
            )
        want = known[agent.input].partitions if agent.scope is Scope.PARTITION else 1
        if known[topics.journal].partitions != want:
            raise StateError(
                f'the journal "{topics.journal}" has {known[topics.journal].partitions} partitions where '
                f'{want} are needed for scope "{agent.scope}". The input was repartitioned, or the scope '
                "has changed: give the agent another name to begin again"
            )
        return {name: facts.partitions for name, facts in known.items()}
