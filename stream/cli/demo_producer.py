"""Made-up instances for a topic, without an end: `python -m stream.cli.demo_producer TOPIC`.

What `espalier demo` feeds to its own broker, for a broker that is there already: the demonstration in
containers runs it beside a worker.
"""

import logging
import signal
import sys
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click
import msgspec

from stream.cli.options import kafka_of, kafka_options
from stream.demo.generators import DEFAULT_GENERATOR, GENERATORS, Generated
from stream.errors import EngineError, StreamError
from stream.kafka.sender import Sender
from stream.kafka.topics import TopicAdmin

log = logging.getLogger("espalier")

PAUSE_SECONDS = 0.1
TELL_EVERY = 10_000
"""After so many records a line is logged."""
STARTUP_SECONDS = 30.0


@click.command()
@click.argument("topic")
@click.option(
    "--generator", type=click.Choice(list(GENERATORS)), default=DEFAULT_GENERATOR, show_default=True
)
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), default=100.0, show_default=True)
@click.option("--records", type=click.IntRange(min=1), help="End after N. [default: go on]")
@click.option("--seed", type=int, default=1, show_default=True)
@kafka_options
def main(
    topic: str,
    generator: str,
    rate: float,
    records: int | None,
    seed: int,
    file: Path,
    bootstrap_servers: str | None,
) -> None:
    """Put made-up instances into a topic until stopped."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    kafka = kafka_of(file, bootstrap_servers)
    if not TopicAdmin(kafka).describe([topic], seconds=STARTUP_SECONDS):
        raise EngineError(f'there is no topic "{topic}". Make it with "espalier topics create"')
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    log.info("%g records a second of %s into %s", rate, generator, topic)
    sent = feed(Sender(kafka), topic, islice(GENERATORS[generator](seed), records), rate, stop)
    log.info("%d records sent", sent)


def feed(
    sender: Sender, topic: str, instances: Iterator[Generated], rate: float, stop: threading.Event
) -> int:
    """Send instances at a rate until told to stop; return how many."""
    encode = msgspec.json.Encoder().encode
    sent = 0
    share = max(1, round(rate * PAUSE_SECONDS))
    while some := list(islice(instances, share)):
        for instance in some:
            sender.send(topic, encode(instance), str(sent).encode())
            sent += 1
            if sent % TELL_EVERY == 0:
                log.info("%d records sent", sent)
        if stop.wait(share / rate):
            break
    sender.flush()
    return sent


def run() -> None:
    """Run it as a program: what has a name among our errors ends with its message and its exit status."""
    try:
        main(prog_name="python -m stream.cli.demo_producer")
    except StreamError as error:
        click.echo(f"espalier: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    run()
