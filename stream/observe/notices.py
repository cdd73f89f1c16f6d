"""Warnings about data: each kind of dead letter and each ignored field once, then counts once a minute.

What a log says must not grow with the number of bad records, nor with the number of names in them: of each
agent at most `MOST_PAIRS` pairs of a reason and a field are told apart, the rest is counted as other.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from learners.registry import LEARNERS
from stream.errors import MAX_FIELD
from stream.events import (
    AttributeRetired,
    Event,
    FieldNoted,
    NumbersAsText,
    NumbersAsValues,
    RecordRejected,
    Started,
)
from stream.printable import clipped
from stream.records.dead_letters import MOST_PAIRS, OTHER, Tally
from stream.records.remedies import (
    IGNORED_FIELDS,
    NO_THRESHOLDS,
    NUMBERS_AS_TEXT,
    RETIRED,
    RETIRED_NUMBERS,
    named,
    remedy,
)

log = logging.getLogger("espalier")

EVERY_SECONDS = 60.0
MOST_SHOWN = 8
"""How many pairs of a reason and a field one line counts apart."""
_MOST_MESSAGE = 300


class _Kind(NamedTuple):
    """What a line with counts says, and how loud."""

    level: int
    one: str
    many: str
    advice: str


_DEAD = _Kind(logging.WARNING, "dead letter", "dead letters", ' "espalier dead-letters {agent}" lists them')
_IGNORED = _Kind(logging.INFO, "field read as missing", "fields read as missing", "")


class _Counts:
    """What one agent has had of one kind."""

    def __init__(self) -> None:
        self.known = Tally()
        self.since_line = Tally()
        self.has_unseen = False
        """Whether something was counted since the last line that no warning of its own told of."""
        self.began = 0.0


class Notices:
    """Logs what is wrong with the data of agents. Told every event, by any thread.

    Args:
        now: The time in seconds; it need not have anything to do with that of records.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, _Kind], _Counts] = {}
        self._said: dict[str, set[tuple[str, str]]] = {}

    def observe(self, event: Event) -> None:
        """Log what is new about an event, and count the rest."""
        match event:
            case RecordRejected():
                self._dropped(event)
            case FieldNoted():
                self._noted(event)
            case AttributeRetired():
                self._retire(event)
            case NumbersAsText():
                self._numbers_as_text(event)
            case NumbersAsValues():
                self._numbers_as_values(event)
            case Started() if not LEARNERS[event.learner].takes_numbers:
                log.info("learner %s: %s", event.learner, NO_THRESHOLDS, extra={"agent": event.agent})
            case _:
                pass

    def tick(self) -> None:
        """Log the counts of every agent whose minute is over; to be called every now and then."""
        self._tell(lambda counts: self._now() - counts.began >= EVERY_SECONDS)

    def close(self) -> None:
        """Log what has been counted and not logged yet."""
        self._tell(lambda counts: True)

    # ---- the first of a kind

    def _dropped(self, event: RecordRejected) -> None:
        pair = self._count(event.agent, _DEAD, event.reason, event.field)
        if pair is None:
            return
        message = clipped(event.message.rstrip("."), _MOST_MESSAGE)
        which = f"with this reason{_for_field(pair[1])}"
        text = f"dead letter ({event.reason}): {message}. {remedy(event.reason, event.field)}"
        log.warning("%s Further ones %s are counted once a minute", text, which, extra=_place(event, *pair))

    def _noted(self, event: FieldNoted) -> None:
        pair = self._count(event.agent, _IGNORED, event.flag, event.field, event.records)
        if pair is None:
            return
        why = named(IGNORED_FIELDS.get(event.flag, "cannot be used"), event.field)
        name = clipped(event.field, MAX_FIELD)
        log.warning(
            'the field "%s" is read as missing (%s): it %s', name, event.flag, why, extra=_place(event, *pair)
        )

    def _retire(self, event: AttributeRetired) -> None:
        what = named(RETIRED_NUMBERS if event.numeric else RETIRED, event.attribute)
        text = f"has more than {event.values:,} values and is ignored from here on. {what}"
        self._once(event, "retired", text)

    def _numbers_as_text(self, event: NumbersAsText) -> None:
        text = f"is text, but all of its {event.values:,} values are numbers. "
        self._once(event, "text", text + named(NUMBERS_AS_TEXT, event.attribute))

    def _numbers_as_values(self, event: NumbersAsValues) -> None:
        self._once(event, "numbers", f"holds numbers. Learner {event.learner}: {NO_THRESHOLDS}")

    def _once(self, event: AttributeRetired | NumbersAsText | NumbersAsValues, what: str, text: str) -> None:
        """Log something about an attribute, once for each agent."""
        name = clipped(event.attribute, MAX_FIELD)
        with self._lock:
            known = self._said.setdefault(event.agent, set())
            if (what, name) in known or len(known) > MOST_PAIRS:
                return
            known.add((what, name))
        log.warning('the attribute "%s" %s', name, text, extra=_place(event, what, name))

    def _count(self, agent: str, kind: _Kind, reason: str, field: str, by: int = 1) -> tuple[str, str] | None:
        """Count; return the pair under which it was counted where it is the first of it."""
        field = clipped(field, MAX_FIELD)
        with self._lock:
            # Looked up before one is made: this is done for every ignored field of every record.
            counts = self._counts.get((agent, kind))
            if counts is None:
                counts = self._counts[agent, kind] = _Counts()
            if not counts.since_line.counts:
                counts.began = self._now()
            pair = counts.known.pair(reason, field)
            is_first = pair not in counts.known.counts
            counts.known.add(*pair, by)
            counts.since_line.add(*pair, by)
            counts.has_unseen |= not is_first or by > 1
        return pair if is_first else None

    # ---- once a minute

    def _tell(self, is_due: Callable[[_Counts], bool]) -> None:
        due: list[tuple[str, _Kind, Tally, int, float]] = []
        with self._lock:
            for (agent, kind), counts in self._counts.items():
                if not counts.since_line.counts or not is_due(counts):
                    continue
                if counts.has_unseen:
                    seconds = self._now() - counts.began
                    due.append((agent, kind, counts.since_line, counts.known.total, seconds))
                counts.since_line, counts.has_unseen = Tally(), False
        for agent, kind, tally, total, seconds in due:
            rows = list(tally.rows())
            parts = [f"{reason}{_in_brackets(field)} {count:,}" for reason, field, count in rows[:MOST_SHOWN]]
            rest = sum(count for _, _, count in rows[MOST_SHOWN:])
            parts += [f"others {rest:,}"] if rest else []
            what = kind.one if tally.total == 1 else kind.many
            text = f"{tally.total:,} {what} in {max(1, round(seconds))} s: {', '.join(parts)}."
            text += f" {total:,} since the worker started."
            log.log(kind.level, "%s%s", text, kind.advice.format(agent=agent), extra={"agent": agent})


def _place(
    event: RecordRejected | FieldNoted | AttributeRetired | NumbersAsText | NumbersAsValues,
    reason: str,
    field: str,
) -> dict[str, object]:
    """Return what a line is about, as `stream.observe.logs` shows it."""
    return {
        "agent": event.agent,
        "partition": f"{event.topic}/{event.partition}",
        "offset": event.offset,
        "reason": reason,
        "field": field,
    }


def _for_field(field: str) -> str:
    if field == OTHER:
        return f" and any of more than {MOST_PAIRS} fields"
    return f' and the field "{field}"' if field else ""


def _in_brackets(field: str) -> str:
    return f" ({field})" if field else ""
