"""`espalier bench`: how fast, beside the peers, in one run; docs/performance.md is written by it."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from lab.bench import accuracy as accurate
from lab.bench import core as compiled
from lab.bench import drift as drifting
from lab.bench import files as of_files
from lab.bench import growth as growing
from lab.bench import idle as idling
from lab.bench import mdl as describing
from lab.bench import nt as rebuilding
from lab.bench import observing, on_broker, on_faust
from lab.bench import restore as restoring
from lab.bench.contests import find_contenders
from lab.bench.measure import Tell
from lab.bench.peers import GET_RIVER, find_peers, has_river
from lab.bench.report import Report
from lab.cli.bench_options import NO_PEERS, peers_option, report_options
from stream.broker import Fetch, Sources
from stream.cli.broker import broker_errors, source_options
from stream.config import EngineName


@click.group()
def bench() -> None:
    """Measure how fast Espalier is on this machine.

    Contenders take turns in one run and of each the best pass counts, so that ratios can be trusted even
    where the machine does other things. Every goal stands beside the figure measured.

    \b
    Examples:
      espalier bench core --quick
      espalier bench growth --svg growth.svg
      espalier bench stream --peers river --json stream.json
      espalier bench core --write docs/performance.md
    """


@bench.command()
@peers_option("river,moa")
@click.option(
    "--cache",
    envvar="XDG_CACHE_HOME",
    show_envvar=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The cache directory, in which espalier/moa holds the jars of MOA. [default: ~/.cache]",
)
@report_options
def core(tell: Tell, quick: bool, peers: tuple[str, ...], cache: Path | None) -> Report:
    """Measure the compiled learner beside River and MOA.

    Speed and accuracy on four streams, from JSON bytes to learned, a window's step against an insertion, and
    the memory of a million records. MOA is fetched with Maven, once; a full run takes about ten minutes.

    \b
    Examples:
      espalier bench core --quick --peers none
      espalier bench core --json core.json --svg core.svg
    """
    sizes = compiled.QUICK if quick else compiled.FULL
    return compiled.core(sizes, find_peers(peers, cache, tell), quick, tell)


def data_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add where the real data are, and where the jars of MOA go."""
    data = click.option(
        "--data",
        envvar="ESPALIER_DATA",
        show_envvar=True,
        required=True,
        type=click.Path(file_okay=False, path_type=Path),
        help="A directory of CSV files with a SCHEMA.json.",
    )
    cache = click.option(
        "--cache",
        envvar="XDG_CACHE_HOME",
        type=click.Path(file_okay=False, path_type=Path),
        help="The cache directory, in which espalier/moa holds the jars of MOA. [default: ~/.cache]",
    )
    return data(cache(command))


def _check_data(directory: Path) -> None:
    if not (directory / accurate.SCHEMA).is_file():
        raise click.BadParameter(
            f'"{directory}" has no {accurate.SCHEMA}. Name a directory of data files with one',
            param_hint="--data",
        )


def amount_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add how much of each set or stream is measured, the same for all who are measured."""
    command = click.option(
        "--rounds",
        metavar="N",
        type=click.IntRange(1),
        help="How many orders of a set, or seeds of a stream.",
    )(command)
    return click.option(
        "--records", metavar="N", type=click.IntRange(100), help="At most N records of each."
    )(command)


@bench.command()
@peers_option("river,moa")
@amount_options
@data_options
@report_options
def accuracy(
    tell: Tell,
    quick: bool,
    peers: tuple[str, ...],
    data: Path,
    cache: Path | None,
    records: int | None,
    rounds: int | None,
) -> Report:
    """Measure how right the answers are on real data, beside River, MOA and naive Bayes.

    Every record is answered before it is learned, in three orders of each set. A full run takes half an hour,
    nearly all of it for River.

    \b
    Examples:
      espalier bench accuracy --data sets --quick --peers river
      espalier bench accuracy --data sets --json accuracy.json --svg accuracy.svg
    """
    _check_data(data)
    found = find_contenders(peers, accurate.RIVERS, accurate.MOAS, cache, tell)
    amount = accurate.QUICK if quick else accurate.FULL
    amount = accurate.Amount(rounds or amount.orders, records or amount.rows)
    return accurate.accuracy(data, amount, found, quick, tell)


@bench.command()
@peers_option("river,moa")
@amount_options
@data_options
@report_options
def drift(
    tell: Tell,
    quick: bool,
    peers: tuple[str, ...],
    data: Path,
    cache: Path | None,
    records: int | None,
    rounds: int | None,
) -> Report:
    """Measure how right the answers stay when a stream changes, beside River's and MOA's adaptive trees.

    Two real streams in their natural order and eight of River's generators, which must be installed. A full
    run takes an hour, nearly all of it for River's forest.

    \b
    Examples:
      espalier bench drift --data sets --quick
    """
    _check_data(data)
    found = find_contenders(peers, drifting.RIVERS, drifting.MOAS, cache, tell)
    amount = drifting.QUICK if quick else drifting.FULL
    amount = amount._replace(records=records or amount.records, seeds=rounds or amount.seeds)
    return drifting.drift(data, amount, found, quick, tell)


@bench.command()
@report_options
def growth(tell: Tell, quick: bool) -> Report:
    """Measure what a record costs after ten thousand, and after ten million.

    With 5 % noise, once with everything kept and once with a window. A full run takes some minutes and 1 GB.

    \b
    Examples:
      espalier bench growth --quick
      espalier bench growth --svg growth.svg
    """
    if quick:
        return growing.growth(growing.QUICK_PLACES, 2, quick, tell)
    return growing.growth(growing.PLACES, 5, quick, tell)


@bench.command()
@report_options
def metrics(tell: Tell, quick: bool) -> Report:
    """Measure what the metrics cost: throughput with and without them, and the time of a scrape.

    Without a broker, in about a minute.

    \b
    Examples:
      espalier bench metrics --quick
    """
    return observing.metrics_bench(observing.QUICK if quick else observing.FULL, quick, tell)


@bench.command()
@peers_option(NO_PEERS)
@click.option(
    "--engine",
    type=click.Choice([name.value for name in EngineName]),
    default=EngineName.CONFLUENT.value,
    show_default=True,
    help="Which engine; Faust's is measured beside a Faust agent that only forwards.",
)
@source_options
@broker_errors
@report_options
def stream(
    tell: Tell,
    quick: bool,
    peers: tuple[str, ...],
    engine: str,
    cache: Path | None,
    fetch: str,
    java: Path | None,
) -> Report:
    """Measure the engine on a real broker beside a loop that learns nothing.

    Throughput by the clock and by the client's CPU, and the time from a record to its committed answer. The
    broker is started for it and ends with it; a full run takes some minutes.

    \b
    Examples:
      espalier bench stream --quick
      espalier bench stream --peers river
      espalier bench stream --engine faust
    """
    if engine == EngineName.FAUST:
        amount = on_faust.QUICK if quick else on_faust.FULL
        return on_faust.faust(amount, Sources(cache, Fetch(fetch), java), quick, tell)
    sizes = on_broker.QUICK if quick else on_broker.FULL
    return on_broker.stream(sizes, peers, Sources(cache, Fetch(fetch), java), quick, tell)


@bench.command()
@source_options
@broker_errors
@report_options
def idle(tell: Tell, quick: bool, cache: Path | None, fetch: str, java: Path | None) -> Report:
    """Measure whether records wait longer where spare time is spent on a better tree.

    The time from a record to its committed answer, on a real broker, with improving on and off in turn. A
    full run takes about four minutes.

    \b
    Examples:
      espalier bench idle --quick
    """
    sizes = idling.QUICK if quick else idling.FULL
    return idling.idle(sizes, Sources(cache, Fetch(fetch), java), quick, tell)


@bench.command()
@source_options
@broker_errors
@report_options
def restore(tell: Tell, quick: bool, cache: Path | None, fetch: str, java: Path | None) -> Report:
    """Measure snapshots and restores after ten thousand records, and after ten million.

    The journal and the snapshots are in topics of a real broker, which is started for it and ends with it. A
    full run takes some minutes and 3 GB.

    \b
    Examples:
      espalier bench restore --quick
      espalier bench restore --write docs/performance.md --svg docs/restore.svg
    """
    places = restoring.QUICK_PLACES if quick else restoring.PLACES
    return restoring.restoring(places, Sources(cache, Fetch(fetch), java), quick, tell)


@bench.command()
@report_options
def mdl(tell: Tell, quick: bool) -> Report:
    """Measure what a record costs the MDL tree, beside the compiled ID5R.

    \b
    Examples:
      espalier bench mdl --quick
      espalier bench mdl --write docs/performance.md --svg docs/mdl.svg
    """
    return describing.mdl(describing.QUICK_PLACES if quick else describing.PLACES, quick, tell)


@bench.command()
@report_options
def nt(tell: Tell, quick: bool) -> Report:
    """Measure what a record costs batch trees in the stream, to a million records.

    \b
    Examples:
      espalier bench nt --quick
      espalier bench nt --write docs/performance.md --svg docs/nt.svg
    """
    return rebuilding.nt(rebuilding.QUICK_PLACES if quick else rebuilding.PLACES, quick, tell)


@bench.command()
@click.argument(
    "csv",
    metavar="FILE.csv[.gz]...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@peers_option("river")
@click.option("--records", metavar="N", type=click.IntRange(100), help="At most N records of each file.")
@report_options
def files(
    tell: Tell, quick: bool, csv: tuple[Path, ...], peers: tuple[str, ...], records: int | None
) -> Report:
    """Measure what a worker's learner gives on the records of any CSV files, beside River.

    The last column is the class; a column is numeric when all of its cells are, as in `espalier evaluate`.

    \b
    Examples:
      espalier bench files electricity.csv.gz covertype.csv.gz
      espalier bench files loans.csv --records 5000 --peers none
    """
    most = records or (of_files.QUICK if quick else of_files.FULL)
    with_river = "river" in peers and has_river()
    report = of_files.files(list(csv), most, with_river, quick, tell)
    if "river" in peers and not with_river:
        report.notes.append(GET_RIVER)
    return report
