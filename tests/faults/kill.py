"""Workers killed with SIGKILL, at random moments and at every named step of the loop, and started again."""

import random
import time
from collections.abc import Iterator

from stream.config import Scope
from tests.faults.failpoints import POINTS
from tests.faults.forkserver import WorkerProcess, wait_until
from tests.faults.ground import Plan, Result, Tally, in_lanes
from tests.faults.world import Failure, World

SHAPES = ((Scope.TOPIC, 1), (Scope.PARTITION, 3), (Scope.TOPIC, 3), (Scope.PARTITION, 1))
"""Scopes and numbers of partitions, lane by lane."""
STATE = """
[state]
snapshot_records = 50
snapshot_seconds = 0.5
trim_journal = {trim}
"""
LANES = 6
RANDOM = "random"
IN_A_WORLD = 60
"""How many kills an agent lives through before everything is checked and another takes its place."""


def run(plan: Plan) -> Result:
    """Kill workers of several agents side by side, again and again; compare with a run without faults."""
    result = Result("kill", what="kills")
    tally = Tally(plan, result)
    started = time.monotonic()
    in_lanes(min(LANES, max(1, plan.repeat // 5)), tally, lambda number: _lane(plan, tally, number))
    result.seconds = time.monotonic() - started
    points = [name for name in result.counts if name in POINTS]
    result.detail = f"{len(points)} of {len(POINTS)} named steps, {result.counts[RANDOM]:,} at random moments"
    return result


def _lane(plan: Plan, tally: Tally, number: int) -> None:
    rng = random.Random(plan.seed * 1_000 + number)
    scope, partitions = SHAPES[number % len(SHAPES)]
    points = _points(rng)
    while True:
        world = World(
            plan.ground.servers,
            plan.ground.directory,
            plan.ground.workers,
            scope=scope,
            partitions=partitions,
            seed=rng.randrange(10**6),
            bug=plan.bug,
            bad=0.1 if number % 3 == 1 else 0.0,
            # A queue that is always full: the producer has to wait for itself.
            properties={"queue.buffering.max.messages": 8} if number == 0 else {},
            settings=STATE.format(trim="true" if number % 2 else "false"),
        )
        left = IN_A_WORLD
        while left and tally.take():
            left -= 1
            tally.count(_kill_once(world, rng, next(points), plan.patience))
        if left == IN_A_WORLD:
            world.predictions.stop()
            return
        world.feed(partitions * 5)
        world.settle(world.start())
        world.check()
        tally.add_records(world.produced)
        world.delete()
        if left:
            return


def _points(rng: random.Random) -> Iterator[str]:
    """Yield all points in turn, each time in another order, and among them moments of chance."""
    while True:
        turn = [*POINTS, *[RANDOM] * (len(POINTS) // 3)]
        rng.shuffle(turn)
        yield from turn


def _kill_once(world: World, rng: random.Random, point: str, patience: float) -> str:
    """Start a worker with something to do, and see it die; return by which point."""
    # Of a model that has grown, a snapshot is made when an eighth of it is new.
    rare = point.startswith(("snapshot", "trim"))
    world.feed(rng.randint(10, 40) + (min(world.produced // 8, 200) if rare else 0))
    if point == RANDOM:
        worker = world.start()
        worker.wait(rng.choice((0.1, 0.4, 1.0, 2.0)) * rng.random())
        _bury(world, worker)
        return RANDOM
    worker = world.start({point: rng.randint(1, POINTS[point][0])})
    wait_until(lambda: worker.status is not None or world.caught_up(), patience)
    if worker.wait(0.05) is None:
        # It has done all there was without coming by so often.
        point = RANDOM
        if not world.caught_up():
            raise Failure(f"a worker stands still: {world.last_words([worker])}")
    _bury(world, worker)
    return point


def _bury(world: World, worker: WorkerProcess) -> None:
    if worker.status is None:
        worker.kill()
    if worker.status != -9:
        raise Failure(f"a worker ended by itself with {worker.status}: {world.last_words()}")
