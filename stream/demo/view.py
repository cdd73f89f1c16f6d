"""The board in a terminal, and in lines where there is no terminal."""

import time
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.layout import Layout
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from learners.outline import Leaf, Outline, Split, size
from stream.demo.results import DemoResults, Happened, Steps

FRESH_SECONDS = 1.5
_CLASS_STYLES = ("green", "magenta", "blue", "yellow", "cyan", "red")


class Facts(NamedTuple):
    """What does not come from the topics: what was started, and what was put in."""

    what: str
    stage: str
    records: int | None
    sent: int
    metrics: str
    hints: list[tuple[str, str]]
    unseen: float | None = None


class View:
    """All of it on one screen, whatever its size."""

    def __init__(self, board: DemoResults, facts: Facts) -> None:
        self._board = board
        self._facts = facts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out in the room there is."""
        height = options.height or console.height
        footer = _footer(self._facts)
        rows = height - 3 - len(footer.rows) - 2
        wide = options.max_width * 4 // 7
        layout = Layout()
        layout.split_column(
            Layout(_title(self._facts, options.max_width), size=1),
            Layout(_figures(self._board, self._facts), size=2),
            Layout(name="middle"),
            Layout(footer, size=len(footer.rows)),
        )
        layout["middle"].split_row(
            Layout(_tree(self._board, rows)),
            Layout(_changes(self._board, rows, wide - 4), size=wide),
        )
        yield layout


def progress_line(board: DemoResults, facts: Facts) -> str:
    """Return how far it is, in a line."""
    of = "" if facts.records is None else f" of {facts.records:,}"
    return (
        f"{board.answered:,}{of} records, {board.rate():,.0f}/s, lag {facts.sent - board.answered:,}, "
        f"accuracy {board.accuracy:.1%}, last 1,000 {board.recent_accuracy:.1%}, {board.size.nodes} nodes"
        + ("" if facts.unseen is None else f", {facts.unseen:.1%} of instances never seen")
        + (f", past dropped {board.drops_in_words(1)}" if board.drops else "")
    )


def tree_text(board: DemoResults, rows: int) -> str:
    """Return as much of the tree as there are rows for; "+5" says that five nodes below are left out."""
    outline = board.replica.outline
    if outline is None:
        return "no tree yet"
    return "\n".join(_line(line, set(), {}).plain for line in fitted(outline, rows))


def _title(facts: Facts, width: int) -> Text:
    text = Text(f" espalier demo  {facts.what}  {facts.stage}", "bold white on dark_green", no_wrap=True)
    text.truncate(width, overflow="ellipsis", pad=True)
    return text


def _figures(board: DemoResults, facts: Facts) -> Table:
    of = "" if facts.records is None else f" of {facts.records:,}"
    tree = board.size
    grid = Table.grid(padding=(0, 3), expand=False)
    grid.add_row(
        _figure("records", f"{board.answered:,}{of}"),
        _figure("rate", f"{board.rate():,.0f}/s"),
        _figure("lag", f"{max(0, facts.sent - board.answered):,}"),
    )
    grid.add_row(
        _figure("accuracy", f"{board.accuracy:.1%}, last 1,000: {board.recent_accuracy:.1%}"),
        *(() if facts.unseen is None else (_figure("never seen", f"{facts.unseen:.1%} right"),)),
        _figure("changes", f"{board.replica.version:,}"),
        _figure("tree", f"{tree.nodes} nodes, depth {tree.depth}"),
        *((_figure("past dropped", board.drops_in_words(3)),) if board.drops else ()),
    )
    return grid


def _figure(name: str, value: str) -> Text:
    return Text.assemble((f" {name} ", "dim"), (value, "bold"), no_wrap=True)


def _footer(facts: Facts) -> Table:
    grid = Table.grid(padding=(0, 1))
    for name, text in (("metrics", facts.metrics), *facts.hints, ("end", "Ctrl-C")):
        grid.add_row(Text(f" {name}", "dim"), Text(text, no_wrap=True, overflow="ellipsis"))
    return grid


# ---- the tree


def _tree(board: DemoResults, rows: int) -> Panel:
    fresh = {change.place for change in board.changes if change.at > time.monotonic() - FRESH_SECONDS}
    outline = board.replica.outline
    if outline is None:
        return Panel(Text("no tree yet", "dim"), title="the tree", title_align="left")
    styles = dict(zip(sorted(board.classes), _CLASS_STYLES * len(board.classes), strict=False))
    lines = [_line(line, fresh, styles) for line in fitted(outline, rows)]
    return Panel(
        Text("\n", no_wrap=True, overflow="ellipsis").join(lines), title="the tree", title_align="left"
    )


class Line(NamedTuple):
    """One node as it is shown: where it is, and how many nodes below it are left out."""

    place: Steps
    node: Outline
    hidden: int


def fitted(outline: Outline, rows: int) -> list[Line]:
    """Return as much of a tree as there are rows for, the upper levels first.

    The first lines of the whole tree would show one corner of it for ever.
    """
    opened: set[int] = set()
    room = rows - 1
    level: list[Outline] = [outline]
    while level:
        below: list[Outline] = []
        for node in level:
            if isinstance(node, Split) and len(node.branches) <= room:
                room -= len(node.branches)
                opened.add(id(node))
                below += (child for _, child in node.branches)
        level = below
    lines: list[Line] = []
    stack: list[tuple[Steps, Outline]] = [((), outline)]
    while stack:
        place, node = stack.pop()
        is_open = id(node) in opened
        lines.append(Line(place, node, 0 if is_open else size(node).nodes - 1))
        if isinstance(node, Split) and is_open:
            stack.extend(
                ((*place, (node.test.attribute, value)), child) for value, child in reversed(node.branches)
            )
    return lines


def _line(line: Line, fresh: set[Steps], styles: dict[str, str]) -> Text:
    text = Text("  " * len(line.place), no_wrap=True, overflow="ellipsis")
    if line.place:
        text.append(f"{line.place[-1][1]}: ")
    is_fresh = line.place in fresh
    if isinstance(line.node, Leaf):
        answer = line.node.answer or "(no answer)"
        text.append(answer, "bold yellow" if is_fresh else styles.get(answer, ""))
    else:
        text.append(str(line.node.test), "bold yellow" if is_fresh else "bold")
        if line.hidden:
            text.append(f" +{line.hidden}", "dim")
    return text


# ---- what happened to it


def _changes(board: DemoResults, rows: int, width: int) -> Panel:
    lines: list[Text] = []
    for change in reversed(board.changes):
        told = _told(change, width)
        if len(lines) + len(told) > rows:
            break
        lines += told
    body = Text("\n").join(lines) if lines else Text("none yet", "dim")
    return Panel(body, title="last changes", title_align="left")


def _told(change: Happened, width: int) -> list[Text]:
    """Return a change in one line, or in two where one is too short."""
    is_fresh = change.at > time.monotonic() - FRESH_SECONDS
    head = Text.assemble(
        (f"#{change.cause} ", "dim"), (change.what, "bold yellow" if is_fresh else "bold"), no_wrap=True
    )
    steps = [f"{name}={value}" for name, value in change.place] or ["the root"]
    where = f" at {', '.join(steps)}"
    if head.cell_len + len(where) <= width:
        return [head + Text(where)]
    # Where it does not fit, the last steps say most: they are the nearest to what changed.
    while len(where) > width - 2 and len(steps) > 1:
        del steps[0]
        where = f" at ... {', '.join(steps)}"
    head.truncate(width, overflow="ellipsis")
    return [head, Text("  " + where, no_wrap=True, overflow="ellipsis")]
