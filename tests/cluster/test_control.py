"""The tests of the test: each seeded bug is found by schedules, and by its own finding."""

import pytest

from tests.cluster.bugs import BUGS
from tests.cluster.runs import run_one
from tests.cluster.world import simulated

MOST_SCHEDULES = 500


@pytest.mark.parametrize("name", BUGS)
def test_a_seeded_bug_is_found(name: str) -> None:
    bug = BUGS[name]
    others: list[str] = []
    with simulated(), bug.installed():
        for seed in range(1, MOST_SCHEDULES + 1):
            _, why = run_one(seed)
            if why is None:
                continue
            if bug.is_found_in(why):
                return
            others.append(f"seed {seed}: {why}")
    pytest.fail(f"{bug.title}: not found in {MOST_SCHEDULES} schedules; other failures: {others[:3]}")


def test_a_bug_leaves_nothing_behind() -> None:
    before = {name: [getattr(o, n) for o, n, _ in bug.patches()] for name, bug in BUGS.items()}
    for name, bug in BUGS.items():
        with bug.installed():
            pass
        assert [getattr(o, n) for o, n, _ in bug.patches()] == before[name]
