"""A report of a bench, and a listener to its progress that tells nobody."""

from lab.bench.report import (
    Column,
    Report,
    Table,
    at_least,
    at_most,
)


def quiet(what: str) -> None:
    """Tell nobody."""


def sample() -> Report:
    return Report(
        "core",
        "The title",
        False,
        goals=[at_least("speed", 10, 5.0), at_most("size", 10, 5.0)],
        tables=[
            Table("Some", (Column("who"), Column("n", ",d"), Column("r", ".1f", "x")), [("we", 1_234, None)])
        ],
        notes=["a note"],
        machine="a machine",
        date="2020-02-02",
        seconds=12.3,
    )
