"""The kills of `kill`, of workers whose engine is Faust; and an agent that is moved between the engines."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from stream.config import EngineName, Scope
from tests.faults import kill
from tests.faults.forkserver import WorkerProcess, Workers, wait_until
from tests.faults.ground import Ground, Plan, Result
from tests.faults.world import Failure, World

VARIABLE = "ESPALIER_ENGINE"


@contextmanager
def workers_on(engine: EngineName) -> Iterator[Workers]:
    """Start workers with another engine than their configuration says: by the variable, as anybody could."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = engine
    try:
        workers = Workers()
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
    with workers:
        yield workers


def run(plan: Plan) -> Result:
    """Kill workers on Faust at random moments and at every named step."""
    with workers_on(EngineName.FAUST) as workers:
        usual, plan.ground.workers = plan.ground.workers, workers
        try:
            result = kill.run(plan)
        finally:
            plan.ground.workers = usual
    result.suite = "faust"
    return result


# ---- from engine to engine


def _stop(worker: WorkerProcess) -> None:
    status = worker.stop()
    if status != 0:
        raise Failure(f"the worker ended with {status}")


HANDOVERS: dict[str, Callable[[WorkerProcess], None]] = {"stopped": _stop, "killed": WorkerProcess.kill}


def move(
    ground: Ground,
    engines: Sequence[EngineName],
    *,
    scope: Scope,
    partitions: int,
    handover: str,
    overlap: bool,
) -> None:
    """Move an agent from worker to worker in the middle of its stream; nobody must see anything of it.

    Args:
        ground: What it stands on.
        engines: That of each worker, one after the other.
        scope: Of the agent.
        partitions: Of its input.
        handover: How a worker ends.
        overlap: Whether the next worker is there before.
    """
    leave = HANDOVERS[handover]
    with workers_on(EngineName.FAUST) as on_faust:
        world = World(ground.servers, ground.directory, ground.workers, scope=scope, partitions=partitions)
        before: WorkerProcess | None = None
        for turn, engine in enumerate(engines):
            if before is not None and not overlap:
                leave(before)
            # Two at once need two names; one after the other, the next ends what the last left open.
            name = f"{world.agent.name}-{turn}" if overlap else None
            workers = on_faust if engine is EngineName.FAUST else ground.workers
            worker = world.start(instance_name=name, workers=workers)
            world.feed(30 * partitions)
            if before is not None and overlap:
                leave(before)
            if not wait_until(lambda: world.predictions.count > world.produced - 20 * partitions, 60):
                raise Failure(f"turn {turn} stands still: {world.last_words()}")
            # And not at the end of what there is, but in the middle of it.
            world.feed(50 * partitions)
            before = worker
        assert before is not None
        world.settle(before)
        world.check()
