"""The trials of Esmeir and Markovitch 2006, spread over processes and timed."""

import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from lab.experiments.iidt_figures import FIGURES, SUBJECTS
from lab.experiments.iidt_trial import AnytimeTrial, Course, perform
from lab.trials.reading import read_table
from lab.trials.running import Advance
from learners.rebuilt.table import Table
from stream.files.csv_file import NotThere


def check_files(name: str, data: Path) -> None:
    """Do nothing, unless a set of a figure is not there.

    Raises:
        NotThere: One is not.
    """
    for subject, _ in FIGURES[name]:
        file = SUBJECTS[subject].file
        if file and not (data / file).is_file():
            raise NotThere(
                f'there is no data set "{file}" in "{data}". '
                "Name the directory that has it with --data or ESPALIER_DATA"
            )


def run_anytime(trials: Sequence[AnytimeTrial], data: Path, jobs: int, advance: Advance) -> list[Course]:
    """Do all trials; the courses are in their order."""
    jobs = min(jobs, len(trials))
    if jobs <= 1:
        courses: list[Course] = []
        for trial in trials:
            courses.append(work(trial, data))
            advance()
        return courses
    found: dict[int, Course] = {}
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(work, trial, data): place for place, trial in enumerate(trials)}
        try:
            for done in as_completed(futures):
                found[futures[done]] = done.result()
                advance()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return [found[place] for place in range(len(trials))]


def work(trial: AnytimeTrial, data: Path) -> Course:
    """Do one trial. Time is that of this process alone, so that others beside it count less."""
    return perform(trial, _table(trial, data), time.process_time)


def _table(trial: AnytimeTrial, data: Path) -> Table:
    subject = SUBJECTS[trial.subject]
    if subject.make is not None:
        return subject.make(trial.seed)
    return read_table(data / subject.file)
