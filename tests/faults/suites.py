"""All suites: their names, what they do, and how much of it."""

from collections.abc import Callable
from typing import NamedTuple

from tests.faults import brokers, faust, groups, kill, network, odd, poison, soak
from tests.faults.ground import Plan, Result


class Suite(NamedTuple):
    """A suite; `whole` faults by hand, `quick` in CI."""

    title: str
    run: Callable[[Plan], Result]
    whole: int
    quick: int


SUITES: dict[str, Suite] = {
    "kill": Suite(
        "workers killed with SIGKILL at random moments and at every named step", kill.run, 10_000, 100
    ),
    "network": Suite(
        "EndTxn and other requests lost, delayed or out of their time, by a proxy", network.run, 20_000, 200
    ),
    "zombie": Suite("workers stopped for longer than their session, then let go on", groups.zombies, 500, 10),
    "rebalance": Suite("workers that come and go, with both group protocols", groups.rebalances, 1_000, 20),
    "faust": Suite("the kills of the first row, of workers on Faust", faust.run, 1_000, 10),
    "poison": Suite("bad records among good ones, one to ten", poison.run, 1_000_000, 20_000),
    "odd": Suite(
        "topics, offsets, disks that change under a worker", odd.run, len(odd.OUTCOMES), len(odd.OUTCOMES)
    ),
    "broker": Suite("brokers of a cluster of three killed, frozen, restarted", brokers.run, 300, 5),
    "soak": Suite("half the top speed for half an hour; memory and latency", soak.run, 30, 0),
}
