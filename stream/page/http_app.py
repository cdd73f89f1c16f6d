"""What a worker or a demonstration shows of itself, behind one port or two."""

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

from stream.config import Agent, Config, Scope
from stream.config.rules import is_loopback
from stream.errors import EngineError
from stream.events import Event
from stream.observe.health import Health
from stream.observe.metrics import Metrics, exposition
from stream.page.access_policy import AccessPolicy
from stream.page.feed import PageFeed
from stream.page.live_state import LiveState
from stream.page.routes import Site
from stream.page.server import listen

log = logging.getLogger("espalier")

ELSEWHERE = "the page is at another port: see [http] in the configuration"
SWITCHED_OFF = "the page is switched off: page = false in [http]"
NO_TOKEN = (
    "the page is not served beyond this machine without a token: set ESPALIER_HTTP_TOKEN_FILE, or "
    'host = "127.0.0.1" in [http] and another port'
)


class Listener(NamedTuple):
    """An address, what is there, and in which table of the configuration it is set.

    `page` is None where the page is served, or says why it is not.
    """

    table: str
    host: str
    port: int
    page: str | None
    has_metrics: bool


def listeners(config: Config) -> list[Listener]:
    """Return where to listen: one port for everything, unless the page has an address of its own."""
    http, metrics = config.http, config.metrics
    host = metrics.host if http.host is None else http.host
    port = metrics.port if http.port is None else http.port
    page = None if http.page else SWITCHED_OFF
    if page is None and not is_loopback(host) and http.token is None:
        page = NO_TOKEN
    if (host, port) == (metrics.host, metrics.port):
        # Without metrics there is no port to share: several workers on one machine would want the same.
        is_own = http.host is not None or http.port is not None
        is_needed = metrics.enabled or (is_own and page is None)
        return [Listener("metrics", host, port, page, metrics.enabled)] if is_needed else []
    found = [Listener("metrics", metrics.host, metrics.port, ELSEWHERE, True)] if metrics.enabled else []
    if http.page:
        found.append(Listener("http", host, port, page, metrics.enabled))
    return found


class HttpApp:
    """An observer of everything, and the listeners that show it.

    Args:
        agents: The agents to show.
        metrics: Told of everything too, and shown.
    """

    def __init__(self, agents: Sequence[Agent], metrics: Metrics) -> None:
        self.hub = LiveState(agents)
        self.health = Health([(one.name, one.input, one.scope is Scope.PARTITION) for one in agents])
        self._metrics = metrics
        self._presenter = PageFeed(self.hub)
        self._stops: list[Callable[[], None]] = []

    def observe(self, event: Event) -> None:
        """Hear of an event; called by the agents' threads."""
        self._metrics.observe(event)
        self.health.observe(event)
        self.hub.observe(event)

    def listen(self, host: str, port: int, door: AccessPolicy, *, has_metrics: bool = True) -> int:
        """Serve on an address; return the port.

        Raises:
            OSError: The port is taken, or there is no such address.
        """
        expose = (lambda accept: exposition(self._metrics, accept)) if has_metrics else None
        site = Site(self.hub, self._presenter, self.health, expose)
        found, stop = listen(site, host, port, door)
        self._stops.append(stop)
        if door.page is None and not self._presenter.is_running:
            self._presenter.start()
        return found

    def open(self, config: Config) -> None:
        """Listen wherever the configuration says so, and log where that is.

        Raises:
            EngineError: A port is taken.
        """
        for one in listeners(config):
            door = AccessPolicy(one.host, config.http.token, one.page)
            what = "metrics" if one.table == "metrics" else "the page"
            try:
                port = self.listen(one.host, one.port, door, has_metrics=one.has_metrics)
            except OSError as error:
                self.close()
                raise EngineError(
                    f"{what} cannot be served on {one.host}:{one.port}: {error.strerror or error}. "
                    f"Set port in [{one.table}] to another, or to 0 for a free one"
                ) from error
            address = f"http://{f'[{one.host}]' if ':' in one.host else one.host}:{port}"
            if one.has_metrics and one.table == "metrics":
                log.info("metrics on %s/metrics", address)
            if one.page is None:
                log.info("the page is at %s/%s", address, "" if config.http.token is None else "?token=...")
            elif one.page is NO_TOKEN:
                log.warning("%s", one.page)

    def close(self) -> None:
        """Serve nobody any more."""
        self._presenter.close()
        while self._stops:
            self._stops.pop()()
