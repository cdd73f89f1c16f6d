"""Whether a worker has started, is alive, and is ready: what a supervisor asks.

Started: the broker has answered and the agents run. Alive: none of them has failed. Ready: each of them has
been assigned its input and has restored its models. A worker that stands by is not ready, because it would
not notice a record; ask `/readyz?standby=ok` where that is as good.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from stream.events import Committed, Event, Rebalanced, RestoreFinished


class Verdict(NamedTuple):
    """Whether all is well, and in words what is and what is not, a line for each."""

    is_good: bool
    lines: Sequence[str]


class AgentState(StrEnum):
    """How far an agent has come."""

    WAITING = "not assigned: starting, or standing by"
    RESTORING = "restoring"
    READY = "ready"


class _AgentHealth:
    def __init__(self, input_topic: str, *, per_partition: bool) -> None:
        self._input = input_topic
        self._per_partition = per_partition
        self._assigned: frozenset[str] = frozenset()
        self._restored: frozenset[str] = frozenset()

    @property
    def standing(self) -> AgentState:
        if not self._assigned:
            return AgentState.WAITING
        return AgentState.READY if self._assigned <= self._restored else AgentState.RESTORING

    def observe(self, event: Event) -> None:
        match event:
            case Rebalanced():
                gone = self._models(event.revoked)
                self._assigned = (self._assigned - gone) | self._models(event.assigned)
                self._restored -= gone
            case RestoreFinished():
                self._assigned |= {event.model}
                self._restored |= {event.model}
            case Committed() if event.result == "aborted":
                # Everything in memory was dropped and is about to be restored.
                self._restored = frozenset()
            case _:
                pass

    def _models(self, places: Sequence[tuple[str, int]]) -> frozenset[str]:
        if self._per_partition:
            return frozenset(f"{topic}/{number}" for topic, number in places)
        return frozenset(topic for topic, _ in places)


class Health:
    """Follows the agents of a worker.

    Args:
        agents: For each agent its name, its input, and whether it keeps a model for each partition.
    """

    def __init__(self, agents: Sequence[tuple[str, str, bool]]) -> None:
        self._agents = {name: _AgentHealth(topic, per_partition=per) for name, topic, per in agents}
        self.has_started = False
        self.failure: BaseException | None = None

    def observe(self, event: Event) -> None:
        """Hear of an event; called by the agents' threads."""
        agent = self._agents.get(event.agent)
        if agent is not None:
            agent.observe(event)

    def started(self) -> Verdict:
        """Return whether the agents run."""
        return Verdict(self.has_started, ["started" if self.has_started else "waiting for the broker"])

    def alive(self) -> Verdict:
        """Return whether none has failed."""
        if self.failure is None:
            return Verdict(True, ["alive"])
        return Verdict(False, [f"failed: {type(self.failure).__name__}"])

    def ready(self, *, standby: bool = False) -> Verdict:
        """Return whether every agent works on its input; with `standby`, or would if it were assigned it."""
        if not self.has_started:
            return self.started()
        good = {AgentState.READY, AgentState.WAITING} if standby else {AgentState.READY}
        lines = [f"{name}: {agent.standing}" for name, agent in self._agents.items()]
        is_good = all(agent.standing in good for agent in self._agents.values())
        return Verdict(is_good and self.failure is None, lines)
