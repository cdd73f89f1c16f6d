"""The promises of the engines, kept on Faust: workers killed at every step, and moved between the engines."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stream.broker import Broker
from stream.config import EngineName, Scope
from tests.faults import faust
from tests.faults.ground import Ground, Plan
from tests.faults.suites import SUITES
from tests.faults.world import World

pytestmark = [pytest.mark.broker, pytest.mark.timeout(240)]

STEPS = {
    "process.after": 2,
    "produce": 15,
    "offsets.before": 2,
    "offsets.after": 2,
    "commit.during": 1,
    "commit.after": 2,
}
"""Where a batch is half done, and which time a worker comes by there is its last."""


@pytest.fixture
def ground(broker: Broker, tmp_path: Path) -> Iterator[Ground]:
    with Ground(tmp_path, broker.bootstrap_servers) as ground:
        yield ground


def test_a_worker_on_faust_killed_between_any_two_steps_loses_and_doubles_nothing(ground: Ground) -> None:
    with faust.workers_on(EngineName.FAUST) as workers:
        world = World(ground.servers, ground.directory, workers)
        for step, time in STEPS.items():
            world.feed(25)
            worker = world.start({step: time})
            assert worker.wait(60) == -9, (step, world.last_words())
        world.feed(10)
        world.settle(world.start())
        world.check()


def test_workers_on_faust_killed_again_and_again_lose_and_double_nothing(ground: Ground) -> None:
    result = faust.run(Plan(ground, repeat=SUITES["faust"].quick, seed=7))
    assert result.failure is None
    assert result.done == SUITES["faust"].quick


THERE_AND_BACK = (EngineName.CONFLUENT, EngineName.FAUST, EngineName.CONFLUENT)


@pytest.mark.parametrize(
    ("engines", "scope", "partitions", "handover", "overlap"),
    [
        (THERE_AND_BACK, Scope.TOPIC, 1, "stopped", False),
        (THERE_AND_BACK, Scope.TOPIC, 3, "killed", True),
        (THERE_AND_BACK, Scope.PARTITION, 3, "stopped", True),
        ((EngineName.FAUST, EngineName.FAUST), Scope.PARTITION, 2, "stopped", True),
        ((EngineName.FAUST, EngineName.FAUST), Scope.TOPIC, 2, "killed", True),
    ],
)
def test_a_worker_that_takes_over_in_the_middle_of_the_stream_shows_nothing_of_it(
    ground: Ground,
    engines: tuple[EngineName, ...],
    scope: Scope,
    partitions: int,
    handover: str,
    overlap: bool,
) -> None:
    faust.move(ground, engines, scope=scope, partitions=partitions, handover=handover, overlap=overlap)
