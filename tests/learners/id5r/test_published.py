"""What is published after a record: kept digests and sizes follow the rule; changes have counts of now."""

import json
import random

import numpy as np
import pytest

from learners.change import TreeChange
from learners.id5r.learner import ID5R
from learners.id5r.options import CoreOptions
from learners.outline import Outline, Split, digest, from_dict, size, to_json
from learners.schema import Instance

OPTIONS = {
    "gated": CoreOptions(bins=8),
    "bare": CoreOptions(significance=None, bins=4),
    "window": CoreOptions(window=60, bins=8),
    "ratio": CoreOptions(selection="gain-ratio", bins=8),
    "adaptive": CoreOptions(preset="adaptive", recent=40),
}


def stream(seed: int, count: int) -> list[Instance]:
    """Return records with words, numbers, values missing and noise, whose concept changes half way."""
    rng = random.Random(seed)
    records = []
    for number in range(count):
        word, x, y = rng.choice("abcd"), round(rng.gauss(0, 1), 1), round(rng.random(), 1)
        right = (word in "ab") == (x > 0) if number < count // 2 else y > 0.5
        label = "yes" if right != (rng.random() < 0.1) else rng.choice(["no", "né"])
        values = {
            "word": word,
            "x": x if rng.random() < 0.9 else None,
            'the "y"': y,
            "other": rng.choice("pq"),
        }
        records.append(Instance(values, label))
    return records


def afresh(outline: Outline | None) -> Outline | None:
    """Return the same tree of which no digest or size is known."""
    return from_dict(json.loads(to_json(outline)))


def at(outline: Outline | None, change: TreeChange) -> Outline | None:
    """Return the subtree where a change happened."""
    for _, value in change.path:
        assert isinstance(outline, Split)
        outline = dict(outline.branches)[value]
    return outline


@pytest.mark.parametrize("name", OPTIONS)
def test_kept_digests_and_sizes_are_those_of_the_rule(name: str) -> None:
    learner = ID5R(options=OPTIONS[name])
    for record in stream(7, 240):
        learner.learn_one(record)
        now = afresh(learner.outline())
        assert digest(learner.outline_lately) == digest(now)
        assert size(learner.outline_lately) == size(now)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_change_has_the_counts_and_the_evidence_of_now(name: str) -> None:
    learner = ID5R(options=OPTIONS[name])
    found = 0
    for record in stream(8, 300):
        for change in learner.learn_one(record):
            if change.subtree is not None:
                found += 1
                assert repr(change.subtree) == repr(at(learner.outline(), change))
    assert found > 10


@pytest.mark.parametrize("name", OPTIONS)
def test_paths_are_the_same_whether_explained_in_a_batch_or_alone(name: str) -> None:
    batches, alone = ID5R(options=OPTIONS[name]), ID5R(options=OPTIONS[name])
    records = stream(9, 300)
    for record in records:
        coded = batches.codes.encode(record.values, record.label)
        rows = np.array([coded.row], dtype=np.uint64)
        (prediction,) = batches.learn_batch(rows, np.array([coded.label], dtype=np.int32)).predictions
        assert prediction == alone.predict_one(record.values).with_flags(())
        alone.learn_one(record)
