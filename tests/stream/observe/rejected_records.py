"""A rejected record as an event, and the fields of a log line."""

import logging

from stream.events import RecordRejected


def dropped(
    reason: str = "wrong_type", field: str = "tags", offset: int = 17, agent: str = "a"
) -> RecordRejected:
    return RecordRejected(agent, reason, 3, offset, "in", field, f'the field "{field}" holds an array.')


def extra(record: logging.LogRecord, *names: str) -> tuple[object, ...]:
    """Return what a record of the log says beside its message."""
    return tuple(vars(record)[name] for name in names)
