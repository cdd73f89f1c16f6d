"""What a worker says about its work: lines for people or for machines, with the agent they are about.

SIGUSR1 switches debug on while a worker runs, and off again: whoever may send a signal may do it, and nothing
has to be opened for it. At debug there is a line for every partition of every batch, with its offset.
"""

import logging
import signal
import time
from collections.abc import Callable
from types import FrameType

import msgspec

from stream.config import Log, LogFormat
from stream.events import Committed, Event, PartitionProgress, Rebalanced, RecordRejected, RestoreFinished
from stream.printable import printable

log = logging.getLogger("espalier")

PLACES = ("agent", "partition", "offset")
"""What a line may be about, beside its message."""

DETAILS = ("reason", "field")
"""What a line for machines has besides: a line for people says it in its message."""

THREADS = "agent-"
"""How the name of an agent's thread begins."""


def _place(record: logging.LogRecord) -> dict[str, object]:
    """Return what a line is about: what it says itself, or else the agent of its thread."""
    place = {name: getattr(record, name, None) for name in PLACES}
    thread = record.threadName or ""
    if place["agent"] is None and thread.startswith(THREADS):
        place["agent"] = thread.removeprefix(THREADS)
    return {name: value for name, value in place.items() if value is not None}


def _when(record: logging.LogRecord) -> str:
    """Return the moment in UTC, as ISO 8601 has it."""
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03d}Z"


class TextLines(logging.Formatter):
    """`2026-01-31 12:00:00,000 INFO message [agent=loans partition=loans/0 offset=17]`."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the library's name
        """Return the line, one line whatever is in it: names come from records that anybody may write."""
        place = " ".join(f"{name}={value}" for name, value in _place(record).items())
        return printable(super().formatMessage(record) + (f" [{place}]" if place else ""))


class JsonLines(logging.Formatter):
    """An object of JSON in each line: time, level, logger, message, and what it is about."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        told: dict[str, object] = {
            "time": _when(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_place(record),
            **{name: value for name in DETAILS if (value := getattr(record, name, None)) is not None},
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return msgspec.json.encode(told, enc_hook=str).decode()


def start(settings: Log) -> None:
    """Write to standard error what is logged from now on, and let SIGUSR1 switch debug on and off."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if settings.format is LogFormat.JSON else TextLines())
    logging.basicConfig(level=settings.level.upper(), handlers=[handler], force=True)
    signal.signal(signal.SIGUSR1, _switcher(logging.getLevelNamesMapping()[settings.level.upper()]))


def _switcher(usual: int) -> Callable[[int, FrameType | None], None]:
    def switch(number: int, frame: FrameType | None) -> None:
        root = logging.getLogger()
        is_on = root.level == logging.DEBUG
        level = (usual if usual != logging.DEBUG else logging.INFO) if is_on else logging.DEBUG
        root.setLevel(level)
        log.warning("SIGUSR1: from now on %s", logging.getLevelName(level).lower())

    return switch


def observe(event: Event) -> None:
    """Log what an agent is doing; told every event."""
    match event:
        case PartitionProgress() if log.isEnabledFor(logging.DEBUG):
            log.debug(
                "read to %d, %d to go",
                event.consumed,
                event.lag,
                extra={
                    "agent": event.agent,
                    "partition": f"{event.topic}/{event.partition}",
                    "offset": event.consumed,
                },
            )
        case RecordRejected() if log.isEnabledFor(logging.DEBUG):
            place = {"partition": f"{event.topic}/{event.partition}", "offset": event.offset}
            told = {"agent": event.agent, **place, "reason": event.reason, "field": event.field}
            log.debug("dead letter (%s): %s", event.reason, event.message, extra=told)
        case Rebalanced():
            for places, word in ((event.assigned, "assigned"), (event.revoked, "revoked")):
                if places:
                    names = ", ".join(f"{topic}/{number}" for topic, number in places)
                    log.info("%s: %s", word, names, extra={"agent": event.agent})
        case RestoreFinished() if log.isEnabledFor(logging.DEBUG):
            log.debug("restored %s in %.3f s", event.model, event.seconds, extra={"agent": event.agent})
        case Committed() if log.isEnabledFor(logging.DEBUG):
            log.debug("%s in %.3f s", event.result, event.seconds, extra={"agent": event.agent})
        case _:
            pass
