"""What is wrong with data is logged once for each reason and field, and then counted once a minute."""

import json
import logging
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream.events import IGNORED, AttributeRetired, FieldNoted
from stream.observe.notices import EVERY_SECONDS, Notices
from stream.records.dead_letters import MOST_PAIRS, OTHER
from tests.stream.observe.rejected_records import dropped, extra


class Clock:
    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def notices(clock: Clock, caplog: pytest.LogCaptureFixture) -> Notices:
    caplog.set_level(logging.INFO)
    return Notices(clock)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    told = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return told


# ---- dead letters


def test_the_first_of_a_reason_and_field_is_a_warning_with_message_position_and_remedy(
    notices: Notices, caplog: pytest.LogCaptureFixture
) -> None:
    notices.observe(dropped())
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    message = record.getMessage()
    assert message.startswith('dead letter (wrong_type): the field "tags" holds an array. Send a string')
    assert 'set ignore = ["tags"] in [[agent]]' in message
    assert extra(record, "agent", "partition", "offset") == ("a", "in/3", 17)
    assert extra(record, "reason", "field") == ("wrong_type", "tags")
    lines(caplog)
    notices.observe(dropped(offset=18))
    assert lines(caplog) == []
    notices.observe(dropped(field="other"))
    notices.observe(dropped("json_syntax", ""))
    notices.observe(dropped(agent="b"))
    assert len(lines(caplog)) == 3


def test_counts_follow_once_a_minute_and_only_where_there_are_new_ones(
    notices: Notices, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(1_500):
        notices.observe(dropped("json_syntax", "") if number % 3 == 0 else dropped())
    lines(caplog)
    clock.seconds += EVERY_SECONDS - 0.1
    notices.tick()
    assert lines(caplog) == []
    clock.seconds += 0.2
    notices.tick()
    (line,) = lines(caplog)
    assert line.startswith("1,500 dead letters in 60 s: wrong_type (tags) 1,000, json_syntax 500.")
    assert "1,500 since the worker started" in line
    assert '"espalier dead-letters a"' in line
    clock.seconds += 10 * EVERY_SECONDS
    notices.tick()
    assert lines(caplog) == []
    notices.observe(dropped())
    clock.seconds += EVERY_SECONDS
    notices.tick()
    (line,) = lines(caplog)
    assert line.startswith("1 dead letter in 60 s: wrong_type (tags) 1. 1,501 since")


def test_a_dead_letter_that_was_logged_by_itself_is_not_counted_once_more(
    notices: Notices, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    notices.observe(dropped())
    lines(caplog)
    clock.seconds += 2 * EVERY_SECONDS
    notices.tick()
    notices.close()
    assert lines(caplog) == []


def test_what_was_not_told_yet_is_told_at_the_end(notices: Notices, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(5):
        notices.observe(dropped())
    lines(caplog)
    notices.close()
    assert [line.split(":")[0] for line in lines(caplog)] == ["5 dead letters in 1 s"]


def test_names_in_records_fill_neither_memory_nor_log(
    notices: Notices, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(20_000):
        notices.observe(dropped(field=f"field {number} {'x' * 500}"))
        notices.observe(AttributeRetired("a", "in", f"r{number}", 1_024, False, "in", 0, number))
        notices.observe(FieldNoted("a", "in", f"n{number}", "nested", "in", 0, number))
    # One for each pair, and one for all the others; the last is not said of what is retired.
    assert len(lines(caplog)) == 3 * (MOST_PAIRS + 1)
    for counts in notices._counts.values():
        assert len(counts.known.counts) <= MOST_PAIRS + 1
        assert counts.known.total == 20_000
        assert counts.known.counts[next(iter(counts.known.counts))[0], OTHER] == 20_000 - MOST_PAIRS
    assert all(len(names) <= MOST_PAIRS + 1 for names in notices._said.values())
    clock.seconds += EVERY_SECONDS
    notices.tick()
    assert max(map(len, lines(caplog))) < 2_000


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.floats(0, 50)), max_size=60))
def test_every_dead_letter_is_in_a_warning_or_in_a_count(events: list[tuple[str, str, float]]) -> None:
    """Whatever the order and the time between them: warnings are one per kind, counts add up."""
    clock = Clock()
    notices = Notices(clock)
    seen: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = seen.append  # type: ignore[assignment, method-assign]
    logger = logging.getLogger("espalier")
    logger.addHandler(handler)
    try:
        for reason, field, seconds in events:
            notices.observe(dropped(reason, field))
            clock.seconds += seconds
            notices.tick()
        notices.close()
    finally:
        logger.removeHandler(handler)
    messages = [record.getMessage() for record in seen]
    first = [text for text in messages if text.startswith("dead letter (")]
    assert len(first) == len({(reason, field) for reason, field, _ in events})
    told = [int(text.split()[0]) for text in messages if not text.startswith("dead letter (")]
    # Those that no line counts were each logged by themselves.
    assert len(events) - len(first) <= sum(told) <= len(events)
    if told:
        assert f"{len(events)} since" in messages[-1] or messages[-1].startswith("dead letter (")


def test_many_threads_lose_nothing(clock: Clock) -> None:
    notices = Notices(clock)

    def work() -> None:
        for number in range(2_000):
            notices.observe(dropped(field=f"f{number % 7}"))
            notices.tick()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (counts,) = notices._counts.values()
    assert counts.known.total == 8_000


# ---- fields and attributes


@pytest.mark.parametrize("flag", IGNORED)
def test_a_field_that_is_read_as_missing_is_a_warning_once(
    notices: Notices, clock: Clock, caplog: pytest.LogCaptureFixture, flag: str
) -> None:
    for offset in range(3):
        notices.observe(FieldNoted("a", "in", 'the "x"', flag, "in", 1, offset))
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith(f'the field "the "x"" is read as missing ({flag}): it ')
    assert r"ignore = [\"the \\\"x\\\"\"] in [[agent]]" in json.dumps(record.getMessage())
    assert extra(record, "partition", "offset") == ("in/1", 0)
    lines(caplog)
    clock.seconds += EVERY_SECONDS
    notices.tick()
    (record,) = caplog.records
    assert record.levelno == logging.INFO
    assert record.getMessage().startswith(f'3 fields read as missing in 60 s: {flag} (the "x") 3.')


def test_a_retired_attribute_is_a_warning_once_with_what_to_do(
    notices: Notices, caplog: pytest.LogCaptureFixture
) -> None:
    for model in ("in/0", "in/1"):
        notices.observe(AttributeRetired("a", model, "user_id", 1_024, False, "in", 0, 1_025))
    notices.observe(AttributeRetired("a", "in", "price", 1_024, True, "in", 0, 1_026))
    first, second = lines(caplog)
    assert first.startswith('the attribute "user_id" has more than 1,024 values and is ignored from here on.')
    assert 'set ignore = ["user_id"] in [[agent]]' in first
    assert "declare it numeric in [agent.schema]" in second
