"""Charts as SVG text: lines or bars, on a linear or a logarithmic scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from lab.experiments.report import Chart, Drawing, Series

WIDTH = 860
HEIGHT = 340
LEFT, RIGHT, TOP, BOTTOM = 84, 24, 56, 64
LINE_HEIGHT = 16
# Told apart also by people who do not see all colours (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
STYLE = (
    "text{font-family:sans-serif;font-size:12px;fill:#222}"
    ".title{font-size:15px;font-weight:bold}.mono{font-family:monospace;white-space:pre}"
    ".axis{stroke:#444;fill:none}.grid{stroke:#ddd}.error{stroke:#222}"
)


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a number is on the paper.

    Attributes:
        low: The number at `start`.
        high: The number at `end`.
        start: The place of the lowest number.
        end: The place of the highest.
        logarithmic: Whether equal ratios are equal lengths.
    """

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, number: float) -> float:
        """Return the place of a number; one that is off the scale is at its end."""
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, number = math.log10(low), math.log10(high), math.log10(max(number, self.low))
        share = (number - low) / (high - low)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return the numbers to be written at the axis."""
        if self.logarithmic:
            first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            return [10.0**power for power in range(first, last + 1) if self.low <= 10.0**power <= self.high]
        step = nice_step((self.high - self.low) / 6)
        first = math.ceil(self.low / step)
        return [number * step for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


def nice_step(least: float) -> float:
    """Return the smallest of 1, 2, 5, 10, 20, ... that is not below a number.

    >>> [nice_step(x) for x in (0.3, 1, 3.2, 14)]
    [0.5, 1.0, 5.0, 20.0]
    """
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * (1 - 1e-9))


def svg(charts: Sequence[Chart], drawings: Sequence[Drawing] = ()) -> str:
    """Return one picture with all charts below each other; without charts, with the drawings as text."""
    parts: list[str] = []
    height = 0
    for chart in charts:
        parts.append(f'<g transform="translate(0,{height})">{_chart(chart)}</g>')
        height += HEIGHT
    if not charts:
        for drawing in drawings:
            parts.append(f'<g transform="translate(0,{height})">{_drawing(drawing)}</g>')
            height += LINE_HEIGHT * (drawing.text.count("\n") + 4)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}"><style>{STYLE}</style>'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _drawing(drawing: Drawing) -> str:
    lines = [_text(16, LINE_HEIGHT * 1.5, drawing.caption)]
    for number, line in enumerate(drawing.text.splitlines(), 2):
        lines.append(_text(32, LINE_HEIGHT * (number + 0.5), line, kind="mono"))
    return "".join(lines)


def _chart(chart: Chart) -> str:
    across, up = _scales(chart)
    parts = [_text(LEFT, 24, chart.title, kind="title"), _axes(chart, across, up), _legend(chart.series)]
    for number, series in enumerate(chart.series):
        colour = COLOURS[number % len(COLOURS)]
        if chart.categories:
            parts.append(_bars(series, number, len(chart.series), across, up, colour))
        else:
            places = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in series.points)
            parts.append(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    return "".join(parts)


def _scales(chart: Chart) -> tuple[Scale, Scale]:
    points = [point for series in chart.series for point in series.points]
    highest = max((y for _, y in points), default=1.0)
    if chart.logarithmic:
        positive = [y for _, y in points if y > 0]
        low, high = 10.0 ** math.floor(math.log10(min(positive, default=1.0))), max(highest, 1.0) * 1.3
        high = max(high, low * 10)
    else:
        low, high = min(0.0, *(y for _, y in points)) if points else 0.0, (highest or 1.0) * 1.05
    up = Scale(low, high, HEIGHT - BOTTOM, TOP, chart.logarithmic)
    if chart.categories:
        return Scale(-0.5, len(chart.categories) - 0.5, LEFT, WIDTH - RIGHT), up
    first, last = min((x for x, _ in points), default=0.0), max((x for x, _ in points), default=1.0)
    return Scale(first, last if last > first else first + 1, LEFT, WIDTH - RIGHT), up


def _axes(chart: Chart, across: Scale, up: Scale) -> str:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [f'<path class="axis" d="M{LEFT},{TOP}V{bottom}H{right}"/>']
    for tick in up.ticks():
        y = up(tick)
        parts.append(f'<path class="grid" d="M{LEFT + 1},{y:.1f}H{right}"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{tick:,g}" if tick < 1e6 else f"{tick:,.0f}", anchor="end"))
    if chart.categories:
        parts += [
            _text(across(place), bottom + 20, name, anchor="middle")
            for place, name in enumerate(chart.categories)
        ]
    else:
        parts += [_text(across(tick), bottom + 20, f"{tick:,g}", anchor="middle") for tick in across.ticks()]
    parts.append(_text((LEFT + right) / 2, bottom + 44, chart.x_label, anchor="middle"))
    middle = (TOP + bottom) / 2
    parts.append(
        f'<text x="18" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 18 {middle:.1f})">'
        f"{escape(chart.y_label)}</text>"
    )
    return "".join(parts)


def _legend(series: Sequence[Series]) -> str:
    parts: list[str] = []
    x = float(LEFT)
    for number, one in enumerate(series):
        colour = COLOURS[number % len(COLOURS)]
        parts.append(f'<rect x="{x:.0f}" y="34" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(x + 18, 44, one.name))
        x += 40 + 7 * len(one.name)
    return "".join(parts)


def _bars(series: Series, number: int, count: int, across: Scale, up: Scale, colour: str) -> str:
    parts: list[str] = []
    width = 0.8 / count
    for place, (x, y) in enumerate(series.points):
        left = across(x - 0.4 + number * width)
        right = across(x - 0.4 + (number + 1) * width)
        top, bottom = up(y), up.start
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" '
            f'fill="{colour}"><title>{escape(series.name)}: {y:,.1f}</title></rect>'
        )
        if series.errors and series.errors[place]:
            middle, error = (left + right) / 2, series.errors[place]
            parts.append(f'<path class="error" d="M{middle:.1f},{up(y - error):.1f}V{up(y + error):.1f}"/>')
    return "".join(parts)


def _text(x: float, y: float, text: str, *, anchor: str = "start", kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{escape(text)}</text>'
