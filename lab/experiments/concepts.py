"""What is to be learned: sets of instances in the codes that the algorithms work on."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from learners.schema import MISSING
from learners.vocabulary import Row

Example = tuple[Row, int]
"""An instance: the codes of its values, and of its class."""


@dataclass(frozen=True, slots=True)
class Concept:
    """Instances and the names behind their codes.

    Attributes:
        attributes: The names of the attributes.
        values: For each attribute the text of each code; code 0 is the missing value.
        classes: The text of each class.
        examples: The instances.
    """

    attributes: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    examples: tuple[Example, ...]

    def order(self, *names: str) -> tuple[int, ...]:
        """Return the attributes in the order of their names, those not named last."""
        named = [self.attributes.index(name) for name in names]
        return (*named, *(a for a in range(len(self.attributes)) if a not in named))


def encode(attributes: Sequence[str], records: Iterable[tuple[Sequence[str], str]]) -> Concept:
    """Return the instances that are given as texts."""
    codes: list[dict[str, int]] = [{MISSING: 0} for _ in attributes]
    classes: dict[str, int] = {}
    examples = tuple(
        (
            tuple(known.setdefault(text, len(known)) for known, text in zip(codes, texts, strict=True)),
            classes.setdefault(label, len(classes)),
        )
        for texts, label in records
    )
    return Concept(tuple(attributes), tuple(map(tuple, codes)), tuple(classes), examples)


def boolean(attributes: Sequence[str], rule: Callable[[tuple[int, ...]], bool], values: int = 2) -> Concept:
    """Return every description over attributes with values 0, 1, ..., of the class that the rule says."""
    descriptions = itertools.product(range(values), repeat=len(attributes))
    records = ((tuple(map(str, one)), "+" if rule(one) else "-") for one in descriptions)
    return encode(attributes, records)


def multiplexor() -> Concept:
    """Return the 64 instances of the six-bit multiplexor: two address bits choose one of four data bits."""
    return boolean(("a0", "a1", "d0", "d1", "d2", "d3"), lambda bits: bits[2 + 2 * bits[0] + bits[1]] == 1)


def parity(bits: int, values: int = 2) -> Concept:
    """Return all instances of parity: the sum of the values is a multiple of how many there are."""
    names = [f"x{number}" for number in range(bits)]
    return boolean(names, lambda one: sum(one) % values == 0, values)


def random_concept(bits: int, rng: np.random.Generator) -> Concept:
    """Return all descriptions of some bits, each of a class drawn at random."""
    positive = iter(rng.integers(2, size=1 << bits).tolist())
    return boolean([f"x{number}" for number in range(bits)], lambda _: next(positive) == 1)


PEOPLE = """- short blond brown
- tall dark brown
+ tall blond blue
- tall dark blue
- short dark blue
+ tall red blue
- tall blond brown
+ short blond blue"""
"""Table 5: class, height, hair, eyes."""


def people() -> Concept:
    """Return the eight instances of the paper's Table 5."""
    lines = [line.split() for line in PEOPLE.splitlines()]
    return encode(("height", "hair", "eyes"), ((values, label) for label, *values in lines))
