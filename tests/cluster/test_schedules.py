"""The real session over a fake cluster: whatever the schedule, every promise is kept."""

import pytest

from tests.cluster.faults import CLIENT_FAULTS, EVENTS
from tests.cluster.runs import run, run_one
from tests.cluster.world import simulated

FIRST_SEED = 1
COUNT = 10_000


@pytest.mark.timeout(1_800)
def test_ten_thousand_schedules_keep_every_promise() -> None:
    result = run(FIRST_SEED, COUNT, lambda text: print(text, flush=True))
    assert not result.failures, "\n".join(map(str, result.failures))
    assert result.done == COUNT
    missing = [name for name in (*CLIENT_FAULTS, *EVENTS) if result.faults[name] < 10]
    assert not missing, f"hardly ever happened: {missing}"


@pytest.mark.parametrize("seed", range(20))
def test_without_faults_every_record_is_dealt_with_once(seed: int) -> None:
    with simulated():
        _, why = run_one(seed, is_calm=True)
    assert why is None


@pytest.mark.parametrize("seed", range(20))
def test_a_seed_is_the_same_schedule_every_time(seed: int) -> None:
    with simulated():
        first, second = run_one(seed)[0], run_one(seed)[0]
    assert first.log and first.log == second.log
    assert first.scheduler.now == second.scheduler.now
    for place, log in first.cluster.brokers.logs.items():
        again = second.cluster.brokers.logs[place]
        assert [entry and entry[:3] for entry in log.entries] == [
            entry and entry[:3] for entry in again.entries
        ]
