"""Test-then-train from Python, and over real data."""

from pathlib import Path

import pytest

from learners.learner import BatchResult, Labels, Rows
from learners.outline import digest
from learners.registry import make_learner
from learners.schema import Instance, InstanceError, Misfit
from learners.utgoff.id5r import ID5R
from stream.evaluation import Evaluation, Judged, evaluate
from tests.stream.cli.evaluating import told, traced

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
