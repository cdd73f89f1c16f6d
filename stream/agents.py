"""An agent put together from its settings: the learner, the decoder, and where its records go."""

from learners import make_learner
from stream.codec import Decoder
from stream.config import Agent, Limits
from stream.engine import MakeProcessor, Unit
from stream.processor import LearningProcessor, Observe
from stream.telling import Place


def place_of(agent: Agent, unit: Unit) -> Place:
    """Return which model an agent's processor keeps and where its records go."""
    return Place(
        agent=agent.name,
        model=unit.model,
        learner=agent.learner,
        topic=agent.input,
        partition=unit.journal_partition,
        predictions=agent.topics.predictions,
        tree_changes=agent.topics.tree_changes,
        dead_letters=agent.topics.dead_letters,
        journal=agent.topics.journal,
    )


def processor_factory(agent: Agent, limits: Limits, observe: Observe) -> MakeProcessor:
    """Return the function that makes the processor of each of an agent's models."""

    def make(unit: Unit) -> LearningProcessor:
        learner = make_learner(agent.learner, agent.schema, agent.options, limits)
        decoder = Decoder(agent.label, agent.id, limits.max_record_bytes, limits.max_depth)
        return LearningProcessor(learner, decoder, place_of(agent, unit), observe)

    return make
