"""Growing trees of binary records, streams of parity, and the values of an independent implementation."""

import json
import random
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from learners.iidt._choosing import Policy
from learners.iidt.growing import Growing
from learners.iidt.learner import IIDT
from learners.lookahead._lookahead import Job
from learners.registry import make_learner
from learners.schema import Instance
from tests.paths import REPOSITORY

GOLDEN: dict[str, Any] = json.loads((REPOSITORY / "tests" / "golden" / "iidt.json").read_text())
Z = NormalDist().inv_cdf(0.75)
ALL = 1 << 62
ANYTIME = ("iidt-ts", "iidt-ee")


def growing(*, by_errors: bool = False, granularity: float = 0.1, seed: int = 1) -> Growing:
    return Growing(Policy(by_errors, granularity, 1 << 20, 1.25, 0.25, Z), seed)


def put(tree: Growing, x: Sequence[Sequence[int]], y: Sequence[int]) -> list[int]:
    """Put binary records down; return their numbers."""
    width = len(x[0])
    tree.forest.ranks = [0, 1]
    tree.forest.widen(width, [2] * width, [False] * width)
    return [tree.forest.put([v + 1 for v in row], label) for row, label in zip(x, y, strict=True)]


def leaves(tree: Growing) -> int:
    assert tree.forest.root is not None
    return tree.forest.size(tree.forest.root)


def right(tree: Growing, x: Sequence[Sequence[int]], y: Sequence[int]) -> float:
    root = tree.forest.root
    assert root is not None
    found = [tree.forest.find(root, [v + 1 for v in row])[0].label for row in x]
    return sum(one == label for one, label in zip(found, y, strict=True)) / len(y)


def job(x: Sequence[Sequence[int]], y: Sequence[int], r: int, seed: int, *, words: bool = True) -> Job:
    codes = np.ascontiguousarray(np.array(x, dtype=np.int32).T)
    two = np.full(len(codes), 2, dtype=np.int32)
    return Job(codes, np.array(y, dtype=np.int32), two, two, 2, r, seed, words)


def parity(relevant: int, width: int, count: int, seed: int) -> tuple[list[list[int]], list[int]]:
    chance = random.Random(seed)
    places = chance.sample(range(width), relevant)
    x = [[chance.randrange(2) for _ in range(width)] for _ in range(count)]
    return x, [sum(row[place] for place in places) % 2 for row in x]


def xor_stream(count: int, seed: int, *, noise: float = 0.0) -> list[Instance]:
    chance = random.Random(seed)
    names = chance.sample("abcdef", 6)
    stream = []
    for _ in range(count):
        values = {name: chance.choice("01") for name in "abcdef"}
        values["n"] = round(chance.uniform(0, 10), 1)  # type: ignore[assignment]
        odd = (int(values[names[0]]) + int(values[names[1]])) % 2
        stream.append(Instance(values, str(odd ^ (chance.random() < noise))))
    return stream


def learned(name: str, stream: Sequence[Instance], **settings: object) -> IIDT:
    learner = make_learner(name, None, settings)
    assert isinstance(learner, IIDT)
    for instance in stream:
        learner.learn_one(instance)
    return learner
