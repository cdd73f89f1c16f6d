"""Many dead letters in a few lines: counts by reason and field, and some examples of each.

Memory depends on how many pairs of a reason and a field are told apart, not on how many letters there are.
"""

from collections import Counter
from typing import NamedTuple

from stream.printable import clipped, readable
from stream.records.dead_letters import MARK_REASONS, OTHER, Letter, Mark, NotALetter, Tally, parse
from stream.records.record import Partition, Record

SHOWN_BYTES = 120
_MOST_MESSAGE = 300


class Example(NamedTuple):
    """One dead letter: where its record stood in the input, what was wrong, and how its value begins.

    `value` is None where it has none or where it was left out; `redriven` says how often it was sent again.
    """

    source: Partition
    offset: int
    message: str
    value: str | None
    redriven: int


class Summary:
    """What is in a topic of dead letters, for one agent.

    Args:
        agent: Its name.
        reason: Only letters with this reason; None: all.
        most: How many examples of each pair are kept.
    """

    def __init__(self, agent: str, reason: str | None, most: int) -> None:
        self.tally = Tally()
        self.examples: dict[tuple[str, str], list[Example]] = {}
        self.redriven: Counter[str] = Counter()
        """How many were sent to the input again, by reason."""
        self.of_others = 0
        """Letters of other agents that write to the same topic."""
        self.unreadable = 0
        self._agent = agent
        self._reason = reason
        self._most = most

    def take(self, record: Record) -> None:
        """Count a record of the topic."""
        try:
            letter = parse(record)
        except NotALetter:
            self.unreadable += 1
            return
        if letter.agent != self._agent:
            self.of_others += isinstance(letter, Letter)
        elif isinstance(letter, Mark):
            self._take_mark(letter)
        elif self._reason is None or letter.reason == self._reason:
            pair = self.tally.add(letter.reason, letter.field)
            examples = self.examples.setdefault(pair, [])
            if len(examples) < self._most:
                examples.append(_example(letter))

    def _take_mark(self, mark: Mark) -> None:
        for reason, count in mark.sent.items():
            known = reason in self.redriven or len(self.redriven) < MARK_REASONS
            if self._reason is None or reason == self._reason:
                self.redriven[reason if known else OTHER] += count


def _example(letter: Letter) -> Example:
    value = letter.record.value
    # A slice of its own: the record may be large.
    shown = None if value is None else readable(value[: 4 * SHOWN_BYTES])
    return Example(
        letter.source,
        letter.offset,
        clipped(letter.message, _MOST_MESSAGE),
        None if shown is None else clipped(shown, SHOWN_BYTES),
        letter.redriven,
    )
