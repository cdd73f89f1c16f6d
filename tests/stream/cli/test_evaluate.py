"""`espalier evaluate`: test-then-train over a file, as a command and from Python."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from learners.learner import BatchResult, Labels, Rows
from learners.outline import digest, from_dict
from learners.registry import make_learner
from learners.schema import Instance, InstanceError, Misfit
from learners.utgoff.id5r import ID5R
from stream.cli.evaluate import evaluate as command
from stream.evaluation import Evaluation, Judged, evaluate
from tests.paths import REPOSITORY

CONTRACT = [
    "records",
    "correct",
    "accuracy",
    "nodes",
    "leaves",
    "depth",
    "digest",
    "operations",
    "changes",
    "retained",
    "seconds",
]
ROWS = ["sunny,weak,P", "rain,weak,N", "sunny,weak,P", "rain,weak,N", "rain,strong,P"]
Csv = Callable[..., Path]


@pytest.fixture
def csv(tmp_path: Path) -> Csv:
    def write(*rows: str, header: str = "outlook,wind,class") -> Path:
        path = tmp_path / "weather.csv"
        path.write_text("\n".join([header, *(rows or ROWS)]) + "\n", "utf-8")
        return path

    return write


def run(*arguments: str | Path, status: int = 0) -> Result:
    given = [str(one) for one in arguments]
    if "--learner" not in given and "--help" not in given:
        # The bare algorithm, whose every step is known; the default waits until a test is significant.
        given += ["--learner", "id5r-reference"]
    result = CliRunner().invoke(command, given)
    assert result.exit_code == status, result.output
    return result


def told(*arguments: str | Path) -> dict[str, object]:
    answer = json.loads(run(*arguments, "--json").stdout)
    assert isinstance(answer, dict)
    return answer


def traced(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


# ---- the contract


def test_json_has_the_keys_of_the_contract_in_their_order(csv: Csv) -> None:
    answer = told(csv())
    assert list(answer) == CONTRACT


def test_each_row_is_answered_before_it_is_learned(csv: Csv) -> None:
    # Nothing, then P for rain, then the tree of two rows is right twice, and "strong" is new.
    answer = told(csv())
    assert (answer["records"], answer["correct"], answer["accuracy"]) == (5, 2, 0.4)
    assert (answer["nodes"], answer["leaves"], answer["depth"]) == (5, 3, 2)
    assert answer["retained"] == 5
    # Planted, grown at the second row, and grown below rain at the last.
    assert answer["changes"] == 3
    assert isinstance(answer["seconds"], float) and answer["seconds"] > 0


def test_the_seconds_are_those_spent_meanwhile() -> None:
    started = time.process_time()
    result = evaluate([Instance({"a": "x"}, "yes")] * 50, make_learner("id5r"))
    assert 0 < result.seconds <= time.process_time() - started


def test_operations_are_counted_by_name(csv: Csv) -> None:
    operations = told(csv())["operations"]
    assert isinstance(operations, dict)
    assert operations["instances_stored"] == 5
    assert operations["rebuilds"] == 0
    rebuilt = told(csv(), "--learner", "id3")["operations"]
    assert isinstance(rebuilt, dict) and rebuilt["rebuilds"] == 5


def test_the_trace_has_a_line_for_each_record_with_the_tree_after_it(csv: Csv, tmp_path: Path) -> None:
    out = tmp_path / "trace.jsonl"
    answer = told(csv(), "--trace", out)
    learner = make_learner("id5r-reference")
    lines = traced(out)
    assert len(lines) == len(ROWS)
    for number, (line, row) in enumerate(zip(lines, ROWS, strict=True), start=1):
        outlook, wind, label = row.split(",")
        values = {"outlook": outlook, "wind": wind}
        expected = learner.predict_one(values).answer
        learner.learn_one(Instance(values, label))
        assert line == {
            "n": number,
            "prediction": expected,
            "label": label,
            "digest": digest(learner.outline()),
        }
        assert list(line) == ["n", "prediction", "label", "digest"]
    assert lines[-1]["digest"] == answer["digest"]


def test_the_tree_is_written_as_json(csv: Csv, tmp_path: Path) -> None:
    out = tmp_path / "tree.json"
    answer = told(csv(), "--tree", out)
    tree = json.loads(out.read_text("utf-8"))
    assert tree["test"] == {"attribute": "outlook"}
    assert tree["counts"] == {"N": 2, "P": 3}
    assert tree["branches"]["sunny"] == {"answer": "P", "counts": {"P": 2}}
    assert digest(from_dict(tree)) == answer["digest"]


def test_people_see_accuracy_operations_and_tree(csv: Csv) -> None:
    shown = run(csv()).stdout
    assert "id5r-reference on weather.csv" in shown
    assert "40.00% (2 predicted correctly" in shown
    assert "instances stored" in shown
    assert "outlook\n  rain: wind\n    strong: P  (P:1)\n    weak: N  (N:2)\n  sunny: P  (P:2)" in shown


def test_markup_in_the_data_is_shown_as_it_is(csv: Csv) -> None:
    shown = run(csv("[red],a,P", "[/red],a,N")).stdout
    assert "[/red]: N" in shown and "[red]: P" in shown


# ---- the options


def test_the_learner_and_its_settings_are_passed_on(csv: Csv) -> None:
    # Both attributes tell the classes apart, and the order of ties decides which is tested.
    path = csv("a,c,P", "b,d,N")
    outlook, wind = (run(path, *more).stdout for more in ([], ["--set", "tie_order=wind, outlook"]))
    assert "\noutlook\n  a: P" in outlook
    assert "\nwind\n  c: P" in wind
    assert told(csv(), "--set", "train=errors")["retained"] == 3
    assert told(csv(), "--set", "window=2", "--set", "significance=none")["retained"] == 2


def test_limit_takes_the_first_rows_after_shuffling(csv: Csv, tmp_path: Path) -> None:
    path = csv(*(f"{n},x,{n}" for n in range(40)))
    labels = {}
    for name, more in {
        "plain": [],
        "one": ["--shuffle", "1"],
        "again": ["--shuffle", "1"],
        "two": ["--shuffle", "2"],
    }.items():
        run(path, *more, "--limit", "10", "--trace", tmp_path / name)
        labels[name] = [line["label"] for line in traced(tmp_path / name)]
    assert labels["plain"] == [str(n) for n in range(10)]
    assert labels["one"] == labels["again"]
    assert labels["one"] != labels["two"]
    assert any(int(str(label)) >= 10 for label in labels["one"]), "the whole file is shuffled"


def test_another_column_can_be_the_label(csv: Csv, tmp_path: Path) -> None:
    run(csv(), "--label", "wind", "--trace", tmp_path / "trace")
    assert [line["label"] for line in traced(tmp_path / "trace")] == ["weak"] * 4 + ["strong"]


def test_learners_without_thresholds_take_each_number_for_a_value_and_that_is_said(
    csv: Csv, tmp_path: Path
) -> None:
    columns = [{"name": "age", "type": "numeric"}, {"name": "hair", "type": "nominal", "values": ["red"]}]
    schema = tmp_path / "SCHEMA.json"
    schema.write_text(json.dumps({"weather": {"columns": columns, "class_values": ["P", "N"]}}))
    path = csv("1.50,red,P", "1.5,red,N", header="age,hair,class")
    result = run(path, "--schema", schema, "--json")
    assert "each number in the numeric columns (1: age) is a value of its own" in result.stderr
    assert json.loads(result.stdout)["leaves"] == 1, '"1.50" and "1.5" are one number'
    text = run(path, "--text", "age", "--json")
    assert text.stderr == ""
    assert json.loads(text.stdout)["leaves"] == 2, '"1.50" and "1.5" are two texts'


def test_the_declared_order_of_classes_decides_between_equals(csv: Csv, tmp_path: Path) -> None:
    path = csv("a,x,P", "a,x,N", "a,x,P")
    answers = []
    for classes in (["P", "N"], ["N", "P"]):
        schema = tmp_path / "SCHEMA.json"
        schema.write_text(json.dumps({"weather": {"columns": [], "class_values": classes}}))
        run(path, "--schema", schema, "--trace", tmp_path / "trace")
        answers.append(traced(tmp_path / "trace")[-1]["prediction"])
    assert answers == ["P", "N"]


# ---- what goes wrong


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


# ---- from Python


def test_it_goes_on_where_a_learner_stands_and_counts_only_its_own_share() -> None:
    rows = [Instance({"sky": "blue"}, "dry"), Instance({"sky": "grey"}, "rain")]
    learner = make_learner("id5r-reference")
    first = evaluate(rows, learner)
    second = evaluate(rows, learner)
    assert (first.correct, second.correct) == (0, 2)
    assert second.operations["instances_stored"] == 2
    assert (second.retained, second.changes, second.digest) == (4, 0, first.digest)


class OfOneWidth(ID5R):
    """A learner that takes the promise at its word: the rows of one call have one width."""

    def learn_batch(self, rows: Rows, labels: Labels) -> BatchResult:
        assert len({len(row) for row in rows}) == 1
        return super().learn_batch(rows, labels)


def test_attributes_may_appear_on_the_way() -> None:
    rows = [Instance({"a": "x", **({"b": str(n)} if n % 3 else {})}, str(n % 3)) for n in range(30)]
    one_by_one = make_learner("id5r-reference")
    for row in rows:
        one_by_one.learn_one(row)
    assert evaluate(rows, OfOneWidth()).digest == digest(one_by_one.outline())


def test_callers_are_told_of_each_row_in_order() -> None:
    judged: list[Judged] = []
    refused: list[tuple[int, InstanceError]] = []
    advanced: list[int] = []
    rows = [Instance({"n": str(n)}, None if n % 100 == 7 else "x") for n in range(1, 601)]
    result: Evaluation = evaluate(
        rows,
        make_learner("id5r-reference"),
        each=judged.append,
        refused=lambda number, error: refused.append((number, error)),
        advance=advanced.append,
    )
    assert [number for number, _ in refused] == [7, 107, 207, 307, 407, 507]
    assert {error.misfit for _, error in refused} == {Misfit.BAD_LABEL}
    assert [one.n for one in judged] == [n for n in range(1, 601) if n % 100 != 7]
    assert sum(advanced) == 600 and len(advanced) > 1
    assert result.records == 594


# ---- real data


@pytest.mark.data
def test_id5r_holds_the_tree_of_id3_after_every_record_of_tic_tac_toe(data_dir: Path, tmp_path: Path) -> None:
    traces, answers = [], []
    for learner in ("id5r-reference", "id3"):
        out = tmp_path / learner
        file, schema = data_dir / "tic-tac-toe.csv", data_dir / "SCHEMA.json"
        answers.append(told(file, "--schema", schema, "--learner", learner, "--trace", out))
        traces.append(traced(out))
    assert traces[0] == traces[1]
    assert len(traces[0]) == answers[0]["records"] == 958
    assert len({str(line["digest"]) for line in traces[0]}) > 50
    for key in ("correct", "nodes", "leaves", "depth", "digest", "changes", "retained"):
        assert answers[0][key] == answers[1][key]
    assert answers[0]["correct"] == sum(line["prediction"] == line["label"] for line in traces[0])
