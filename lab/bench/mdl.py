"""`espalier bench mdl`: what a record costs the MDL tree, beside the compiled ID5R."""

from lab.bench.along import NOTE, along, chart, table
from lab.bench.measure import Tell
from lab.bench.report import Report, at_least, at_most

PLACES = (10_000, 30_000, 100_000)
QUICK_PLACES = (1_000, 4_000)
LEARNERS = ("mdl", "id5r")
RATE = 50_000
FLAT = 1.5


def mdl(places: tuple[int, ...], quick: bool, tell: Tell) -> Report:
    """Measure the cost of a record at some places of a stream."""
    found = {name: along(name, places, tell) for name in LEARNERS}
    ours = found["mdl"]
    return Report(
        "mdl",
        "The MDL tree",
        quick,
        goals=[
            at_least("records per CPU second, 22 attributes, 5 % noise", RATE, ours[-1].rate, "", ",.0f"),
            at_most(
                f"cost per record at {ours[-1].place:,} against {ours[0].place:,} records",
                FLAT,
                ours[-1].micros / ours[0].micros,
            ),
        ],
        tables=[table(found)],
        notes=[NOTE],
        charts=[chart(found, places)],
    )
