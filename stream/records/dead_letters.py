"""Dead letters as they are read: whose they are, why they were refused, and how often they were sent again.

In a topic of dead letters there are also marks. `espalier redrive` writes one with every transaction: it says
up to which offset of the partition it has sent letters to the input again. Marks are younger than the letters
they are about, so that no retention deletes a mark and leaves its letters, as it would be with the offsets of
a consumer group.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from stream.errors import MAX_FIELD
from stream.printable import clipped
from stream.records.record import Headers, Output, Partition, Record

DLQ = "espalier.dlq."
REDRIVEN = "espalier.redriven"
"""The header that counts how often a record was sent to the input again."""
MARK = "espalier.redrive"
"""The header of a mark. A dead letter may carry it too, copied from its record: a mark has none of `DLQ`."""
ANY_REASON = "*"
OTHER = "(other)"
MOST_PAIRS = 200
"""How many pairs of a reason and a field are counted apart. Field names come from records: anybody's."""
MARK_REASONS = 100
"""How many reasons a summary of marks tells apart: more than there are."""
_NOT_THEIRS = (DLQ, "__streams.errors.")


class NotALetter(ValueError):  # noqa: N818 - what it is not is said by the name
    """A record in a topic of dead letters is neither a dead letter nor a mark."""


class Letter(NamedTuple):
    """A dead letter: why, and where the record stood in the input.

    `omitted` says what was left out because it was too large; `redriven` how often it had been sent again.
    """

    record: Record
    agent: str
    reason: str
    field: str
    message: str
    source: Partition
    offset: int
    omitted: str
    redriven: int
    sha256: str

    def headers(self) -> Headers:
        """Return the headers that the record had in the input, without the count of `REDRIVEN`."""
        return tuple(
            pair
            for pair in self.record.headers
            if not pair[0].startswith(_NOT_THEIRS) and pair[0] != REDRIVEN
        )


class Mark(msgspec.Struct, frozen=True):
    """Up to which offset of a partition dead letters have been sent to the input again.

    Attributes:
        agent: Whose letters.
        input: To which topic.
        reason: Which of them; `ANY_REASON` for all.
        force: Whether those that had been sent too often already were among them.
        upto: The first offset that was not looked at.
        sent: How many were sent, by reason.
    """

    agent: str
    input: str
    reason: str
    force: bool
    upto: int
    sent: dict[str, int] = {}

    def output(self, partition: Partition) -> Output:
        """Return the record that stands for the mark."""
        return Output(
            partition.topic, msgspec.json.encode(self), MARK.encode(), partition.number, ((MARK, b"1"),)
        )


_mark = msgspec.json.Decoder(Mark)


def parse(record: Record) -> Letter | Mark:
    """Return what a record in a topic of dead letters is.

    Raises:
        NotALetter: It is neither a dead letter nor a mark.
    """
    told = {name: (value or b"").decode(errors="replace") for name, value in record.headers}
    if MARK in told and not any(name.startswith(DLQ) for name in told):
        try:
            return _mark.decode(record.value or b"")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise NotALetter(f"a mark cannot be read: {error}") from error
    try:
        source = Partition(told[f"{DLQ}topic"], int(told[f"{DLQ}partition"]))
        agent, offset = told[f"{DLQ}agent"], int(told[f"{DLQ}offset"])
    except (KeyError, ValueError) as error:
        raise NotALetter(f"a header of a dead letter is missing or wrong: {error}") from error
    return Letter(
        record=record,
        agent=agent,
        reason=clipped(told.get(f"{DLQ}reason", ""), MAX_FIELD),
        field=clipped(told.get(f"{DLQ}field", ""), MAX_FIELD),
        message=told.get(f"{DLQ}message", ""),
        source=source,
        offset=offset,
        omitted=told.get(f"{DLQ}omitted", ""),
        redriven=_count(told.get(REDRIVEN, "")),
        sha256=told.get(f"{DLQ}sha256", ""),
    )


def _count(text: str) -> int:
    """Return how often a record was sent again; anything that is no small number counts as never."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0


class Tally:
    """Counts by reason and field in bounded memory: what is beyond `MOST_PAIRS` pairs is counted as other."""

    def __init__(self, most: int = MOST_PAIRS) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self._most = most
        self._reasons: set[str] = set()

    def add(self, reason: str, field: str, by: int = 1) -> tuple[str, str]:
        """Count; return the pair under which it was counted."""
        pair = reason, field
        if pair not in self.counts:
            pair = self.pair(reason, field)
            self._reasons.add(pair[0])
        self.counts[pair] += by
        return pair

    def pair(self, reason: str, field: str) -> tuple[str, str]:
        """Return the pair under which a reason and a field are counted."""
        if (reason, field) in self.counts or len(self.counts) < self._most:
            return reason, field
        # Reasons are a closed set where we wrote them; whoever else may write to the topic writes any.
        return (reason if reason in self._reasons or len(self._reasons) < self._most else OTHER), OTHER

    def rows(self) -> Iterator[tuple[str, str, int]]:
        """Yield reason, field and count, the most frequent first."""
        for (reason, field), count in sorted(self.counts.items(), key=lambda item: (-item[1], item[0])):
            yield reason, field, count

    @property
    def total(self) -> int:
        """How many were counted."""
        return self.counts.total()
