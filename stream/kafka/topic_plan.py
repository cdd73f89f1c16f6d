"""The topics an agent needs, and how each is kept."""

from stream.config import Agent, Scope
from stream.kafka.clients import MAX_MESSAGE_BYTES
from stream.kafka.topics import TopicPlan

_LARGE = {"max.message.bytes": str(MAX_MESSAGE_BYTES)}
"""A batch of wide records, or a change at the root of a large tree, is more than the usual megabyte."""
_STATE = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1", **_LARGE}
"""The journal is the state: nothing of it may be deleted by age or size."""
_SNAPSHOTS = {"cleanup.policy": "compact", "min.compaction.lag.ms": "3600000", **_LARGE}


def plans_for(agent: Agent, partitions: int) -> list[TopicPlan]:
    """Return the topics of an agent.

    Predictions and dead letters have the partitions of the input, which keeps their order; so have the
    journal and the tree changes where there is a model for each partition, otherwise they have one.

    Args:
        agent: The agent.
        partitions: How many partitions the input has, or is to have.
    """
    topics = agent.topics
    state = partitions if agent.scope is Scope.PARTITION else 1
    return [
        TopicPlan(agent.input, partitions, {}),
        TopicPlan(topics.predictions, partitions, {}),
        TopicPlan(topics.tree_changes, partitions, _LARGE),
        TopicPlan(topics.dead_letters, partitions, {}),
        TopicPlan(topics.journal, state, _STATE),
        TopicPlan(topics.snapshots, state, _SNAPSHOTS),
    ]
