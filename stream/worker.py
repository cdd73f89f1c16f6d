"""A worker: every agent of a configuration in a thread of its own, until told to stop or one fails."""

import logging
import os
import socket
import threading

from stream.agents import processor_factory
from stream.config import Config
from stream.engine import Engine, MakeProcessor
from stream.engines.confluent_loop import ConfluentLoop
from stream.processor import Observe

log = logging.getLogger(__name__)


class Worker:
    """Runs agents.

    A failure of one agent stops all: a worker that does half its work would look healthy and not be. What
    was committed is safe, and a supervisor starts the worker again.

    Args:
        config: What to run.
        observe: Told of everything that metrics count.
    """

    def __init__(self, config: Config, observe: Observe) -> None:
        self._config = config
        self._observe = observe
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to work, in the background."""
        instance = self._config.instance or f"{socket.gethostname()}-{os.getpid()}"
        for agent in self._config.agents:
            engine = ConfluentLoop(self._config.kafka, agent, self._config.batch, instance, self._observe)
            make = processor_factory(agent, self._config.limits, self._observe)
            thread = threading.Thread(
                target=self._run, args=(engine, make, agent.name), name=f"agent-{agent.name}", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def _run(self, engine: Engine, make: MakeProcessor, name: str) -> None:
        try:
            engine.run(make, self._stop.is_set)
        except BaseException as error:
            log.debug("agent %s failed", name, exc_info=True)
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
