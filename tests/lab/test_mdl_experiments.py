"""The experiments of Bhatia and Schuch: what they print follows from what was done."""

from dataclasses import replace

import numpy as np
import pytest

from lab.experiments.concepts import Concept, encode
from lab.experiments.experiment import Data, Experiment, Task
from lab.experiments.mdl_noise import LEVELS, SETS, MDLNoise, with_noise
from lab.experiments.mdl_nominal import MDLNominal
from lab.experiments.mdl_sets import GAME, TEST, TRAINING, MDLSpect, MDLTicTacToe
from lab.experiments.mdl_trial import SYSTEMS, follow, instances_of, made
from lab.experiments.mdl_worked import MDLWorked
from lab.experiments.report import Verdict


def small(records: int = 120) -> Concept:
    """Return a set whose class is that of its first attribute."""
    names = ("a", "b", "c")
    rows = [(str(n % 2), str(n // 2 % 3), str(n * 7 % 5)) for n in range(records)]
    return encode(names, ((row, "yes" if row[0] == "1" else "no") for row in rows))


def test_every_worked_number_is_the_paper_s_or_a_slip_that_is_named() -> None:
    report = MDLWorked().report([], {})
    verdicts = list(report.verdicts())
    assert not report.failed
    assert verdicts.count(Verdict.PASS) == 11
    slips = [figure for figure in report.tables[0].figures if figure.verdict is Verdict.NOTED]
    assert [round(figure.mean, 3) for figure in slips] == [5.585, 4.907, 6.907, 9.755]
    assert all("slip" in figure.row for figure in slips)


@pytest.mark.parametrize("experiment", [MDLSpect(), MDLTicTacToe(), MDLNominal(), MDLNoise()])
def test_an_experiment_reports_on_all_that_was_done(experiment: Experiment) -> None:
    concept = small()
    data: Data = dict.fromkeys((TRAINING, TEST, GAME, *SETS, *experiment.files), concept)
    outcomes = [experiment.perform(task, data) for task in experiment.tasks(1, 1)]
    report = experiment.report(outcomes, data)
    assert report.checks
    assert all(table.figures for table in report.tables)
    # What is easy is learned, at least where there is no noise.
    easy = [
        figure.mean
        for table in report.tables
        for figure in table.figures
        if figure.row == "mdl" and figure.column in ("test, %", "others, %", "0 %", "mean")
    ]
    assert max(easy) > 85


def test_noise_exchanges_the_share_of_labels_that_is_asked_for() -> None:
    stream = instances_of(small(4_000))
    for percent in LEVELS:
        noisy = with_noise(stream, percent, np.random.default_rng(1))
        exchanged = sum(one.label != other.label for one, other in zip(stream, noisy, strict=True))
        assert exchanged / len(stream) == pytest.approx(percent / 100, abs=0.03)
        assert all(one.values == other.values for one, other in zip(stream, noisy, strict=True))


def test_runs_of_one_number_see_the_same_stream_whoever_learns() -> None:
    concept = small()
    task = Task("mdl | vote.csv | 20", 0, 7)
    other = replace(task, subject="c45 | vote.csv | 20")
    assert task.rng().permutation(50).tolist() == other.rng().permutation(50).tolist()
    stream = instances_of(concept)
    for system in SYSTEMS:
        course = follow(made(system, stream), stream, [one.label for one in stream])
        assert course.at[-1] == len(stream)
        assert len(course.at) == len(course.accuracy) == len(course.leaves) == len(course.bits)
