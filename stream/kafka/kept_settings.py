"""The settings that an agent's state was made with, compared with those it would be started with."""

import socket
from contextlib import closing

import msgspec
from confluent_kafka import OFFSET_BEGINNING

from learners.registry import make_learner
from stream.config import Agent, Kafka, Limits
from stream.errors import StreamError
from stream.kafka.reading import read_to_end
from stream.kafka.topics import TopicAdmin
from stream.model.fingerprint import Difference, describe, differences, fingerprint, fingerprint_before_1
from stream.model.ports import unit_of
from stream.records.journal import JournalEntry, unpack
from stream.records.json_decoder import Decoder
from stream.records.model_state import ModelState
from stream.records.record import Partition
from stream.state.snapshots import Snapshots

REACH_SECONDS = 1.0


def can_reach(kafka: Kafka) -> bool:
    """Return whether something listens at one of the broker addresses."""
    for server in kafka.bootstrap_servers.split(","):
        host, _, port = server.strip().rpartition("://")[2].rpartition(":")
        try:
            with closing(
                socket.create_connection((host.strip("[]"), int(port or 9092)), timeout=REACH_SECONDS)
            ):
                return True
        except (OSError, ValueError):
            continue
    return False


def changed_settings(kafka: Kafka, agent: Agent, limits: Limits) -> list[Difference] | None:
    """Return the settings of an agent that differ from those of its state.

    Returns:
        None where there is no state yet, or where it was written before settings were kept with it and
        nothing can be compared; a difference without a name where only that something differs is known.

    Raises:
        StreamError: The state cannot be read.
    """
    known = TopicAdmin(kafka).describe([agent.topics.journal, agent.topics.snapshots])
    if agent.topics.journal not in known:
        return None
    first = _first_entry(kafka, agent)
    if first is None:
        return None
    learner = make_learner(agent.learner, agent.schema, agent.options, limits)
    decoder = Decoder(agent.label, agent.id, limits.max_record_bytes, limits.max_depth, agent.fields)
    now = describe(learner, decoder)
    description = first.described
    if not description and agent.topics.snapshots in known:
        description = _snapshot_description(kafka, agent)
    if description:
        return differences(description, now)
    if first.settings in (fingerprint(now), fingerprint_before_1(learner)):
        return []
    if first.learner != agent.learner:
        return [Difference("learner", first.learner, agent.learner)]
    return [Difference("", None, None)]


def _first_entry(kafka: Kafka, agent: Agent) -> JournalEntry | None:
    # A journal that was trimmed does not begin at 0.
    records = read_to_end(kafka, Partition(agent.topics.journal, 0), OFFSET_BEGINNING, group=agent.group)
    with closing(records):
        for record in records:
            return unpack(record.value or b"")
    return None


def _snapshot_description(kafka: Kafka, agent: Agent) -> str:
    """Return the settings in the newest snapshot of an agent's first model; "": there are none."""
    model = unit_of(agent.input, None if agent.scope.value == "topic" else 0).model
    records = read_to_end(kafka, Partition(agent.topics.snapshots, 0), group=agent.group)
    with closing(records):
        kept = Snapshots(model, list(records))
    try:
        for snapshot in kept.whole():
            return msgspec.msgpack.decode(snapshot.state, type=ModelState).described
    except (StreamError, msgspec.DecodeError):
        return ""
    return ""
