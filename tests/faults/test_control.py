"""Fault suites are held to what they promise; a seeded bug is caught by its own finding alone."""

import dataclasses
from typing import Any

import pytest

from tests.faults import control
from tests.faults.bugs import BUGS
from tests.faults.ground import Plan, Result, Tally, in_lanes
from tests.faults.proxy import Api, Request, parse
from tests.faults.suites import SUITES
from tests.faults.world import Failure

REFUSED = "a worker ended by itself with 70: 2026-01-01 00:00:00 INFO model w.in: restored / espalier: "
BEHIND = f"{REFUSED}w.journal does not reach the committed offsets of w.in: partition 0 at 3 instead of 4"
GAP = f"{REFUSED}entry 7 of w.journal follows entry 3. Part of the journal is missing"
OTHER_TREE = f"{REFUSED}entry 3 of w.journal leads to tree abc, but def was written"
STILL = "a worker stands still: 2026-01-01 00:00:00 INFO model w.in: restored"
FINDINGS = {
    "B1": BEHIND,
    "B2": "the audit found 23 reordered, 18 doubled: reordered: p/0: the prediction of offset 3",
    "B3": "the audit found 82 doubled, 61 torn, 76 reordered, 1 wrong_tree: doubled: p/0: offset 1",
    "B4": OTHER_TREE,
    "B5": BEHIND,
    "B6": STILL,
    "B7": GAP,
    "B8": GAP,
    "B9": OTHER_TREE,
    "B10": OTHER_TREE,
    "B11": STILL,
    "B12": "the audit found 1 doubled: doubled: in/0: offset 3 of the input: more than one dead letter",
    "B13": "the audit found 33 chain_fork, 93 wrong_digest: chain_fork: c/0: change 3 is there twice",
    "B14": OTHER_TREE,
    "B15": STILL,
    "B16": GAP,
}
"""What each bug is caught by, in the words of the suites."""
UNRELATED = (
    "a worker ended by itself with 1: RuntimeError: it could not be put in",
    "a worker ended by itself with 74: espalier: the broker refuses",
    "a worker ended by itself with 78: espalier: there is no agent",
    "only 3 of 25 faults were made",
    "workers ended by themselves (3 with 74), of which the faults explain 0",
    "the input could not be fed",
    "lane 2: KeyError('x')",
)


@pytest.mark.parametrize("name", BUGS)
def test_a_seeded_bug_is_caught_by_its_own_finding_and_by_nothing_else(name: str) -> None:
    finding = FINDINGS[name]
    assert control.judged(name, 20, 1.0, finding).how == finding
    assert control.judged(name, 0, 1.0, finding).how is None, "nothing was done to it"
    assert control.judged(name, 20, 1.0, None).how is None
    for failure in UNRELATED:
        caught = control.judged(name, 20, 1.0, failure)
        assert (caught.how, caught.otherwise) == (None, failure)
        assert "NOT CAUGHT, but: " in control.row(caught)


def test_there_are_sixteen_seeded_bugs_and_each_has_a_suite_and_a_finding() -> None:
    assert list(BUGS) == [f"B{number}" for number in range(1, 17)]
    assert {bug.suite for bug in BUGS.values()} <= set(SUITES)
    assert set(FINDINGS) == set(BUGS)
    assert set(control.QUICK) <= set(BUGS)


class Suite:
    """A suite that ends at once, with a result of our choice."""

    def __init__(self, **result: Any) -> None:
        self.result = Result("kill", **result)
        self.runs = 0

    def run(self, plan: Plan) -> Result:
        self.runs += 1
        return self.result


@pytest.mark.parametrize(
    ("result", "caught"),
    [
        ({"done": 3, "failure": FINDINGS["B5"]}, True),
        ({"done": 0, "failure": FINDINGS["B5"]}, False),
        ({"done": 3, "failure": UNRELATED[0]}, False),
        ({"done": 25, "failure": None}, False),
    ],
)
def test_a_run_of_a_seeded_bug_is_judged(
    monkeypatch: pytest.MonkeyPatch, result: dict[str, Any], caught: bool
) -> None:
    suite = Suite(**result)
    monkeypatch.setitem(SUITES, "kill", SUITES["kill"]._replace(run=suite.run))
    told = control.seed_bug(None, "B5", 1, 25)  # type: ignore[arg-type]
    assert (told.how is not None) == caught
    # Where nothing at all went wrong it is tried again: chance decides where faults strike.
    assert suite.runs == (control.SEEDS if result["failure"] is None else 1)


# ---- what a suite promises


def plan(**more: Any) -> Plan:
    return Plan(None, 10, **more)  # type: ignore[arg-type]


def test_a_suite_that_did_less_than_it_was_asked_for_has_failed() -> None:
    assert Result("s", done=10).conclude(plan(), 10).failure is None
    assert Result("s", done=9).conclude(plan(), 10).failure == "only 9 of 10 faults were made"
    assert Result("s", done=9, skipped=["a disk"]).conclude(plan(), 10).failure is None
    assert Result("s", done=0, failure="lost").conclude(plan(), 10).failure == "lost"
    assert Result("s", done=1).conclude(plan(until=0.0), 10).failure is None, "it was told to stop"


def test_workers_that_end_by_themselves_are_a_failure_unless_faults_explain_it() -> None:
    result = Result("s", done=10)
    tally = Tally(plan(), result)
    for status in (74, 74, 75):
        tally.ended(status)
    assert dataclasses.replace(result).conclude(plan(), 10, most_ends=3).failure is None
    failure = dataclasses.replace(result).conclude(plan(), 10, most_ends=2).failure
    assert failure == "workers ended by themselves (2 with 74, 1 with 75), of which the faults explain 2"


def test_whatever_goes_wrong_in_a_lane_is_a_failure_of_the_suite() -> None:
    for error in (Failure("lost"), AssertionError("lost"), KeyError("lost")):
        result = Result("s")
        tally = Tally(plan(), result)

        def work(number: int, error: Exception = error) -> None:
            raise error

        in_lanes(2, tally, work)
        assert result.failure is not None and "lost" in result.failure
        assert not tally.take(), "nothing more is begun"


def test_the_proxy_reads_whose_transaction_is_meant() -> None:
    old = b"\x00\x1a\x00\x01\x00\x00\x00\x07\x00\x07rdkafka\x00\x05loans" + b"\x00" * 11
    assert parse(old) == Request(Api.END_TXN, 1, 7, "loans", old)
    new = b"\x00\x1c\x00\x03\x00\x00\x00\x08\x00\x07rdkafka\x00\x06loans" + b"\x00" * 11
    assert parse(new) == Request(Api.TXN_OFFSET_COMMIT, 3, 8, "loans", new)
