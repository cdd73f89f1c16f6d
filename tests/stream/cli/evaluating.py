"""Run `espalier evaluate` and read its results."""

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner, Result

from stream.cli.evaluate import evaluate as command

ROWS = ["sunny,weak,P", "rain,weak,N", "sunny,weak,P", "rain,weak,N", "rain,strong,P"]
Csv = Callable[..., Path]


def run(*arguments: str | Path, status: int = 0) -> Result:
    given = [str(one) for one in arguments]
    if "--learner" not in given and "--help" not in given:
        # The bare algorithm, whose every step is known; the default waits until a test is significant.
        given += ["--learner", "id5r-reference"]
    result = CliRunner().invoke(command, given)
    assert result.exit_code == status, result.output
    return result


def told(*arguments: str | Path) -> dict[str, object]:
    answer = json.loads(run(*arguments, "--json").stdout)
    assert isinstance(answer, dict)
    return answer


def traced(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]
