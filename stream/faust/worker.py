"""`espalier worker` on Faust: one application with every agent of a configuration, in a loop of its own."""

import asyncio
import contextlib
import logging
import socket
import tempfile

from stream.config import Config
from stream.errors import EngineError
from stream.faust.agent import espalier_app
from stream.faust.settings import default_web_port
from stream.model.number_hints import Observe
from stream.model.ports import Stop
from stream.observe.metrics import Metrics

log = logging.getLogger(__name__)

USUAL_PORT = 6066
"""Of Faust's web server, where WEB_PORT says no other: a second worker on a machine takes a free one."""
LOOK_SECONDS = 0.1
STOP_SECONDS = 5.0
GROUP = {"broker_session_timeout": 6.0, "broker_heartbeat_interval": 2.0}
"""How soon Faust's group gives up a worker that was killed: as soon as ours."""


def run_in_faust(config: Config, observe: Observe, metrics: Metrics | None, stop: Stop) -> None:
    """Run every agent of a configuration in one Faust application until told to stop.

    Args:
        config: What to run.
        observe: Told of everything that metrics count.
        metrics: Those that are told by it, to be shown; None: there are none.
        stop: Asked now and then whether it is time to stop.

    Raises:
        BaseException: What made an agent fail.
    """
    # What Faust says of its inner life is for those who look for something; what goes wrong with our agents
    # is said by whoever started us.
    for name in ("faust", "mode", "aiokafka"):
        if not log.isEnabledFor(logging.DEBUG):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    asyncio.run(_run(config, observe, metrics, stop))


async def _run(config: Config, observe: Observe, metrics: Metrics | None, stop: Stop) -> None:
    # Where Faust would keep tables: our agents have none, and leave nothing behind.
    with tempfile.TemporaryDirectory(prefix="espalier-faust-") as directory:
        host = config.metrics.host
        port = default_web_port()
        if port == USUAL_PORT:
            port = _free(host, port)
        told = {"datadir": directory, "web_port": port, **GROUP}
        app = espalier_app(config, metrics=metrics, observe=observe, **told)
        if config.metrics.enabled:
            log.info("Faust's web server is at http://%s:%d/espalier/readyz", host, port)
        starting = asyncio.create_task(app.start())
        while not (stop() or app.crashed or _failed(starting)):
            await asyncio.sleep(LOOK_SECONDS)
        # Ours leave in good order, however long their batch takes. Faust, which has nothing to lose here, may
        # be waiting for a group that waits for a worker that was killed.
        await app.agents.stop()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(app.stop(), STOP_SECONDS)
        failure = app.crash_reason or await _failure(starting)
        if failure is not None:
            raise failure


def _failed(starting: "asyncio.Task[None]") -> bool:
    return starting.done() and starting.exception() is not None


async def _failure(starting: "asyncio.Task[None]") -> EngineError | None:
    """Return why the application could not start, if it could not; one that was still starting may stop."""
    starting.cancel()
    try:
        await starting
    except asyncio.CancelledError:
        return None
    except Exception as error:
        told = EngineError(f"the Faust application could not start: {type(error).__name__}: {error}")
        told.__cause__ = error
        return told
    return None


def _free(host: str, wanted: int) -> int:
    """Return a port that nobody listens on: the one that is wanted if it can be had."""
    for port in (wanted, 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            return int(probe.getsockname()[1])
    return wanted
