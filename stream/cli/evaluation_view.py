"""What `espalier evaluate` shows: progress, the records that were refused, and the result."""

import contextlib
from collections.abc import Callable, Iterator

import click
import msgspec
import rich.console
import rich.progress
import rich.table
import rich.text

from learners.outline import Outline, render
from stream.config.messages import quoted
from stream.errors import RejectedRecord
from stream.evaluation import Evaluation
from stream.files.records import FileRecord
from stream.model.row_decoder import NESTED

TREE_LINES = 40
SHOWN = 5
MOST_FIELDS = 1_000


def note(text: str) -> None:
    """Say something on standard error that is worth knowing and not an error."""
    click.echo(f"note: {text}", err=True)


class Remarks:
    """What an agent would not take as it is: records that it refuses, and fields that it leaves out."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._left_out: dict[tuple[str, str], tuple[int, int]] = {}
        self._retired: list[str] = []

    def refused(self, record: FileRecord, error: RejectedRecord) -> None:
        """Add a record that becomes a dead letter."""
        if len(self._first) < SHOWN:
            self._first.append(f"  line {record.line}: {error.reason}: {error}")

    def noted(self, record: FileRecord, field: str, flag: str) -> None:
        """Add a field that is read as missing."""
        count, line = self._left_out.get((field, flag), (0, record.line))
        if count or len(self._left_out) < MOST_FIELDS:
            self._left_out[field, flag] = count + 1, line

    def retired(self, record: FileRecord, attribute: str) -> None:
        """Add an attribute that is given up."""
        self._retired.append(
            f"attribute {quoted(attribute)} is retired on line {record.line}: it has too many values"
        )

    def report(self, result: Evaluation, unit: str) -> None:
        """Say on standard error how many there were, why, and where the first were."""
        dead = {} if result.dead_letters is msgspec.UNSET else result.dead_letters
        unlabelled = 0 if result.unlabelled is msgspec.UNSET else result.unlabelled
        for line in self._retired:
            note(f"{line}, and is not learned from. --ignore leaves it out from the beginning")
        for (field, flag), (count, first) in list(self._left_out.items())[:SHOWN]:
            note(_left_out(field, flag, count, first))
        if len(self._left_out) > SHOWN:
            note(f"and {len(self._left_out) - SHOWN:,} more fields that are read as missing")
        refused = sum(dead.values())
        total = result.records + unlabelled + refused
        if unlabelled:
            click.echo(
                f"{unlabelled:,} of {total:,} {unit} have no label: predicted, not learned from", err=True
            )
        if not refused:
            return
        reasons = ", ".join(f"{reason}: {count:,}" for reason, count in dead.items())
        click.echo(
            f"{refused:,} of {total:,} {unit} rejected ({reasons}): dead letters of an agent", err=True
        )
        for line in self._first:
            click.echo(line, err=True)
        if refused > len(self._first):
            click.echo(f"  and {refused - len(self._first):,} more", err=True)


def _left_out(field: str, flag: str, count: int, line: int) -> str:
    if flag == NESTED:
        return (
            f"field {quoted(field)} holds an object or an array (line {line}) and is not an attribute; "
            "--nested flatten reads objects"
        )
    return f"field {quoted(field)} is read as missing in {count:,} records ({flag}), first on line {line}"


@contextlib.contextmanager
def progress(total: int | None, doing: str) -> Iterator[Callable[[int], None]]:
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
        task = bar.add_task(doing, total=total)
        yield lambda rows: bar.advance(task, rows)


def show(result: Evaluation, title: str, outline: Outline | None) -> None:
    """Print the result and the tree."""
    console = rich.console.Console(highlight=False)
    table = _grid()
    table.add_row("records", f"{result.records:,}")
    share = "-" if result.accuracy is None else f"{result.accuracy:.2%}"
    table.add_row("accuracy", f"{share} ({result.correct:,} predicted correctly before they were learned)")
    table.add_row("tree", f"{result.nodes:,} nodes, {result.leaves:,} leaves, depth {result.depth}")
    table.add_row("changes", f"{result.changes:,}")
    table.add_row("retained", f"{result.retained:,} instances")
    speed = f" ({result.records / result.seconds:,.0f} records/s)" if result.seconds else ""
    table.add_row("CPU time", f"{result.seconds:.3f} s{speed}")
    table.add_row("digest", result.digest)
    console.print(rich.text.Text(title, "bold"))
    console.print(table)
    console.print(rich.text.Text("\noperations", "bold"))
    operations = _grid()
    for name, count in result.operations.items():
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
