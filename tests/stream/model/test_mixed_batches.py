"""A batch of which one part has new names and the rest does not is what its records are one by one."""

import json
import random

import msgspec
import pytest

from learners.learner import make_options
from learners.registry import LEARNERS, make_learner
from stream.config import Agent, Limits
from stream.model.processor import LearningProcessor
from stream.records.fields import Nested
from stream.records.record import Record
from tests.stream.stories import INPUT, Told, make, records_of, told_by

FAST = [name for name in LEARNERS if make_learner(name).takes_arrays]
"""The learners whose records are read by the compiled reader: only they have two ways to the codes."""
REFUSING = [name for name in FAST if "missing" in LEARNERS[name].options_type.__struct_fields__]
"""Those of them that can refuse an instance without a value for some attribute."""
KNOWN = [
    b'{"a": "x", "b": "u", "class": "p"}',
    b'{"a": "y", "b": "v", "class": "n"}',
    b'{"a": "x", "b": "v", "class": "n"}',
]
"""What comes first: from here on the compiled reader understands these names by itself."""


def agent_of(learner: str, **options: object) -> Agent:
    chosen = make_options(LEARNERS[learner].options_type, options)
    return Agent(name="a", input=INPUT, learner=learner, options=chosen)


def one_by_one(processor: LearningProcessor, records: list[Record], agent: Agent) -> list[Told]:
    return [told_by(processor.process([record]), agent) for record in records]


def check(agent: Agent, values: list[bytes]) -> Told:
    """Compare a batch with its records one by one, after a batch that made the names known."""
    together, apart = make(agent), make(agent)
    for processor in (together, apart):
        processor.process(records_of(KNOWN))
    records = records_of(values, len(KNOWN))
    whole = told_by(together.process(records), agent)
    single = one_by_one(apart, records, agent)
    assert whole.predictions == [prediction for told in single for prediction in told.predictions]
    assert whole.changes == [change for told in single for change in told.changes]
    assert whole.letters == [letter for told in single for letter in told.letters]
    assert together.learner.snapshot() == apart.learner.snapshot()
    assert together.digest == apart.digest
    return whole


def test_there_are_learners_with_two_ways_to_the_codes() -> None:
    assert "id5r" in FAST
    assert "id5r" in REFUSING


@pytest.mark.parametrize("learner", FAST)
def test_known_names_behind_a_new_attribute_are_read_as_if_alone(learner: str) -> None:
    told = check(
        agent_of(learner),
        [
            b'{"a": "x", "b": "u", "class": "p"}',
            b'{"a": "x", "b": "u", "c": "new", "class": "n"}',
            b'{"a": "y", "b": "u", "class": "p"}',
            b'{"a": "y", "b": "v"}',
            b'{"a": "x", "d": 7, "c": "new", "class": "p"}',
            b'{"b": "v", "class": "n"}',
        ],
    )
    assert (len(told.predictions), len(told.letters)) == (6, 0)


@pytest.mark.parametrize("learner", REFUSING)
def test_what_lacks_the_attribute_that_has_just_appeared_is_refused_where_missing_values_are(
    learner: str,
) -> None:
    told = check(
        agent_of(learner, missing="reject"),
        [
            b'{"a": "x", "b": "u", "class": "p"}',
            b'{"a": "x", "b": "u", "c": "new", "class": "n"}',
            b'{"a": "y", "b": "u", "class": "p"}',
            b'{"a": "y", "b": "v"}',
            b'{"a": "y", "b": "v", "c": "new", "class": "n"}',
        ],
    )
    # The third lacks "c", and so it is no instance to learn from; a question may lack whatever it likes.
    assert [int(dict(letter.headers)["espalier.dlq.offset"] or b"") for letter in told.letters] == [5]
    assert len(told.predictions) == 4


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("learner", FAST)
def test_batches_in_which_names_appear_at_any_place_are_their_records_one_by_one(
    learner: str, seed: int
) -> None:
    rng = random.Random(seed)
    values: list[bytes] = []
    attributes = ["a", "b"]
    for number in range(60):
        if rng.random() < 0.15:
            attributes.append(f"n{number}")
        kept = [name for name in attributes if name in "ab" or rng.random() < 0.5]
        told: dict[str, object] = {name: rng.choice("xyuv") for name in kept}
        if rng.random() < 0.8:
            told["class"] = rng.choice("pnq") if number > 30 else rng.choice("pn")
        values.append(json.dumps(told).encode() if rng.random() > 0.05 else b"{")
    assert len(attributes) > 5
    check(agent_of(learner), values)
    if learner in REFUSING:
        assert check(agent_of(learner, missing="reject"), values).letters


@pytest.mark.parametrize("learner", FAST)
@pytest.mark.parametrize("nested", list(Nested))
@pytest.mark.parametrize(
    "odd",
    [b"1e999", b"-1e999", b'"z"', b"7", b"true", b"null", b"[1]", b'{"c": 1}', b'"' + b"z" * 300 + b'"'],
)
def test_what_a_retired_attribute_holds_does_not_matter(learner: str, nested: Nested, odd: bytes) -> None:
    """Whether a record that has one is read the fast way depends on how records fall into batches."""
    agent = msgspec.structs.replace(agent_of(learner), nested=nested)
    limits = Limits(max_values_per_attribute=3, max_text=200)
    together, apart = make(agent, limits=limits), make(agent, limits=limits)
    records = records_of(
        [
            *KNOWN,
            *(b'{"a": "x%d", "b": "u", "class": "p"}' % n for n in range(3)),
            b'{"a": %b, "b": "v", "class": "n"}' % odd,
            b'{"a": %b, "b": "u", "class": "p"}' % odd,
        ]
    )
    whole = told_by(together.process(records), agent)
    single = one_by_one(apart, records, agent)
    assert together.learner.codes.retired == {0}
    assert whole.predictions == [prediction for told in single for prediction in told.predictions]
    assert [letter.value for letter in whole.letters] == [
        one.value for told in single for one in told.letters
    ]
    assert together.digest == apart.digest
