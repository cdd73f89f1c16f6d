"""Reports of experiments as text for a terminal and as Markdown for docs/fidelity.md."""

from collections import Counter
from collections.abc import Iterable, Sequence

import click

from lab.experiments.report import Check, Figure, Report, Table, Verdict

_COLOURS = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.AGREES: "cyan", Verdict.DIFFERS: "yellow"}
_HEADS = ("", "", "paper", "measured", "std. error", "distance", "")


def number(value: float | None, digits: int) -> str:
    """Return a number as the paper writes it; nothing for None."""
    return "" if value is None else f"{value:,.{digits}f}"


def cells(figure: Figure) -> tuple[str, ...]:
    """Return a figure's row, column, paper, mean, standard error and distance as texts."""
    # A mean of whole numbers has a decimal of its own where the runs differ.
    digits = max(1, figure.digits) if figure.error is not None and figure.mean < 10_000 else figure.digits
    return (
        figure.row,
        figure.column,
        number(figure.paper, figure.digits),
        number(figure.mean, digits),
        number(figure.error, digits),
        number(figure.distance, 1),
    )


def tally(reports: Iterable[Report]) -> str:
    """Return how many figures and checks came to which verdict."""
    counts = Counter(verdict for report in reports for verdict in report.verdicts())
    said = [f"{counts[verdict]} {verdict}" for verdict in Verdict if verdict in counts and verdict != "-"]
    return ", ".join(said)


# ---- for a terminal


def as_text(report: Report) -> str:
    """Return a report for people, with colours that click removes where there are none."""
    parts = [click.style(report.title, bold=True), ""]
    for drawing in report.drawings:
        parts += [f"{drawing.caption}:", *(f"    {line}" for line in drawing.text.splitlines()), ""]
    for table in report.tables:
        parts += [*_lines(table), ""]
    for check in report.checks:
        padding = " " * (9 - len(check.verdict))
        parts += [f"{_styled(check.verdict)}{padding}{check.statement}: {check.seen}"]
    if report.notes:
        parts.append("")
    for note in report.notes:
        parts += click.wrap_text(note, 100, "  * ", "    ").splitlines()
    parts += ["", f"{report.name}: {tally([report])}"]
    return "\n".join(parts)


def _lines(table: Table) -> list[str]:
    rows = [_HEADS[:6], *map(cells, table.figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    lines = [click.style(table.title, underline=True)]
    before = ""
    for place, row in enumerate(rows):
        system = "" if row[0] == before else row[0]
        before = row[0]
        texts = [system.ljust(widths[0]), row[1].ljust(widths[1])]
        texts += [text.rjust(width) for text, width in zip(row[2:], widths[2:], strict=True)]
        verdict = _styled(table.figures[place - 1].verdict) if place else ""
        lines.append("  ".join([*texts, verdict]).rstrip())
    return lines


def _styled(verdict: Verdict) -> str:
    return click.style(str(verdict), fg=_COLOURS.get(verdict))


# ---- Markdown


def as_markdown(report: Report) -> str:
    """Return a report as a section of a document."""
    parts = [f"## {report.title}", "", f"`espalier reproduce {report.name}`: {tally([report])}.", ""]
    if report.checks:
        parts += _table(("claim", "seen", ""), [_check(check) for check in report.checks])
    for table in report.tables:
        parts += [f"### {table.title}", ""]
        rows = [(*cells(figure), _strong(figure.verdict)) for figure in table.figures]
        parts += _table(_HEADS, rows, numbers=range(2, 6))
    for drawing in report.drawings:
        parts += [f"{drawing.caption}:", "", "```", drawing.text, "```", ""]
    parts += [f"- {note}" for note in report.notes]
    return "\n".join([*parts, ""])


def _check(check: Check) -> tuple[str, ...]:
    return check.statement, check.seen, _strong(check.verdict)


def _strong(verdict: Verdict) -> str:
    return f"**{verdict}**" if verdict in (Verdict.PASS, Verdict.FAIL) else str(verdict)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Iterable[int] = ()) -> list[str]:
    right = set(numbers)
    rule = ["---:" if place in right else "---" for place in range(len(heads))]
    lines = [heads, rule, *([text.replace("|", "\\|") for text in row] for row in rows)]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]
