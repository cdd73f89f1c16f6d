"""How much memory a tree of many different records holds: what it says, and what the process really takes.

Run as a program it is the process that is measured: `python -m lab.bench.memory 1000000`.
"""

import gc
import sys
from pathlib import Path

import click
import msgspec

from lab.bench.contenders import fresh, learn
from lab.bench.measure import CpuClock, PeerFailed
from lab.bench.streams import Nominal
from stream.broker.process import run

CHUNK = 2_000
"""Small, so that what the records take on their way in does not count."""
SECONDS = 300.0
PAGES = Path("/proc/self/statm")
PAGE = 4_096


class Held(msgspec.Struct):
    """What a tree holds, in bytes.

    Attributes:
        records: How many different records it has learned.
        reported: What it says.
        resident: By how much the process has grown; None where the system does not tell.
    """

    records: int
    reported: int
    resident: int | None


def resident() -> int | None:
    """Return how much memory this process has at the moment."""
    return int(PAGES.read_text().split()[1]) * PAGE if PAGES.is_file() else None


def hold(records: int, noise: float) -> Held:
    """Learn until there are so many different records."""
    source = Nominal(noise)
    warm = fresh(source)
    learn(warm, source.draw(CHUNK), CpuClock())
    del warm
    gc.collect()
    before = resident()
    learner = fresh(source)
    while learner.tree.distinct < records:
        learn(learner, source.draw(min(CHUNK, records - learner.tree.distinct)), CpuClock())
    gc.collect()
    after = resident()
    grown = None if before is None or after is None else after - before
    return Held(learner.tree.distinct, learner.model_bytes, grown)


def hold_elsewhere(records: int, noise: float) -> Held:
    """Do the same in a process of its own, where nothing else takes memory or gives it back.

    Raises:
        PeerFailed: The process ended otherwise.
    """
    told = run(
        [sys.executable, "-m", "lab.bench.memory", str(records), str(noise)],
        directory=Path.cwd(),
        seconds=SECONDS,
    )
    if told.returncode != 0:
        raise PeerFailed(f"the process that measures memory failed: {told.stderr.strip()[-200:]}")
    return msgspec.json.decode(told.stdout, type=Held)


if __name__ == "__main__":
    click.echo(msgspec.json.encode(hold(int(sys.argv[1]), float(sys.argv[2]))))
