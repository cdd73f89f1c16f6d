"""`espalier bench`: each command runs, prints its table and writes its results. No time is checked."""

import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from lab.bench import core as compiled
from lab.bench import growth as growing
from lab.bench import on_broker
from lab.bench.report import (
    Report,
)
from lab.bench.streams import Nominal
from lab.bench.windows import _steps
from lab.cli import bench_options as module
from lab.cli.bench import bench
from tests.lab.sample_report import sample

TINY = compiled.Sizes(2_000, 500, 1, True, (100, 200), 300, 2_000)
TINY_STREAM = on_broker.Sizes(2_000, 500, (500,), 1, (500,), 0.5)
SVG = "{http://www.w3.org/2000/svg}"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(bench, list(arguments))


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make --quick quicker."""
    monkeypatch.setattr(compiled, "QUICK", TINY)
    monkeypatch.setattr(growing, "QUICK_PLACES", (1_000, 10_000))
    monkeypatch.setattr(on_broker, "QUICK", TINY_STREAM)


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
