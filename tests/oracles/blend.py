"""What all sources of evidence say together: the rule, in plain Python.

A source says about each class how many bits it is behind the one that the source speaks for most: an
attribute by how often its value was met in that class, the classes by how common they are, a leaf by what is
in it. The weighted sum of what they say is what speaks for a class, and 2 to the power of it, as a share of
all, is how probable it is. At the beginning attributes are weighed alike, which is naive Bayes; then the
error of each answer moves every weight a little, less where it was moved much lately (AdaGrad with a memory
that fades).
Besides, a number has a slope for each class, by which the class is the more probable the higher the number
is; slopes are learned from nothing, and find borders that run across several numbers.

The compiled core has the same rule in C (`learners/id5r/blend.c`); they are tested to be the same.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

MOST_BITS = 8.0
"""Nobody speaks more strongly against a class."""
RATE = 0.1
"""How fast weights are learned."""
SLOPE_RATE = 0.15
FADES = 0.999
"""What a step still counts, one record later."""
FIRST_STEPS = 4.0
"""The first steps are not as large as they would be."""
LEAF_BELIEVED = 0.05
"""The weight of a leaf at the beginning."""
ALL_BELIEVED = 1.5
"""The weight of all attributes together at the beginning, times the root of how many there are."""

Bits = Mapping[str, float]
"""What speaks for each class that is possible, in bits, up to something that is the same for all."""


@dataclass
class Learned:
    """Something that is learned from errors: the more it was moved lately, the less it moves."""

    value: float = 0.0
    squares: float = 0.0

    def move(self, gradient: float, rate: float) -> None:
        """Take a step."""
        self.squares = FADES * self.squares + gradient * gradient
        self.value += rate * gradient / math.sqrt(FIRST_STEPS + self.squares)


@dataclass
class Evidence:
    """What is said about a record.

    Attributes:
        leaves: By whoever is believed little at the beginning.
        attributes: By each attribute that says anything, and by how common the classes are.
        positions: Where each number is among all, from -1 to 1.
        classes: Those that are possible.
    """

    leaves: Mapping[Hashable, Bits]
    attributes: Mapping[Hashable, Bits]
    positions: Mapping[str, float]
    classes: Sequence[str]

    def __post_init__(self) -> None:
        """Let every source say how far each class is behind its best one."""
        self.leaves = {name: self._behind(bits) for name, bits in self.leaves.items()}
        self.attributes = {name: self._behind(bits) for name, bits in self.attributes.items()}

    def _behind(self, bits: Bits) -> Bits:
        best = max(bits.values())
        return {c: max(bits[c] - best, -MOST_BITS) if c in bits else -MOST_BITS for c in self.classes}


@dataclass
class Blend:
    """How much every source is believed."""

    trust: dict[Hashable, Learned] = field(default_factory=dict)
    slopes: dict[tuple[str, str], Learned] = field(default_factory=dict)

    def shares(self, told: Evidence) -> dict[str, float]:
        """Return how probable each class is."""
        count = len(told.attributes) - 1
        believed = min(1.0, ALL_BELIEVED / math.sqrt(count)) if count else 1.0
        sums = dict.fromkeys(told.classes, 0.0)
        for sources, weight in ((told.leaves, LEAF_BELIEVED), (told.attributes, believed)):
            for name, bits in sources.items():
                trust = weight + self.trust.setdefault(name, Learned()).value
                for c in told.classes:
                    sums[c] += trust * bits[c]
        for name, position in self._positions(told).items():
            for c in told.classes:
                sums[c] += position * self.slopes.setdefault((name, c), Learned()).value
        best = max(sums.values())
        powers = {c: 2.0 ** (bits - best) for c, bits in sums.items()}
        return {c: power / sum(powers.values()) for c, power in powers.items()}

    def learn(self, told: Evidence, label: str) -> None:
        """Learn from the error of what is answered now; nothing from a class that was not possible."""
        if label not in told.classes:
            return
        shares = self.shares(told)
        for sources in (told.leaves, told.attributes):
            for name, bits in sources.items():
                expected = sum(shares[c] * bits[c] for c in told.classes)
                self.trust[name].move(bits[label] - expected, RATE)
        for name, position in self._positions(told).items():
            for c in told.classes:
                self.slopes[name, c].move(position * ((c == label) - shares[c]), SLOPE_RATE)

    @staticmethod
    def _positions(told: Evidence) -> dict[str, float]:
        """Return the positions that say anything; one that is always the same among them."""
        return {"": 1.0} | {name: position for name, position in told.positions.items() if position}
