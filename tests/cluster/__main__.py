"""Random schedules over a fake cluster: `make schedules ARGS="--count 100000 --seed 7"`.

`python -m tests.cluster --seed N` repeats one schedule and shows what happened in it.
"""

import argparse
import sys
import time

from tests.cluster.runs import run, run_one, scope_of
from tests.cluster.world import simulated


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("--count", type=int, help="how many schedules; 10,000 where no seed is given, else 1")
    parser.add_argument("--seed", type=int, help="the first seed; by default another one every time")
    args = parser.parse_args()
    count = args.count or (10_000 if args.seed is None else 1)
    first = int(time.time()) if args.seed is None else args.seed
    if count == 1:
        return _show(first)
    result = run(first, count, lambda text: print(text, flush=True))
    faults = ", ".join(f"{number:,} {name}" for name, number in sorted(result.faults.items()))
    print(f"{result.done:,} schedules, {result.seconds:.0f} s, {len(result.failures)} failed: {faults}")
    return 1 if result.failures else 0


def _show(seed: int) -> int:
    print(f"seed {seed}, scope {scope_of(seed)}")
    with simulated():
        world, why = run_one(seed)
    print("\n".join(world.log))
    print("every promise was kept" if why is None else f"FAILED: {why}")
    return 0 if why is None else 1


if __name__ == "__main__":
    sys.exit(main())
