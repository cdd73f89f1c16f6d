"""What an engine promises: to carry records to processors and what they return to topics."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Protocol

from stream.model.processing import Processor


class Guarantee(StrEnum):
    """What a reader of the outputs can rely on."""

    EXACTLY_ONCE = "exactly_once"
    AT_LEAST_ONCE = "at_least_once"


class Unit(NamedTuple):
    """What one model learns from: a whole topic, or one partition of it.

    `journal_partition` is the partition of the journal topic that holds the model's state.
    """

    model: str
    journal_partition: int


MakeProcessor = Callable[[Unit], Processor]
Stop = Callable[[], bool]


class Engine(Protocol):
    """Runs one agent."""

    guarantee: Guarantee

    def run(self, make_processor: MakeProcessor, stop: Stop) -> None:
        """Work until told to stop.

        Each model gets a processor of its own, made fresh and given its journal to replay before the first
        record. A processor is dropped, and another made, whenever its work could not be committed.

        Args:
            make_processor: Makes the processor of a model.
            stop: Asked between batches whether it is time to stop.
        """
        ...


def unit_of(topic: str, partition: int | None) -> Unit:
    """Return the unit of a whole topic (None) or of one partition."""
    return Unit(topic, 0) if partition is None else Unit(f"{topic}/{partition}", partition)
