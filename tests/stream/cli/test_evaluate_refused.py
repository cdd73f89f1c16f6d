"""Rows and columns that `espalier evaluate` leaves out, and command lines that it refuses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from learners.registry import make_learner
from learners.schema import Instance
from stream.evaluation import evaluate
from tests.paths import REPOSITORY
from tests.stream.cli.evaluating import Csv, run, traced


def test_rows_that_do_not_fit_are_reported_and_left_out(csv: Csv) -> None:
    """An agent takes 256 classes; the first rows beyond them are shown."""
    result = run(csv("", *(f"sunny,weak,c{n}" for n in range(268))), "--json")
    answer = json.loads(result.stdout)
    assert (answer["records"], answer["dead_letters"]) == (256, {"too_many_classes": 12})
    shown = result.stderr.splitlines()
    assert shown[0] == "12 of 268 rows rejected (too_many_classes: 12): dead letters of an agent"
    assert shown[1].startswith("  line 259: too_many_classes: ")
    assert shown[6:] == ["  and 7 more"]


def test_fields_that_are_read_as_missing_are_reported(csv: Csv) -> None:
    result = run(csv("sunny,weak,P", *[f"{'x' * 1_025},weak,P"] * 12), "--json")
    assert json.loads(result.stdout)["records"] == 13
    assert result.stderr == (
        'note: field "outlook" is read as missing in 12 records (too_long), first on line 3\n'
    )


def test_columns_can_be_left_out(csv: Csv) -> None:
    path = csv("1,x,P", "2,x,N", header="outlook,wind,class")
    assert "outlook" in run(path).stdout
    for options in (("--ignore", "out*"), ("--attributes", "wind"), ("--attributes", "wi*, class")):
        result = run(path, *options)
        assert result.stderr == ""
        assert "wind" in result.stdout and "outlook" not in result.stdout
    for option in ("--ignore", "--attributes"):
        shown = run(path, option, "outlok", status=2).stderr
        assert 'has no column "outlok". Did you mean "outlook"?' in shown


def test_an_attribute_with_too_many_values_is_retired_and_that_is_said(csv: Csv) -> None:
    rows = [(f"u{n}", "ab"[n % 2], "PN"[n % 2]) for n in range(1_200)]
    path = csv(*map(",".join, rows), header="user,wind,class")
    result = run(path, "--learner", "id5r", "--json")
    assert result.stderr.startswith('note: attribute "user" is retired on line 1026: it has too many values')
    answer = json.loads(result.stdout)
    assert answer["records"] == 1_200
    from_python = evaluate(
        [Instance({"user": user, "wind": wind}, label) for user, wind, label in rows], make_learner("id5r")
    )
    assert (from_python.digest, from_python.changes) == (answer["digest"], answer["changes"])


def test_rows_without_a_label_are_only_predicted(csv: Csv, tmp_path: Path) -> None:
    result = run(csv("sunny,weak,P", "rain,weak,", "rain,weak,N"), "--json", "--trace", tmp_path / "trace")
    answer = json.loads(result.stdout)
    assert (answer["records"], answer["unlabelled"], answer["retained"]) == (2, 1, 2)
    assert result.stderr == "1 of 3 rows have no label: predicted, not learned from\n"
    assert [line["n"] for line in traced(tmp_path / "trace")] == [1, 3]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--learner", "id3prim"], 'learner "id3prim". Did you mean "id3prime"? Allowed: '),
        (["--set", "window"], '"window" is not of the form KEY=VALUE'),
        (["--set", "=3"], '"=3" is not of the form KEY=VALUE'),
        (["--set", "windw=3"], 'no option "windw". Did you mean "window"? Allowed: selection, '),
        (["--set", "window=many"], '"window" must be a whole number of at least 1 or "none", not "many"'),
        (["--set", "selection=gain-ration"], 'not "gain-ration". Did you mean "gain-ratio"?'),
        (["--limit", "0"], "--limit"),
        (["--shuffle", "well"], "--shuffle"),
        (["--trace", "none/trace.jsonl"], '"none/trace.jsonl" cannot be written'),
        (["--tree", "none/tree.json"], '"none/tree.json" cannot be written'),
    ],
)
def test_a_wrong_command_line_is_explained(arguments: list[str], said: str, csv: Csv) -> None:
    assert said in run(csv(), *arguments, status=2).stderr


def test_all_wrong_settings_are_told_at_once(csv: Csv) -> None:
    shown = run(csv(), "--set", "windw=3", "--set", "window=0", "--set", "rounding=odd", status=2).stderr
    assert 'no option "windw"' in shown
    assert '"window" must be' in shown
    assert '"rounding" must be true or false, not "odd"' in shown


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["none.csv"], 2, 'there is no file "none.csv"'),
        (["ragged.csv"], 65, "line 2 has 1 fields where the header has 2"),
        (["good.csv", "--label", "clas"], 2, 'Did you mean "class"?'),
        (["good.csv"], 0, "99.99%"),
    ],
)
def test_the_exit_status_tells_a_wrong_command_from_a_wrong_file(
    arguments: list[str], status: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "ragged.csv").write_text("x,class\na\n")
    (tmp_path / "good.csv").write_text("x,class\n" + "a,P\n" * 10_000)
    result = subprocess.run(
        [sys.executable, "-m", "stream", "evaluate", *arguments],
        cwd=tmp_path,
        env={"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == status, result.stderr
    assert said in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


def test_the_help_has_examples() -> None:
    assert "Examples:\n    espalier evaluate" in run("--help").stdout
