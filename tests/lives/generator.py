"""A topic as users have it, from a seed: fields of every sort, repeats, contradictions, broken records."""

import json
from collections import Counter
from random import Random
from typing import Any, NamedTuple

from stream.records.record import Headers, Partition, Record
from tests.lives.columns import ABSENT, Column, clock, grid, make_column

INPUT = "in"
NAMES = (
    "plan",
    "temp",
    "user",
    "b",
    "é",
    "ts",
    "f.001",
    "level",
    "msg",
    "a b",
    "\U0001f680",
    "",
    "x" * 25,
    "n" * 70,
)
CLOCK = "t"

# What begins a batch, or a snapshot, before a record; and whether spare time is committed by itself.
BATCH, OTHER_BATCH, RESTART, ALONE = 1, 2, 4, 8


class Step(NamedTuple):
    """A record, and what happens before it."""

    record: Record
    marks: int
    units: int


class Topic(NamedTuple):
    """The records of a topic and what they are about."""

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    steps: tuple[Step, ...]


BROKEN: tuple[bytes | None, ...] = (
    None,
    None,
    b"",
    b" ",
    b"{",
    b"[1]",
    b"7",
    b"null",
    b"\xff",
    b"\x00\x00\x00\x00\x01",
    b"\xef\xbb\xbf{}",
    '{"plan": "x", "class": "yes"}'.encode("utf-16"),
    b'{"plan": 1, "plan": 2, "class": "yes"}',
    b'{"temp": NaN, "class": "yes"}',
    b'{"temp": 1e999, "class": "yes"}',
    b'{"brand new": "\\ud800", "class": "yes"}',
    b'{"id": true, "class": "yes"}',
    b'{"id": 99999999999999999999, "class": "yes"}',
    b'{"deep": ' + b"[" * 40 + b"]" * 40 + b"}",
    b'{"temp": ' + b"9" * 2000 + b"}",
    b"{}",
    b'{"class": "yes"}',
    b'{"brand new": null}',
)
LABELS = (None, "", "?", ["yes"], {"k": "yes"}, 1, 1.5, True, 2**70, "l" * 90, "late", "\U00010348", "yes ")


def make_topic(r: Random, label: str, id_field: str) -> Topic:
    """Return the records of one topic."""
    n = max(20, min(300, int(r.lognormvariate(2.9, 0.9))))
    columns = _columns(r, n)
    classes = r.choice(
        (
            ("yes", "no"),
            ("yes", "no"),
            ("a", "b", "c"),
            (0, 1),
            (1, 2, 3),
            (True, False),
            ("yes", "no", "d", "e", "f", "g"),
        )
    )
    values = _Values(r, n, columns, classes, label, id_field)
    steps, offsets = [], Counter[int]()
    batches, units = r.choice((0.02, 0.1, 0.4)), r.choice((0.0, 0.05, 0.2))
    partitions, restart = r.choice((1, 1, 1, 3)), r.randrange(n)
    for i in range(n):
        place = r.randrange(partitions)
        offset = offsets[place] + r.choice((0, 0, 0, 0, 1, 7))
        offsets[place] = offset + 1
        record = Record(
            Partition(INPUT, place), offset, values.value(i), _key(r), _headers(r), 1_790_000_000_000 + i
        )
        marks = (
            (r.random() < batches) * BATCH | (r.random() < batches) * OTHER_BATCH | (i == restart) * RESTART
        )
        granted = r.choice((1, 7, 64, 500, 3000)) if r.random() < units else 0
        steps.append(Step(record, marks | (r.random() < 0.5) * ALONE, granted))
    return Topic(tuple(name for name, _ in columns), classes, tuple(steps))


def _columns(r: Random, n: int) -> list[tuple[str, Column]]:
    if r.random() < 0.1:
        return [(name, grid(r, n)) for name in NAMES[: r.randint(2, 4)]]
    names = r.sample(NAMES[:11], r.randint(1, 8)) if r.random() < 0.8 else r.sample(NAMES, r.randint(3, 12))
    columns = [(name, make_column(r, n)) for name in names]
    if r.random() < 0.3:
        columns.append((CLOCK, clock(r, n)))
    if r.random() < 0.1:
        columns += [(f"f{k:03}", make_column(r, n)) for k in range(r.randint(5, 40))]
    return columns


class _Values:
    """The values of a topic's records, as bytes."""

    def __init__(
        self,
        r: Random,
        n: int,
        columns: list[tuple[str, Column]],
        classes: tuple[Any, ...],
        label: str,
        id_field: str,
    ) -> None:
        self._r = r
        self._columns = columns
        self._classes = classes
        self._label = label
        self._id = id_field
        self._causes = [r.randrange(len(columns)) for _ in range(r.randint(1, 3))]
        self._noise = r.choice((0.0, 0.05, 0.3))
        self._turns = r.choice((n, n, n // 2))  # where the concept changes
        self._late = r.choice((0, 0, n // 2))  # from where on the last class is met
        self._repeats, self._broken = r.choice((0.02, 0.1, 0.5)), r.choice((0.0, 0.03, 0.1))
        self._unlabelled, self._shuffled = r.choice((0.0, 0.1, 0.3)), r.random() < 0.2
        self._ascii = r.random() < 0.5
        self._past: list[dict[str, Any]] = []

    def value(self, i: int) -> bytes | None:
        r = self._r
        x = r.random()
        if x < self._broken:
            return r.choice(BROKEN)
        if self._past and r.random() < self._repeats:
            told = r.choice(self._past)
            kind = r.random()
            if kind < 0.3:  # a contradiction
                told = {**told, self._label: r.choice(self._classes)}
            elif kind < 0.6:
                told = {**told, self._id: i}
        else:
            told = self._new(i)
            self._past.append(told)
        text = json.dumps(told, ensure_ascii=self._ascii)
        return text.encode(errors="replace")

    def _new(self, i: int) -> dict[str, Any]:
        r = self._r
        signals, told = [], {}
        if r.random() < 0.8:
            told[self._id] = r.choice((i, f"r-{i}", i // 2, "same", None, i + 0.5)) if r.random() < 0.3 else i
        for name, column in self._columns:
            signal, value = column(i)
            signals.append(signal)
            if value is not ABSENT:
                told[name] = value
        if r.random() >= self._unlabelled:
            told[self._label] = self._class(i, sum(signals[cause] for cause in self._causes))
        if self._shuffled:
            items = list(told.items())
            r.shuffle(items)
            told = dict(items)
        return told

    def _class(self, i: int, signal: int) -> Any:
        r = self._r
        if r.random() < 0.02:
            return r.choice(LABELS)
        if r.random() < self._noise:
            signal = r.randrange(8)
        known = len(self._classes) - (i < self._late and len(self._classes) > 1)
        return self._classes[(signal + (i >= self._turns)) % known]


def _key(r: Random) -> bytes | None:
    return r.choice((None, b"k", b"\xff\x00", b"d-0001"))


def _headers(r: Random) -> Headers:
    x = r.random()
    if x < 0.7:
        return ()
    if x < 0.97:
        trace = f"00-{r.getrandbits(64):032x}-{r.getrandbits(32):016x}-01".encode()
        return (("traceparent", trace), ("content-type", b"application/json"), ("empty", None))
    return r.choice(
        ((("espalier.op", b"instance"),), (("espalier.op", b"label"),), (("espalier.dlq.reason", b"mine"),))
    )
