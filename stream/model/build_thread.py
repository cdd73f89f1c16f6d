"""Trees that are built at once are built in a thread, while records go on being answered.

Which tree comes at which record does not depend on it: a build that is not done in time is waited for.
"""

from concurrent.futures import ThreadPoolExecutor

from learners.learner import Learner
from learners.rebuilt.periodic import Job, PeriodicRebuild


class BuildThread:
    """A thread for builds; it is started by the first."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None

    def __call__(self, job: Job) -> Job:
        """Begin a build; return what waits for it."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "build")
        return self._pool.submit(job).result


def build_in_thread(learner: Learner) -> None:
    """Have a learner's builds done in a thread, if it is one that builds its trees at once."""
    if isinstance(learner, PeriodicRebuild):
        learner.background = BuildThread()
