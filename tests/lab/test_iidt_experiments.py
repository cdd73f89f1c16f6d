"""The figures of Esmeir and Markovitch, done again in small: the same wherever they are made."""

from itertools import count, pairwise

import numpy as np
import pytest

from lab.experiments.iidt_figures import FIGURES, RUNS, SUBJECTS, TITLES, report_of, trials_of
from lab.experiments.iidt_trial import AnytimeTrial, Course, divided, multiplexer, parity, perform
from lab.experiments.report import Verdict
from lab.trials.experiments import TRIALS


def ticking() -> "count[float]":
    return count(0.0, 0.5)


def course(trial: AnytimeTrial) -> Course:
    ticks = ticking()
    make = SUBJECTS[trial.subject].make
    assert make is not None
    return perform(trial, make(trial.seed), lambda: next(ticks))


@pytest.mark.parametrize("system", ["IIDT-TS(0.1)", "IIDT-TS-p(0.1)", "IIDT-EE(0.1)", "bagging ID3"])
def test_a_trial_comes_to_the_same_again(system: str) -> None:
    trial = AnytimeTrial("noisy xor5", system, 3, 1, 20_000)
    assert course(trial) == course(trial)


def test_more_budget_goes_on_where_less_ended() -> None:
    short = course(AnytimeTrial("xor5", "IIDT-TS(0.1)", 0, 1, 5_000))
    long = course(AnytimeTrial("xor5", "IIDT-TS(0.1)", 0, 1, 400_000))
    assert short.leaves[0] == long.leaves[0]
    assert all(later <= before for before, later in pairwise(long.leaves))
    assert long.right[-1] == 100.0


def test_records_that_arrive_are_all_learned() -> None:
    arrived = course(AnytimeTrial("xor5, arriving", "I-IIDT-TS(0.1)", 0, 1, 300_000, 90))
    first_alone = course(AnytimeTrial("xor5, arriving", "IIDT-TS(0.1)", 0, 1, 300_000, 90))
    assert arrived.leaves[0] == first_alone.leaves[0]
    assert arrived.right[-1] > first_alone.right[-1]


def test_folds_share_nothing_and_cover_everything() -> None:
    table = parity(2, 2, 101, 1)
    table.x[:, 0] = np.arange(101)  # type: ignore[index]
    held = []
    for fold in range(10):
        training, test = divided(AnytimeTrial("x", "ID3", fold, 1, 0), table)
        assert set(training.x[:, 0].tolist()).isdisjoint(test.x[:, 0].tolist())  # type: ignore[index]
        held += test.x[:, 0].tolist()  # type: ignore[index]
    assert sorted(held) == list(range(101))


def test_a_multiplexer_is_one() -> None:
    table = multiplexer(2, 200, 3)
    assert (len(table), table.width, table.classes) == (200, 6, 2)
    assert len(np.unique(table.labels)) == 2


def test_every_figure_has_a_command_and_a_report() -> None:
    assert set(FIGURES) == set(RUNS) == set(TITLES) <= set(TRIALS)
    trials = trials_of("iidt-figure12", 1, 1, 0.01)
    report = report_of("iidt-figure12", [course(trial) for trial in trials], 0.01)
    assert [table.title.split(",")[0] for table in report.tables] == ["XOR-5", "XOR-5"]
    assert len(report.charts) == 4
    # With so little budget only what does not depend on it can fail.
    assert all(one.verdict is not Verdict.FAIL for one in report.checks)
