"""The streams that are measured, as arrays of codes, and as the JSON that would bring them.

A source goes on for ever and is drawn from in chunks, so that ten million records need no more memory than
ten thousand. The same seed and the same chunks give the same records.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from learners.schema import Attribute, Schema

Codes = NDArray[np.uint32]
Labels = NDArray[np.int32]
Branch = tuple[int, tuple["Rule", ...]]
"""An attribute, and what follows from each of its values."""
Rule = int | Branch

ATTRIBUTES = 22
RULE_DEPTH = 3
EARLY_LEAF = 0.3
LED_ATTRIBUTES = 24
_SEGMENTS = (
    "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"  # the digits 0 to 9
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some records: a row of codes for each, of which 1 is an attribute's first value, and their classes."""

    rows: Codes
    labels: Labels

    def __len__(self) -> int:
        return len(self.labels)


class Source(Protocol):
    """A stream of records."""

    sizes: tuple[int, ...]
    """How many values each attribute has."""
    classes: int

    def draw(self, records: int) -> Chunk:
        """Return the next records."""
        ...


class Nominal:
    """Attributes of 2 to 12 values, some of them rare; a tree of depth 3 decides between two classes.

    Args:
        noise: The share of records whose class is the wrong one.
        attributes: How many there are, most of them of no importance.
        seed: Which attributes, which rule, which records.
    """

    def __init__(self, noise: float = 0.0, attributes: int = ATTRIBUTES, seed: int = 7) -> None:
        plan = np.random.default_rng(seed)
        self.sizes = tuple(map(int, plan.integers(2, 13, size=attributes)))
        self.classes = 2
        self._noise = noise
        self._rule = _rule(plan, self.sizes, list(range(attributes)), RULE_DEPTH)
        self._chance = np.random.default_rng(seed + 1)
        # Where a number between 0 and 1 falls says which value it is.
        self._bounds = [np.cumsum(self._chance.dirichlet(np.ones(size)))[:-1] for size in self.sizes]

    def draw(self, records: int) -> Chunk:
        """Return the next records."""
        rows = np.empty((records, len(self.sizes)), dtype=np.uint32)
        for attribute, bounds in enumerate(self._bounds):
            rows[:, attribute] = np.searchsorted(bounds, self._chance.random(records)) + 1
        labels = np.empty(records, dtype=np.int32)
        _classify(self._rule, rows, np.arange(records), labels)
        if self._noise:
            labels ^= (self._chance.random(records) < self._noise).astype(np.int32)
        return Chunk(rows, labels)


def _rule(plan: np.random.Generator, sizes: Sequence[int], free: list[int], depth: int) -> Rule:
    if depth == 0 or (depth < RULE_DEPTH and plan.random() < EARLY_LEAF):
        return int(plan.integers(0, 2))
    attribute = int(plan.choice(free))
    rest = [other for other in free if other != attribute]
    return attribute, tuple(_rule(plan, sizes, rest, depth - 1) for _ in range(sizes[attribute]))


def _classify(rule: Rule, rows: Codes, which: NDArray[np.intp], labels: Labels) -> None:
    """Give some of the rows the class that a rule says."""
    if isinstance(rule, int):
        labels[which] = rule
        return
    attribute, parts = rule
    codes = rows[which, attribute]
    for value, part in enumerate(parts, 1):
        _classify(part, rows, which[codes == value], labels)


class Led:
    """The segments of a digital display, some of them wrong, among bits that mean nothing: which digit?

    Args:
        noise: The share of segments that are wrong.
        seed: Which records.
    """

    def __init__(self, noise: float = 0.1, seed: int = 5) -> None:
        self.sizes = (2,) * LED_ATTRIBUTES
        self.classes = 10
        self._noise = noise
        self._chance = np.random.default_rng(seed)
        self._digits = np.array([list(map(int, digit)) for digit in _SEGMENTS.split()], dtype=np.uint32)

    def draw(self, records: int) -> Chunk:
        """Return the next records."""
        labels = self._chance.integers(0, self.classes, records, dtype=np.int32)
        shown = self._digits[labels]
        wrong = self._chance.random(shown.shape) < self._noise
        idle = self._chance.integers(0, 2, (records, LED_ATTRIBUTES - shown.shape[1]), dtype=np.uint32)
        return Chunk(np.hstack([shown ^ wrong, idle]) + np.uint32(1), labels)


class Multiplexer:
    """Some bits are the address of the one among the others that is the class: no bit alone says anything.

    Args:
        address: How many bits the address has.
        seed: Which records.
    """

    def __init__(self, address: int = 3, seed: int = 3) -> None:
        self.sizes = (2,) * (address + 2**address)
        self.classes = 2
        self._address = address
        self._chance = np.random.default_rng(seed)

    def draw(self, records: int) -> Chunk:
        """Return the next records."""
        bits = self._chance.integers(0, 2, (records, len(self.sizes)), dtype=np.uint32)
        weights = 2 ** np.arange(self._address)[::-1]
        where = self._address + bits[:, : self._address] @ weights
        labels = bits[np.arange(records), where].astype(np.int32)
        return Chunk(bits + np.uint32(1), labels)


# ---- names


def names_of(source: Source) -> tuple[str, ...]:
    """Return what the attributes are called."""
    return tuple(f"a{number:02}" for number in range(len(source.sizes)))


def schema_of(source: Source) -> Schema:
    """Return a schema under which a learner gives the values the codes that they have here."""
    attributes = tuple(
        Attribute(name, values=tuple(f"v{value}" for value in range(1, size + 1)))
        for name, size in zip(names_of(source), source.sizes, strict=True)
    )
    return Schema(attributes=attributes, classes=tuple(f"c{number}" for number in range(source.classes)))


def described(source: Source, chunk: Chunk) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the records in words: a description and a class."""
    names = names_of(source)
    values = [f"v{value}" for value in range(max(source.sizes) + 1)]
    for row, label in zip(chunk.rows.tolist(), chunk.labels.tolist(), strict=True):
        yield {name: values[code] for name, code in zip(names, row, strict=True)}, f"c{label}"


def as_json(source: Source, chunk: Chunk, first: int = 0) -> list[bytes]:
    """Return the records as flat JSON objects, with an id that counts from `first`, and a class."""
    fields = [
        [f'"{name}":"v{value}"' for value in range(size + 1)]
        for name, size in zip(names_of(source), source.sizes, strict=True)
    ]
    ends = [f',"class":"c{number}"}}' for number in range(source.classes)]
    return [
        _line(number, [texts[code] for texts, code in zip(fields, row, strict=True)], ends[label])
        for number, (row, label) in enumerate(
            zip(chunk.rows.tolist(), chunk.labels.tolist(), strict=True), first
        )
    ]


def _line(number: int, fields: list[str], end: str) -> bytes:
    return f'{{"id":{number},{",".join(fields)}{end}'.encode()
