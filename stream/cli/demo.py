"""`espalier demo`: a broker, a stream and a growing tree, with one command."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import NamedTuple, Self

import click
import rich.console
import rich.live

from learners.learner import make_options
from learners.registry import LEARNERS
from stream.broker import BrokerError, Fetch, Sources
from stream.cli.broker import progress_bars, source_options
from stream.cli.evaluate import checked_learner
from stream.config import Agent
from stream.config.settings import DEFAULT_LEARNER
from stream.demo.feeder import Feeder
from stream.demo.generators import CHANGING, DEFAULT_GENERATOR, GENERATORS, OPTIONS
from stream.demo.observe import Observatory, ObserveError
from stream.demo.probe import UNSEEN_SEED, Probe
from stream.demo.results import DemoResults
from stream.demo.runtime import DemoRuntime, KafkaRuntime, MemoryRuntime
from stream.demo.view import Facts, View, progress_line, tree_text
from stream.errors import EngineError
from stream.model.number_hints import Observe
from stream.observe.metrics import Metrics
from stream.page.access_policy import AccessPolicy
from stream.page.http_app import HttpApp

ROOT = Path(".espalier/demo")
METRICS_HOST = "127.0.0.1"
METRICS_PORT = 9464
VISIBLE_RATE = 200.0
LINE_SECONDS = 2.0
TREE_LINES = 20
QUIET_RECORDS = 4_000
"""So many records a learner that improves in spare time gets, if nothing is said; then none arrive."""
QUIET_SECONDS = 30.0
SILENCE_SECONDS = 60.0
"""How long nothing may come back, while something is expected, before the demonstration gives up."""


class Wanted(NamedTuple):
    """What was asked for."""

    agent: Agent
    engine: str
    generator: str
    seed: int
    records: int | None
    rate: float | None
    partitions: int
    stay: bool
    observe: bool
    quiet: float
    improves: bool


@click.command()
@click.option(
    "--records", type=click.IntRange(min=1), metavar="N", help="End after N records. [default: go on]"
)
@click.option(
    "--learner",
    default=DEFAULT_LEARNER,
    show_default=True,
    callback=checked_learner,
    help=f"One of {', '.join(LEARNERS)}.",
)
@click.option(
    "--generator",
    type=click.Choice(list(GENERATORS)),
    default=DEFAULT_GENERATOR,
    show_default=True,
    help="What the records are about.",
)
@click.option(
    "--engine",
    type=click.Choice(["kafka", "memory"]),
    default="kafka",
    show_default=True,
    help="A real broker, or topics that are lists.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    metavar="R",
    help=f"Records a second. [default: {VISIBLE_RATE:g}; with --records as fast as they go]",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Which records.")
@click.option(
    "--partitions",
    type=click.IntRange(1, 64),
    help="Partitions of the input topic; one tree learns from all of them. "
    "[default: 2; 1 where the order of the records matters, because the concept changes]",
)
@click.option(
    "--quiet",
    type=click.FloatRange(min=0),
    metavar="S",
    help="With --records: go on for S seconds while nothing arrives. "
    f"[default: {QUIET_SECONDS:g} with a learner that improves in spare time, else 0]",
)
@click.option("--stay", is_flag=True, help="With --records: go on serving the page until Ctrl-C.")
@click.option(
    "--observe", is_flag=True, help="Start Prometheus too, where it is installed, and go on until Ctrl-C."
)
@source_options
def demo(
    records: int | None,
    learner: str,
    generator: str,
    engine: str,
    rate: float | None,
    seed: int,
    partitions: int | None,
    quiet: float | None,
    stay: bool,
    observe: bool,
    cache: Path | None,
    fetch: str,
    java: Path | None,
) -> None:
    """Watch a tree grow on a real Kafka.

    Starts a broker of its own, makes the topics, runs a worker, and puts made-up records in. All that is
    shown is read back from the output topics; the worker's live page is one click away. Ctrl-C ends it;
    nothing is left running. Without a broker to be had it goes on in memory.

    Exit status: 0 done, 1 interrupted before all of --records had been read back.

    \b
    Examples:
      espalier demo
      espalier demo --records 2000
      espalier demo --records 2000 --stay
      espalier demo --observe
      espalier demo --generator stagger --learner id5r --rate 500
      espalier demo --generator sea --rate 500
      espalier demo --engine memory --records 300
      espalier demo --learner iidt-ts --generator xor --records 4000
    """
    settings = OPTIONS.get(generator) if learner == DEFAULT_LEARNER else None
    options = None if settings is None else make_options(LEARNERS[learner].options_type, settings)
    agent = Agent(name=generator, input=generator, learner=learner, options=options)
    improves = LEARNERS[learner].improves
    if partitions is None:
        partitions = 1 if generator in CHANGING else 2
    if quiet is None:
        quiet = QUIET_SECONDS if improves else 0.0
    if rate is None and records is None and not improves:
        rate = VISIBLE_RATE
    wanted = Wanted(
        agent, engine, generator, seed, records, rate, partitions, stay or observe, observe, quiet, improves
    )
    with _interruptible(), Performance(wanted, Sources(cache, Fetch(fetch), java)) as performance:
        try:
            performance.run()
        except KeyboardInterrupt:
            click.echo("ending ...", err=True)
    performance.summarise()
    if not performance.is_done:
        click.get_current_context().exit(1)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does; a second of either does what it always did, should the end hang."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def interrupt(number: int, frame: FrameType | None) -> None:
        restore()
        raise KeyboardInterrupt

    for number in before:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        restore()


class Performance:
    """One demonstration, from the start of the broker to its end.

    Args:
        wanted: What was asked for.
        sources: Where Java and the jars of the broker come from.
    """

    def __init__(self, wanted: Wanted, sources: Sources) -> None:
        self.board = DemoResults(wanted.agent)
        self._wanted = wanted
        self._sources = sources
        self._seconds: dict[str, float] = {}
        self._stage: DemoRuntime | None = None
        self._feed: Feeder | None = None
        self._page = ""
        self._probe = Probe(GENERATORS[wanted.generator](wanted.seed + UNSEEN_SEED))
        self._unseen: tuple[int, float] = (-1, 0.0)
        self._quiet_since: float | None = None
        self._links: list[tuple[str, str]] = []
        self._end = contextlib.ExitStack()

    def run(self) -> None:
        """Start everything, and show it until it is done."""
        front = HttpApp([self._wanted.agent], Metrics())
        began = time.monotonic()
        self._stage = self._start_stage(front.observe)
        front.health.has_started = True
        self._seconds["start"] = time.monotonic() - began
        self._end.push(self._close_stage)
        self._end.callback(front.close)
        port = _serve(front)
        self._page = f"http://{METRICS_HOST}:{port}/"
        address = f"{self._page}metrics"
        if self._wanted.observe:
            self._observe(f"{METRICS_HOST}:{port}")
        click.echo(f"running {self._stage.title}; metrics at {address}")
        for name, command in self._hints(self._stage):
            click.echo(f"  {name}: {command}")
        instances = GENERATORS[self._wanted.generator](self._wanted.seed)
        records = self._wanted.records
        if records is None and self._wanted.improves:
            records = QUIET_RECORDS
        self._feed = Feeder(self._stage, instances, records, self._wanted.rate)
        began = time.monotonic()
        self._end.callback(self._feed.stop)
        self._feed.start()
        try:
            self._watch(self._stage, self._feed, address, front)
        finally:
            self._seconds["records"] = time.monotonic() - began

    def _observe(self, target: str) -> None:
        """Have Prometheus keep the metrics; without one the demonstration is no worse."""
        try:
            observatory = Observatory(target)
        except ObserveError as error:
            click.echo(str(error), err=True)
            return
        self._end.callback(observatory.close)
        self._links = observatory.links()

    def _hints(self, stage: DemoRuntime) -> list[tuple[str, str]]:
        return [("page", self._page), *self._links, *stage.hints()]

    def _start_stage(self, observe: Observe) -> DemoRuntime:
        agent, partitions = self._wanted.agent, self._wanted.partitions
        if self._wanted.engine == "kafka":
            try:
                with progress_bars() as report:
                    return KafkaRuntime(agent, partitions, observe, ROOT, self._sources, report)
            except (BrokerError, OSError) as error:
                click.echo(f"no broker to be had: {error}", err=True)
                click.echo("going on in memory: the same agent, with lists for topics", err=True)
        return MemoryRuntime(agent, partitions, observe)

    def _is_over(self) -> bool:
        """Whether all records are through; somebody who wants to stay says himself when it is over."""
        records = self._wanted.records
        if records is None or not self.board.is_complete(records) or self._wanted.stay:
            return False
        now = time.monotonic()
        self._quiet_since = now if self._quiet_since is None else self._quiet_since
        return now - self._quiet_since >= self._wanted.quiet or self._accuracy_unseen() == 1.0

    def _accuracy_unseen(self) -> float | None:
        """Return how right the tree is about instances that were never sent, of a learner that improves."""
        if not self._wanted.improves:
            return None
        version = self.board.replica.version
        if self._unseen[0] != version:
            self._unseen = (version, self._probe.accuracy(self.board.replica.outline))
        return self._unseen[1]

    def _watch(self, stage: DemoRuntime, feed: Feeder, address: str, front: HttpApp) -> None:
        """Read the topics, and show what they tell, until all records are through."""
        console = rich.console.Console()
        shown = -LINE_SECONDS
        heard = time.monotonic()
        live = rich.live.Live(console=console, screen=True, auto_refresh=False)
        with live if console.is_terminal else contextlib.nullcontext():
            while not self._is_over():
                news = stage.news()
                feed.check()
                self.board.take(news)
                front.hub.set_lag(self._wanted.agent.name, max(0, feed.sent - self.board.answered))
                now = time.monotonic()
                heard = now if news or feed.sent <= self.board.answered else heard
                if now - heard > SILENCE_SECONDS:
                    raise EngineError(f"nothing came back for {SILENCE_SECONDS:g} s. Read the logs in {ROOT}")
                facts = self._facts(stage, feed, address)
                if console.is_terminal:
                    live.update(View(self.board, facts), refresh=True)
                elif now - shown >= LINE_SECONDS:
                    shown = now
                    click.echo(progress_line(self.board, facts))

    def _facts(self, stage: DemoRuntime, feed: Feeder, address: str) -> Facts:
        what = f"{self._wanted.agent.learner} on {self._wanted.generator}"
        hints, unseen = self._hints(stage), self._accuracy_unseen()
        return Facts(what, stage.title, self._wanted.records, feed.sent, address, hints, unseen)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End everything that was started, the last first."""
        began = time.monotonic()
        self._end.__exit__(kind, error, trace)
        self._seconds["end"] = time.monotonic() - began

    def _close_stage(self, kind: type[BaseException] | None, *_: object) -> None:
        assert self._stage is not None
        self._stage.close(keep_files=kind is not None)

    @property
    def is_done(self) -> bool:
        """Whether every record that was asked for has been answered; without a number, whether it began."""
        if self._wanted.records is None:
            return self._feed is not None
        return self.board.predictions == self._wanted.records

    def _unseen_row(self) -> dict[str, str]:
        unseen = self._accuracy_unseen()
        return {} if unseen is None else {"never seen": f"{unseen:.2%} of instances that were not sent"}

    def summarise(self) -> None:
        """Print what it came to."""
        if self._stage is None:
            return
        board, tree = self.board, self.board.size
        rows = {
            "engine": self._stage.title,
            "learner": f"{self._wanted.agent.learner} on {self._wanted.generator}",
            "records": str(0 if self._feed is None else self._feed.sent),
            "predictions": str(board.predictions),
            "dead letters": str(board.dead_letters),
            "accuracy": f"{board.accuracy:.2%}, last 1,000: {board.recent_accuracy:.2%}",
            **self._unseen_row(),
            "tree": f"{tree.nodes} nodes, {tree.leaves} leaves, depth {tree.depth}",
            "changes": str(board.replica.version),
            **({"past dropped": board.drops_in_words(10)} if board.drops else {}),
            "digest": board.digest,
            "seconds": ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in self._seconds.items()),
        }
        for name, text in rows.items():
            click.echo(f"{name:<13}{text}")
        click.echo(f"\n{tree_text(board, TREE_LINES)}")


def _serve(front: HttpApp) -> int:
    """Serve the page and the metrics at the usual port, or at a free one if that is taken; return it."""
    try:
        return front.listen(METRICS_HOST, METRICS_PORT, AccessPolicy(METRICS_HOST, None))
    except OSError:
        return front.listen(METRICS_HOST, 0, AccessPolicy(METRICS_HOST, None))
