"""`espalier bench restore` prints what it says it measures."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from lab.bench import restore, take_over
from lab.bench.report import Report
from lab.cli.bench import bench


@pytest.mark.broker
@pytest.mark.timeout(300)
def test_bench_restore_prints_its_tables_and_writes_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "QUICK_PLACES", (500, 1_000))
    monkeypatch.setattr(take_over, "JOIN_SECONDS", 1.0)
    figures, picture = tmp_path / "restore.json", tmp_path / "restore.svg"
    result = CliRunner().invoke(bench, ["restore", "--quick", "--json", str(figures), "--svg", str(picture)])
    assert result.exit_code == 0, result.output
    report = msgspec.json.decode(figures.read_bytes(), type=Report)
    state, taken = report.tables
    assert [row[0] for row in state.rows] == [500, 1_000]
    for row in state.rows:
        assert all(isinstance(figure, int | float) and figure >= 0 for figure in row)
        assert all(row[:4])
    assert taken.rows[0][0] == 1
    assert "held up by a snapshot of 1,000 records" in result.output
    assert picture.read_text().startswith("<svg")
