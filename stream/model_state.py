"""The whole of a model, as a snapshot has it, and the name of what decides how its tree grows."""

import hashlib

import msgspec

from learners.learner import Learner


class ModelState(msgspec.Struct, array_like=True, frozen=True):
    """The state of a model as a whole; `learner_state` is the learner's own snapshot."""

    format: int
    model: str
    sequence: int
    learner: str
    settings: str
    next_offsets: dict[int, int]
    version: int
    digest: str
    learner_state: bytes


def settings_digest(learner: Learner) -> str:
    """Return a digest of what decides how a learner grows its tree."""
    told = msgspec.json.encode([learner.name, learner.options, learner.schema], order="deterministic")
    return hashlib.sha256(told).hexdigest()[:16]
