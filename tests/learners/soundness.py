"""Random lives of the compiled learner, in which its tree is held to its invariants."""

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import pytest

from learners.id5r import making
from learners.id5r.learner import ID5R
from learners.outline import Leaf, Outline, walk
from learners.registry import make_learner
from learners.schema import Instance, InstanceError, Value


def some_settings(rng: random.Random) -> dict[str, Any]:
    significance = rng.choice([None, 0.3, 0.1, 0.01])
    settings: dict[str, Any] = {
        "selection": rng.choice(["e-score", "e-score", "e-score", "gain-ratio"]),
        "significance": significance,
        "significance_test": rng.choice(["g", "g", "chi2"]),
        "min_records_per_value": 0 if significance is None else rng.choice([0, 2]),
        "bins": rng.choice([3, 8, 32]),
        "on_contradiction": rng.choice(["keep", "keep", "keep", "replace"]),
        "train": rng.choice(["all", "all", "all", "errors"]),
    }
    kept = rng.choice(["all", "all", "all", "window", "time", "ensemble"])
    if kept == "window":
        settings["window"] = rng.choice([5, 40, 150])
    elif kept == "time":
        settings |= {"time": "t", "window_time": rng.choice([10.0, 80.0]), "max_time_jump": 1e9}
    elif kept == "ensemble":
        settings |= {"recent": rng.choice([10, 60]), "drift": rng.choice(["ddm", "verified"])}
        settings["answer"] = rng.choice(["tree", "adaptive", "bayes"])
    return settings


def some_stream(rng: random.Random, length: int) -> Iterator[Instance]:
    """Yield words, numbers and holes, drawn from few different records: most have come before."""
    kinds = [rng.choice(["few numbers", "few numbers", "number", "word"]) for _ in range(rng.randint(1, 5))]
    classes, wrong, known = rng.randint(1, 4), rng.choice([0, 0.1, 0.4]), rng.choice([1, 1, 0.9])
    pool: list[Instance] = []
    size, late = rng.choice([10, 60, 400]), rng.choice([0, 0, length // 2])
    for number in range(length):
        if len(pool) >= size and rng.random() < 0.97:
            drawn = rng.choice(pool)
        else:
            label = rng.randrange(classes)
            values: dict[str, Value] = {}
            for place, kind in enumerate(kinds[: 1 if number < late else None]):
                said = label if rng.random() > wrong else rng.randrange(classes)
                if rng.random() > known:
                    values[f"{kind} {place}"] = None
                elif kind == "word":
                    values[f"{kind} {place}"] = "wxyz"[said]
                else:
                    more = rng.random() if kind == "number" else rng.choice([0.0, 0.25, 0.5, 0.75])
                    values[f"{kind} {place}"] = said + more
            drawn = Instance(values, f"c{label}")
            pool.append(drawn)
        yield Instance({**drawn.values, "t": float(number)}, drawn.label)


def check(learner: ID5R) -> None:
    """Hold every tree of a learner to its invariants, and its outline to what is retained."""
    voices = learner.voices
    beside = () if voices is None else (voices.recent, voices.candidate)
    for tree in (learner.tree, *beside):
        assert tree is None or tree.check() is None


def in_leaves(outline: Outline | None) -> int:
    return (
        0
        if outline is None
        else sum(n for _, node in walk(outline) if isinstance(node, Leaf) for _, n in node.counts)
    )


def expect_sound(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree is sound after every record, learned, forgotten or restored."""
    rng = random.Random(f"sound {seed}")
    monkeypatch.setattr(making, "SMALL", rng.choice([0, 4, 32, 256]))
    settings = some_settings(rng)
    learner = make_learner("id5r", None, settings)
    assert isinstance(learner, ID5R)
    forgets = rng.choice([0, 0, 0.02, 0.2])
    seen: list[Instance] = []
    for instance in some_stream(rng, rng.choice([60, 300, 600])):
        if not settings.get("time"):
            instance = Instance({k: v for k, v in instance.values.items() if k != "t"}, instance.label)
        row, label = learner.codes.encode(instance.values, instance.label)[:2]
        if rng.random() < 0.5:
            learner.learn(row, label)  # settled
        else:
            learner.learn_batch([row], [label])
        seen.append(instance)
        if rng.random() < forgets:
            with contextlib.suppress(InstanceError):
                learner.forget_one(rng.choice(seen))
        check(learner)
        if rng.random() < 0.02:
            assert in_leaves(learner.outline()) == learner.retained
            learner = ID5R.restore(learner.snapshot())
            check(learner)
    assert in_leaves(learner.outline()) == learner.retained
    check(learner)
