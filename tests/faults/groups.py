"""Several workers: some stop for longer than their session lasts and go on as zombies, some come and go."""

import random
import signal
import time

from stream.config import Scope
from tests.faults.failpoints import STOP
from tests.faults.forkserver import WorkerProcess, wait_until
from tests.faults.ground import Plan, Result, Tally, in_lanes
from tests.faults.world import Failure, World

PARTITIONS = 8
CLASSIC = {"transaction.timeout.ms": 4_000, "message.timeout.ms": 4_000}
MODERN = {**CLASSIC, "group.protocol": "consumer"}
GAVE_WAY = (69, 74, 75)
"""How a worker may end by itself where a fault explains it: it is counted, and started again."""
STOPS = (
    *("offsets.after", "commit.before", "begin.after", "process.after", "commit.after", "produce"),
    *("restore", "restore.snapshot"),
)
STATE = {"state": {"snapshot_records": 100, "snapshot_seconds": 1}}


class Crew:
    """The workers of one agent, by their names.

    Args:
        world: The agent.
        tally: Told of workers that ended by themselves.
    """

    def __init__(self, world: World, tally: Tally) -> None:
        self.world = world
        self._tally = tally
        self.workers: dict[str, WorkerProcess] = {}

    def join(self, name: str, points: dict[str, int] | None = None) -> WorkerProcess:
        worker = self.workers[name] = self.world.start(points, f"{self.world.agent.name}-{name}")
        return worker

    def leave(self, name: str) -> None:
        """Let a worker end in good order."""
        worker = self.workers.pop(name)
        status = worker.stop()
        if status in GAVE_WAY:
            self._tally.ended(status)
        # One that was told before it had begun just ends.
        elif status not in (0, -signal.SIGTERM):
            said = self.world.last_words([worker] if status is None else ())
            raise Failure(f"a worker that was told to leave ended with {status}: {said}")

    def tend(self) -> None:
        """Start again who gave way, as a supervisor does; let go on who came to its step only now."""
        for name, worker in list(self.workers.items()):
            if worker.status is None:
                worker.go_on()
                continue
            if worker.status not in GAVE_WAY:
                raise Failure(f"a worker ended with {worker.status}: {self.world.last_words()}")
            self._tally.ended(worker.status)
            self.join(name)

    def progress(self, count: int, patience: float) -> None:
        """Wait until so many more predictions are there, or all."""
        goal = min(self.world.predictions.count + count, self.world.produced - self.world.dead)
        deadline = time.monotonic() + patience
        while self.world.predictions.count < goal:
            self.tend()
            if time.monotonic() > deadline:
                count = self.world.predictions.count
                said = self.world.last_words(list(self.workers.values()))
                raise Failure(
                    f"{len(self.workers)} workers stand still at {count} of {self.world.produced}: {said}"
                )
            time.sleep(0.05)

    def finish(self, patience: float) -> None:
        """Let all work be done and all workers leave; check everything."""
        self.progress(10**9, patience)
        for name in list(self.workers):
            self.leave(name)
        self.world.check()


def _world(plan: Plan, scope: Scope, seed: int, properties: dict[str, object]) -> World:
    return World(
        plan.ground.servers,
        plan.ground.directory,
        plan.ground.workers,
        scope=scope,
        partitions=PARTITIONS,
        properties=properties,
        seed=seed,
        bug=plan.bug,
        settings=STATE,
    )


# ---- zombies


def zombies(plan: Plan) -> Result:
    """Stop workers for longer than their session lasts, let others take over, and let them go on."""
    result = Result("zombie", what="workers stopped beyond their session and let go on")
    tally = Tally(plan, result)
    started = time.monotonic()
    in_lanes(min(4, max(1, plan.repeat // 3)), tally, lambda number: _zombies(plan, tally, number))
    result.seconds = time.monotonic() - started
    told = (f"{result.counts[f'at {point}']:,} {point}" for point in STOPS if result.counts[f"at {point}"])
    result.detail = (
        f"two and three workers, {PARTITIONS} partitions; stopped at steps: {', '.join(told) or 'none'}"
    )
    return result.conclude(plan, plan.repeat, most_ends=0)


def _zombies(plan: Plan, tally: Tally, number: int) -> None:
    rng = random.Random(plan.seed * 100 + number)
    scope = (Scope.TOPIC, Scope.PARTITION)[number % 2]
    while True:
        world = _world(plan, scope, rng.randrange(10**6), dict(CLASSIC))
        crew = Crew(world, tally)
        names = ["a", "b", "c"][: 2 + number // 2 % 2]
        for name in names:
            crew.join(name)
        left = 25
        while left and tally.take():
            left -= 1
            world.feed(rng.randint(40, 120))
            tally.count(_stop_one(crew, rng, plan.patience))
        crew.finish(max(60.0, plan.patience))
        tally.add_records(world.produced)
        world.delete()
        if left:
            return


def _stop_one(crew: Crew, rng: random.Random, patience: float) -> str:
    """Stop a worker, by chance or at a step; see others go on; let it go on too."""
    crew.tend()
    name = rng.choice(list(crew.workers))
    worker, kind = crew.workers[name], "by chance"
    if rng.random() < 0.5:
        # It is started again with a point at which it stops by itself.
        point = rng.choice(STOPS)
        crew.leave(name)
        worker = crew.join(name, {f"{point}{STOP}": rng.randint(1, 4)})
        crew.world.feed(40)
        if wait_until(lambda: worker.is_stopped or crew.world.caught_up() or worker.status is not None, 10):
            kind = f"at {point}" if worker.is_stopped else kind
    else:
        time.sleep(rng.random() * 0.2)
    if worker.status is None:
        worker.signal(signal.SIGSTOP)
    crew.world.feed(rng.randint(20, 60))
    # Beyond the session of a second; now and then beyond the transaction's four seconds too.
    time.sleep(rng.choice((1.3, 1.6, 2.0, 2.5, 5.0)))
    worker.signal(signal.SIGCONT)
    crew.world.feed(rng.randint(20, 60))
    crew.progress(rng.randint(1, 60), patience)
    return kind


# ---- rebalances


def rebalances(plan: Plan) -> Result:
    """Let workers join and leave while records come in, with both group protocols."""
    result = Result("rebalance", what="workers joined or left")
    tally = Tally(plan, result)
    started = time.monotonic()
    in_lanes(min(4, max(1, plan.repeat // 4)), tally, lambda number: _rebalances(plan, tally, number))
    result.seconds = time.monotonic() - started
    modern = result.counts["consumer"]
    result.detail = (
        f"up to four workers, {PARTITIONS} partitions; {modern:,} with the group protocol of KIP-848"
    )
    return result.conclude(plan, plan.repeat)


def _rebalances(plan: Plan, tally: Tally, number: int) -> None:
    rng = random.Random(plan.seed * 100 + number)
    protocol = ("classic", "consumer")[number // 2 % 2]
    scope = (Scope.PARTITION, Scope.TOPIC)[number % 2]
    while True:
        world = _world(plan, scope, rng.randrange(10**6), dict(MODERN if protocol == "consumer" else CLASSIC))
        crew = Crew(world, tally)
        crew.join("w0")
        left, fresh = 40, 0
        while left and tally.take():
            left -= 1
            world.feed(rng.randint(20, 60))
            if len(crew.workers) > 1 and (len(crew.workers) == 4 or rng.random() < 0.5):
                crew.leave(rng.choice(list(crew.workers)))
            else:
                fresh += 1
                # Now and then one comes back under the name it had.
                name = f"w{rng.choice((fresh, rng.randrange(fresh)))}"
                if name in crew.workers:
                    name = f"w{fresh}"
                crew.join(name)
            if rng.random() < 0.5:
                crew.progress(rng.randint(1, 40), plan.patience)
            tally.count(protocol)
        crew.finish(max(60.0, plan.patience))
        tally.add_records(world.produced)
        world.delete()
        if left:
            return
