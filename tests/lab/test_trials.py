"""Trials: reading data sets, keeping what was found, asking others, and `espalier reproduce nt-...`."""

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from lab.__main__ import lab
from lab.cli.fidelity import PLACES, updated
from lab.experiments.nt_figure1 import figure_1
from lab.experiments.nt_trial import Result as Found
from lab.experiments.nt_trial import Trial
from lab.trials import running
from lab.trials.experiments import TRIALS
from lab.trials.reading import read_table
from lab.trials.running import forget, keep, recall, run_trials
from lab.trials.timing import dense_seconds, timings
from lab.trials.weka import write_arff
from learners.rebuilt.table import Sparse, Table
from stream.files.csv_file import DataError, NotThere

SCHEMA = """{"small": {"columns": [{"name": "n", "type": "numeric"},
 {"name": "s", "type": "nominal", "values": ["x", "y"]}, {"name": "id", "type": "nominal", "values": ["1"]}],
 "class_values": ["+", "-"]}}"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A directory with a data set of its own."""
    (tmp_path / "SCHEMA.json").write_text(SCHEMA)
    rows = "".join(f"{n},{'xy'[n % 2]},1,{'+-'[n % 2]}\n" for n in range(20))
    (tmp_path / "small.csv").write_text(f"n,s,id,class\n{rows},y,,-\n")
    with gzip.open(tmp_path / "text-few.wc.csv.gz", "wt") as file:
        file.write("a,b,c,class\n0,2,0,p\n1,0,0,q\n0,0,3.5,p\n")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(lab, ["reproduce", *arguments])


def test_a_declared_set_is_read_with_its_missing_values(small: Path) -> None:
    table = read_table(small / "small.csv", without=["id"])
    assert isinstance(table.x, np.ndarray)
    assert table.arity.tolist() == [0, 2]
    assert np.isnan(table.x[-1]).tolist() == [True, False]
    assert table.labels[:3].tolist() == [0, 1, 0]


def test_word_counts_are_read_as_what_is_not_zero(small: Path) -> None:
    table = read_table(small / "text-few.wc.csv.gz")
    assert isinstance(table.x, Sparse)
    assert table.x.dense().tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 3.5]]
    assert table.labels.tolist() == [0, 1, 0]


def test_a_value_that_is_not_declared_is_named(small: Path) -> None:
    (small / "small.csv").write_text("n,s,id,class\n1,z,1,+\n")
    with pytest.raises(DataError, match='column "s"'):
        read_table(small / "small.csv")
    with pytest.raises(NotThere, match="no file"):
        read_table(small / "text-none.wc.csv.gz")


def test_what_was_found_is_not_done_again_until_the_learners_change(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, done = tmp_path / "kept", []
    trials = [Trial("small.csv", run, 1, 3, 3) for run in range(2)]
    work = running.work

    def counted(trial: Trial, data: Path) -> Found:
        done.append(trial.run)
        return work(trial, data)

    monkeypatch.setattr(running, "work", counted)
    first = run_trials(trials, small, 1, kept, lambda: None)
    assert run_trials(trials, small, 1, kept, lambda: None) == first
    assert done == [0, 1]
    run_trials(trials, small, 1, None, lambda: None)
    assert done == [0, 1, 0, 1]
    monkeypatch.setattr(running, "sources", lambda: "others")
    assert recall(kept, small, trials[0]) is None
    keep(kept, small, first[0], "weka")
    assert recall(kept, small, trials[0], "weka") == first[0]
    forget(kept)
    assert recall(kept, small, trials[0], "weka") is None


def test_weka_is_given_the_table(small: Path) -> None:
    dense, sparse = io.StringIO(), io.StringIO()
    write_arff(read_table(small / "small.csv", without=["id"]), dense)
    write_arff(read_table(small / "text-few.wc.csv.gz"), sparse)
    assert "@attribute a1 {v0,v1}\n@attribute class {c0,c1}\n@data\n0.0,v0,c0\n" in dense.getvalue()
    assert dense.getvalue().endswith("?,v1,c1\n")
    assert sparse.getvalue().endswith("@data\n{1 2,3 c0}\n{0 1,3 c1}\n{2 3.5,3 c0}\n")


def test_times_are_taken_at_every_size_that_is_wanted() -> None:
    found = timings(1, 120_000, lambda: None)
    assert {(one.records, one.attributes) for one in found} == {(1_000, 10), (1_000, 100), (10_000, 10)}
    assert all(one.seconds is not None and one.seconds >= 0 for one in found)
    x = Sparse(np.array([0, 1, 1], dtype=np.int64), np.array([0], dtype=np.int32), np.array([1.0]), 2)
    assert dense_seconds(Table.of(x, [0, 1], 2)) is not None


def test_the_figure_passes_and_every_experiment_is_listed() -> None:
    assert "nt-figure1: 8 PASS" in run("nt-figure1").output
    listed = run("--list").output
    for name in TRIALS:
        assert name in listed
        assert any(name == where for _, where, _ in PLACES)


@pytest.mark.data
def test_a_small_set_gives_all_of_table_1_and_2(data_dir: Path, tmp_path: Path) -> None:
    given = ("--sets", "iris,Zoo", "--runs", "2", "--no-weka", "--jobs", "1", "--data", str(data_dir))
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    result = CliRunner().invoke(lab, ["reproduce", "nt-table1", *given], env=environment)
    assert result.exit_code == 0
    assert "Mean of 2" in result.output
    result = CliRunner().invoke(lab, ["reproduce", "nt-table2", *given], env=environment)
    assert "NT v C4.5: 2-27-4" in result.output
    assert len(list((tmp_path / "espalier" / "trials").iterdir())) == 4


def test_a_set_that_is_not_there_is_named(tmp_path: Path) -> None:
    for given, words in (
        (["--sets", "irsi"], "irsi"),
        (["--sets", "iris", "--data", str(tmp_path)], "iris.csv"),
    ):
        result = run("nt-table1", *given)
        assert isinstance(result.exception, NotThere)
        assert words in str(result.exception)


def test_one_section_of_the_document_is_written_anew() -> None:
    results = "## Results\n\n| experiment | verdicts |\n|---|---|\n| `other` | 1 PASS |\n\n"
    text = f"# An older opening\n\n{results}## Other\n\nold\n"
    report = figure_1()
    once = updated(text, [report])
    assert once == updated(once, [report])
    assert once.startswith("# Fidelity")
    assert "older opening" not in once
    assert "| `other` | 1 PASS |\n| `nt-figure1` | 8 PASS |\n\n## Other\n\nold\n\n## Su and Zhang" in once
    assert once.count("`espalier reproduce nt-figure1`") == 1
