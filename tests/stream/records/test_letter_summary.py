"""A summary of dead letters, and what `espalier dead-letters` says of one; without a broker."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from stream.cli import dead_letters as command
from stream.cli.main import espalier
from stream.config import Agent
from stream.kafka.topic_reader import Extent
from stream.records.dead_letters import MARK_REASONS, OTHER, REDRIVEN, Mark
from stream.records.letter_summary import SHOWN_BYTES, Summary
from stream.records.record import Output, Partition, Record
from tests.settings import agent_table, write_settings
from tests.stream.records.letters import letter

AGENT = Agent(name="a", input="in")
OTHERS = Agent(name="b", input="in")
PLACE = Partition("in.dead-letters", 0)


def record_of(output: Output, offset: int = 0) -> Record:
    return Record(PLACE, offset, output.value, output.key, output.headers)


def mark(agent: Agent, **sent: int) -> Record:
    return record_of(Mark(agent.name, agent.input, "*", False, 7, sent).output(PLACE))


def summary_of(*records: Record, reason: str | None = None, most: int = 3) -> Summary:
    summary = Summary("a", reason, most)
    for record in records:
        summary.take(record)
    return summary


def test_what_is_no_letter_of_the_agent_is_counted_apart() -> None:
    summary = summary_of(
        Record(PLACE, 0, b"something else"),
        record_of(letter(OTHERS, 1)),
        record_of(letter(OTHERS, 2)),
        mark(OTHERS, bad_label=5),  # of another agent, and no letter
        record_of(letter(AGENT, 3)),
    )
    assert (summary.unreadable, summary.of_others, summary.tally.total) == (1, 2, 1)
    assert not summary.redriven


@pytest.mark.parametrize(
    ("reason", "expected"), [(None, {"bad_label": 5, "json_syntax": 2}), ("bad_label", {"bad_label": 5})]
)
def test_what_was_sent_again_is_added_up_by_reason(reason: str | None, expected: dict[str, int]) -> None:
    summary = summary_of(mark(AGENT, bad_label=2, json_syntax=2), mark(AGENT, bad_label=3), reason=reason)
    assert summary.redriven == expected
    assert summary.tally.total == 0


def test_marks_with_reasons_that_nobody_knows_fill_no_memory() -> None:
    known = {f"reason {number}": 1 for number in range(MARK_REASONS)}
    summary = summary_of(mark(AGENT, **known), mark(AGENT, another=4, yet_another=5, **{"reason 0": 1}))
    assert len(summary.redriven) == MARK_REASONS + 1
    assert summary.redriven[OTHER] == 9
    assert summary.redriven["reason 0"] == 2


@pytest.mark.parametrize(("most", "kept"), [(0, 0), (1, 1), (2, 2), (3, 2)])
def test_so_many_examples_are_kept_as_are_asked_for(most: int, kept: int) -> None:
    summary = summary_of(record_of(letter(AGENT, 0)), record_of(letter(AGENT, 1)), most=most)
    assert sum(map(len, summary.examples.values())) == kept
    assert summary.tally.total == 2


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (b"x" * SHOWN_BYTES, "x" * SHOWN_BYTES),
        (b"x" * (SHOWN_BYTES + 1), "x" * (SHOWN_BYTES - 3) + "..."),
        # Signs of four bytes: as many signs are shown as of one byte.
        ("\U0001f600".encode() * SHOWN_BYTES, "\U0001f600" * SHOWN_BYTES),
        (b"\x1b[2J\xff", "\\x1b[2J\\xff"),
        (b"", ""),
    ],
)
def test_an_example_shows_how_a_value_begins(value: bytes, shown: str) -> None:
    one = record_of(letter(AGENT, 5, value=value, redriven=2))
    ((example,),) = summary_of(one).examples.values()
    assert example.value == shown
    assert (example.source, example.offset, example.redriven) == (("in", 0), 5, 2)


def test_no_value_is_not_an_empty_one() -> None:
    record = record_of(letter(AGENT, 0))._replace(value=None)
    ((example,),) = summary_of(record).examples.values()
    assert example.value is None


def test_a_long_message_is_cut_off() -> None:
    record = record_of(letter(AGENT, 0))
    for length, expected in ((300, "m" * 300), (301, "m" * 297 + "...")):
        headers = tuple(
            (name, b"m" * length if name.endswith(".message") else told) for name, told in record.headers
        )
        ((example,),) = summary_of(record._replace(headers=headers)).examples.values()
        assert example.message == expected


# ---- the command


class Reader:
    """Reads a topic that is a list."""

    records: tuple[Record, ...] = ()

    def __init__(self, kafka: object) -> None:
        pass

    def extents(self, topic: str) -> dict[int, Extent]:
        assert topic == AGENT.topics.dead_letters
        # The first letters have been deleted.
        return {0: Extent(70, 70 + len(self.records)), 1: Extent(5, 5)}

    def read(self, topic: str, extents: dict[int, Extent]) -> Iterator[Record]:
        return iter(self.records)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> "Said":
    monkeypatch.setattr(command, "TopicReader", Reader)
    return Said(monkeypatch, write_settings(tmp_path, "nowhere:1", agent_table(AGENT)))


class Said:
    """Runs the command over some records."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
        self._monkeypatch = monkeypatch
        self._file = file

    def __call__(self, records: tuple[Record, ...], *more: str) -> str:
        self._monkeypatch.setattr(Reader, "records", records)
        result = CliRunner().invoke(espalier, ["dead-letters", "-c", str(self._file), *more])
        assert result.exit_code == 0, (result.output, result.exception)
        return result.stdout


def test_a_topic_without_letters_says_so_and_nothing_else(said: Said) -> None:
    assert said(()) == 'agent "a": 0 dead letters in in.dead-letters\n\n'


def test_the_text_names_everything_that_was_counted(said: Said) -> None:
    many = tuple(record_of(letter(AGENT, number, field="age"), number) for number in range(1_000))
    rest = (
        record_of(letter(AGENT, 7, reason="bad_label", redriven=2))._replace(value=None),
        record_of(letter(OTHERS, 1)),
        Record(PLACE, 0, b"?"),
        mark(AGENT, bad_label=1_500, json_syntax=2),
    )
    lines = said((*many, *rest), "-n", "1").splitlines()
    assert lines[0] == 'agent "a": 1,001 dead letters in in.dead-letters'
    assert lines[1] == ""
    assert lines[2] == '1,000  json_syntax  field "age"'
    assert lines[3] == "    in/0@0: message 0"
    assert lines[4] == "      value 0"
    assert lines[5].startswith("    what to do: ")
    at = lines.index("1  bad_label")
    assert lines[at + 1 : at + 3] == ["    in/0@7 (redriven 2 times): message 7", "      (no value)"]
    end = lines.index("sent to the input again so far: bad_label 1,500, json_syntax 2")
    assert lines[end - 1] == ""
    assert lines[end + 1 : end + 4] == [
        "not counted: 1 of other agents that write to the same topic",
        "not counted: 1 records that are not dead letters of Espalier",
        'When the cause is mended, "espalier redrive a" sends them to in again.',
    ]
    assert all(len(line) <= command.WIDTH for line in lines)


def test_a_reason_that_is_asked_for_is_said(said: Said) -> None:
    records = (record_of(letter(AGENT, 0)), record_of(letter(AGENT, 1, reason="bad_label")))
    shown = said(records, "--reason", "bad_label")
    assert shown.startswith('agent "a": 1 dead letters with the reason bad_label in in.dead-letters\n')
    assert "json_syntax" not in shown


def test_json_holds_the_same(said: Said) -> None:
    one = record_of(letter(AGENT, 7, field="age", headers=((REDRIVEN, b"3"),)))
    told = json.loads(said((one, mark(AGENT, bad_label=4), record_of(letter(OTHERS, 1))), "--json"))
    (reason,) = told.pop("reasons")
    assert told == {
        "agent": "a",
        "topic": "in.dead-letters",
        "dead_letters": 1,
        "redriven": {"bad_label": 4},
        "of_other_agents": 1,
        "unreadable": 0,
    }
    assert (reason["reason"], reason["field"], reason["records"]) == ("json_syntax", "age", 1)
    assert reason["remedy"]
    assert reason["examples"] == [
        {
            "topic": "in",
            "partition": 0,
            "offset": 7,
            "message": "message 7",
            "value": "value 7",
            "redriven": 3,
        }
    ]


def test_progress_counts_every_letter_and_is_cleared(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []

    class Meter:
        def tell(self, *told: object) -> None:
            shown.append(told)

        def clear(self) -> None:
            shown.append("cleared")

    monkeypatch.setattr(command, "Meter", Meter)
    said((record_of(letter(AGENT, 0)), record_of(letter(AGENT, 1))))
    assert shown == [("in.dead-letters", 1, 2), ("in.dead-letters", 2, 2), "cleared"]


def test_a_long_message_goes_on_below_and_no_word_is_broken(said: Said) -> None:
    word = "x" * (command.WIDTH + 20)
    record = record_of(letter(AGENT, 0))
    headers = tuple(
        (name, f"one-two {word} three".encode() if name.endswith(".message") else told)
        for name, told in record.headers
    )
    lines = said((record._replace(headers=headers),)).splitlines()
    assert lines[3:6] == ["    in/0@0: one-two", f"      {word}", "      three"]


def test_a_sentence_at_the_end_begins_at_the_margin(said: Said) -> None:
    lines = said((record_of(letter(AGENT, 0)),)).splitlines()
    at = lines.index('When the cause is mended, "espalier redrive a" sends them to in again.')
    assert lines[at + 1 :]
    assert all(line == line.strip() for line in lines[at + 1 :])
