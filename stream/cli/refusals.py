"""Dead letters by reason and field as several commands print them."""

import sys
import time

import click

from stream.printable import printable
from stream.records.dead_letters import Tally
from stream.records.remedies import REMEDIES

reason_option = click.option(
    "--reason",
    type=click.Choice(sorted(REMEDIES)),
    metavar="REASON",
    help="Only those with this reason, such as json_syntax.",
)


def refusals(refused: Tally) -> list[str]:
    """Return dead letters by reason and field as lines of a table; none where there are none."""
    rows = [(f"{count:,}", reason, printable(field) or "-") for reason, field, count in refused.rows()]
    if not rows:
        return []
    table = [("dead letters", "reason", "field"), *rows]
    first, second = (max(len(row[n]) for row in table) for n in (0, 1))
    return [f"  {count:>{first}}  {reason:<{second}}  {field}" for count, reason, field in table]


def percent(share: float) -> str:
    """Return a share of a hundred with as many digits as it takes to be seen.

    >>> percent(85.336), percent(1.0), percent(0.004)
    ('85.3 %', '1 %', '0.004 %')
    """
    return f"{share:.3g} %"


class Meter:
    """Shows on a terminal how far a reading is, about twice a second."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._next = 0.0
        self._width = 0

    def tell(self, what: str, seen: int, most: int) -> None:
        """Be told what is being done, and how many records of at most how many were read."""
        if not self._is_shown or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 0.5
        text = f"{what}: {seen:,} of at most {most:,}"
        click.echo("\r" + text.ljust(self._width), nl=False, err=True)
        self._width = max(self._width, len(text))

    def clear(self) -> None:
        """Leave the line empty."""
        if self._width:
            click.echo("\r" + " " * self._width + "\r", nl=False, err=True)
            self._width = 0
