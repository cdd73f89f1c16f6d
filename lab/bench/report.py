"""What a bench found: goals beside figures, tables, charts; as text, JSON and a section of a document."""

import hashlib
import os
import platform
import re
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

import msgspec
import rich.box
import rich.console
import rich.table

import learners
import stream
from lab.bench.measure import span
from lab.experiments.report import Chart

Value = str | int | float | None

HEAD = """# Performance

Figures of one machine: ratios carry over to others, absolute figures do not. Each section is written by the
command that it names, which puts its own lines between the two marks and leaves the rest of this file alone.
Contenders take turns in one run, and of each the best pass counts. "Rate" is records answered and then
learned for each second of CPU that the process spent, all of its threads; of a JVM only the thread that
learns is counted, not its compiler and not its garbage collector.
"""

REBUILT = (
    "The program was changed while this ran: figures may be of different builds. Run it again before you use "
    "them."
)
BUSY = (
    "The machine was busy with other things when this began (load {load:.1f} on {cores} cores). That slows "
    "contenders unequally, also by CPU time: do not publish these figures, run it again when it is quiet."
)
PACKAGES = (Path(learners.__file__).parent, Path(stream.__file__).parent)


class Goal(msgspec.Struct, frozen=True):
    """Something we set out to reach, and how far we came. `met` is None where it was not measured."""

    figure: str
    goal: str
    measured: str
    met: bool | None
    verdict: str


class Column(msgspec.Struct, frozen=True):
    """One column of a table: its heading, and how its numbers are written."""

    name: str
    form: str = ""
    unit: str = ""

    def text(self, value: Value) -> str:
        """Return a value as it is shown.

        >>> Column("rate", ",.0f", "/s").text(1234567.8)
        '1,234,568/s'
        """
        if value is None:
            return "-"
        return value if isinstance(value, str) else format(value, self.form) + self.unit


class Table(msgspec.Struct, frozen=True):
    """Figures of one kind."""

    title: str
    columns: tuple[Column, ...]
    rows: list[tuple[Value, ...]]

    def texts(self) -> list[list[str]]:
        """Return the rows as they are shown."""
        return [
            [column.text(value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows
        ]


class Report(msgspec.Struct):
    """All that a bench found."""

    bench: str
    title: str
    quick: bool
    goals: list[Goal] = []
    tables: list[Table] = []
    notes: list[str] = []
    charts: list[Chart] = []
    machine: str = ""
    build: str = ""
    date: str = ""
    seconds: float = 0.0


# ---- goals


def at_least(
    figure: str,
    goal: float,
    measured: float | None,
    unit: str = "x",
    form: str = ",.1f",
    moonshot: float | None = None,
) -> Goal:
    """Return a goal that is met from some number upwards.

    >>> at_least("speed", 100, 80.0).verdict
    'missed by 20 %'
    """
    wanted = f">= {goal:g}{unit}" + (f", moonshot {moonshot:g}{unit}" if moonshot else "")
    if measured is None:
        return Goal(figure, wanted, "-", None, "not measured")
    met = measured >= goal
    verdict = _verdict(met, 1 - measured / goal) if goal else _absolute_verdict(met, -measured, unit)
    if moonshot and measured >= moonshot:
        verdict = "met, the moonshot too"
    return Goal(figure, wanted, f"{measured:{form}}{unit}", met, verdict)


def at_most(figure: str, goal: float, measured: float | None, unit: str = "x", form: str = ",.2f") -> Goal:
    """Return a goal that is met up to some number."""
    wanted = f"<= {goal:g}{unit}"
    if measured is None:
        return Goal(figure, wanted, "-", None, "not measured")
    met = measured <= goal
    return Goal(figure, wanted, f"{measured:{form}}{unit}", met, _verdict(met, measured / goal - 1))


def turn_by_turn(
    goal: Goal,
    wanted: tuple[float, float | None],
    ratios: Sequence[float],
    unit: str = "x",
    form: str = ",.1f",
) -> Goal:
    """Return a goal with the ratios of the turns beside the best; where they disagree, it says so.

    Args:
        goal: The goal.
        wanted: From which ratio it is met, and from which the moonshot is: that takes every turn.
        ratios: The ratio of each turn.
        unit: What is written behind them.
        form: How they are written.
    """
    least, moonshot = wanted
    measured = f"{goal.measured} ({span(ratios, form)}{unit} turn by turn)"
    verdict = goal.verdict
    if goal.met and moonshot and min(ratios) < moonshot:
        verdict = "met"
    if (min(ratios) < least) if goal.met else (max(ratios) >= least):
        verdict += ", not in every turn"
    return Goal(goal.figure, goal.goal, measured, goal.met, verdict)


def _verdict(met: bool, distance: float) -> str:
    # Never "0 %": what is missed by little is missed.
    return "met" if met else f"missed by {max(distance * 100, 0.1):,.{0 if distance >= 0.02 else 1}f} %"


def _absolute_verdict(met: bool, distance: float, unit: str) -> str:
    return "met" if met else f"missed by {distance:.2f}{unit}"


# ---- where


def this_machine() -> str:
    """Return what is measured on, in a few words."""
    model = platform.machine()
    described = Path("/proc/cpuinfo")
    if described.is_file():
        found = re.search(r"^model name\s*:\s*(.+)$", described.read_text(), re.MULTILINE)
        model = found[1] if found else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def this_build() -> str:
    """Return which build is measured, as a digest of everything in it that can run."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for file in sorted(package.rglob("*")):
            if file.suffix in (".py", ".so", ".pyd"):
                digest.update(file.relative_to(package).as_posix().encode())
                digest.update(file.read_bytes())
    return f"build {digest.hexdigest()[:12]}"


class Start(NamedTuple):
    """How things stood before anything was measured."""

    clock: float
    build: str
    load: float

    @classmethod
    def now(cls) -> Self:
        """Return how things stand."""
        return cls(time.monotonic(), this_build(), os.getloadavg()[0])


def stamp(report: Report, start: Start) -> Report:
    """Add to a report where, when and of which build it was made, and what speaks against it."""
    report.machine = this_machine()
    report.build = start.build
    if this_build() != start.build:
        report.notes.append(REBUILT)
    cores = os.cpu_count() or 1
    if start.load > cores / 2:
        report.notes.append(BUSY.format(load=start.load, cores=cores))
    report.date = datetime.now(UTC).strftime("%Y-%m-%d")
    report.seconds = round(time.monotonic() - start.clock, 1)
    return report


# ---- as text


def _plain(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> rich.table.Table:
    table = rich.table.Table(title=title, title_justify="left", box=rich.box.SIMPLE_HEAD, pad_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    return table


def show(report: Report, console: rich.console.Console) -> None:
    """Print a report."""
    pace = ", quick: sizes are small and figures rough" if report.quick else ""
    console.print(f"bench {report.bench}: {report.title} ({report.seconds:,.0f} s{pace})", markup=False)
    console.print(f"{report.machine}; {report.build}", markup=False)
    if report.goals:
        rows = [(one.figure, one.goal, one.measured, one.verdict) for one in report.goals]
        console.print(_plain("Goals", ("figure", "goal", "measured", ""), rows))
    for table in report.tables:
        console.print(_plain(table.title, [column.name for column in table.columns], table.texts()))
    for note in report.notes:
        console.print(f"- {note}", markup=False, soft_wrap=True)


# ---- as a document


def _markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(headings) + " |", "|---" + "|---:" * (len(headings) - 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def as_markdown(report: Report, command: str, picture: str | None = None) -> str:
    """Return a report as a section of a document."""
    rough = " Sizes are small and figures rough." if report.quick else ""
    parts = [
        f"## {report.title}",
        f"`{command}`, {report.date}, {report.seconds:,.0f} s on {report.machine}; {report.build}.{rough}",
    ]
    if report.goals:
        rows = [
            (one.figure, one.goal, one.measured, one.verdict if one.met else f"**{one.verdict}**")
            for one in report.goals
        ]
        parts.append(_markdown_table(("figure", "goal", "measured", ""), rows))
    for table in report.tables:
        parts.append(f"### {table.title}")
        parts.append(_markdown_table([column.name for column in table.columns], table.texts()))
    if picture is not None:
        parts.append(f"![{report.title}]({picture})")
    if report.notes:
        parts.append("\n".join(f"- {note}" for note in report.notes))
    return "\n\n".join(parts)


def with_section(document: str, name: str, section: str) -> str:
    """Return a document in which the section of one bench has been written again, or added at the end."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    marked = f"{begin}\n{section}\n{end}"
    before, found, rest = document.partition(begin)
    if found and end in rest:
        return before + marked + rest.partition(end)[2]
    return f"{document.rstrip()}\n\n{marked}\n"


def write_section(file: Path, report: Report, command: str, svg: Path | None = None) -> None:
    """Write a report into a document, which is begun where there is none."""
    document = file.read_text("utf-8") if file.is_file() else HEAD
    picture = None if svg is None else os.path.relpath(svg, file.parent)
    section = as_markdown(report, command, picture)
    file.write_text(with_section(document, f"espalier bench {report.bench}", section), "utf-8")
