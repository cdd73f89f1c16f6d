"""The experiments of Su and Zhang: folds, t-tests, the figure, and the reports on what trials come to."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.experiments.nt_figure1 import figure_1
from lab.experiments.nt_paper import TABLE_1, TABLE_1_MEAN, TABLE_3, TABLE_3_MEAN
from lab.experiments.nt_scaling import Timing, grid, made, scaling
from lab.experiments.nt_statistics import corrected_t, outcome, stratified, t_probability
from lab.experiments.nt_tables import t_tests, table_1, table_3
from lab.experiments.nt_trial import C45, NB, NT, Result, Trial, perform
from lab.experiments.report import Verdict
from learners.rebuilt.table import Table


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(2, 10), st.integers(0, 99))
def test_every_fold_has_its_share_of_every_class(labels: list[int], folds: int, seed: int) -> None:
    fold = stratified(np.array(labels), folds, np.random.default_rng(seed))
    for label in set(labels):
        sizes = np.bincount(fold[np.array(labels) == label], minlength=folds)
        assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize(
    ("t", "freedom", "probability"),
    [(12.706205, 1, 0.05), (2.262157, 9, 0.05), (1.984217, 99, 0.05), (-2.262157, 9, 0.05), (0.0, 5, 1.0)],
)
def test_the_t_distribution_is_the_one_in_the_books(t: float, freedom: int, probability: float) -> None:
    assert t_probability(t, freedom) == pytest.approx(probability, abs=1e-6)


def test_a_difference_is_significant_only_beyond_what_folds_share() -> None:
    differences = [1.0, 2.0, 0.0, 1.0, 3.0, -1.0, 1.0, 2.0, 0.0, 1.0]
    plain = np.mean(differences) / math.sqrt(np.var(differences, ddof=1) / 10)
    assert corrected_t(differences, 0.0) == pytest.approx(plain)
    assert corrected_t(differences, 1 / 9) < plain
    assert outcome(differences, 0.0) == 1
    assert outcome(differences, 1.0) == 0
    assert outcome([-one for one in differences], 0.0) == -1
    assert outcome([0.5] * 4, 1 / 9) == 1
    assert outcome([0.0] * 4, 1 / 9) == 0


def test_the_means_printed_are_those_of_the_rows() -> None:
    for rows, mean in ((TABLE_1.values(), TABLE_1_MEAN), (TABLE_3.values(), TABLE_3_MEAN)):
        for learner in ("nt", "c45", "nb"):
            assert np.mean([getattr(row, learner) for row in rows]) == pytest.approx(
                getattr(mean, learner), abs=0.01
            )


def test_figure_1_is_reproduced() -> None:
    report = figure_1()
    assert set(report.verdicts()) == {Verdict.PASS}
    assert len(report.checks) == 2


def xor(count: int = 120) -> Table:
    """A concept that trees can learn and naive Bayes cannot."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, (count, 3)).astype(float)
    return Table.of(x, (x[:, 0] != x[:, 1]).astype(int), 2, [2] * 3)


def test_a_trial_measures_all_learners_on_the_same_folds() -> None:
    ticks = iter(range(1_000))
    trial = Trial("x.csv", 0, 7, 5, 3)
    result = perform(trial, xor(), lambda: float(next(ticks)))
    assert result.seconds == {name: [1.0] * 3 for name in (NT, C45, NB)}
    assert [len(found) for found in result.accuracy.values()] == [3, 3, 3]
    again = perform(trial, xor(), lambda: 0.0)
    assert (again.accuracy, again.nodes) == (result.accuracy, result.nodes)
    other = perform(Trial("x.csv", 1, 7, 5, 3), xor(), lambda: 0.0)
    assert not np.array_equal(trial.fold_of(xor()), other.trial.fold_of(xor()))


def results(file: str, runs: int, **accuracies: float) -> list[Result]:
    """Return what trials of a set may have come to."""
    names = {"nt": NT, "c45": C45, "nb": NB}
    found = {names[key]: value for key, value in accuracies.items()}
    return [
        Result(
            Trial(file, run, 1, 10, 10),
            100,
            5,
            {name: [value + 0.1 * ((fold + run) % 3) for fold in range(10)] for name, value in found.items()},
            {NT: [0.1] * 10, C45: [0.2] * 10, NB: [0.1] * 10},
            {NT: [10] * 10, C45: [20] * 10, NB: [0] * 10},
        )
        for run in range(runs)
    ]


def test_table_1_has_the_paper_beside_what_was_measured() -> None:
    found = [
        *results("iris.csv", 3, nt=95.3, c45=94.6, nb=95.4),
        *results("vote.csv", 3, nt=60, c45=96.2, nb=90),
    ]
    report = table_1(found, found[:1])
    figures = {(figure.row, figure.column): figure for figure in report.tables[0].figures}
    assert len(figures) == 10
    assert figures["Iris", NT].verdict is Verdict.AGREES
    assert figures["Vote", NT].verdict is Verdict.DIFFERS
    assert figures["Vote", "R(S)"].mean == figures["Vote", "R(T)"].mean == 0.5
    assert [check.verdict for check in report.checks][:2] == [Verdict.DIFFERS, Verdict.DIFFERS]
    weka = report.tables[-1]
    assert "Weka" in weka.title
    assert [figure.mean for figure in weka.figures] == [0.0, 0.0]
    assert not report.failed


def test_table_3_tells_how_much_faster_the_naive_tree_is() -> None:
    file = "text-oh0.wc.csv.gz"
    report = table_3(results(file, 1, nt=80, c45=81, nb=70), {file: 5.0}, {"peer": {file: 0.05}})
    seen = {check.statement: (check.verdict, check.seen) for check in report.checks}
    assert seen["NT is 30 times as fast as C4.5: a C4.5 that looks at every cell"][1] == "50.0 times"
    assert seen["NT is at least as fast as peer"] == (Verdict.DIFFERS, "0.5 times as fast on 1 sets")
    assert seen["NT is more accurate than naive Bayes"][0] is Verdict.AGREES


def test_t_tests_count_wins_ties_and_losses() -> None:
    found = [*results("iris.csv", 2, nt=90, c45=80, nb=95), *results("zoo.csv", 2, nt=90, c45=90, nb=80)]
    report = t_tests("nt-table2", found)
    told = {(figure.row, figure.column): figure.mean for figure in report.tables[0].figures}
    assert (told["NT v C4.5", "wins"], told["NT v C4.5", "ties"], told["NT v C4.5", "losses"]) == (1, 1, 0)
    assert (told["NT v NB", "wins"], told["NT v NB", "losses"]) == (1, 1)


def test_scaling_finds_the_power_of_time() -> None:
    timings = [
        Timing(name, m, n, (m * n) ** power * 1e-4)
        for name, power in ((NT, 1.0), (C45, 2.0))
        for m, n in grid()
    ]
    report = scaling(timings)
    assert "NT 1.00, C4.5 2.00" in report.checks[0].seen
    assert {check.verdict for check in report.checks} == {Verdict.AGREES}
    assert len(report.charts) == 2
    table = made(500, 12, 1)
    assert (len(table), table.width) == (500, 12)
