"""Goals, verdicts and the reports of benches."""

import re
from pathlib import Path

import pytest
import rich.console

from lab.bench import on_broker
from lab.bench.loops import Carried
from lab.bench.measure import Passes, Timed
from lab.bench.report import (
    HEAD,
    REBUILT,
    Goal,
    Start,
    as_markdown,
    at_least,
    at_most,
    show,
    stamp,
    turn_by_turn,
    with_section,
    write_section,
)
from tests.lab.sample_report import sample


def test_a_goal_says_by_how_much_it_was_missed() -> None:
    assert at_least("a", 100, 80.0) == Goal("a", ">= 100x", "80.0x", False, "missed by 20 %")
    assert at_least("a", 100, 99.99).verdict == "missed by 0.1 %"
    assert at_least("a", 5, 7.0, moonshot=10) == Goal("a", ">= 5x, moonshot 10x", "7.0x", True, "met")
    assert at_least("a", 5, 12.0, moonshot=10).verdict == "met, the moonshot too"
    assert at_least("a", 0, -0.5, " points").verdict == "missed by 0.50 points"
    assert at_most("b", 2.5, 5.0).verdict == "missed by 100 %"
    assert at_most("b", 64, 60.0, " MB").verdict == "met"
    assert at_most("b", 64, None).met is None


def test_a_goal_says_where_turns_disagree() -> None:
    goal = turn_by_turn(at_least("a", 5, 5.4), (5, None), [4.8, 6.0])
    assert goal.measured == "5.4x (4.8-6.0x turn by turn)"
    assert goal.verdict == "met, not in every turn"
    assert (
        turn_by_turn(at_least("a", 5, 4.0), (5, None), [4.8, 6.0]).verdict
        == "missed by 20 %, not in every turn"
    )
    assert turn_by_turn(at_least("a", 5, 6.0), (5, None), [5.8, 6.0]).verdict == "met"


def test_a_moonshot_takes_every_turn() -> None:
    goal = at_least("a", 3, 6.0, moonshot=5)
    assert turn_by_turn(goal, (3, 5), [4.5, 6.6]).verdict == "met"
    assert turn_by_turn(goal, (3, 5), [5.5, 6.6]).verdict == "met, the moonshot too"


def test_contenders_are_compared_over_the_turns_that_both_have_had() -> None:
    ours = Passes([Timed(1, 2.0), Timed(1, 1.0)])
    slow = Passes([Timed(1, 20.0)])
    assert ours.best_against(slow) == pytest.approx(10.0)
    assert ours.best.seconds == 1.0


def test_a_report_says_if_the_program_was_changed_meanwhile() -> None:
    now = Start.now()._replace(load=0.0)
    assert stamp(sample(), now).notes == ["a note"]
    assert stamp(sample(), now._replace(build="another")).notes == ["a note", REBUILT]


def test_a_report_of_a_busy_machine_says_so() -> None:
    told = stamp(sample(), Start.now()._replace(load=99.5))
    assert "load 99.5" in told.notes[-1]


def test_the_speed_of_a_loop_is_compared_turn_by_turn() -> None:
    floor = on_broker.Runs([Carried(100, 1.0, 1.0), Carried(100, 2.0, 2.0)])
    ours = on_broker.Runs([Carried(100, 2.0, 4.0), Carried(100, 2.0, 8.0)])
    assert ours.shares(floor) == ([50.0, 100.0], [25.0, 25.0])
    assert (ours.wall, ours.cpu) == (50.0, 25.0)


def test_a_section_of_a_document_is_written_anew_and_the_rest_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "performance.md"
    write_section(file, sample(), "espalier bench core")
    text = file.read_text()
    assert text.startswith(HEAD)
    file.write_text(text + "\nBy hand.\n")
    again = sample()
    again.title = "Another title"
    write_section(file, again, "espalier bench core", tmp_path / "core.svg")
    text = file.read_text()
    assert "The title" not in text
    assert "## Another title" in text
    assert "![Another title](core.svg)" in text
    assert text.endswith("\nBy hand.\n")
    assert text.count("espalier bench core -->") == 2


def test_the_sections_of_two_benches_stand_beside_each_other() -> None:
    document = with_section(with_section("head\n", "a", "one"), "b", "two")
    document = with_section(document, "a", "three")
    assert re.findall(r"one|two|three", document) == ["three", "two"]


def test_a_report_in_a_document_shows_what_was_missed() -> None:
    text = as_markdown(sample(), "espalier bench core")
    assert "| speed | >= 10x | 5.0x | **missed by 50 %** |" in text
    assert "| size | <= 10x | 5.00x | met |" in text
    assert "| we | 1,234 | - |" in text
    assert "- a note" in text


def test_a_report_is_printed_with_nothing_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    show(sample(), rich.console.Console(width=100))
    told = capsys.readouterr().out
    assert "missed by 50 %" in told
    assert "1,234" in told
    assert "a machine" in told
