"""Take agents through random lives: `python -m tests.lives --lives 1000`, or one of them: `--seed N`.

Lives run in child processes, a slice of seeds in each, so that one that ends with a signal is reported with
its seed as well. What fails is made smaller before it is shown: records are left out while it still fails.
"""

import argparse
import sys
import time
from collections import Counter

from learners.registry import LEARNERS
from tests.lives.agents import make_life
from tests.lives.children import Failure, Result, run_all
from tests.lives.shrink import shrunk

SAY_SECONDS = 60
"""How often it is said how far the lives are."""
SHOWN = 5
"""How many failures are shown in full."""


def main() -> int:
    """Live; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.lives", description=__doc__)
    parser.add_argument("--lives", type=int, help="how many; 1 with --seed, otherwise 200000")
    parser.add_argument("--seed", type=int, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1, help="how many child processes at a time")
    parser.add_argument("--learner", choices=sorted(LEARNERS), help="only this one")
    parser.add_argument("--no-shrink", action="store_true", help="show what fails as it is")
    asked = parser.parse_args()
    lives = asked.lives or (200_000 if asked.seed is None else 1)
    watch = Watch(lives)
    try:
        result = run_all(asked.seed or 0, lives, asked.jobs, asked.learner, watch)
    except KeyboardInterrupt:
        result = watch.result
        print(f"interrupted after {result.lives:,} of {lives:,} lives", file=sys.stderr)
    for failure in result.failures[:SHOWN]:
        show(failure, asked.learner, shrink=not asked.no_shrink)
    alike = Counter((failure.learner, failure.kind) for failure in result.failures)
    for (learner, kind), n in alike.most_common():
        seeds = [f.seed for f in result.failures if (f.learner, f.kind) == (learner, kind)]
        print(f"{n} failed: {learner}: {kind}: seeds {', '.join(map(str, seeds[:8]))}")
    for what, n in sorted(result.happened.items()):
        print(f"{n:10,} {what}")
    print(f"{result.lives:,} lives, {len(result.failures)} failed; by learner: {dict(result.learners)}")
    return 1 if result.failures else 0


class Watch:
    """Says every minute how far the lives are, and of each failure when it happens."""

    def __init__(self, lives: int) -> None:
        self.result = Result()
        self._lives = lives
        self._failures = 0
        self._started = self._said = time.monotonic()

    def __call__(self, result: Result) -> None:
        self.result = result
        for failure in result.failures[self._failures :]:
            print(
                f"failed: seed {failure.seed}, {failure.learner}: {failure.kind}", file=sys.stderr, flush=True
            )
        self._failures = len(result.failures)
        now = time.monotonic()
        if now - self._said < SAY_SECONDS or result.lives >= self._lives:
            return
        self._said = now
        left = (now - self._started) / result.lives * (self._lives - result.lives) / 60
        print(
            f"{result.lives:,} of {self._lives:,} lives, {self._failures} failed; {left:.0f} minutes left",
            file=sys.stderr,
            flush=True,
        )


def show(failure: Failure, learner: str | None, *, shrink: bool) -> None:
    """Print a failure, with a stream as short as could be found."""
    life = make_life(failure.seed, learner)
    print(
        f"FAILED: python -m tests.lives --seed {failure.seed}" + (f" --learner {learner}" if learner else "")
    )
    print(life)
    print(f"  {failure.message}")
    if shrink:
        life, message = shrunk(life, failure.kind)
        print(f"  with {len(life.steps)} of its records: {message}")
        for record, marks, units in life.steps:
            place = f"{record.partition.number}@{record.offset}"
            print(f"    {marks:2} {units:4} {place} {record.headers} {record.value!r}")
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main())
