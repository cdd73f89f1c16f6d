"""Dead letters for tests, made by the code that makes the real ones."""

from stream.config import Agent
from stream.records.dead_letter import Rejected, dead_letter
from stream.records.dead_letters import REDRIVEN
from stream.records.record import Headers, Output, Partition, Record


def letter(
    agent: Agent,
    number: int,
    *,
    reason: str = "json_syntax",
    field: str = "",
    partition: int = 0,
    headers: Headers = (),
    redriven: int = 0,
    value: bytes | None = None,
    source: str | None = None,
) -> Output:
    """Return the dead letter of the record with a number, at the offset of this number."""
    told = (*headers, (REDRIVEN, b"%d" % redriven)) if redriven else headers
    place = Partition(source or agent.input, partition)
    data = b"value %d" % number if value is None else value
    record = Record(place, number, data, b"key %d" % number, told)
    refused = Rejected(record, reason, "decode", f"message {number}", field)
    return dead_letter(refused, agent.topics.dead_letters, agent.name)
