"""The benches that follow the cost of a record along a stream."""

import pytest
from click.testing import CliRunner

from lab.cli.bench import bench


@pytest.mark.parametrize(
    ("name", "goal"),
    [
        ("mdl", "records per CPU second, 22 attributes, 5 % noise"),
        ("nt", "nt: cost per record at 4,000 against 1,000 records"),
    ],
)
def test_a_bench_prints_its_goals_and_the_cost_at_each_place(name: str, goal: str) -> None:
    result = CliRunner().invoke(bench, [name, "--quick"])
    assert result.exit_code == 0, result.output
    assert goal in result.output
    # Of both learners.
    assert result.output.count(" 4,000 ") >= 2
