"""Records of an input, and what a run without faults makes of them."""

import hashlib
import json
from collections.abc import Sequence
from typing import NamedTuple

from stream.config import Agent
from stream.records.record import Headers
from tests.contract.rigs import MemoryRig


class Fed(NamedTuple):
    """A record of the input."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()


def uninterrupted(agent: Agent, fed: Sequence[Sequence[Fed]]) -> tuple[dict[str, str], list[list[str]]]:
    """Return the digests of a run without faults, and its predictions by partition."""
    rig = MemoryRig()
    rig.create([agent], len(fed))
    for number, records in enumerate(fed):
        for record in records:
            rig.broker.produce(agent.input, record.value, record.key, number, record.headers)
    rig.run([agent], {}, max_batch=1_000)
    digests: dict[str, str] = {}
    for change in rig.read(agent.topics.tree_changes):
        told = json.loads(change.value or b"")
        digests[told["model"]] = told["tree"]["digest"]
    predictions: list[list[str]] = [[] for _ in fed]
    for answer in rig.read(agent.topics.predictions):
        digest = hashlib.sha256(answer.value or b"").hexdigest()[:16]
        predictions[answer.partition.number].append(digest)
    return digests, predictions
