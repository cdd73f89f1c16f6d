"""`espalier bench nt`: what a record costs learners whose tree is built again from time to time."""

from lab.bench.along import NOTE, along, chart, table
from lab.bench.measure import Tell
from lab.bench.report import Report, at_most

PLACES = (10_000, 100_000, 1_000_000)
QUICK_PLACES = (1_000, 4_000)
LEARNERS = ("nt", "c45")
FLAT = 1.5

BUILDS = (
    "All builds are in it, though a worker does the large ones beside the answers. Both keep the last "
    "100,000 records and give a fifth of their work to building."
)


def nt(places: tuple[int, ...], quick: bool, tell: Tell) -> Report:
    """Measure the cost of a record at some places of a stream."""
    found = {name: along(name, places, tell) for name in LEARNERS}
    return Report(
        "nt",
        "Batch trees in the stream",
        quick,
        goals=[
            at_most(
                f"{name}: cost per record at {marks[-1].place:,} against {marks[0].place:,} records",
                FLAT,
                marks[-1].micros / marks[0].micros,
            )
            for name, marks in found.items()
        ],
        tables=[table(found)],
        notes=[NOTE, BUILDS],
        charts=[chart(found, places)],
    )
