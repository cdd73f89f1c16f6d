"""Feed the compiled core and the readable learner random lives for as long as asked: `make fuzz`.

A life is a sequence of learning, forgetting, answering, whole batches and snapshots under random settings.
Both must say the same all along; run from a build with sanitizers, a slip in the C shows itself at once.
"""

import argparse
import contextlib
import itertools
import random
import time

import pytest

from learners.core import id5r as core
from learners.snapshot import SnapshotError
from tests.learners.test_core import (
    test_equals_the_readable_learner_after_every_record,
    test_whole_batches_say_what_single_records_say,
)


def bend_a_snapshot(rng: random.Random, whole: bytes) -> None:
    """Restore from bytes that were bent at random behind a right checksum or a wrong one: never a crash."""
    damaged = bytearray(whole)
    for _ in range(rng.randint(1, 8)):
        damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    with contextlib.suppress(SnapshotError):
        core.ID5R.restore(bytes(damaged)).outline()


def main() -> None:
    """Live until the time is up; a failure names the seed to repeat it with."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    deadline = time.monotonic() + asked.seconds
    lives = 0
    for seed in itertools.count(asked.seed):
        if time.monotonic() > deadline:
            break
        try:
            with pytest.MonkeyPatch.context() as patch:
                test_equals_the_readable_learner_after_every_record(seed, seed % 3 * 3, patch)
            test_whole_batches_say_what_single_records_say(seed)
            rng = random.Random(seed)
            learner = core.ID5R()
            bend_a_snapshot(rng, learner.snapshot())
        except BaseException:
            print(f"failed in life {seed}: python -m tests.fuzz_core --seed {seed} --seconds 1")
            raise
        lives += 1
    print(f"{lives} lives without a difference or a crash")


if __name__ == "__main__":
    main()
