"""The dead letter of a record that could not be used: its bytes, and why in the headers."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from stream.records.record import UNREADABLE, Headers, Output, Record

VERSION = b"1"
STUB_LIMIT = 900_000
"""What is longer than this is not copied into a dead letter, which would pass the client's message limit."""
_MAX_MESSAGE = 1_024
_OUR_HEADERS = ("espalier.dlq.", "__streams.errors.")


class Rejected(NamedTuple):
    """A record that could not be used, and why."""

    record: Record
    reason: str
    stage: str
    message: str
    field: str = ""


def dead_letter(rejected: Rejected, topic: str, agent: str) -> Output:
    """Return the dead letter of a record: its bytes, key and headers as they were, and why.

    Beside our own headers go those of Kafka Streams, for tools that know them. What a record says under our
    own names is not trusted and left out.
    """
    record = rejected.record
    message = rejected.message[:_MAX_MESSAGE]
    position: Mapping[str, str] = {
        "topic": record.partition.topic,
        "partition": str(record.partition.number),
        "offset": str(record.offset),
    }
    ours: dict[str, str] = {f"espalier.dlq.{name}": text for name, text in position.items()}
    ours |= {
        "espalier.dlq.agent": agent,
        "espalier.dlq.reason": rejected.reason,
        "espalier.dlq.stage": rejected.stage,
        "espalier.dlq.field": rejected.field,
        "espalier.dlq.message": message,
        "espalier.dlq.timestamp": str(record.timestamp_ms),
        "espalier.dlq.version": VERSION.decode(),
        "__streams.errors.exception": f"espalier.{rejected.reason}",
        "__streams.errors.message": message,
    }
    ours |= {f"__streams.errors.{name}": text for name, text in position.items()}
    headers = () if record.headers is UNREADABLE else record.headers
    kept = tuple(pair for pair in headers if not pair[0].startswith(_OUR_HEADERS))
    value, key = record.value, record.key
    if value is not None and _bytes_in(value, key, kept) > STUB_LIMIT:
        ours |= {
            "espalier.dlq.omitted": "value",
            "espalier.dlq.omitted_bytes": str(len(value)),
            "espalier.dlq.sha256": hashlib.sha256(value).hexdigest(),
        }
        value = None
    if _bytes_in(value, key, kept) > STUB_LIMIT:
        ours["espalier.dlq.omitted"] = "key headers" if record.value is None else "value key headers"
        key, kept = None, ()
    added = tuple((name, text.encode(errors="replace")) for name, text in ours.items())
    return Output(topic, value, key, record.partition.number, kept + added)


def _bytes_in(value: bytes | None, key: bytes | None, headers: Headers) -> int:
    """Return about how many bytes a message has."""
    told = sum(len(name.encode()) + len(text or b"") + 8 for name, text in headers)
    return len(value or b"") + len(key or b"") + told
