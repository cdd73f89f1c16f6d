"""An agent put together from its settings: the learner, the decoder, where its records go, and the engine."""

import os
import socket
from collections.abc import Callable
from functools import partial

from learners.registry import make_learner
from stream.config import Agent, Config, Limits, TreeChanges
from stream.events import ModelCreated, Started
from stream.kafka.engine import KafkaEngine
from stream.model.build_thread import build_in_thread
from stream.model.number_hints import Observe
from stream.model.ports import MakeProcessor, Stop, Unit
from stream.model.predictions import ModelRoute
from stream.model.processor import LearningProcessor
from stream.observe.selfcheck import SelfCheck
from stream.records.json_decoder import Decoder

Work = Callable[[Stop], None]
"""Works until told to stop."""


def place_of(agent: Agent, unit: Unit) -> ModelRoute:
    """Return which model an agent's processor keeps and where its records go."""
    return ModelRoute(
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
        build_in_thread(learner)
        decoder = Decoder(agent.label, agent.id, limits.max_record_bytes, limits.max_depth, agent.fields)
        processor = LearningProcessor(
            learner,
            decoder,
            place_of(agent, unit),
            observe,
            net_changes=agent.tree_changes is TreeChanges.COMMIT,
        )
        observe(ModelCreated(agent.name, unit.model, processor))
        return processor

    return make


def work_of(config: Config, agent: Agent, observe: Observe, check: SelfCheck) -> Work:
    """Return the work of an agent, ready to begin.

    Args:
        config: What there is to know besides the agent.
        agent: The agent.
        observe: Told of everything that metrics count.
        check: Compares its trees, where metrics show what comes of it.
    """
    instance = config.instance or f"{socket.gethostname()}-{os.getpid()}"
    engine = KafkaEngine(config.kafka, agent, config.batch, instance, observe, config.state)
    make = processor_factory(agent, config.limits, check.observe)
    if config.metrics.enabled:
        make = check.watching(agent.name, make)
    observe(Started(agent.name, agent.input, agent.learner, agent.scope.value))
    return partial(engine.run, make)
