"""The fault suites that have brokers of their own: behind a proxy, and three of which one is hurt."""

from pathlib import Path

import pytest

from stream.broker.install import Sources
from tests.faults.ground import Ground
from tests.faults.quick import ON_CLUSTERS, run_quick

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]


@pytest.mark.parametrize("name", ON_CLUSTERS)
def test_nothing_is_lost_and_nothing_is_doubled(broker_sources: Sources, tmp_path: Path, name: str) -> None:
    # Its brokers end with it, so that no idle ones run beside what comes next.
    with Ground(tmp_path, sources=broker_sources) as ground:
        run_quick(ground, name)
