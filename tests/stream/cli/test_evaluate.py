"""`espalier evaluate`: its contract and its options."""

import json
import time
from pathlib import Path

from learners.outline import digest, from_dict
from learners.registry import make_learner
from learners.schema import Instance
from stream.evaluation import evaluate
from tests.stream.cli.evaluating import ROWS, Csv, run, told, traced

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
