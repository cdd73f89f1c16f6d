"""`espalier reproduce`: the papers' tables and figures, done again."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec
import rich.console
import rich.progress

from lab.cli.experiment_text import as_text, tally
from lab.cli.fidelity import document, updated
from lab.experiments import EXPERIMENTS
from lab.experiments.concepts import Concept, encode
from lab.experiments.experiment import Experiment, Outcome, Task
from lab.experiments.report import Report
from lab.plot import svg
from lab.trials.experiments import TRIALS, Wishes
from lab.trials.running import forget, usual_place
from stream.files.csv_file import DataError, header_of, open_text, records_of

ALL = "all"
DEFAULT_DATA = Path("../shared/data")
DEFAULT_SEED = 1989

Advance = Callable[[], None]

_loaded: dict[str, Concept] = {}
"""The data sets of this process, whether it is the command's or one that works for it."""


class Found(msgspec.Struct):
    """What is written as JSON: every report, and what it takes to have it again."""

    seed: int
    runs: dict[str, int]
    failed: bool
    reports: list[Report]


def listed(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """Print the experiments and end; for `click.option(callback=...)`."""
    if not wanted or context.resilient_parsing:
        return
    width = max(map(len, [*EXPERIMENTS, *TRIALS]))
    for experiment in EXPERIMENTS.values():
        runs = f" ({experiment.runs} runs)" if experiment.runs else ""
        click.echo(f"{experiment.name.ljust(width)}  {experiment.title}{runs}")
    for trial in TRIALS.values():
        click.echo(f"{trial.name.ljust(width)}  {trial.title}")
    context.exit()


@click.command()
@click.argument("name", type=click.Choice([*EXPERIMENTS, *TRIALS, ALL]), metavar="NAME")
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=listed, help="Print what there is."
)
@click.option(
    "--runs",
    metavar="N",
    type=click.IntRange(min=2),
    help="How many runs each mean is of. [default: depends on the experiment, see --list]",
)
@click.option("--seed", metavar="S", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True)
@click.option(
    "--jobs",
    metavar="J",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default="one for each core",
    help="How many processes to use. The result does not depend on it.",
)
@click.option(
    "--data",
    metavar="DIR",
    envvar="ESPALIER_DATA",
    show_envvar=True,
    type=click.Path(path_type=Path),
    default=DEFAULT_DATA,
    show_default=True,
    help="Where the data sets are.",
)
@click.option(
    "--folds",
    metavar="K",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    help="nt: folds of a run.",
)
@click.option("--sets", metavar="A,B", default="", help="nt: the data sets to try. [default: all]")
@click.option(
    "--quick",
    is_flag=True,
    help="nt: one run, two folds of each text, small sizes. iidt: one fold, little budget.",
)
@click.option(
    "--budget",
    metavar="X",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="iidt: how many times the usual units of work.",
)
@click.option("--fresh", is_flag=True, help="nt: forget what was found before, and do it again.")
@click.option(
    "--cache",
    envvar="XDG_CACHE_HOME",
    type=click.Path(path_type=Path, file_okay=False),
    help="nt: the cache directory, in which espalier/trials holds what was found. [default: ~/.cache]",
)
@click.option("--weka/--no-weka", default=True, show_default=True, help="nt: ask Weka on the same folds.")
@click.option("--json", "json_file", metavar="F", type=click.Path(path_type=Path), help="Write all figures.")
@click.option(
    "--plot", "plot_file", metavar="F.svg", type=click.Path(path_type=Path), help="Write the charts."
)
@click.option(
    "--write",
    "document_file",
    metavar="F.md",
    type=click.Path(path_type=Path),
    help="Write docs/fidelity.md; of a single experiment, its section in it.",
)
def reproduce(
    name: str,
    runs: int | None,
    seed: int,
    jobs: int,
    data: Path,
    folds: int,
    sets: str,
    quick: bool,
    budget: float,
    fresh: bool,
    cache: Path | None,
    weka: bool,
    json_file: Path | None,
    plot_file: Path | None,
    document_file: Path | None,
) -> None:
    """Do the experiment NAME of a paper again, or all of them.

    Prints the paper's figures beside those measured, says PASS where they agree, and names what the paper
    does not tell. A run is the same wherever and with however many processes it is made.

    Exit status: 0 every figure that the paper determines was reproduced, 1 one was not, 2 the command line
    is wrong or data are missing.

    \b
    Examples:
      espalier reproduce --list
      espalier reproduce utgoff-example
      espalier reproduce utgoff-table7 --runs 200 --jobs 2 --plot table7.svg
      espalier reproduce nt-table1 --sets iris,vote --runs 2
      espalier reproduce iidt-figure10 --jobs 2 --plot figure10.svg
      espalier reproduce all --write docs/fidelity.md
    """
    experiments = [one for key, one in EXPERIMENTS.items() if name in (ALL, key)]
    load(data, [file for experiment in experiments for file in experiment.files])
    counts = {one.name: (runs or one.runs) if one.runs else 0 for one in experiments}
    reports: list[Report] = []
    for experiment in experiments:
        outcomes = perform(experiment, experiment.tasks(counts[experiment.name], seed), jobs, data)
        reports.append(experiment.report(outcomes, _loaded))
        click.echo(as_text(reports[-1]) + "\n")
    named = tuple(filter(None, sets.split(",")))
    kept = usual_place(cache)
    if fresh:
        forget(kept)
    wishes = Wishes(data, seed, runs, folds, named, jobs, quick, kept, weka, progress, budget)
    for trial in (one for one in TRIALS.values() if name in (ALL, one.name)):
        reports.append(trial.perform(wishes))
        click.echo(as_text(reports[-1]) + "\n")
    found = Found(seed, counts, any(report.failed for report in reports), reports)
    if json_file is not None:
        json_file.write_bytes(msgspec.json.encode(found) + b"\n")
    if plot_file is not None:
        plot_file.write_text(plotted(reports), encoding="utf-8")
    if document_file is not None:
        given = f" --runs {runs}" if runs else ""
        given += f" --seed {seed}" if seed != DEFAULT_SEED else ""
        command = f"espalier reproduce {ALL}{given} --write docs/fidelity.md"
        if name == ALL or not document_file.is_file():
            text = document(reports, command)
        else:
            text = updated(document_file.read_text(encoding="utf-8"), reports)
        document_file.write_text(text, encoding="utf-8")
    if name == ALL:
        click.echo(f"{name}: {tally(reports)}")
    sys.exit(1 if found.failed else 0)


def plotted(reports: Sequence[Report]) -> str:
    """Return the charts of some reports as one picture; where there are none, their drawings."""
    charts = [chart for report in reports for chart in report.charts]
    return svg(charts, [drawing for report in reports for drawing in report.drawings])


# ---- data


def load(directory: Path, files: Sequence[str]) -> None:
    """Read the data sets that this process has not read yet.

    Raises:
        click.UsageError: One is not there.
        DataError: One is not what it should be.
    """
    for file in files:
        path = directory / file
        if file in _loaded:
            continue
        if not path.is_file():
            raise click.UsageError(
                f'there is no data set "{file}" in "{directory}". '
                "Name the directory that has it with --data or ESPALIER_DATA"
            )
        _loaded[file] = read_concept(path)


def read_concept(path: Path) -> Concept:
    """Return the instances of a CSV file whose last column is the class.

    Raises:
        DataError: A row has more or fewer cells than the header.
    """
    with open_text(path) as text:
        lines = records_of(text, path)
        *attributes, _ = header_of(lines, path)
        records: list[tuple[list[str], str]] = []
        for line, (*values, label) in lines:
            if len(values) != len(attributes):
                raise DataError(f'line {line} of "{path}" has another number of cells than the header')
            records.append((values, label))
    return encode(attributes, records)


# ---- work


def perform(experiment: Experiment, tasks: Sequence[Task], jobs: int, data: Path) -> list[Outcome]:
    """Do all the work of an experiment, in several processes if there is more than one piece of it."""
    jobs = min(jobs, len(tasks))
    with progress(experiment.name, len(tasks)) as advance:
        if jobs > 1:
            return in_processes(experiment, tasks, jobs, data, advance)
        outcomes = []
        for task in tasks:
            outcomes.append(experiment.perform(task, _loaded))
            advance()
        return outcomes


def in_processes(
    experiment: Experiment, tasks: Sequence[Task], jobs: int, data: Path, advance: Advance
) -> list[Outcome]:
    """Spread the work over processes; the outcomes are in the order of the tasks."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn, load, (data, experiment.files)) as pool:
        places = {pool.submit(work, experiment.name, task): place for place, task in enumerate(tasks)}
        outcomes: dict[int, Outcome] = {}
        try:
            for done in as_completed(places):
                outcomes[places[done]] = done.result()
                advance()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return [outcomes[place] for place in range(len(tasks))]


def work(name: str, task: Task) -> Outcome:
    """Do one piece of the work in a process that has loaded the data."""
    return EXPERIMENTS[name].perform(task, _loaded)


@contextmanager
def progress(name: str, total: int) -> Iterator[Advance]:
    """Show how far the work has come, on standard error and only to people."""
    console = rich.console.Console(stderr=True)
    with rich.progress.Progress(
        *rich.progress.Progress.get_default_columns(),
        rich.progress.TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal or not total,
    ) as bar:
        task = bar.add_task(name, total=total)
        yield lambda: bar.advance(task)
