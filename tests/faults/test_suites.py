"""A hundredth of the fault suites on every commit; the whole by hand: `make faults`."""

from collections.abc import Iterator

import pytest

from stream.broker.install import Sources
from tests.faults import control
from tests.faults.ground import Ground
from tests.faults.quick import ON_ONE_NODE, SEED, run_quick

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def ground(broker_sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """A broker of our own: it is hurt, and it is set to forget soon."""
    with Ground(tmp_path_factory.mktemp("faults"), sources=broker_sources) as ground:
        yield ground


@pytest.mark.parametrize("name", ON_ONE_NODE)
def test_nothing_is_lost_and_nothing_is_doubled(ground: Ground, name: str) -> None:
    run_quick(ground, name)


@pytest.mark.parametrize("name", control.QUICK)
def test_a_seeded_bug_is_caught(ground: Ground, name: str) -> None:
    caught = control.seed_bug(ground, name, SEED, most=25)
    print(control.row(caught))
    assert caught.how is not None, control.row(caught)
