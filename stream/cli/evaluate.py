"""`espalier evaluate`: test-then-train over a CSV file, without Kafka."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO, get_args, get_origin

import click
import msgspec
import rich.console
import rich.progress
import rich.table
import rich.text

from learners import LEARNERS, make_learner, option_types
from learners.learner import Options, make_options
from learners.outline import Outline, render, to_json
from learners.schema import InstanceError
from stream.config.settings import DEFAULT_LEARNER
from stream.config.wording import alternatives, choice, did_you_mean, quoted, type_in_words
from stream.dataset import Dataset, Rows, name_of, read_dataset
from stream.evaluation import Evaluation, Judged
from stream.evaluation import evaluate as run

TREE_LINES = 40
SHOWN_REFUSALS = 5
_OPTION = re.compile(r".* - at `\$\.(\w+)", re.DOTALL)


def checked_learner(context: click.Context, parameter: click.Parameter, name: str) -> str:
    """Return the name of a learner that there is; for `click.option(callback=...)`."""
    if name not in LEARNERS:
        raise click.BadParameter(f"unknown learner {choice(name, sorted(LEARNERS))}")
    return name


@click.command()
@click.argument("csv", metavar="FILE.csv[.gz]", type=click.Path(path_type=Path))
@click.option(
    "--learner",
    default=DEFAULT_LEARNER,
    show_default=True,
    callback=checked_learner,
    help=f"One of {', '.join(LEARNERS)}.",
)
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the learner, as in [agent.options]; lists with commas. May be repeated.",
)
@click.option("--label", metavar="COL", help="The column with the class. [default: the last]")
@click.option(
    "--schema",
    metavar="SCHEMA.json",
    type=click.Path(path_type=Path),
    help="Declared columns, values and classes: the entry named like the file without .csv. "
    "[default: every column is text, whatever is in it]",
)
@click.option("--shuffle", metavar="SEED", type=int, help="Put the rows into another order first.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), help="Only the first N rows, after any shuffling."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option(
    "--tree", "tree_file", metavar="OUT.json", type=click.Path(path_type=Path), help="Write the tree."
)
@click.option(
    "--trace",
    "trace_file",
    metavar="OUT.jsonl",
    type=click.Path(path_type=Path),
    help="Write a line for each record: n, prediction, label, and the digest of the tree after it.",
)
def evaluate(
    csv: Path,
    learner: str,
    pairs: tuple[str, ...],
    label: str | None,
    schema: Path | None,
    shuffle: int | None,
    limit: int | None,
    as_json: bool,
    tree_file: Path | None,
    trace_file: Path | None,
) -> None:
    """Answer each row of a CSV file, then learn from it; tell accuracy, tree and operations.

    The file has a header row; an empty cell is a missing value. Values are compared as text; a column that
    the schema declares numeric is a column of numbers only for learners that can use them.

    A row that cannot be learned, such as one without a label, is left out and reported. --json prints
    records, correct, accuracy, nodes, leaves, depth, digest, operations, changes, retained, and seconds (CPU
    time spent on answering and learning).

    Exit status: 0 done, 2 the command line is wrong, 65 the file is.

    \b
    Examples:
      espalier evaluate weather.csv
      espalier evaluate loans.csv --label approved --set significance=0.01
      espalier evaluate vote.csv.gz --learner id4 --schema SCHEMA.json --shuffle 1 --json
      espalier evaluate loans.csv --set tie_order=income,history --set window=1000
      espalier evaluate loans.csv --tree tree.json --trace trace.jsonl
    """
    options = options_from(learner, pairs)
    # A learner that has a use for numbers says so; the systems of 1989 compare values for equality only.
    numbers = bool(getattr(LEARNERS[learner], "takes_numbers", False))
    data = read_dataset(
        csv, label=label, schema=schema, numbers=numbers, limit=limit if shuffle is None else None
    )
    rows = (data.instances if shuffle is None else data.instances.shuffled(shuffle))[:limit]
    if data.numeric and not numbers:
        _note_numeric(data, learner)
    if schema is None and numbers and data.like_numbers:
        _note_undeclared(data.like_numbers, name_of(csv))
    trainee = make_learner(learner, data.schema, options, data.limits)
    refusals = Refusals(rows)
    with (
        _writing(trace_file, "--trace") as trace,
        _writing(tree_file, "--tree") as tree,
        _progress(len(rows)) as advance,
    ):
        told = run(rows, trainee, each=_tracer(trace), refused=refusals.add, advance=advance)
        if tree is not None:
            tree.write(to_json(trainee.outline()) + "\n")
    refusals.report()
    if as_json:
        click.echo(msgspec.json.encode(told))
    else:
        _show(told, f"{learner} on {csv.name}", trainee.outline())


# ---- settings


def options_from(learner: str, pairs: Sequence[str]) -> Options:
    """Return a learner's options from texts of the form KEY=VALUE.

    Raises:
        click.BadParameter: One is not of that form, is unknown, or has a wrong value; all are told.
    """
    kinds = option_types(learner)
    settings: dict[str, object] = {}
    wrong: list[str] = []
    for pair in pairs:
        name, equals, text = (part.strip() for part in pair.partition("="))
        if not equals or not name:
            wrong.append(f"{quoted(pair)} is not of the form KEY=VALUE")
        elif name not in kinds:
            wrong.append(f"the learner {quoted(learner)} has no option {choice(name, kinds)}")
        elif get_origin(kinds[name]) is tuple:
            settings[name] = [one.strip() for one in text.split(",") if one.strip()]
        else:
            settings[name] = text
    while True:
        try:
            options = make_options(LEARNERS[learner].options_type, settings)
            break
        except msgspec.ValidationError as error:
            found = _OPTION.match(str(error))
            if found is None or found[1] not in settings:
                wrong.append(f"{str(error)[:1].lower()}{str(error)[1:]}")
                break
            # Without it there may be a next one to complain about.
            wrong.append(_wrong_value(found[1], kinds[found[1]], str(settings.pop(found[1]))))
    if wrong:
        raise click.BadParameter("\n  ".join(wrong), param_hint="--set")
    return options


def _wrong_value(name: str, kind: object, text: str) -> str:
    none = ' or "none"' if type(None) in get_args(kind) else ""
    hint = did_you_mean(text, alternatives(kind))
    return f'"{name}" must be {type_in_words(kind)}{none}, not {quoted(text)}.{hint}'.removesuffix(".")


# ---- files


@contextlib.contextmanager
def _writing(path: Path | None, option: str) -> Iterator[TextIO | None]:
    """Open a file that is asked for, before the work begins: not to be told at its end that it cannot be."""
    if path is None:
        yield None
        return
    try:
        file = path.open("w", encoding="utf-8")
    except OSError as error:
        raise click.BadParameter(
            f'"{path}" cannot be written: {error.strerror}. Name another', param_hint=option
        ) from error
    with file:
        yield file


def _tracer(file: TextIO | None) -> Callable[[Judged], object] | None:
    if file is None:
        return None
    encode = msgspec.json.Encoder().encode
    return lambda judged: file.write(encode(judged).decode() + "\n")


# ---- what people see


class Refusals:
    """Rows that could not be learned."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows.rows
        self._counts: dict[str, int] = {}
        self._first: list[str] = []

    def add(self, number: int, error: InstanceError) -> None:
        """Note one."""
        self._counts[error.misfit] = self._counts.get(error.misfit, 0) + 1
        if len(self._first) < SHOWN_REFUSALS:
            self._first.append(f"  line {self._rows[number - 1].line}: {error}")

    def report(self) -> None:
        """Tell on standard error how many there were, why, and where the first were."""
        if not self._counts:
            return
        total = sum(self._counts.values())
        reasons = ", ".join(f"{reason}: {count}" for reason, count in self._counts.items())
        click.echo(f"{total} of {len(self._rows)} rows rejected ({reasons})", err=True)
        for line in self._first:
            click.echo(line, err=True)
        if total > len(self._first):
            click.echo(f"  and {total - len(self._first)} more", err=True)


def _note_numeric(data: Dataset, learner: str) -> None:
    names = ", ".join(data.numeric[:5]) + (", ..." if len(data.numeric) > 5 else "")
    click.echo(
        f'note: "{learner}" compares values for equality only: the numeric columns ({len(data.numeric)}: '
        f"{names}) are taken as text",
        err=True,
    )


def _note_undeclared(columns: Sequence[str], entry: str) -> None:
    names = ", ".join(columns[:5]) + (", ..." if len(columns) > 5 else "")
    example = msgspec.json.encode({entry: {"columns": [{"name": columns[0], "type": "numeric"}]}}).decode()
    click.echo(
        f"note: without a schema every column is text, and {len(columns)} of them look like numbers "
        f"({names}). To compare them as numbers, declare them with --schema F.json, where F.json has "
        f"{example} with an entry for each such column",
        err=True,
    )


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """Give an `advance` that draws a bar on standard error, if that is a terminal."""
    console = rich.console.Console(stderr=True)
    with rich.progress.Progress(
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        rich.progress.MofNCompleteColumn(),
        rich.progress.TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("answering and learning", total=total)
        yield lambda rows: bar.advance(task, rows)


def _show(told: Evaluation, title: str, outline: Outline | None) -> None:
    console = rich.console.Console(highlight=False)
    table = _grid()
    table.add_row("records", f"{told.records:,}")
    share = "-" if told.accuracy is None else f"{told.accuracy:.2%}"
    table.add_row("accuracy", f"{share} ({told.correct:,} answered rightly before they were learned)")
    table.add_row("tree", f"{told.nodes:,} nodes, {told.leaves:,} leaves, depth {told.depth}")
    table.add_row("changes", f"{told.changes:,}")
    table.add_row("retained", f"{told.retained:,} instances")
    speed = f" ({told.records / told.seconds:,.0f} records/s)" if told.seconds else ""
    table.add_row("CPU time", f"{told.seconds:.3f} s{speed}")
    table.add_row("digest", told.digest)
    console.print(rich.text.Text(title, "bold"))
    console.print(table)
    console.print(rich.text.Text("\noperations", "bold"))
    operations = _grid()
    for name, count in told.operations.items():
        if count:
            operations.add_row(name.replace("_", " "), f"{count:,}")
    console.print(operations)
    console.print(rich.text.Text("\ntree", "bold"))
    # As it is: a value may look like markup, and a long line is better cut by the reader than folded here.
    console.print(render(outline, counts=True, most=TREE_LINES), markup=False, soft_wrap=True)


def _grid() -> rich.table.Table:
    grid = rich.table.Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(no_wrap=True, overflow="fold")
    return grid
