"""Faults by hand: `python -m tests.faults --suite kill --repeat 1000`, or `make faults ARGS=...`."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.ground import Ground, Plan, Result
from tests.faults.suites import SUITES


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
    return 1 if any(result.failure for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
