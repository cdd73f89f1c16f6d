"""The benches of accuracy and drift, on little data: that they measure what they say, not how much it is."""

import json
from pathlib import Path

import msgspec
import pytest

from lab.bench import accuracy, contests, drift, files
from lab.bench.contests import Contenders, Contest, _as_bytes, river, run_ours
from lab.bench.measure import PeerFailed, Timed
from lab.bench.report import Report
from learners.registry import make_learner
from learners.schema import Instance

NOBODY = Contenders({}, [])


def silent(what: str) -> None:
    """Tell nobody."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [f"{x},{'ab'[x % 2]},{'yes' if x > 40 else 'no'}" for x in range(80)]
    (tmp_path / "steps.csv").write_text("x,w,class\n" + "\n".join(rows) + "\n")
    (tmp_path / "unknown.csv").write_text("x,class\n1,a\n")
    columns = [{"name": "x", "type": "numeric"}, {"name": "w", "type": "nominal"}]
    (tmp_path / "SCHEMA.json").write_text(
        json.dumps({"steps": {"columns": columns, "class_values": ["yes", "no"]}})
    )
    return tmp_path


def test_accuracy_is_measured_on_every_set_that_the_schema_knows(data: Path) -> None:
    assert [file.name for file in accuracy.sets_in(data)] == ["steps.csv"]
    report = accuracy.accuracy(data, accuracy.Amount(2, 80), NOBODY, True, silent)
    means = {row[0]: row[1] for row in report.tables[0].rows}
    assert set(means) == set(accuracy.OURS)
    assert all(isinstance(mean, float) and 60 < mean <= 100 for mean in means.values())
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report).goals == report.goals


def test_what_is_measured_is_what_the_learner_answers(data: Path) -> None:
    contest = accuracy.contest_of(data / "steps.csv", 80)
    outcome = run_ours(contest, significance=0.05)
    assert outcome.timed.records == outcome.learner.retained == 80
    learner = make_learner("id5r", contest.schema, {"significance": 0.05}, contest.limits)
    right = 0
    for values, label in contest.rows:
        right += learner.predict_one(values).answer == label
        learner.learn_one(Instance(values, label))
    assert outcome.timed.correct == right
    assert right > 40  # more than one answer for all would have


def test_somebody_who_takes_too_long_is_left_out_and_it_is_said(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contests, "PATIENCE", 0.0)
    peers = Contenders({"slow": river("HoeffdingTreeClassifier")}, [])
    report = accuracy.accuracy(data, accuracy.Amount(2, 80), peers, True, silent)
    assert [note for note in report.notes if "for 50 of 80 records of steps and was left out there" in note]
    assert {row[0]: row[1] for row in report.tables[0].rows}["slow"] is None


def test_means_are_compared_on_the_sets_that_both_have_finished(data: Path) -> None:
    def only_once(contest: Contest) -> Timed:
        if contest.name != "steps":
            raise PeerFailed("it was too much")
        return Timed(len(contest.rows), 1.0, 0)

    (data / "more.csv").write_text("\n".join((data / "steps.csv").read_text().splitlines()[:30]) + "\n")
    schema = json.loads((data / "SCHEMA.json").read_text())
    (data / "SCHEMA.json").write_text(json.dumps(schema | {"more": schema["steps"]}))
    report = accuracy.accuracy(
        data, accuracy.Amount(1, 80), Contenders({"some": only_once}, []), True, silent
    )
    tree = {row[0]: row[1] for row in report.tables[1].rows}["steps"]
    [goal] = [goal for goal in report.goals if goal.figure == "mean of id5r, tree above some"]
    assert goal.measured == f"+{tree:.2f} points"


def test_others_get_the_same_records(data: Path) -> None:
    contest = accuracy.contest_of(data / "steps.csv", 80)
    head, *rows = _as_bytes(contest)
    assert (len(head), len(rows), len(rows[0])) == (4 * 5, 80, 8 * 3)


def test_drift_is_measured_on_streams_that_change_and_on_some_that_do_not(data: Path) -> None:
    report = drift.drift(data, drift.Amount(240, 1, (400, 800)), NOBODY, True, silent)
    streams = [row[0] for row in report.tables[0].rows]
    assert {"SEA", "STAGGER", *drift.STATIONARY} < set(streams)
    assert [row[0] for row in report.tables[2].rows] == [400, 800]
    assert report.goals[-2].figure == "drops on stationary streams"


def test_streams_of_one_seed_are_the_same_again() -> None:
    one, other = drift.generated(80, 3), drift.generated(80, 3)
    assert one == other
    assert all(len(rows) == 80 for rows in one.values())
    assert isinstance(drift._contest("SEA", one["SEA"]), Contest)


def test_any_file_is_measured_as_a_worker_learns_it(data: Path) -> None:
    report = files.files([data / "steps.csv"], 60, False, True, silent)
    (row,) = report.tables[0].rows
    assert row[:2] == ("steps", 60)
    each, net, alone = row[3:6]
    assert all(isinstance(rate, float) and rate > 0 for rate in (each, net, alone))
    assert row[6:] == (None, None, None)
    # Without River only the share of the compiled part is known.
    assert [goal.met is None for goal in report.goals] == [True, False, True, False]


def test_both_ways_of_publishing_predict_the_same(data: Path) -> None:
    contest = accuracy.contest_of(data / "steps.csv", 80)
    each, net = (files.learn_in_batches(contest, publishes_each=way) for way in (True, False))
    assert (each.records, each.correct) == (net.records, net.correct)
    assert each.correct > 60
