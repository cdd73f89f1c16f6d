"""`espalier bench idle`: the report compares latency with and without improving."""

from lab.bench.idle import _report
from lab.bench.latency import Latency


def test_the_bench_compares_the_slowest_answers_with_those_without_improving() -> None:
    from_off = Latency(5.0, 12.0, 10)
    found = {
        (50, "off"): [from_off, Latency(6.0, 20.0, 10)],
        (50, "half of spare time"): [Latency(6.0, 30.0, 10), Latency(6.0, 21.0, 10)],
        (50, "all of it"): [Latency(6.0, 23.0, 10), Latency(6.0, 40.0, 10)],
    }
    report = _report(found, quick=True)
    assert [goal.met for goal in report.goals] == [True, False]
    assert [goal.measured for goal in report.goals] == ["9.0 ms", "11.0 ms"]
