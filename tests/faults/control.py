"""The tests of the tests: `python -m tests.faults.control` seeds each bug and shows who caught it."""

import argparse
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.faults.bugs import BUGS
from tests.faults.document import write
from tests.faults.ground import Ground, Plan
from tests.faults.suites import SUITES

MOST_FAULTS = 50
SEEDS = 3
"""A bug must show within so many runs of so many faults: where they strike is chance."""
PATIENCE = 45.0
QUICK = ("B2", "B5", "B16")
"""Those that CI puts in: the quickest of each kind."""


class Caught(NamedTuple):
    """How a bug was caught.

    Attributes:
        name: The bug.
        faults: How many faults were made until then.
        seconds: How long it took.
        how: What the suite found; None: it did not find what it must.
        otherwise: What it found instead: a failure that the bug does not explain.
    """

    name: str
    faults: int
    seconds: float
    how: str | None
    otherwise: str | None = None


def seed_bug(ground: Ground, name: str, seed: int, most: int = MOST_FAULTS) -> Caught:
    """Run the suite that must catch a bug with workers that have it."""
    started = time.monotonic()
    faults = 0
    for attempt in range(SEEDS):
        plan = Plan(ground, most, seed + attempt, bug=name, say=lambda told: None, patience=PATIENCE)
        result = SUITES[BUGS[name].suite].run(plan)
        faults += result.done
        caught = judged(name, faults, time.monotonic() - started, result.failure)
        if result.failure:
            return caught
    return Caught(name, faults, time.monotonic() - started, None)


def judged(name: str, faults: int, seconds: float, failure: str | None) -> Caught:
    """Return whether a failure is a catch: it names what the bug does, and faults were made before it."""
    if failure is not None and faults > 0 and BUGS[name].is_found_in(failure):
        return Caught(name, faults, seconds, failure)
    return Caught(name, faults, seconds, None, failure)


def row(caught: Caught) -> str:
    bug = BUGS[caught.name]
    how = caught.how or f"NOT CAUGHT{f', but: {caught.otherwise}' if caught.otherwise else ''}"
    return (
        f"{caught.name:4} {bug.suite:10} {caught.faults:4} faults {caught.seconds:5.0f} s  {bug.title}: "
        + how.replace("\n", " ")[:400]
    )


def _cells(caught: Caught) -> tuple[str, ...]:
    bug = BUGS[caught.name]
    # Names of worlds are made of chance, and what a log said is of no interest here.
    how = re.sub(r"w-[0-9a-f]{10}", "agent", caught.how or "NOT CAUGHT").split(": 20")[0].split(": ")[0]
    told = how.replace("|", "/").replace("\n", " ")[:110]
    return bug.title, bug.suite, f"{caught.faults} faults", told


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.control", description=__doc__)
    parser.add_argument("bugs", nargs="*", help="which; all where none is named")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path, help="a document whose table gets the results")
    args = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="espalier-faults-") as scratch, Ground(Path(scratch)) as ground:
        for name in args.bugs or BUGS:
            caught = seed_bug(ground, name, args.seed)
            missed += caught.how is None
            print(row(caught), flush=True)
            if args.write is not None:
                write(args.write, "control", {name: _cells(caught)})
    print(f"{len(args.bugs or BUGS) - missed} of {len(args.bugs or BUGS)} seeded bugs were caught")
    return 1 if missed else 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    # Clients of brokers that are gone have threads of their own, for which nobody need wait.
    os._exit(status)
