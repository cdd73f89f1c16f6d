"""`espalier bench`: the streams it draws, its reports, and that each bench runs. No time is checked."""

import json
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest
import rich.console
from click.testing import CliRunner, Result

from lab.bench import core as compiled
from lab.bench import growth as growing
from lab.bench import on_broker
from lab.bench.contenders import FACE, OURS, fresh, learn, our_passes
from lab.bench.loops import Carried, Watch
from lab.bench.measure import CpuClock, Passes, PeerFailed, Timed, in_turn, span
from lab.bench.memory import hold
from lab.bench.peers import GET_MOA, GET_RIVER, MOA, Peer, find_peers, moa_jars
from lab.bench.report import (
    HEAD,
    REBUILT,
    Column,
    Goal,
    Report,
    Start,
    Table,
    as_markdown,
    at_least,
    at_most,
    show,
    stamp,
    turn_by_turn,
    with_section,
    write_section,
)
from lab.bench.streams import Led, Multiplexer, Nominal, Source, as_json, described
from lab.bench.windows import _steps
from lab.cli import bench_options as module
from lab.cli.bench import bench
from tests.needs import PEERS, missing

TINY = compiled.Sizes(2_000, 500, 1, True, (100, 200), 300, 2_000)
TINY_STREAM = on_broker.Sizes(2_000, 500, (500,), 1, (500,), 0.5)
SVG = "{http://www.w3.org/2000/svg}"


def quiet(what: str) -> None:
    """Tell nobody."""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(bench, list(arguments))


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make --quick quicker."""
    monkeypatch.setattr(compiled, "QUICK", TINY)
    monkeypatch.setattr(growing, "QUICK_PLACES", (1_000, 10_000))
    monkeypatch.setattr(on_broker, "QUICK", TINY_STREAM)


# ---- streams

SOURCES = pytest.mark.parametrize(
    "make", [Nominal, lambda: Nominal(0.05), lambda: Nominal(attributes=8), Led, Multiplexer]
)


@SOURCES
def test_a_source_draws_the_same_records_again(make: type[Source]) -> None:
    first, second = make(), make()
    for size in (300, 200):
        one, other = first.draw(size), second.draw(size)
        assert np.array_equal(one.rows, other.rows)
        assert np.array_equal(one.labels, other.labels)
        assert len(one) == size
    assert not np.array_equal(first.draw(200).rows, other.rows)


@SOURCES
def test_every_value_and_class_of_a_source_has_a_code_that_is_declared(make: type[Source]) -> None:
    source = make()
    chunk = source.draw(5_000)
    assert chunk.rows.dtype == np.uint32
    assert chunk.labels.dtype == np.int32
    assert chunk.rows.min() == 1
    assert (chunk.rows.max(axis=0) <= np.array(source.sizes)).all()
    assert set(chunk.labels.tolist()) == set(range(source.classes))


def test_noise_changes_so_many_classes_and_nothing_else() -> None:
    clean, noisy = Nominal().draw(20_000), Nominal(0.05).draw(20_000)
    assert np.array_equal(clean.rows, noisy.rows)
    assert 0.04 < (clean.labels != noisy.labels).mean() < 0.06


def test_the_class_of_a_multiplexer_is_the_bit_at_the_address() -> None:
    chunk = Multiplexer(address=2).draw(200)
    for row, label in zip(chunk.rows - 1, chunk.labels, strict=True):
        assert label == row[2 + 2 * row[0] + row[1]]


def test_a_digit_without_noise_is_told_by_its_segments() -> None:
    chunk = Led(noise=0.0).draw(1_000)
    shapes = {tuple(row[:7].tolist()) for row in chunk.rows}
    assert len(shapes) == 10
    assert (
        len({(tuple(row[:7].tolist()), label) for row, label in zip(chunk.rows, chunk.labels, strict=True)})
        == 10
    )


def test_the_json_of_a_record_says_what_its_codes_say() -> None:
    source = Nominal(attributes=8)
    chunk = source.draw(50)
    learner = fresh(source)
    for number, text in enumerate(as_json(source, chunk, first=7)):
        record = json.loads(text)
        assert record.pop("id") == number + 7
        label = record.pop("class")
        assert learner.codes.encode(record, label)[:2] == (
            tuple(chunk.rows[number].tolist()),
            chunk.labels[number],
        )
        assert (record, label) == list(described(source, chunk))[number]
    assert learner.codes.grown == fresh(source).codes.grown


def test_the_rule_of_a_nominal_stream_can_be_learned() -> None:
    source = Nominal()
    learner = fresh(source)
    learn(learner, source.draw(10_000), CpuClock())
    assert learn(learner, source.draw(2_000), CpuClock()) > 1_950


# ---- measuring


def test_contenders_take_turns_and_the_best_pass_counts() -> None:
    asked: list[str] = []
    times = {"a": iter([3.0, 1.0, 2.0]), "b": iter([30.0])}

    def one(name: str) -> Timed:
        asked.append(name)
        return Timed(10, next(times[name]), 5)

    passes = in_turn({"a": lambda: one("a"), "b": lambda: one("b")}, 3, quiet, "x")
    best = {name: one.best for name, one in passes.items()}
    # The second is slow and has no more turns.
    assert asked == ["a", "b", "a", "a"]
    assert best == {"a": Timed(10, 1.0, 5), "b": Timed(10, 30.0, 5)}
    assert best["a"].rate == 10
    assert best["b"].micros == 3e6
    assert best["b"].accuracy == 0.5
    # A ratio is one of passes of the same turn.
    assert passes["a"].against(passes["b"]) == pytest.approx([10.0])
    assert Passes([Timed(1, 1.0), Timed(1, 2.0)]).against(Passes([Timed(1, 3.0), Timed(1, 1.0)])) == [
        3.0,
        0.5,
    ]
    assert span([3.0, 0.5, 1.0]) == "0.5-3.0"


def test_both_ways_to_our_learner_give_the_same_answers() -> None:
    source = Nominal(0.05)
    chunk = source.draw(5_000)
    told = {name: run() for name, run in our_passes(source, chunk, bare=True).items()}
    assert told[OURS].correct == told[FACE].correct
    assert told[OURS].accuracy > 0.8
    assert all(timed.records == 5_000 and timed.seconds > 0 for timed in told.values())


def test_the_memory_of_a_tree_is_measured_at_the_number_of_different_records_asked_for() -> None:
    held = hold(3_000, 0.0)
    assert held.records == 3_000
    assert held.reported > 3_000 * 22


def test_a_watch_runs_from_the_first_commit_to_the_last() -> None:
    watch = Watch(10)
    assert watch.carried() == Carried(0, 0.0, 0.0)
    assert not watch.committed(0)
    assert not watch.committed(4)
    assert not watch.committed(7)
    assert watch.committed(11)
    carried = watch.carried()
    assert carried.records == 7
    assert carried.wall > 0
    assert not Watch(0).committed(100)


# ---- peers


def test_a_peer_that_is_not_there_is_left_out_and_told_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.bench.peers.has_river", lambda: False)
    monkeypatch.setattr("lab.maven.has_maven", lambda: False)
    peers = find_peers(["river", "moa"], None, quiet)
    assert peers.there == {}
    assert peers.notes == [GET_RIVER, GET_MOA]
    assert find_peers([], None, quiet).notes == []


def moa() -> Peer:
    """Return MOA in a JVM; skip the test without it, or fail it where nothing may be skipped."""
    peers = find_peers(["moa"], None, quiet)
    if MOA not in peers.there:
        missing(peers.notes[0], PEERS)
    return peers.there[MOA]


@pytest.mark.peers
def test_moa_learns_the_same_records_in_a_jvm() -> None:
    source = Nominal()
    with moa().passes(source, source.draw(3_000), majority=True) as ways:
        told = [run() for run in ways.values()]
    assert len(told) == 2
    assert all(timed.records == 3_000 and timed.seconds > 0 for timed in told)
    assert all(timed.accuracy > 0.6 for timed in told)


@pytest.mark.peers
def test_a_jvm_that_dies_is_a_peer_that_failed(tmp_path: Path) -> None:
    broken = type(moa())(tmp_path)  # type: ignore[call-arg]
    source = Nominal()
    with (
        pytest.raises(PeerFailed, match="did not finish a pass"),
        broken.passes(source, source.draw(10), majority=False),
    ):
        pass


def test_jars_are_not_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr("lab.maven.has_maven", lambda: True)
    monkeypatch.setattr("lab.maven.shutil.which", lambda name: f"/nowhere/{name}")

    def pretend(command: list[str], each: object, *, directory: Path, seconds: float) -> object:
        calls.append(command[0])
        return msgspec.defstruct("Ending", [("status", int), ("late", bool)])(len(calls) == 1, False)

    monkeypatch.setattr("lab.maven.follow", pretend)
    with pytest.raises(PeerFailed, match="Maven could not fetch it"):
        moa_jars(tmp_path, quiet)
    assert moa_jars(tmp_path, quiet) == moa_jars(tmp_path, quiet) == tmp_path / "espalier" / "moa" / "jars"
    assert calls == ["/nowhere/mvn"] * 2


# ---- reports


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


def sample() -> Report:
    return Report(
        "core",
        "The title",
        False,
        goals=[at_least("speed", 10, 5.0), at_most("size", 10, 5.0)],
        tables=[
            Table("Some", (Column("who"), Column("n", ",d"), Column("r", ".1f", "x")), [("we", 1_234, None)])
        ],
        notes=["a note"],
        machine="a machine",
        date="2020-02-02",
        seconds=12.3,
    )


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


# ---- the commands


@pytest.mark.usefixtures("tiny")
def test_bench_core_prints_its_table_and_writes_figures_and_a_chart(tmp_path: Path) -> None:
    figures, picture, document = tmp_path / "c.json", tmp_path / "c.svg", tmp_path / "p.md"
    places = ("--json", str(figures), "--svg", str(picture), "--write", str(document))
    result = run("core", "--quick", "--peers", "none", *places)
    assert result.exit_code == 0, result.output
    assert "against River HoeffdingTree, 22 nominal attributes, no noise" in result.output
    assert "not measured" in result.output
    assert "from JSON bytes to learned" in result.output
    report = msgspec.json.decode(figures.read_bytes(), type=Report)
    assert report.bench == "core"
    assert report.quick
    assert [table.title.partition(":")[0] for table in report.tables] == [
        *["Answer, then learn"] * 4,
        "From JSON bytes to learned",
        "A step of a full window",
        "Memory",
    ]
    assert all(row[1] for table in report.tables for row in table.rows)
    assert len(ET.parse(picture).getroot().findall(f".//{SVG}rect")) > 4
    assert "## The compiled learner" in document.read_text()
    assert "`espalier bench core" in document.read_text()


@pytest.mark.usefixtures("tiny")
def test_bench_growth_prints_its_table_and_writes_figures_and_a_chart(tmp_path: Path) -> None:
    figures, picture = tmp_path / "g.json", tmp_path / "g.svg"
    result = run("growth", "--quick", "--json", str(figures), "--svg", str(picture))
    assert result.exit_code == 0, result.output
    report = msgspec.json.decode(figures.read_bytes(), type=Report)
    (table,) = report.tables
    assert [row[:2] for row in table.rows] == [
        ("everything kept", 1_000),
        ("everything kept", 10_000),
        ("window of 5,000", 1_000),
        ("window of 5,000", 10_000),
    ]
    assert [row[6] for row in table.rows] == [1_000, 10_000, 1_000, 5_000]
    assert len(report.goals) == 2
    assert "cost per record at 10,000 against 1,000 records" in result.output
    assert len(ET.parse(picture).getroot().findall(f".//{SVG}title")) == 4


@pytest.mark.broker
@pytest.mark.usefixtures("tiny")
def test_bench_stream_prints_its_table_and_writes_figures(tmp_path: Path) -> None:
    figures = tmp_path / "s.json"
    result = run("stream", "--quick", "--json", str(figures))
    assert result.exit_code == 0, result.output
    report = msgspec.json.decode(figures.read_bytes(), type=Report)
    speeds, latencies = report.tables
    assert [row[:2] for row in speeds.rows] == [("pass-through", 500), ("espalier, id5r", 500)]
    assert all(isinstance(row[2], float) and row[2] > 0 for row in speeds.rows)
    assert [row[:2] for row in latencies.rows] == [("pass-through", 500), ("espalier, id5r", 500)]
    for row in latencies.rows:
        assert isinstance(row[2], float)
        assert isinstance(row[3], float)
        assert 0 < row[2] <= row[3] < 20_000
        assert row[4] == 250
    assert "engine against pass-through, 500 records to a transaction, wall" in result.output


def test_an_unknown_peer_is_refused() -> None:
    result = run("core", "--peers", "weka")
    assert result.exit_code == 2
    assert 'there is no peer "weka"' in result.output


@pytest.mark.usefixtures("tiny")
def test_growth_is_measured_in_the_second_half_of_the_records_up_to_a_place() -> None:
    marks = growing._Run((1_000, 4_000), None).up_to(4_000)
    assert [(mark.whole.records, mark.half.records) for mark in marks] == [(1_000, 500), (4_000, 2_000)]
    assert all(one.whole.seconds < other.whole.seconds for one, other in pairwise(marks))
    assert all(mark.half.seconds < mark.whole.seconds for mark in marks)


def test_the_command_is_told_without_the_places_of_its_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sys.argv",
        [
            "espalier",
            "bench",
            "core",
            "--quick",
            "--json",
            "x",
            "--svg=y",
            "--peers",
            "moa",
            "/home/me/loans.csv",
        ],
    )
    typed: list[str] = []

    def measure(*_: object) -> Report:
        typed.append(module._as_typed())
        return sample()

    monkeypatch.setattr(compiled, "core", measure)
    run("core", "--quick", "--peers", "none")
    assert typed == ["espalier bench core --quick --peers moa loans.csv"]


def test_a_step_of_a_window_forgets() -> None:
    source = Nominal(0.05)
    before, after = source.draw(2_000), source.draw(2_000)
    kept, windowed = _steps(source, before, after, None), _steps(source, before, after, 50)
    assert kept.records == windowed.records == 2_000
    assert windowed.correct < kept.correct


def test_a_long_bench_says_in_a_log_now_and_then_what_it_measures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with module.told() as tell:
        tell("at once: nobody has waited yet")
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(module, "LINE_SECONDS", 0.0)
        tell("SEA, seed 1 of 3")
    assert capsys.readouterr().err == "after 0 s: SEA, seed 1 of 3\n"
