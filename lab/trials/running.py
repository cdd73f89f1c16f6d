"""Trials, spread over processes; what was found once is kept until the learners change."""

import hashlib
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import msgspec

import learners.rebuilt
from lab.experiments.nt_paper import LEFT_OUT
from lab.experiments.nt_trial import Result, Trial, perform
from lab.trials.reading import read_table
from learners.rebuilt.table import Table

Advance = Callable[[], None]

COUNTED = {"table.py", "coding.py", "trees.py", "naive_bayes.py"}
"""Files of the batch learners that decide what a trial comes to, beside those in C."""

_tables: dict[Path, Table] = {}
"""The data set this process has read last: the trials of a set follow each other."""


def run_trials(
    trials: Sequence[Trial], data: Path, jobs: int, kept: Path | None, advance: Advance
) -> list[Result]:
    """Do all trials that have not been done yet; the results are in their order.

    Args:
        trials: What to do.
        data: Where the data sets are.
        jobs: How many processes to use.
        kept: Where results are kept; None: nothing is kept, and nothing that was is used.
        advance: Called after each.
    """
    results: dict[int, Result] = {}
    missing: list[int] = []
    for place, trial in enumerate(trials):
        found = None if kept is None else recall(kept, data, trial)
        if found is None:
            missing.append(place)
        else:
            results[place] = found
            advance()
    for place, result in _performed(trials, missing, data, jobs):
        results[place] = result
        if kept is not None:
            keep(kept, data, result)
        advance()
    return [results[place] for place in range(len(trials))]


def _performed(
    trials: Sequence[Trial], places: Sequence[int], data: Path, jobs: int
) -> Iterable[tuple[int, Result]]:
    jobs = min(jobs, len(places))
    if jobs <= 1:
        for place in places:
            yield place, work(trials[place], data)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(work, trials[place], data): place for place in places}
        try:
            for done in as_completed(futures):
                yield futures[done], done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def work(trial: Trial, data: Path) -> Result:
    """Do one trial. Time is that of this process alone, so that others beside it count less."""
    return perform(trial, table_of(data / trial.file), time.process_time)


def table_of(path: Path) -> Table:
    """Return a data set."""
    if path not in _tables:
        _tables.clear()
        _tables[path] = read_table(path, LEFT_OUT.get(path.name, ()))
    return _tables[path]


# ---- what was found already


def usual_place(cache: Path | None) -> Path:
    """Return where in a cache directory results are kept; None: the user's."""
    return (cache or Path.home() / ".cache") / "espalier" / "trials"


def recall(kept: Path, data: Path, trial: Trial, whose: str = "ours") -> Result | None:
    """Return the result of a trial that was done before, with the same learners and the same data."""
    try:
        return msgspec.json.decode((kept / _name(data, trial, whose)).read_bytes(), type=Result)
    except (OSError, msgspec.DecodeError):
        return None


def keep(kept: Path, data: Path, result: Result, whose: str = "ours") -> None:
    """Keep a result."""
    kept.mkdir(parents=True, exist_ok=True)
    file = kept / _name(data, result.trial, whose)
    half = file.with_suffix(f".{os.getpid()}")
    half.write_bytes(msgspec.json.encode(result))
    half.replace(file)


def forget(kept: Path) -> None:
    """Forget all results: their times are those of a moment."""
    for file in kept.glob("*.json"):
        file.unlink()


def _name(data: Path, trial: Trial, whose: str) -> str:
    size = (data / trial.file).stat().st_size if (data / trial.file).is_file() else -1
    # What others come to does not change with our learners.
    told = msgspec.json.encode([trial, size, sources() if whose == "ours" else ""])
    return f"{whose}-{trial.file.split('.')[0]}-{trial.run}-{hashlib.sha256(told).hexdigest()[:16]}.json"


def sources() -> str:
    """Return a digest of the code that decides what a trial comes to."""
    place = Path(next(iter(learners.rebuilt.__path__)))
    files = [
        file
        for file in sorted(place.iterdir())
        if file.name in COUNTED or (file.suffix in (".c", ".h", ".pyx") and file.name != "_batch.c")
    ]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
