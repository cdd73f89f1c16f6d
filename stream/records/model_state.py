"""The whole of a model, as a snapshot has it."""

import msgspec

from learners.clock import ClockState


class ModelState(msgspec.Struct, array_like=True, frozen=True):
    """The state of a model as a whole.

    `learner_state` is the learner's own snapshot, `described` the settings behind `settings`,
    `clock` that of `learners.clock`, where there is one.
    """

    format: int
    model: str
    sequence: int
    learner: str
    settings: str
    next_offsets: dict[int, int]
    version: int
    digest: str
    learner_state: bytes
    described: str = ""
    clock: ClockState | None = None
