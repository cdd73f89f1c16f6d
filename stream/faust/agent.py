"""Our agents in a Faust application, beside the agents, tables and web views of whoever wrote it.

An agent of ours is an agent of the application: Faust starts it, watches over it, shows it and stops it. Its
stream is of batches, and it is told of each when it is committed. The records themselves go the way they go
on the confluent engine, in a thread that belongs to the agent: read in batches, answered, learned, and
written in one transaction together with the journal and the offsets to read next. Why they do not go through
Faust's own consumer and producer is said in docs/decisions/0006-faust-agents-of-batches.md.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator
from typing import Any

import faust
from faust.sensors.prometheus import setup_prometheus_sensors
from faust.types import TP, AgentT, StreamT
from faust.types.enums import ProcessingGuarantee
from mode.utils.queues import FlowControlEvent, ThrowableQueue

from stream.assembly import work_of
from stream.config import Agent, Config
from stream.errors import EngineError
from stream.events import Event, PartitionProgress
from stream.faust.pages import Pages, pages_of, shared_metrics
from stream.faust.settings import app_id, app_settings, kafka_of
from stream.faust.versions import check_versions
from stream.model.number_hints import Observe
from stream.observe.metrics import Metrics
from stream.observe.notices import Notices
from stream.observe.selfcheck import SelfCheck

log = logging.getLogger(__name__)

LEAVE_SECONDS = 30.0
"""How long an agent may take to finish the batch at hand."""


class Batches(faust.Channel):  # type: ignore[type-arg]
    """Committed batches on their way to the agent.

    Faust empties the queues of its channels at every rebalance and holds them up until it is over. What our
    agents do does not depend on Faust's group, so that their queue is not one of those.
    """

    @property
    def queue(self) -> ThrowableQueue:  # type: ignore[type-arg]
        """The queue of whoever reads."""
        if self._queue is None:
            self._queue = ThrowableQueue(flow_control=FlowControlEvent(initially_suspended=False))
        return self._queue


class Carrier:
    """One of our agents in an application.

    Args:
        app: The application.
        agent: The agent.
        config: The broker, the size of batches and so on; None: what the application has, and defaults.
        pages: Where its health and its metrics are shown.
        observe: Told of everything that metrics count.
        notices: What logs dead letters, where whoever observes does not.
    """

    def __init__(
        self,
        app: faust.App,
        agent: Agent,
        config: Config | None,
        pages: Pages,
        observe: Observe,
        notices: Notices | None = None,
    ) -> None:
        self._app = app
        self._agent = agent
        self._config = config
        self._health = pages.add(agent)
        self._notices = notices or Notices()
        self._watchers: tuple[Observe, ...] = (self._health.observe, observe)
        if notices is not None:
            self._watchers += (notices.observe,)
        self._batches = Batches(app)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.faust_agent: AgentT[PartitionProgress] = app.agent(self._batches, name=agent.name)(self._learn)

    async def _learn(self, batches: StreamT[PartitionProgress]) -> AsyncIterator[PartitionProgress]:
        """Answer and learn in transactions; sinks are told of each committed batch."""
        # For as long as Faust lets us read. The line above is what `faust agents` shows.
        self._loop = asyncio.get_running_loop()
        stop = threading.Event()
        thread = threading.Thread(
            target=self._work, args=(stop,), name=f"agent-{self._agent.name}", daemon=True
        )
        thread.start()
        try:
            async for progress in batches:
                self._tell_sensors(progress)
                yield progress
        finally:
            stop.set()
            await _joined(thread)

    # ---- in the thread

    def _work(self, stop: threading.Event) -> None:
        try:
            config = self._config or self._config_of_app()
            self._check()
            work = work_of(config, self._agent, self._observe, SelfCheck(self._observe))
            self._health.has_started = True

            def is_over() -> bool:
                # Asked after every batch, and several times a second where there is none.
                self._notices.tick()
                return stop.is_set()

            work(is_over)
        except BaseException as error:
            # A worker that does half its work would look healthy and not be.
            self._health.failure = error
            log.debug("agent %s failed", self._agent.name, exc_info=True)
            self._in_loop(self._app.crash(error))
        finally:
            self._notices.close()

    def _config_of_app(self) -> Config:
        return Config(agents=(self._agent,), kafka=kafka_of(self._app))

    def _check(self) -> None:
        """Look at the application's settings as far as they concern our promises."""
        guarantee: object = self._app.conf.processing_guarantee
        if guarantee == ProcessingGuarantee.EXACTLY_ONCE:
            log.warning(
                'agent %s: the application has processing_guarantee "exactly_once". Our agent does not need '
                "it: what it writes is exactly once already, in transactions of its own. For your own agents "
                "do not rely on it: Faust chooses the transaction by the partition it writes to and not by "
                "the one it reads, and commits offsets that a worker which was replaced can still overwrite",
                self._agent.name,
            )
        if self._app.conf.id == self._agent.group:
            raise EngineError(
                f'the application and the agent have one consumer group, "{self._agent.group}". '
                f'Give the agent another: group = "..." in [[agent]]'
            )

    def _observe(self, event: Event) -> None:
        for watcher in self._watchers:
            watcher(event)
        if isinstance(event, PartitionProgress):
            self._in_loop(self._batches.put(event))  # type: ignore[arg-type]

    def _in_loop(self, coroutine: Any) -> None:
        """Let the application's loop do something; a loop that has ended has no use for it."""
        assert self._loop is not None
        try:
            asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:
            coroutine.close()

    # ---- in the application's loop

    def _tell_sensors(self, progress: PartitionProgress) -> None:
        """Tell Faust's monitor, whichever it is, where we stand on our input."""
        place = TP(progress.topic, progress.partition)
        monitor = self._app.monitor
        monitor.count(f"{self._agent.name}.records", progress.consumed - progress.first)
        monitor.track_tp_end_offset(place, progress.consumed + progress.lag)
        monitor.on_tp_commit({place: progress.consumed})


async def _joined(thread: threading.Thread) -> None:
    """Wait for a thread, also where Faust has lost patience: a batch at hand can still be committed."""
    ending = asyncio.get_running_loop().run_in_executor(None, thread.join, LEAVE_SECONDS)
    while not ending.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(ending)


def attach(
    app: faust.App,
    agent: Agent,
    config: Config | None = None,
    *,
    metrics: Metrics | None = None,
    observe: Observe | None = None,
) -> AgentT[PartitionProgress]:
    """Put one of our agents into an application, which starts and stops it with its own.

    What is returned is an agent of Faust's; sinks that are added to it are told of each committed batch.

    Args:
        app: The application.
        agent: The agent.
        config: The broker, the size of batches and so on; None: the application's broker, and defaults.
        metrics: What to count in and to show; None: those of the process, which are beside Faust's own.
        observe: Told of everything in the place of the metrics, and of the log of dead letters.

    Raises:
        EngineError: This version of Faust does not work, or the application has an agent of that name.
    """
    check_versions()
    if agent.name in app.agents:
        raise EngineError(f'the application has an agent "{agent.name}" already. Rename one of them')
    metrics = metrics or shared_metrics()
    notices = Notices() if observe is None else None
    pages = pages_of(app, metrics)
    return Carrier(app, agent, config, pages, observe or metrics.observe, notices).faust_agent


def espalier_app(
    config: Config, *, metrics: Metrics | None = None, observe: Observe | None = None, **settings: Any
) -> faust.App:
    """Return an application that runs every agent of a configuration, and to which others can be added.

    Args:
        config: The configuration.
        metrics: What to count in and to show beside Faust's own; None: a registry of the application's own.
        observe: Told of everything in the place of the metrics.
        settings: Any settings of Faust's, which go before ours.

    Raises:
        EngineError: This version of Faust does not work.
    """
    check_versions()
    metrics = metrics or Metrics()
    app = faust.App(app_id(config), **{**app_settings(config), **settings})
    setup_prometheus_sensors(app, pattern="/metrics", registry=metrics.registry, name_prefix="faust")
    for agent in config.agents:
        attach(app, agent, config, metrics=metrics, observe=observe)
    return app
