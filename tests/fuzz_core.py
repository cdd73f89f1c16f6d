"""Random lives of the compiled core for as long as asked: `make fuzz`.

A life is a sequence of learning, forgetting, answering, whole batches and snapshots under random settings.
The core must say the same as the readable learner and be sound all along. Then filled snapshots are bent
behind a right checksum: each is refused, or makes a learner that is sound and goes on. Run from a build with
sanitizers, a slip in the C shows itself at once.
"""

import argparse
import contextlib
import itertools
import random
import time
from typing import Any

import msgspec
import pytest

from learners.id5r import learner as core
from learners.id5r import making
from learners.id5r.options import CoreOptions
from learners.id5r.state import State
from learners.schema import CodesError, Instance, InstanceError
from learners.snapshot import SnapshotError, pack, unpack
from tests.learners.soundness import expect_sound, some_settings, some_stream
from tests.learners.twins import expect_batches_like_single_records, expect_twins

NUMBERS = (-(2**63), -1, 0, 1, 2, 3, 255, 256, 65_535, 2**31, 2**32 - 1, 2**62, 2**64 - 1)


def a_filled_learner(rng: random.Random) -> tuple[core.ID5R, list[Instance]]:
    """Return a learner in the middle of a life, and what is to come."""
    settings = some_settings(rng)
    learner = core.ID5R(options=msgspec.convert(settings, CoreOptions))
    stream = list(some_stream(rng, rng.choice([20, 80, 200])))
    if not settings.get("time"):
        stream = [Instance({k: v for k, v in one.values.items() if k != "t"}, one.label) for one in stream]
    turn = rng.randrange(1, len(stream))
    for instance in stream[:turn]:
        learner.learn_one(instance)
        if rng.random() < 0.1:
            with contextlib.suppress(InstanceError):  # it may have been right, and was not learned
                learner.forget_one(instance)
    return learner, stream[turn:]


def bend(rng: random.Random, value: Any) -> Any:
    """Return a value of the same kind that is another one."""
    if isinstance(value, bytes):
        bent = bytearray(value)
        if bent and rng.random() < 0.8:
            for _ in range(rng.randint(1, 4)):
                bent[rng.randrange(len(bent))] = rng.choice([0, 1, 2, 255, rng.randrange(256)])
        elif rng.random() < 0.5:
            del bent[rng.randrange(len(bent) + 1) :]
        else:
            bent += bytes(rng.choice([1, 2, 4, 8, 16]))
        return bytes(bent)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([min(value + 1, 2**64 - 1), max(value - 1, -(2**63)), *NUMBERS])
    if isinstance(value, float):
        return rng.choice([0.0, -1.0, 1e300, float("inf"), float("nan"), -value])
    if isinstance(value, str):
        return rng.choice(["", "?", value + "x", value[1:]])
    if isinstance(value, list | tuple) and value:
        parts = list(value)
        place = rng.randrange(len(parts))
        if rng.random() < 0.15:
            del parts[place]
        elif rng.random() < 0.15:
            parts.insert(place, parts[place])
        else:
            parts[place] = bend(rng, parts[place])
        return parts
    if isinstance(value, dict) and value:
        name = rng.choice(sorted(value))
        return {**value, name: bend(rng, value[name])}
    return rng.choice([None, 0, [], {}])


def bend_a_snapshot(rng: random.Random, whole: bytes, rest: list[Instance]) -> bool:
    """Bend a snapshot behind a right checksum: it is refused, or a sound learner comes of it that goes on."""
    state: Any = msgspec.msgpack.decode(msgspec.msgpack.encode(unpack(whole, core.ID5R.name, State)))
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        state = bend(rng, state)
    try:
        learner = core.ID5R.restore(pack(core.ID5R.name, state))
    except SnapshotError:
        return False
    assert learner.check() is None, learner.check()
    for instance in rest[:20]:
        try:
            learner.learn_one(instance)
            if rng.random() < 0.2:
                learner.forget_one(instance)
        except (InstanceError, CodesError):
            continue
        assert learner.check() is None, learner.check()
    learner.outline()
    learner.snapshot()
    return True


def a_life(seed: int) -> tuple[int, int]:
    """Live once; return how many bent snapshots were tried, and how many of them were accepted."""
    with pytest.MonkeyPatch.context() as patch:
        expect_twins(seed, seed % 3 * 3, patch)
    expect_batches_like_single_records(seed)
    with pytest.MonkeyPatch.context() as patch:
        expect_sound(seed, patch)
    rng = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "SMALL", rng.choice([4, 256]))
        learner, rest = a_filled_learner(rng)
        whole = learner.photograph() if seed % 2 else learner.snapshot()
        return 40, sum(bend_a_snapshot(rng, whole, rest) for _ in range(40))


def main() -> None:
    """Live until the time is up; a failure names the seed to repeat it with."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    deadline = time.monotonic() + asked.seconds
    lives = bent = accepted = 0
    for seed in itertools.count(asked.seed):
        if time.monotonic() > deadline:
            break
        try:
            tried, taken = a_life(seed)
        except BaseException:
            print(f"failed in life {seed}: python -m tests.fuzz_core --seed {seed} --seconds 1")
            raise
        lives, bent, accepted = lives + 1, bent + tried, accepted + taken
    print(
        f"{lives} lives without a difference or a crash; {bent} snapshots bent behind a right checksum, "
        f"{accepted} of them accepted and sound"
    )


if __name__ == "__main__":
    main()
