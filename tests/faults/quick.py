"""A hundredth of a fault suite, and what is asked of it."""

from tests.faults.ground import Ground, Plan
from tests.faults.suites import SUITES
from tests.needs import BROKER, missing

SEED = 20
ON_CLUSTERS = ("network", "broker")
"""Suites with brokers of their own, which nobody else may have at the same time."""
ON_ONE_NODE = tuple(
    name for name, suite in SUITES.items() if suite.quick and name not in (*ON_CLUSTERS, "faust")
)


def run_quick(ground: Ground, name: str) -> None:
    """Run a suite; it has made all its faults, and nothing was lost or doubled."""
    suite = SUITES[name]
    result = suite.run(Plan(ground, suite.quick, SEED, say=lambda told: None, patience=150))
    print(result)
    assert result.failure is None
    # Of the records of `poison` one in eleven is bad; everywhere else a fault is a fault.
    assert result.done + len(result.skipped) >= (suite.quick // 13 if name == "poison" else suite.quick)
    assert result.records >= suite.quick or name == "odd"
    if result.skipped:
        missing(f"could not be tried: {'; '.join(result.skipped)}", BROKER)
