"""The MDL tree in the stream."""

import json

import msgspec

from learners.learner import make_options
from learners.registry import LEARNERS
from stream.config import Agent
from tests.stream.stories import INPUT, make, records_of, told_by


def test_a_third_class_under_the_papers_code_is_a_dead_letter_and_the_rest_goes_on() -> None:
    options = make_options(LEARNERS["mdl"].options_type, {"code": "paper"})
    agent = Agent(name="a", input=INPUT, learner="mdl", options=options)
    values = [{"x": x, "class": label} for x, label in [("u", "a"), ("v", "b"), ("w", "c"), ("u", "a")]]
    told = told_by(make(agent).process(records_of(map(msgspec.json.encode, values))), agent)
    [letter] = told.letters
    headers = dict(letter.headers)
    assert headers["espalier.dlq.reason"] == b"too_many_classes"
    assert b"additive" in (headers["espalier.dlq.message"] or b"")
    assert json.loads(letter.value or b"") == values[2]
    assert [prediction["source"]["offset"] for prediction in told.predictions] == [0, 1, 3]
