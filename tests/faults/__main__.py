"""Faults by hand: `python -m tests.faults --suite kill --repeat 1000`, or `make faults ARGS=...`."""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.document import write
from tests.faults.ground import Ground, Plan, Result
from tests.faults.suites import SUITES, Suite


def _row(suite: Suite, result: Result, seed: int) -> tuple[str, ...]:
    survived = f"FAILED: {result.failure}" if result.failure else f"{result.done:,} {result.what}"
    if result.detail:
        survived += f" ({result.detail})"
    told = survived.replace("|", "/").replace("\n", " ")
    return suite.title, told, f"{result.records:,}", f"{result.seconds / 60:.0f}", str(seed)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument(
        "--suite", action="append", choices=list(SUITES), help="which; all where none is named"
    )
    parser.add_argument("--repeat", type=int, help="how many faults; the whole number where none is given")
    parser.add_argument("--quick", action="store_true", help="as many as CI makes")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="what chance is made from")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop each suite after so many")
    parser.add_argument("--write", type=Path, help="a document whose table gets the results")
    args = parser.parse_args()
    results: list[Result] = []
    print(f"seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="espalier-faults-") as scratch, Ground(Path(scratch)) as ground:
        for name in args.suite or SUITES:
            suite = SUITES[name]
            repeat = args.repeat or (suite.quick if args.quick else suite.whole)
            until = time.monotonic() + 60 * args.minutes
            result = suite.run(
                Plan(ground, repeat, args.seed, None, until, lambda told: print(told, flush=True))
            )
            print(result, flush=True)
            results.append(result)
            if args.write is not None:
                write(args.write, "faults", {name: _row(suite, result, args.seed)})
    return 1 if any(result.failure for result in results) else 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    # Clients of brokers that are gone have threads of their own, for which nobody need wait.
    os._exit(status)
