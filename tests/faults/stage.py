"""A world of which a worker has done a part, for odd events."""

from collections.abc import Mapping, Sequence
from typing import Any

from stream.config import Scope
from tests.faults.forkserver import WorkerProcess, wait_until
from tests.faults.ground import Plan
from tests.faults.world import Failure, World, admin_of


class NotTried(Exception):  # noqa: N818 - it says what has happened
    """This machine cannot do what is to be tried."""


class Stage:
    """A world of which a worker has done a part."""

    def __init__(
        self,
        plan: Plan,
        *,
        scope: Scope = Scope.TOPIC,
        servers: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.world = World(
            servers or plan.ground.servers,
            plan.ground.directory,
            plan.ground.workers,
            scope=scope,
            partitions=2,
            settings=settings,
            bug=plan.bug,
        )
        self.admin = admin_of(self.world.servers)

    @property
    def topics(self) -> Sequence[str]:
        agent = self.world.agent
        return (agent.input, agent.topics.predictions, agent.topics.tree_changes, agent.topics.dead_letters)

    def work(self, count: int = 100) -> WorkerProcess:
        """Feed some records and let a worker do them."""
        worker = self.world.start()
        self.world.feed(count)
        if not wait_until(lambda: self.world.caught_up() or worker.status is not None, 60):
            raise Failure(f"a worker stands still: {self.world.last_words()}")
        if worker.status is not None:
            raise Failure(f"a worker ended with {worker.status}: {self.world.last_words()}")
        return worker

    def done(self, count: int = 100) -> None:
        """The same, and let the worker leave."""
        status = self.work(count).stop()
        if status != 0:
            raise Failure(f"a worker ended with {status}: {self.world.last_words()}")

    def goes_on(self) -> str:
        """A worker that is started now must do everything right, as if nothing had happened."""
        self.world.feed(40)
        self.world.settle(self.world.start())
        self.world.check()
        return "went on, nothing lost, nothing doubled"

    def ends(self, status: int, words: str, worker: WorkerProcess | None = None, seconds: float = 60) -> str:
        """A worker must end by itself with a status and a sentence that says what is wrong."""
        worker = worker or self.world.start()
        if worker.wait(seconds) is None:
            worker.kill()
            raise Failure(f"a worker went on where it should have ended: {self.world.last_words()}")
        lines = self.world.log.read_text(errors="replace").splitlines()
        said = next((line for line in reversed(lines) if "|FAIL|" not in line), "")
        if worker.status != status or words not in said or not said.startswith("espalier: "):
            raise Failure(f"ended with {worker.status} instead of {status}: {self.world.last_words()}")
        return f"ended with {status}: {said.removeprefix('espalier: ')}"
