"""Instances made up on the spot, for a first look and for tests.

A generator is a function of a seed that yields flat instances for ever, each with an "id" and a "class"; the
same seed gives the same instances. The rule behind the classes is written as a tree or as a function, and
what a learner has found can be compared with it.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from learners.schema import Value

Generated = dict[str, Value]
Generator = Callable[[int], Iterator[Generated]]
Weights = Mapping[str, Mapping[str, int]]
"""For each attribute its values and how often each comes, in comparison with the others."""

Rule = str | tuple[str, Mapping[str, "Rule"]]
"""A class; or an attribute and what follows from each of its values, "" standing for all others."""

_WEATHER: Weights = {
    "outlook": {"sunny": 1, "overcast": 1, "rain": 1},
    "temperature": {"hot": 1, "mild": 1, "cool": 1},
    "humidity": {"high": 1, "normal": 1},
    "windy": {"true": 1, "false": 1},
}
_WEATHER_RULE: Rule = (
    "outlook",
    {
        "sunny": ("humidity", {"high": "N", "normal": "P"}),
        "overcast": "P",
        "rain": ("windy", {"true": "N", "false": "P"}),
    },
)

# Some values are rare, and the finer parts of the rule hang on them: the tree of the first hundred
# applications is not that of the first thousand, and is tied again many times on the way.
_LOANS: Weights = {
    "income": {"low": 34, "middle": 44, "high": 22},
    "history": {"good": 48, "none": 34, "bad": 18},
    "purpose": {"car": 32, "house": 26, "travel": 20, "study": 14, "business": 8},
    "employment": {"full-time": 55, "part-time": 25, "self-employed": 14, "none": 6},
    "debts": {"none": 45, "some": 37, "heavy": 18},
    "collateral": {"none": 50, "vehicle": 32, "property": 18},
    "region": {"north": 25, "east": 25, "south": 25, "west": 25},
    "channel": {"branch": 20, "phone": 30, "web": 50},
}
_SOLVENT: Rule = (
    "income",
    {
        "high": ("debts", {"heavy": ("employment", {"full-time": "grant", "": "refuse"}), "": "grant"}),
        "middle": (
            "debts",
            {
                "heavy": ("collateral", {"none": "refuse", "": "grant"}),
                "": (
                    "purpose",
                    {"business": ("employment", {"self-employed": "refuse", "": "grant"}), "": "grant"},
                ),
            },
        ),
        "low": (
            "employment",
            {
                "full-time": ("debts", {"heavy": "refuse", "": "grant"}),
                "part-time": ("collateral", {"none": "refuse", "": "grant"}),
                "self-employed": ("collateral", {"property": "grant", "": "refuse"}),
                "none": ("purpose", {"study": "grant", "": "refuse"}),
            },
        ),
    },
)
_UNKNOWN: Rule = (
    "collateral",
    {
        "property": ("debts", {"heavy": ("income", {"high": "grant", "": "refuse"}), "": "grant"}),
        "vehicle": (
            "purpose",
            {
                "car": ("income", {"low": ("employment", {"full-time": "grant", "": "refuse"}), "": "grant"}),
                "business": "refuse",
                "": ("income", {"high": "grant", "": "refuse"}),
            },
        ),
        "none": (
            "income",
            {
                "high": (
                    "employment",
                    {
                        "full-time": "grant",
                        "self-employed": ("debts", {"none": "grant", "": "refuse"}),
                        "": "refuse",
                    },
                ),
                "middle": ("purpose", {"study": ("debts", {"none": "grant", "": "refuse"}), "": "refuse"}),
                "low": "refuse",
            },
        ),
    },
)
_DOUBTFUL: Rule = (
    "collateral",
    {
        "property": (
            "income",
            {
                "high": ("debts", {"heavy": "refuse", "": "grant"}),
                "middle": ("purpose", {"house": ("debts", {"none": "grant", "": "refuse"}), "": "refuse"}),
                "low": "refuse",
            },
        ),
        "vehicle": ("income", {"high": ("purpose", {"car": "grant", "": "refuse"}), "": "refuse"}),
        "none": "refuse",
    },
)
_LOANS_RULE: Rule = ("history", {"good": _SOLVENT, "none": _UNKNOWN, "bad": _DOUBTFUL})

_BLOCKS: Weights = {
    "size": {"small": 1, "medium": 1, "large": 1},
    "colour": {"red": 1, "green": 1, "blue": 1},
    "shape": {"square": 1, "circle": 1, "triangle": 1},
}
_CONCEPTS: tuple[Callable[[Generated], bool], ...] = (
    lambda block: block["size"] == "small" and block["colour"] == "red",
    lambda block: block["colour"] == "green" or block["shape"] == "circle",
    lambda block: block["size"] in ("medium", "large"),
)

_THRESHOLDS = (8.0, 14.0, 6.0, 11.0)


def weather(seed: int) -> Iterator[Generated]:
    """Yield mornings of Quinlan's weather: is it one to play on (P) or not (N)?"""
    return _ruled(_WEATHER, _WEATHER_RULE, random.Random(seed))


def loans(seed: int, *, noise: float = 0.0) -> Iterator[Generated]:
    """Yield applications for a loan, to be granted or refused.

    Args:
        seed: Which applications.
        noise: The share of applications whose class is decided by a coin.
    """
    chance = random.Random(seed)
    for application in _ruled(_LOANS, _LOANS_RULE, chance):
        if noise and chance.random() < noise:
            application["class"] = chance.choice(("grant", "refuse"))
        yield application


def multiplexer(seed: int) -> Iterator[Generated]:
    """Yield states of a 6-bit multiplexer: two address bits say which of four data bits is the class.

    No bit alone says anything about the class, which makes it hard for a learner that looks one test ahead.
    """
    chance = random.Random(seed)
    number = 0
    while True:
        number += 1
        bits = chance.choices("01", k=6)
        state: Generated = dict(zip(("a0", "a1", "d0", "d1", "d2", "d3"), bits, strict=True))
        yield {"id": number, **state, "class": bits[2 + int("".join(bits[:2]), 2)]}


def xor(seed: int, *, bits: int = 9, others: int = 9, concept: int = 1) -> Iterator[Generated]:
    """Yield rows of bits of which some decide by their parity; the others say nothing.

    No test says anything about the class before all that matter have been made: every greedy learner guesses.

    Args:
        seed: Which rows.
        bits: How many bits matter.
        others: How many do not.
        concept: Which bits matter.
    """
    names = [chr(ord("a") + place) for place in range(bits + others)]
    relevant = random.Random(concept).sample(names, bits)
    chance = random.Random(seed)
    number = 0
    while True:
        number += 1
        row: Generated = {name: chance.choice("01") for name in names}
        odd = sum(row[name] == "1" for name in relevant) % 2
        yield {"id": number, **row, "class": "odd" if odd else "even"}


def stagger(seed: int, *, period: int = 1_000) -> Iterator[Generated]:
    """Yield blocks that belong to a concept or not, where the concept is another one after every period.

    Args:
        seed: Which blocks.
        period: How many blocks each of the three concepts lasts before the next begins.
    """
    chance = random.Random(seed)
    number = 0
    while True:
        concept = _CONCEPTS[number // period % len(_CONCEPTS)]
        number += 1
        block = _described(_BLOCKS, chance)
        yield {"id": number, **block, "class": "in" if concept(block) else "out"}


def sea(seed: int, *, period: int = 1_500, noise: float = 0.05) -> Iterator[Generated]:
    """Yield points of three numbers; the sum of the first two decides the class, the third says nothing.

    The threshold is another one after every period, so that what was learned before is wrong for some points.

    Args:
        seed: Which points.
        period: How many points each threshold lasts before the next one comes.
        noise: The share of points whose class is the wrong one.
    """
    chance = random.Random(seed)
    number = 0
    while True:
        threshold = _THRESHOLDS[number // period % len(_THRESHOLDS)]
        number += 1
        point: Generated = {name: round(chance.uniform(0, 10), 2) for name in ("x", "y", "z")}
        below = (float(point["x"] or 0) + float(point["y"] or 0) <= threshold) != (chance.random() < noise)
        yield {"id": number, **point, "class": "below" if below else "above"}


GENERATORS: Mapping[str, Generator] = MappingProxyType(
    {
        "loans": loans,
        "multiplexer": multiplexer,
        "sea": sea,
        "stagger": stagger,
        "weather": weather,
        "xor": xor,
    }
)
"""Every generator by the name it has on the command line."""

OPTIONS: Mapping[str, Mapping[str, object]] = MappingProxyType({"sea": {"preset": "adaptive"}})
"""What the default learner is best told about a generator's stream."""

CHANGING = ("sea", "stagger")
"""Those whose concept changes with time."""
DEFAULT_GENERATOR = "loans"


def _ruled(attributes: Weights, rule: Rule, chance: random.Random) -> Iterator[Generated]:
    number = 0
    while True:
        number += 1
        description = _described(attributes, chance)
        yield {"id": number, **description, "class": _class_of(description, rule)}


def _described(attributes: Weights, chance: random.Random) -> Generated:
    return {
        name: chance.choices(list(values), list(values.values()))[0] for name, values in attributes.items()
    }


def _class_of(description: Generated, rule: Rule) -> str:
    while not isinstance(rule, str):
        attribute, cases = rule
        rule = cases.get(str(description[attribute])) or cases[""]
    return rule
