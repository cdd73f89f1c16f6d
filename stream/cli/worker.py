"""`espalier worker`: run the agents of a configuration."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

import logging
import signal
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import click

from stream.cli.options import config_option
from stream.config import Config, load
from stream.engines.kafka import Topics
from stream.errors import EngineError
from stream.metrics import Metrics, serve
from stream.worker import Worker

log = logging.getLogger("espalier")

STARTUP_SECONDS = 30.0


@click.command()
@config_option
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning"]), default="info", show_default=True
)
def worker(file: Path, log_level: str) -> None:
    """Run the agents of a configuration until stopped.

    Reads instances, answers each, learns from it, and writes predictions, tree changes, dead letters and its
    own state in one transaction per batch. Start as many workers as you like: for scope "topic" one is active
    and the others stand by, for scope "partition" they share the partitions. SIGTERM or Ctrl-C finishes the
    batch at hand and leaves; a killed worker loses nothing and doubles nothing.

    \b
    Examples:
      espalier worker
      espalier worker -c espalier.toml --log-level debug
      ESPALIER_KAFKA_BOOTSTRAP_SERVERS=broker:9092 espalier worker
    """
    logging.basicConfig(level=log_level.upper(), format="%(asctime)s %(levelname)s %(message)s")
    config = load(file)
    Topics(config.kafka).describe(seconds=STARTUP_SECONDS)
    metrics = Metrics()
    stop_metrics = _serve(config, metrics)
    work = Worker(config, metrics.observe)

    def on_signal(number: int, frame: FrameType | None) -> None:
        log.info("%s: finishing the batch at hand", signal.Signals(number).name)
        work.stop()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    names = ", ".join(agent.name for agent in config.agents)
    log.info("agents %s at %s", names, config.kafka.bootstrap_servers)
    work.start()
    try:
        while not work.wait(1.0):
            pass
    finally:
        stop_metrics()
    log.info("stopped")


def _serve(config: Config, metrics: Metrics) -> Callable[[], None]:
    if not config.metrics.enabled:
        return lambda: None
    try:
        port, stop = serve(metrics, config.metrics.host, config.metrics.port)
    except OSError as error:
        raise EngineError(
            f"metrics cannot be served on {config.metrics.host}:{config.metrics.port}: {error.strerror}. "
            "Set port in [metrics] to another, or to 0 for a free one"
        ) from error
    log.info("metrics on http://%s:%d/metrics", config.metrics.host, port)
    return stop
