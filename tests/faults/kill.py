"""Workers killed with SIGKILL, at random moments and at every named step of the loop, and started again."""

import random
import time
from collections.abc import Collection, Iterator
from typing import Any

from stream.config import Scope
from tests.faults.failpoints import POINTS
from tests.faults.forkserver import WorkerProcess, wait_until
from tests.faults.ground import Plan, Result, Tally, in_lanes
from tests.faults.world import Failure, World

SHAPES = ((Scope.TOPIC, 1), (Scope.PARTITION, 3), (Scope.TOPIC, 3), (Scope.PARTITION, 1))
"""Scopes and numbers of partitions, lane by lane."""
LANES = 6
RANDOM = "random"
ALL_POINTS_FROM = 3 * len(POINTS)
"""From so many kills on, every named step must have been the last of some worker."""
FEEDINGS = 20
"""How often a worker that is to die at a certain step is given more records until it comes by it."""
IN_A_WORLD = 60
"""How many kills an agent lives through before everything is checked and another takes its place."""


def run(plan: Plan, points: Collection[str] = tuple(POINTS)) -> Result:
    """Kill workers of several agents side by side, again and again; compare with a run without faults.

    A run of some length must have killed at every point: where chance has left one out, kills are added.

    Args:
        plan: What is asked for.
        points: The steps that workers of this engine come by.
    """
    result = Result("kill", what="kills")
    tally = Tally(plan, result)
    started = time.monotonic()
    in_lanes(min(LANES, max(1, plan.repeat // 5)), tally, lambda number: _lane(plan, tally, number))
    if plan.repeat >= ALL_POINTS_FROM and plan.bug is None and not plan.is_over:
        _reach_all(plan, tally, result, points)
    result.seconds = time.monotonic() - started
    hit = [name for name in result.counts if name in POINTS]
    result.detail = f"{len(hit)} of {len(POINTS)} named steps, {result.counts[RANDOM]:,} at random moments"
    return result.conclude(plan, plan.repeat)


def _reach_all(plan: Plan, tally: Tally, result: Result, points: Collection[str]) -> None:
    """Kill at every point that has not been hit yet; one that is never reached is a failure."""
    left = [point for point in points if not result.counts[point]]
    if not left or not tally.is_clean:
        return

    def reach(number: int) -> None:
        world = _world(plan, Scope.TOPIC, 1, seed=plan.seed, trim=True)
        for point in left:
            _kill_at(world, point, plan.patience)
            tally.count(point)
        _check(world, tally)

    in_lanes(1, tally, reach)


def _lane(plan: Plan, tally: Tally, number: int) -> None:
    rng = random.Random(plan.seed * 1_000 + number)
    scope, partitions = SHAPES[number % len(SHAPES)]
    points = _points(rng)
    while True:
        world = _world(
            plan,
            scope,
            partitions,
            seed=rng.randrange(10**6),
            trim=bool(number % 2),
            bad=0.1 if number % 3 == 1 else 0.0,
            # A queue that is always full: the producer has to wait for itself.
            properties={"queue.buffering.max.messages": 8} if number == 0 else {},
        )
        left = IN_A_WORLD
        while left and tally.take():
            left -= 1
            tally.count(_kill_once(world, rng, next(points), plan.patience))
        if left == IN_A_WORLD:
            world.predictions.stop()
            return
        _check(world, tally)
        if left:
            return


def _world(plan: Plan, scope: Scope, partitions: int, *, seed: int, trim: bool, **rest: Any) -> World:
    return World(
        plan.ground.servers,
        plan.ground.directory,
        plan.ground.workers,
        scope=scope,
        partitions=partitions,
        seed=seed,
        bug=plan.bug,
        settings={"state": {"snapshot_records": 50, "snapshot_seconds": 0.5, "trim_journal": trim}},
        **rest,
    )


def _check(world: World, tally: Tally) -> None:
    """Let a worker finish what is left, and check everything."""
    world.feed(world.partitions * 5)
    world.settle(world.start())
    world.check()
    tally.add_records(world.produced)
    world.delete()


def _points(rng: random.Random) -> Iterator[str]:
    """Yield all points in turn, each time in another order, and among them moments of chance."""
    while True:
        turn = [*POINTS, *[RANDOM] * (len(POINTS) // 3)]
        rng.shuffle(turn)
        yield from turn


def _kill_at(world: World, point: str, patience: float) -> None:
    """Give a worker records, again and again, until it dies at a step.

    A worker trims the journal after its own second snapshot: it has to live that long, however fast it is.
    """
    worker = world.start({point: 1})
    for _ in range(FEEDINGS):
        world.feed(100)
        wait_until(lambda: worker.status is not None or world.caught_up(), patience)
        if worker.wait(0.3) is not None:
            break
        if not world.caught_up():
            raise Failure(f"a worker stands still: {world.last_words([worker])}")
    else:
        worker.kill()
        raise Failure(f"no worker came by {point} ({POINTS[point][1]}) in {FEEDINGS} times 100 records")
    _bury(world, worker)


def _kill_once(world: World, rng: random.Random, point: str, patience: float) -> str:
    """Start a worker with something to do, and see it die; return by which point.

    Args:
        world: Its agent.
        rng: Decides when, and how much there is to do.
        point: The step at which it is to die, or `RANDOM`.
        patience: How long it may stand still.
    """
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
