"""Requests lost, answers lost, delayed, swallowed, and EndTxn that arrives in the next transaction."""

import random
import threading
import time

from stream.config import Scope
from tests.faults.forkserver import WorkerProcess, wait_until
from tests.faults.ground import Plan, Result, Tally, in_lanes
from tests.faults.proxy import Api, Fault, Proxy, Request
from tests.faults.world import Failure, World

SHAPES = ((Scope.TOPIC, 1), (Scope.PARTITION, 2), (Scope.TOPIC, 2))
LANES = 3
PROPERTIES = {
    # A connection that was closed is opened again soon, and a request that nobody answers is given up soon.
    "reconnect.backoff.ms": 10,
    "reconnect.backoff.max.ms": 100,
    "socket.timeout.ms": 3_000,
    "session.timeout.ms": 6_000,
    "heartbeat.interval.ms": 1_000,
}
OTHERS = {
    Api.PRODUCE: (Fault.LOSE_REQUEST, Fault.LOSE_RESPONSE, Fault.DELAY),
    Api.TXN_OFFSET_COMMIT: (Fault.LOSE_REQUEST, Fault.LOSE_RESPONSE, Fault.DELAY, Fault.SWALLOW),
    Api.ADD_OFFSETS_TO_TXN: (Fault.LOSE_REQUEST, Fault.LOSE_RESPONSE, Fault.DELAY),
    Api.ADD_PARTITIONS_TO_TXN: (Fault.LOSE_REQUEST, Fault.LOSE_RESPONSE, Fault.DELAY),
    Api.INIT_PRODUCER_ID: (Fault.LOSE_REQUEST, Fault.LOSE_RESPONSE, Fault.DELAY),
    Api.HEARTBEAT: (Fault.LOSE_REQUEST, Fault.LOSE_RESPONSE, Fault.DELAY),
    Api.JOIN_GROUP: (Fault.LOSE_REQUEST, Fault.LOSE_RESPONSE),
}
"""What is done to other requests, now and then."""


class Chance:
    """Decides by chance which requests are hurt: of EndTxn one in three, of the others one in forty."""

    def __init__(self, seed: int, most: int, ghosts: float) -> None:
        self._rng = random.Random(seed)
        self._left = most
        self._ghosts = ghosts
        self._lock = threading.Lock()
        self.made = 0
        self.is_on = True

    def __call__(self, request: Request) -> Fault | None:
        rng = self._rng
        if not self.is_on:
            return None
        if request.api == Api.END_TXN:
            if self._left and rng.random() < 0.35:
                self._left -= 1
                self.made += 1
                if rng.random() < self._ghosts:
                    return Fault.GHOST
                return rng.choices(
                    (Fault.LOSE_RESPONSE, Fault.LOSE_REQUEST, Fault.DELAY, Fault.SWALLOW), (40, 40, 18, 2)
                )[0]
        elif request.api == Api.ADD_OFFSETS_TO_TXN and rng.random() < 0.03:
            # The client gives this transaction up, and so do we: everything is restored.
            return Fault.ERROR
        elif request.api in OTHERS and rng.random() < 0.025:
            return rng.choice(OTHERS[Api(request.api)])
        return None

    @property
    def is_done(self) -> bool:
        return self._left <= 0


def run(plan: Plan) -> Result:
    """Let agents work behind a proxy that hurts every third EndTxn until there were enough of them."""
    result = Result("network", what="EndTxn requests lost, delayed, swallowed or out of their time")
    tally = Tally(plan, result)
    broker, behind, port = plan.ground.proxied()
    started = time.monotonic()
    with Proxy(behind, port) as proxy:
        chance = Chance(plan.seed, plan.repeat, ghosts=0.4)
        proxy.choose = chance
        in_lanes(
            min(LANES, max(1, plan.repeat // 20)),
            tally,
            lambda number: _lane(plan, tally, chance, broker.bootstrap_servers, port, number),
        )
        for (api, fault), count in proxy.counts.items():
            if api == Api.END_TXN.name:
                tally.count(str(fault), count)
        others = sum(count for (api, _), count in proxy.counts.items() if api != Api.END_TXN.name)
        ghosts = proxy.counts[Api.END_TXN.name, Fault.GHOST]
        aborts = proxy.counts[Api.ADD_OFFSETS_TO_TXN.name, Fault.ERROR]
        gave_up = result.ends.total()
        result.detail = (
            f"{ghosts:,} ghosts, {others:,} faults of other requests, {aborts:,} of them aborts; "
            f"{gave_up:,} workers gave up"
        )
        swallowed = sum(count for (_, fault), count in proxy.counts.items() if fault is Fault.SWALLOW)
    result.seconds = time.monotonic() - started
    # A request that nobody answers is all that a worker may give up for; everything else it has to survive.
    return result.conclude(plan, plan.repeat, most_ends=swallowed)


def _lane(plan: Plan, tally: Tally, chance: Chance, servers: str, port: int, number: int) -> None:
    rng = random.Random(plan.seed * 100 + number)
    scope, partitions = SHAPES[number % len(SHAPES)]
    while not chance.is_done and not plan.is_over and tally.is_clean:
        world = World(
            servers,
            plan.ground.directory,
            plan.ground.workers,
            scope=scope,
            partitions=partitions,
            worker_servers=f"127.0.0.1:{port}",
            properties=PROPERTIES,
            max_batch=5,
            seed=rng.randrange(10**6),
            bug=plan.bug,
        )
        worker = world.start()
        turns = 40
        while turns and not chance.is_done and not plan.is_over and tally.is_clean:
            turns -= 1
            world.feed(50)
            worker = _catch_up(world, worker, tally)
            tally.tell(chance.made)
        worker = _catch_up(world, worker, tally)
        world.settle(worker)
        world.check()
        tally.add_records(world.produced)
        world.delete()


def _catch_up(world: World, worker: WorkerProcess, tally: Tally) -> WorkerProcess:
    """Wait until the worker has done what there is; one that gave up is started again, as supervisors do."""
    deadline = time.monotonic() + 120
    while not wait_until(lambda: world.caught_up() or worker.status is not None, 5):
        if time.monotonic() > deadline:
            raise Failure(f"a worker stands still: {world.last_words([worker])}")
    if worker.status is not None:
        if worker.status not in (69, 74, 75):
            raise Failure(f"a worker ended with {worker.status}: {world.last_words()}")
        tally.ended(worker.status)
        return world.start()
    return worker
