"""What Faust's web server shows of our agents: their health, and their metrics beside Faust's own."""

import functools
from collections.abc import Iterable
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import faust
from faust.sensors import prometheus
from faust.web import Request, Response, View

from stream.config import Agent, Scope
from stream.observe.health import Health, Verdict
from stream.observe.metrics import Metrics, exposition

OURS = "espalier_"


class _Family(Protocol):
    name: str


class _Ours:
    """Our metrics for a registry that somebody else shows, and that has its own of the process."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[_Family]:
        """Return what there is."""
        return [family for family in self._metrics.registry.collect() if family.name.startswith(OURS)]


@functools.cache
def shared_metrics() -> Metrics:
    """Return the metrics of this process, which are shown wherever Faust's own sensors are.

    `setup_prometheus_sensors(app)` shows what is in the registry that all of a process share.
    """
    metrics = Metrics()
    prometheus.REGISTRY.register(_Ours(metrics))  # type: ignore
    return metrics


class Pages:
    """The pages of one application.

    `/espalier/livez`: whether no agent has failed. `/espalier/readyz`: whether each has been assigned its
    input and has restored its models; with `?standby=ok`, or stands by. `/espalier/metrics`: ours alone.

    Args:
        app: The application.
        metrics: What is shown.
    """

    def __init__(self, app: faust.App, metrics: Metrics) -> None:
        self._healths: dict[str, Health] = {}
        pages = self

        @app.page("/espalier/livez")
        async def livez(view: View, request: Request) -> Response:
            return _answer(view, [health.alive() for health in pages._healths.values()])

        @app.page("/espalier/readyz")
        async def readyz(view: View, request: Request) -> Response:
            standby = request.query.get("standby") == "ok"
            return _answer(view, [health.ready(standby=standby) for health in pages._healths.values()])

        @app.page("/espalier/metrics")
        async def show(view: View, request: Request) -> Response:
            body, media_type = exposition(metrics, request.headers.get("Accept", ""))
            return view.bytes(body, headers={"Content-Type": media_type})

    def add(self, agent: Agent) -> Health:
        """Show an agent; what is returned is to be told of its events."""
        watched = (agent.name, agent.input, agent.scope is Scope.PARTITION)
        health = self._healths[agent.name] = Health([watched])
        return health


_PAGES: "WeakKeyDictionary[Any, Pages]" = WeakKeyDictionary()


def pages_of(app: faust.App, metrics: Metrics) -> Pages:
    """Return the pages of an application, which get their addresses when the first agent comes."""
    pages = _PAGES.get(app)
    if pages is None:
        pages = _PAGES[app] = Pages(app, metrics)
    return pages


def _answer(view: View, verdicts: list[Verdict]) -> Response:
    text = "".join(f"{line}\n" for verdict in verdicts for line in verdict.lines)
    return view.text(text, status=200 if all(verdict.is_good for verdict in verdicts) else 503)
