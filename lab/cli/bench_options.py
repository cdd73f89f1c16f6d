"""What all benches of `espalier bench` have: how much to measure, beside whom, and where to write it."""

import contextlib
import functools
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Concatenate, ParamSpec

import click
import msgspec
import rich.console

from lab.bench.measure import Tell
from lab.bench.peers import NAMES
from lab.bench.report import Report, Start, show, stamp, write_section
from lab.plot import svg

Inputs = ParamSpec("Inputs")
NO_PEERS = "none"
WIDTH = 160
"""Of tables that go to a file: nothing is cut off."""
LINE_SECONDS = 30.0
"""How often a line is said where nobody watches."""


class _Lines:
    """Says what is being measured where nobody watches, seldom enough for a log."""

    def __init__(self) -> None:
        self._started = self._said = time.monotonic()

    def __call__(self, what: str) -> None:
        now = time.monotonic()
        if now - self._said >= LINE_SECONDS:
            self._said = now
            click.echo(f"after {now - self._started:,.0f} s: {what}", err=True)


@contextlib.contextmanager
def told() -> Iterator[Tell]:
    """Give a `tell` that shows on standard error what is being measured: in a file now and then a line."""
    console = rich.console.Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    with console.status("starting") as status:
        yield lambda what: status.update(what)


def report_options(
    measure: Callable[Concatenate[Tell, bool, Inputs], Report],
) -> Callable[..., None]:
    """Add what all benches have: how much to measure, and where to write what was found."""

    @click.option("--quick", is_flag=True, help="Small sizes: a first look in seconds; figures are rough.")
    @click.option(
        "--json", "json_file", metavar="F", type=click.Path(path_type=Path), help="Write all figures."
    )
    @click.option(
        "--svg", "svg_file", metavar="F.svg", type=click.Path(path_type=Path), help="Write the chart."
    )
    @click.option(
        "--write",
        "document",
        metavar="F.md",
        type=click.Path(path_type=Path),
        help="Write the bench's section of a document, docs/performance.md.",
    )
    @functools.wraps(measure)
    def command(
        quick: bool,
        json_file: Path | None,
        svg_file: Path | None,
        document: Path | None,
        *args: Inputs.args,
        **options: Inputs.kwargs,
    ) -> None:
        start = Start.now()
        with told() as tell:
            report = measure(tell, quick, *args, **options)
        stamp(report, start)
        console = rich.console.Console()
        show(report, console if console.is_terminal else rich.console.Console(width=WIDTH))
        if json_file is not None:
            json_file.write_bytes(msgspec.json.encode(report) + b"\n")
        if svg_file is not None:
            svg_file.write_text(svg(report.charts), "utf-8")
        if document is not None:
            write_section(document, report, _as_typed(), svg_file)

    return command


def _as_typed() -> str:
    """Return the command line without where its results went."""
    context = click.get_current_context()
    words = ["espalier", "bench", context.info_name or ""]
    arguments = iter(sys.argv[sys.argv.index(words[-1]) + 1 :] if words[-1] in sys.argv else [])
    for word in arguments:
        if word in ("--json", "--svg", "--write"):
            next(arguments, None)
        elif not word.startswith(("--json=", "--svg=", "--write=")):
            # Where files lie on one machine says nothing on another.
            words.append(Path(word).name if Path(word).is_absolute() else word)
    return shlex.join(words)


def peers_option(default: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the option that says whom to measure as well."""

    def chosen(context: click.Context, parameter: click.Parameter, text: str) -> tuple[str, ...]:
        names = tuple(name for name in text.split(",") if name and name != NO_PEERS)
        unknown = [name for name in names if name not in NAMES]
        if unknown:
            raise click.BadParameter(f'there is no peer "{unknown[0]}". Choose from {", ".join(NAMES)}, none')
        return names

    return click.option(
        "--peers",
        metavar="LIST",
        default=default,
        show_default=True,
        callback=chosen,
        help="Whom to measure as well, with commas: river, moa, or none. Who is not there is left out.",
    )
