"""What the log says about numbers that a learner cannot compare: each thing once, whatever comes after."""

import json
import logging

import pytest

from learners.registry import LEARNERS, make_learner
from stream.events import Event, NumbersAsText, NumbersAsValues, Started
from stream.model.number_hints import ENOUGH_TEXTS
from stream.model.predictions import ModelRoute
from stream.model.processor import LearningProcessor
from stream.observe.notices import Notices
from stream.records.json_decoder import Decoder
from stream.records.record import Partition, Record


def events_of(learner: str, rows: list[dict[str, object]]) -> list[Event]:
    events: list[Event] = []
    place = ModelRoute("a", "m", learner, "in", 0, "p", "c", "d", "j")
    processor = LearningProcessor(
        make_learner(learner), Decoder("class", "id", 1_000, 4), place, events.append
    )
    for number, row in enumerate(rows):
        value = json.dumps({**row, "class": "p"}).encode()
        processor.process([Record(Partition("in", 0), number, value)])
    return [event for event in events if isinstance(event, NumbersAsText | NumbersAsValues)]


def test_numbers_that_are_sent_as_text_are_named_once_there_are_enough() -> None:
    rows: list[dict[str, object]] = [
        {"ms": str(n), "code": f"c{n}", "size": n, "mixed": str(n) if n else "none"} for n in range(40)
    ]
    found = events_of("id5r", rows)
    assert found == [NumbersAsText("a", "m", "ms", ENOUGH_TEXTS, "in", 0, ENOUGH_TEXTS - 1)]
    assert events_of("id5r", rows[: ENOUGH_TEXTS - 1]) == []


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_a_learner_without_thresholds_says_at_its_first_number_what_becomes_of_them(learner: str) -> None:
    found = events_of(learner, [{"a": "x"}, {"a": "x", "b": 1}, {"a": "y", "b": 2, "c": 3}])
    expected = (
        [] if LEARNERS[learner].takes_numbers else [NumbersAsValues("a", "m", "b", learner, "in", 0, 1)]
    )
    assert found == expected


def test_the_log_has_one_line_for_each(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    notices = Notices()
    for name in LEARNERS:
        notices.observe(Started(f"of-{name}", "in", name, "topic"))
    assert len(caplog.records) == sum(not one.takes_numbers for one in LEARNERS.values()) == 5
    caplog.clear()
    for offset in (5, 6):
        notices.observe(NumbersAsText("a", "m", "ms", 32, "in", 0, offset))
        notices.observe(NumbersAsValues("b", "m", "x", "id4", "in", 0, offset))
    first, second = (record.getMessage() for record in caplog.records)
    assert first.startswith(
        'the attribute "ms" is text, but all of its 32 values are numbers. Declare it numeric'
    )
    assert second.startswith('the attribute "x" holds numbers. Learner id4: it compares values for equality')
