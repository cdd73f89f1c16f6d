"""Predictions on their way to bytes: the fast way writes what the general way does, byte for byte."""

import json
import random

import msgspec
import pytest

from learners.learner import make_options
from learners.registry import LEARNERS
from stream.config import Agent, TreeChanges
from stream.model.predictions import ModelRoute, PredictionBatch
from stream.records.published import TreeName
from stream.records.record import Record
from tests.stream.stories import INPUT, make, records_of, told_by

SETTINGS: dict[str, dict[str, object]] = {
    "tree": {},
    "bare tree": {"significance": "none"},
    "adaptive": {"answer": "adaptive"},
    "naive Bayes": {"answer": "bayes"},
    "preset": {"preset": "adaptive", "recent": 20},
    "verified": {"preset": "adaptive", "drift": "verified"},
}


def some_records(seed: int) -> list[Record]:
    """Return records with numbers, words and holes; what they mean changes in the middle."""
    rng = random.Random(seed)
    values: list[bytes | None] = []
    for place in range(400):
        told: dict[str, object] = {"id": rng.choice([place, f"é{place}"])}
        x, word = rng.random(), rng.choice(["a", "b", "ü"])
        if rng.random() < 0.95:
            told["x"] = x
        if rng.random() < 0.9:
            told["w"] = word
        right = (x > 0.5) == (place < 200)
        if rng.random() < 0.9:
            told["class"] = "maybe" if word == "ü" and rng.random() < 0.5 else "yes" if right else "no"
        values.append(json.dumps(told).encode())
    return records_of(values)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("changes", list(TreeChanges))
def test_the_fast_way_writes_the_same_bytes(
    name: str, seed: int, changes: TreeChanges, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = PredictionBatch.predictions
    compared: list[bytes] = []

    def both(
        self: PredictionBatch, place: ModelRoute, told: TreeName, start: int, end: int, since: int
    ) -> list[bytes]:
        assert (since >= 0) == (changes is TreeChanges.COMMIT)
        written = fast(self, place, told, start, end, since)
        names = [
            TreeName(told.version, told.digest, since + n if since + n > 0 <= since else msgspec.UNSET)
            for n in range(end - start)
        ]
        assert written == [self._encoded(place, name, start + n) for n, name in enumerate(names)]
        compared.extend(written)
        return written

    monkeypatch.setattr(PredictionBatch, "predictions", both)
    options = make_options(LEARNERS["id5r"].options_type, SETTINGS[name])
    agent = Agent(name="a", input=INPUT, learner="id5r", options=options, tree_changes=changes)
    processor, records = make(agent), some_records(seed)
    for start in range(0, len(records), 90):
        told_by(processor.process(records[start : start + 90]), agent)
    assert len(compared) == len(records)
    answerers = {json.loads(value).get("answered_by") for value in compared}
    assert len(answerers) > (1 if name in ("adaptive", "preset", "verified") else 0)
