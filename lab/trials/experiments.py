"""The experiments of Su and Zhang 2006, and of Esmeir and Markovitch 2006, by name."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from lab.experiments.iidt_figures import RUNS, TITLES, report_of, trials_of
from lab.experiments.nt_figure1 import figure_1
from lab.experiments.nt_paper import TABLE_1, TABLE_3
from lab.experiments.nt_scaling import LARGEST, SKLEARN, scaling
from lab.experiments.nt_tables import t_tests, table_1, table_3
from lab.experiments.nt_trial import Result, Trial
from lab.experiments.report import Report
from lab.trials.anytime import check_files, run_anytime
from lab.trials.running import Advance, keep, recall, run_trials, table_of
from lab.trials.timing import GET_SKLEARN, dense_seconds, has_sklearn, sklearn_seconds, timings
from lab.trials.weka import WekaError, ask_weka, weka_jars
from stream.config.messages import did_you_mean
from stream.files.csv_file import NotThere

Progress = Callable[[str, int], AbstractContextManager[Advance]]

UCI, TEXT = "uci", "text"
SETS: Mapping[str, Mapping[str, str]] = {
    UCI: {name: row.file for name, row in TABLE_1.items()},
    TEXT: {name: row.file for name, row in TABLE_3.items() if row.file},
}
"""By the paper's names, the files of the sets that are there."""
QUICK_CELLS = 10_000_000
WEKA_CELLS = 2_800_000
"""Weka looks at every cell of every attribute: it is asked about one fold of the smaller sets of texts."""
DENSE = "C4.5, all cells"


@dataclass(frozen=True)
class Wishes:
    """How an experiment is to be done.

    Attributes:
        data: Where the data sets are.
        seed: Of the folds.
        runs: How often the sets of Table 1 are tried; None: as often as in the paper.
        folds: Of a cross-validation.
        sets: The sets that are tried, by the paper's names or by their files'; none named: all.
        jobs: How many processes to use.
        quick: Whether to do less.
        kept: Where results are kept; None: nowhere.
        weka: Whether to ask Weka.
        progress: Shows how far it has come.
        budget: How many times the usual units of work an anytime learner has.
    """

    data: Path
    seed: int
    runs: int | None
    folds: int
    sets: tuple[str, ...]
    jobs: int
    quick: bool
    kept: Path | None
    weka: bool
    progress: Progress
    budget: float = 1.0


@dataclass(frozen=True)
class TrialExperiment:
    """An experiment that needs files or a clock."""

    name: str
    title: str
    perform: Callable[[Wishes], Report]


def _figure_1(wishes: Wishes) -> Report:
    return figure_1()


def _scaling(wishes: Wishes) -> Report:
    largest = QUICK_CELLS if wishes.quick else LARGEST[0] * LARGEST[1]
    with wishes.progress("nt-scaling", 0) as advance:
        report = scaling(timings(wishes.seed, largest, advance))
    if not has_sklearn():
        report.notes.append(GET_SKLEARN)
    return report


def _table_1(wishes: Wishes) -> Report:
    trials = uci_trials(wishes)
    results = tried("nt-table1", trials, wishes)
    weka, note = asked([trial for trial in trials if trial.run == 0], wishes)
    report = table_1(results, weka)
    report.notes += [note] if note else []
    return report


def _table_2(wishes: Wishes) -> Report:
    return t_tests("nt-table2", tried("nt-table2", uci_trials(wishes), wishes))


def _table_3(wishes: Wishes) -> Report:
    trials = text_trials(wishes)
    results = tried("nt-table3", trials, wishes)
    others = [peers_of(trial, wishes) for trial in trials]
    dense = {one.trial.file: one.seconds[DENSE][0] for one in others if DENSE in one.seconds}
    sklearn = {one.trial.file: one.seconds[SKLEARN][0] for one in others if SKLEARN in one.seconds}
    sizes = {result.trial.file: result.records * result.attributes for result in results}
    small = [
        msgspec.structs.replace(trial, measured=1) for trial in trials if sizes[trial.file] <= WEKA_CELLS
    ]
    weka, note = asked(small, wishes)
    report = table_3(results, dense, {SKLEARN: sklearn} if sklearn else {}, weka)
    report.notes += [note] if note else []
    report.notes += [] if sklearn else [GET_SKLEARN]
    return report


def _table_4(wishes: Wishes) -> Report:
    return t_tests("nt-table4", tried("nt-table4", text_trials(wishes), wishes))


def _anytime(name: str, wishes: Wishes) -> Report:
    check_files(name, wishes.data)
    budget = wishes.budget / 20 if wishes.quick else wishes.budget
    runs = wishes.runs or (1 if wishes.quick else RUNS[name])
    trials = trials_of(name, runs, wishes.seed, budget)
    with wishes.progress(name, len(trials)) as advance:
        courses = run_anytime(trials, wishes.data, wishes.jobs, advance)
    return report_of(name, courses, budget)


TRIALS: dict[str, TrialExperiment] = {
    one.name: one
    for one in (
        TrialExperiment("nt-figure1", "Su and Zhang, Figure 1: a concept, its gains and its tree", _figure_1),
        TrialExperiment("nt-table1", "Su and Zhang, Table 1: UCI data sets (10 runs)", _table_1),
        TrialExperiment("nt-table2", "Su and Zhang, Table 2: t-tests of Table 1 (10 runs)", _table_2),
        TrialExperiment("nt-table3", "Su and Zhang, Table 3: text", _table_3),
        TrialExperiment("nt-table4", "Su and Zhang, Table 4: t-tests of Table 3", _table_4),
        TrialExperiment("nt-scaling", "Su and Zhang, O(m n): time against records and attributes", _scaling),
        *(TrialExperiment(name, title, partial(_anytime, name)) for name, title in TITLES.items()),
    )
}


# ---- what is tried


def uci_trials(wishes: Wishes) -> list[Trial]:
    """Return the trials of Tables 1 and 2; the largest sets first, so that no process waits for the last."""
    runs = wishes.runs or (1 if wishes.quick else 10)
    files = chosen(UCI, wishes)
    return [
        Trial(file, run, wishes.seed, wishes.folds, wishes.folds) for file in files for run in range(runs)
    ]


def text_trials(wishes: Wishes) -> list[Trial]:
    """Return the trials of Tables 3 and 4."""
    measured = min(2, wishes.folds) if wishes.quick else wishes.folds
    return [Trial(file, 0, wishes.seed, wishes.folds, measured) for file in chosen(TEXT, wishes)]


def chosen(kind: str, wishes: Wishes) -> list[str]:
    """Return the files of the sets that are wished for.

    Raises:
        NotThere: There is no such set, or its file is not there.
    """
    known = SETS[kind]
    by_name = {name.lower(): file for name, file in known.items()}
    by_name |= {file.removeprefix("text-").split(".")[0].lower(): file for file in known.values()}
    unknown = [name for name in wishes.sets if name.lower() not in by_name]
    if unknown:
        raise NotThere(
            f'there is no set "{unknown[0]}".{did_you_mean(unknown[0], known)} There are: {", ".join(known)}'
        )
    files = [by_name[name.lower()] for name in wishes.sets] or list(known.values())
    for file in files:
        if not (wishes.data / file).is_file():
            raise NotThere(
                f'there is no data set "{file}" in "{wishes.data}". '
                "Name the directory that has it with --data or ESPALIER_DATA"
            )
    return files


def tried(name: str, trials: Sequence[Trial], wishes: Wishes) -> list[Result]:
    """Return what our learners come to."""
    with wishes.progress(name, len(trials)) as advance:
        return run_trials(trials, wishes.data, wishes.jobs, wishes.kept, advance)


def asked(trials: Sequence[Trial], wishes: Wishes) -> tuple[list[Result], str]:
    """Return what Weka's learners come to, and what is to be said where they could not be asked."""
    found: list[Result] = []
    if not wishes.weka:
        return found, "Weka was not asked."
    try:
        with wishes.progress("Weka", len(trials)) as advance:
            for trial in trials:
                result = None if wishes.kept is None else recall(wishes.kept, wishes.data, trial, "weka")
                if result is None:
                    jars = weka_jars(
                        wishes.kept.parent if wishes.kept else Path.home() / ".cache" / "espalier"
                    )
                    result = ask_weka(trial, table_of(wishes.data / trial.file), jars)
                    if wishes.kept is not None:
                        keep(wishes.kept, wishes.data, result, "weka")
                found.append(result)
                advance()
    except WekaError as error:
        return found, str(error)
    return found, ""


def peers_of(trial: Trial, wishes: Wishes) -> Result:
    """Return the seconds of other learners on the records of a trial's first fold."""
    found = None if wishes.kept is None else recall(wishes.kept, wishes.data, trial, "peers")
    if found is not None:
        return found
    table = table_of(wishes.data / trial.file)
    training = table.take(np.flatnonzero(trial.fold_of(table) != 0))
    seconds: dict[str, list[float]] = {}
    if has_sklearn():
        seconds[SKLEARN] = [sklearn_seconds(training)]
    dense = dense_seconds(training)
    if dense is not None:
        seconds[DENSE] = [dense]
    found = Result(trial, len(table), table.width, {}, seconds, {})
    if wishes.kept is not None:
        keep(wishes.kept, wishes.data, found, "peers")
    return found
