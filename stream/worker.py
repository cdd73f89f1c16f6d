"""A worker: every agent of a configuration, until told to stop or one fails.

On the confluent engine each has a thread of its own; on Faust all are agents of one application.
"""

import importlib
import logging
import threading
from collections.abc import Callable
from functools import partial

from stream.assembly import Work, work_of
from stream.config import Config, EngineName
from stream.model.number_hints import Observe
from stream.observe.metrics import Metrics
from stream.observe.notices import Notices
from stream.observe.selfcheck import SelfCheck

log = logging.getLogger(__name__)

STOP_SECONDS = 0.2
"""How often `run` asks whether to stop."""


class Worker:
    """Runs agents.

    A failure of one agent stops all: a worker that does half its work would look healthy and not be. What
    was committed is safe, and a supervisor starts the worker again.

    Args:
        config: What to run.
        observe: Told of everything that metrics count.
        metrics: Those that are told by it, for an engine that shows them with its own.
    """

    def __init__(self, config: Config, observe: Observe, metrics: Metrics | None = None) -> None:
        self._config = config
        self._observe = observe
        self._metrics = metrics
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to work, in the background."""
        if self._config.engine is EngineName.FAUST:
            # Whoever does not use it need not wait until it is imported.
            faust = importlib.import_module("stream.faust.worker")
            self._begin("faust", partial(faust.run_in_faust, self._config, self._observe, self._metrics))
            return
        check = SelfCheck(self._observe)
        for agent in self._config.agents:
            self._begin(f"agent-{agent.name}", work_of(self._config, agent, self._observe, check))

    def _begin(self, name: str, work: Work) -> None:
        thread = threading.Thread(target=self._run, args=(work, name), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self, work: Work, name: str) -> None:
        try:
            work(self._stop.is_set)
        except BaseException as error:
            log.debug("%s failed", name, exc_info=True)
            self._failure = self._failure or error
            self._stop.set()

    def stop(self) -> None:
        """Finish the batch at hand, commit it, and leave."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the work ends; return whether it has.

        Raises:
            BaseException: What made an agent fail.
        """
        self._stop.wait(seconds)
        if not self._stop.is_set():
            return False
        for thread in self._threads:
            thread.join(30)
        if self._failure is not None:
            raise self._failure
        return True


def run(config: Config, stop: Callable[[], bool] = lambda: False) -> None:
    """Run every agent of a configuration in this process; return once `stop` says so.

    The batch at hand is committed first. No port is opened and no signal is handled: `espalier worker` does
    both.

    Args:
        config: What `load_config` returned.
        stop: Asked several times a second.

    Raises:
        StreamError: An agent failed; its `exit_code` says what to do.
    """
    notices = Notices()
    worker = Worker(config, notices.observe)
    worker.start()
    try:
        while not worker.wait(STOP_SECONDS):
            notices.tick()
            if stop():
                worker.stop()
    finally:
        notices.close()
