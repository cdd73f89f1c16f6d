"""Many schedules in a row, each from its own seed."""

import contextlib
import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from stream.config import Scope
from tests.cluster.checks import Broken
from tests.cluster.world import World, simulated

SAY_SECONDS = 10.0
MOST_FAILURES = 10


class Failed(NamedTuple):
    """A schedule that broke a promise."""

    seed: int
    why: str

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.why}; repeat it with: python -m tests.cluster --seed {self.seed}"


class Result(NamedTuple):
    """What schedules came to."""

    done: int
    failures: list[Failed]
    faults: Counter[str]
    seconds: float


def scope_of(seed: int) -> Scope:
    """Return the scope of a schedule: both take turns."""
    return Scope.PARTITION if seed % 2 else Scope.TOPIC


def run_one(seed: int, *, is_calm: bool = False) -> tuple[World, str | None]:
    """Run a schedule; return its world, and what went wrong, if anything did."""
    world = World(seed, scope_of(seed), is_calm=is_calm)
    try:
        world.run()
    except Exception as error:
        # Whatever a worker dies of is a failure: a broken promise, an assertion, or a bug of the fake itself.
        return world, str(error) if isinstance(error, Broken) else repr(error)
    finally:
        world.close()
    return world, None


def run(
    first: int, count: int, say: Callable[[str], None] = print, most_failures: int = MOST_FAILURES
) -> Result:
    """Run the schedules of some seeds in a row, up to the first failures.

    Args:
        first: The first seed.
        count: How many.
        say: Is given the first seed, how far it is every few seconds, and each failure.
        most_failures: When to stop.
    """
    say(f"{count:,} schedules from seed {first}")
    faults: Counter[str] = Counter()
    failures: list[Failed] = []
    started = said = time.monotonic()
    done = 0
    with simulated(), _few_collections():
        for seed in range(first, first + count):
            world, why = run_one(seed)
            done += 1
            faults.update(world.faults.counts)
            if why is not None:
                failures.append(Failed(seed, why))
                say(str(failures[-1]))
                if len(failures) >= most_failures:
                    break
            if time.monotonic() - said > SAY_SECONDS:
                said = time.monotonic()
                say(f"{done:,} of {count:,} schedules, {said - started:.0f} s, {len(failures)} failed")
    return Result(done, failures, faults, time.monotonic() - started)


@contextlib.contextmanager
def _few_collections() -> Iterator[None]:
    """Look for garbage seldom: most of a schedule is gone when it ends."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
