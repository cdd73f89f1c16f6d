"""A hundredth of the fault suites on every commit; the whole by hand: `make faults`."""

from collections.abc import Iterator

import pytest

from stream.broker.install import Sources
from tests.faults import control
from tests.faults.bugs import BUGS
from tests.faults.ground import Ground, Plan
from tests.faults.proxy import Api, parse
from tests.faults.suites import SUITES

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]

SEED = 20


@pytest.fixture(scope="module")
def ground(broker_sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """A broker of our own: it is hurt, and it is set to forget soon."""
    with Ground(tmp_path_factory.mktemp("faults"), sources=broker_sources) as ground:
        yield ground


@pytest.mark.parametrize("name", [name for name in SUITES if SUITES[name].quick and name != "faust"])
def test_nothing_is_lost_and_nothing_is_doubled(ground: Ground, name: str) -> None:
    suite = SUITES[name]
    result = suite.run(Plan(ground, suite.quick, SEED, say=lambda told: None, patience=150))
    print(result)
    assert result.failure is None
    assert result.done >= min(suite.quick, result.records // 20)


@pytest.mark.parametrize("name", control.QUICK)
def test_a_seeded_bug_is_caught(ground: Ground, name: str) -> None:
    caught = control.seed_bug(ground, name, SEED, most=25)
    print(control.row(caught))
    assert caught.how is not None, BUGS[name].title


def test_there_are_sixteen_seeded_bugs_and_each_has_a_suite() -> None:
    assert list(BUGS) == [f"B{number}" for number in range(1, 17)]
    assert {bug.suite for bug in BUGS.values()} <= set(SUITES)


def test_the_proxy_reads_whose_transaction_is_meant() -> None:
    old = b"\x00\x1a\x00\x01\x00\x00\x00\x07\x00\x07rdkafka\x00\x05loans" + b"\x00" * 11
    assert parse(old) == (Api.END_TXN, 1, 7, "loans")
    new = b"\x00\x1c\x00\x03\x00\x00\x00\x08\x00\x07rdkafka\x00\x06loans" + b"\x00" * 11
    assert parse(new) == (Api.TXN_OFFSET_COMMIT, 3, 8, "loans")
