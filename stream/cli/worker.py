"""`espalier worker`: run the agents of a configuration."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

import logging
import signal
from pathlib import Path
from types import FrameType

import click
import msgspec

from stream.cli.gc_tuning import look_less_often
from stream.cli.options import config_option
from stream.config import Config, EngineName, LogLevel, load
from stream.events import Event
from stream.kafka.topics import TopicAdmin
from stream.observe import logs
from stream.observe.metrics import Metrics
from stream.observe.notices import Notices
from stream.page.http_app import HttpApp
from stream.worker import Worker

log = logging.getLogger("espalier")

STARTUP_SECONDS = 30.0


@click.command()
@config_option
@click.option(
    "--engine",
    type=click.Choice([name.value for name in EngineName]),
    help="What drives the agents, if not what the configuration says.",
)
@click.option(
    "--log-level",
    type=click.Choice([level.value for level in LogLevel]),
    help="How much is logged, if not what the configuration says.",
)
def worker(file: Path, engine: str | None, log_level: str | None) -> None:
    """Run the agents of a configuration until stopped.

    Reads instances, answers each, learns from it, and writes predictions, tree changes, dead letters and its
    own state in one transaction per batch. Start as many workers as you like: for scope "topic" one is active
    and the others stand by, for scope "partition" they share the partitions. SIGTERM or Ctrl-C finishes the
    batch at hand and leaves; a killed worker loses nothing and doubles nothing.

    The live page, the metrics and the health checks are on one port, 9464 of this machine unless [metrics] or
    [http] say otherwise. SIGUSR1 switches debug on and off.

    \b
    Examples:
      espalier worker
      espalier worker -c espalier.toml --log-level debug
      espalier worker --engine faust
      ESPALIER_KAFKA_BOOTSTRAP_SERVERS=broker:9092 espalier worker
    """
    config = load(file)
    if log_level is not None:
        wanted = msgspec.structs.replace(config.log, level=LogLevel(log_level))
        config = msgspec.structs.replace(config, log=wanted)
    logs.start(config.log)
    if engine is not None:
        config = msgspec.structs.replace(config, engine=EngineName(engine))
    look_less_often()
    metrics = Metrics()
    front = HttpApp(config.agents, metrics)
    front.open(config)
    try:
        _run(config, front, metrics)
    finally:
        front.close()


def _run(config: Config, front: HttpApp, metrics: Metrics) -> None:
    """Run the agents until told to stop. What is served is there before: it says what is waited for."""
    TopicAdmin(config.kafka).describe(seconds=STARTUP_SECONDS)

    notices = Notices()

    def observe(event: Event) -> None:
        front.observe(event)
        logs.observe(event)
        notices.observe(event)

    work = Worker(config, observe, metrics)

    def on_signal(number: int, frame: FrameType | None) -> None:
        log.info("%s: finishing the batch at hand", signal.Signals(number).name)
        work.stop()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    names = ", ".join(agent.name for agent in config.agents)
    log.info("agents %s at %s", names, config.kafka.bootstrap_servers)
    work.start()
    front.health.has_started = True
    try:
        while not work.wait(1.0):
            notices.tick()
    finally:
        notices.close()
    log.info("stopped")
