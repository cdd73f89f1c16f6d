"""Records from the future through a model: dead letters, however the records are cut into batches."""

import json
import random

import pytest

from learners.learner import make_options
from learners.outline import digest
from learners.registry import LEARNERS
from stream.config import Agent
from stream.model.processor import LearningProcessor
from tests.stream.stories import make, records_of, told_by

OPTIONS = make_options(LEARNERS["id5r"].options_type, {"time": "t", "window_time": 100.0})
AGENT = Agent(name="a", input="in", label="class", learner="id5r", options=OPTIONS)


def values(rng: random.Random, length: int) -> list[bytes]:
    """Return records whose time goes on, with jumps and mistakes; some have new names, some no label."""
    now, made = 0, []
    for place in range(length):
        now += rng.choice([0, 1, 5, 30]) + (rng.random() < 0.02) * 100_000
        wrong = rng.random() < 0.1
        record: dict[str, object] = {"id": place, "t": 10**15 if wrong else now, "a": rng.choice("xyz")}
        if rng.random() < 0.05:
            record[f"new {place}"] = "x"
        if rng.random() < 0.9:
            record["class"] = "p" if record["a"] == "x" else "q"
        made.append(json.dumps(record).encode())
    return made


def state(processor: LearningProcessor) -> tuple[object, ...]:
    return digest(processor.learner.outline()), processor.learner.retained, processor.learner.codes.mark()


@pytest.mark.parametrize("seed", range(6))
def test_records_from_the_future_are_dead_letters_however_batches_are_cut(seed: int) -> None:
    rng = random.Random(seed)
    records = records_of(values(rng, 300))
    single, batched, follower = make(AGENT), make(AGENT), make(AGENT)
    letters: list[list[object]] = [[], []]
    for record in records:
        letters[0] += [letter.value for letter in told_by(single.process([record]), AGENT).letters]
    start = 0
    while start < len(records):
        end = start + rng.choice([1, 5, 40, 100])
        told = told_by(batched.process(records[start:end]), AGENT)
        letters[1] += [letter.value for letter in told.letters]
        for entry in told.journal:
            follower.replay(entry)
        start = end
    assert letters[0] == letters[1] != []
    assert state(single) == state(batched) == state(follower)


def test_the_dead_letter_names_the_field() -> None:
    processor = make(AGENT)
    good = [json.dumps({"t": t, "a": "x", "class": "p"}).encode() for t in (1, 2, 3)]
    processor.process(records_of(good))
    told = told_by(processor.process(records_of([b'{"t": 1e18, "a": "x", "class": "p"}', good[0]], 3)), AGENT)
    headers = dict(told.letters[0].headers)
    assert headers["espalier.dlq.reason"] == b"future_time"
    assert headers["espalier.dlq.field"] == b"t"
    assert len(told.predictions) == 1


@pytest.mark.parametrize("train", ["all", "errors"])
def test_a_worker_that_replays_its_journal_refuses_the_same_records(train: str) -> None:
    """Also where records before were predicted rightly and not learned, and within ten in a row."""
    options = make_options(LEARNERS["id5r"].options_type, {"time": "t", "window_time": 100.0, "train": train})
    agent = Agent(name="a", input="in", label="class", learner="id5r", options=options)
    times = [*range(1, 60), *(10**9 + n for n in range(14)), 10**9 + 20]
    records = records_of([json.dumps({"t": t, "a": "x", "class": "p"}).encode() for t in times])
    for cut in (40, 60, 66, 68, 70):
        first, follower = make(agent), make(agent)
        for record in records[:cut]:
            for entry in told_by(first.process([record]), agent).journal:
                follower.replay(entry)
        restored = make(agent)
        restored.restore(first.snapshot())
        rest = [told_by(one.process(records[cut:]), agent) for one in (first, follower, restored)]
        assert len(rest[0].letters) == max(0, min(9, 68 - cut))
        for other in rest[1:]:
            assert [letter.value for letter in other.letters] == [letter.value for letter in rest[0].letters]
            assert other.predictions == rest[0].predictions
