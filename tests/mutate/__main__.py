"""Random mutants of the sources, and which of them no test notices: `make mutate`, `python -m tests.mutate`.

1. All tests run once under coverage in a copy of the project (if the sources have changed since the last
   time, or with `--record`): which test runs which line, how long it takes, and whether it passes.
2. Mutants are drawn (`--count`, `--seed`). Each is made in a copy, and the tests that run its lines run
   there, the fastest first. A test that fails, or does not end, has killed it.
3. A mutant that survives is printed as a difference: either a test is missing, or both programs do the same.
   The survivors are kept in a file, and `--again` judges only those.
"""

import argparse
import json
import queue
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from stream.broker import QUICK_START, Broker
from tests.mutate.judge import Judge, Verdict, copy_tree
from tests.mutate.mutants import Mutant, draw, package_of
from tests.mutate.reach import Reach, load
from tests.mutate.record import SCRATCH, Recording
from tests.paths import REPOSITORY


def judge_all(
    mutants: Sequence[Mutant], scratch: Path, reach: Reach, budget: float, jobs: int, *, broker: bool
) -> list[Verdict]:
    """Judge mutants side by side, and print each verdict when it is there."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(mutants)):
        waiting.put(number)
    verdicts: dict[int, Verdict] = {}

    def work(judge: Judge) -> None:
        while True:
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return
            started = time.monotonic()
            mutant = mutants[number]
            verdict = verdicts[number] = judge.judge(mutant)
            line = f"{number + 1:4} {mutant.path}:{mutant.line} {mutant.what}: {verdict}"
            if verdict.killer is None:
                line += "\n" + mutant.difference((REPOSITORY / mutant.path).read_text())
            print(f"{line} ({time.monotonic() - started:.0f} s)", flush=True)

    with ExitStack() as stack:
        directory = None
        if broker:
            directory = scratch / "broker"
            shutil.rmtree(directory, ignore_errors=True)
            stack.enter_context(Broker.start(directory, java_options=QUICK_START))
        workers = []
        for job in range(jobs):
            tree = scratch / f"judged-{job}"
            copy_tree(tree)
            judge = Judge(tree, reach, budget, directory)
            workers.append(threading.Thread(target=work, args=(judge,)))
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return [verdicts[number] for number in range(len(mutants))]


def summary(mutants: Sequence[Mutant], verdicts: Sequence[Verdict]) -> tuple[str, float]:
    """Return how many were killed in each package and altogether, and that share."""
    drawn = Counter(package_of(mutant.path) for mutant in mutants)
    killed = Counter(
        package_of(mutant.path) for mutant, verdict in zip(mutants, verdicts, strict=True) if verdict.killer
    )
    lines = [f"{package:24} {killed[package]:4} of {drawn[package]:4} killed" for package in sorted(drawn)]
    share = killed.total() / max(1, drawn.total())
    late = sum(verdict.timed_out for verdict in verdicts)
    lines.append(
        f"{killed.total()} of {drawn.total()} mutants were killed ({share:.1%}), {late} by a time-out"
    )
    return "\n".join(lines), share


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="*", help="files or folders, from the project's root; all if none")
    parser.add_argument("--count", type=int, default=60, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="what chance is made from")
    parser.add_argument("--again", action="store_true", help="only the survivors of the last time")
    parser.add_argument("--least", type=float, default=0.0, help="fail where less than this share is killed")
    parser.add_argument("--jobs", type=int, default=1, help="how many are judged side by side")
    parser.add_argument("--budget", type=float, default=300, help="seconds of tests in each stage")
    parser.add_argument("--no-broker", dest="broker", action="store_false", help="without tests on a broker")
    parser.add_argument("--record", nargs="*", help="record all tests, or add those of these files")
    parser.add_argument("--scratch", type=Path, default=SCRATCH)
    args = parser.parse_args()
    recording, survivors = Recording(args.scratch), args.scratch / "survivors.json"
    if args.record is not None or not recording.is_current():
        for name in recording.make(args.record or ()):
            print(f"not used, because it does not pass without a mutant: {name}")
    if args.again:
        mutants = [Mutant(*kept) for kept in json.loads(survivors.read_text())]
    else:
        mutants = draw(args.count, args.seed, only=args.only)
    verdicts = judge_all(
        mutants, args.scratch, load(recording.lines), args.budget, args.jobs, broker=args.broker
    )
    alive = [mutant for mutant, verdict in zip(mutants, verdicts, strict=True) if verdict.killer is None]
    survivors.write_text(json.dumps(alive))
    told, share = summary(mutants, verdicts)
    print(f"{told}, {'survivors of the last time' if args.again else f'seed {args.seed}'}")
    return 1 if share < args.least else 0


if __name__ == "__main__":
    sys.exit(main())
