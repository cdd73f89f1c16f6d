"""The README's example, copied and pasted: only the broker's address is another."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stream.broker import Broker
from tests.paths import REPOSITORY
from tests.workers import WorkerProcess, espalier

README = (REPOSITORY / "README.md").read_text()
ADDRESS = "127.0.0.1:9092"
SECONDS = 90.0
# The worker's metrics would listen on a port that may be taken; everything else is the README's.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY), "ESPALIER_METRICS_PORT": "0"}

pytestmark = [pytest.mark.broker, pytest.mark.timeout(240)]


def extracted(pattern: str) -> str:
    found = re.findall(pattern, README, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, pattern
    assert ADDRESS in found[0]
    return str(found[0])


@pytest.fixture
def worker(broker: Broker, tmp_path: Path) -> Iterator[Path]:
    """The README's configuration, topics and worker; returns the directory and leaves nothing running."""
    config = extracted(r"^cat > espalier\.toml <<'TOML'\n(.*?)^TOML$")
    (tmp_path / "espalier.toml").write_text(config.replace(ADDRESS, broker.bootstrap_servers))
    made = espalier("topics", "create", directory=tmp_path)
    assert made.returncode == 0, made.stderr
    with WorkerProcess(tmp_path) as process:
        yield tmp_path
        assert process.stop() == 0, process.words()


def test_the_example_of_the_readme_works_as_it_stands(broker: Broker, worker: Path) -> None:
    example = extracted(r"test_readme\.py runs it -->\n```python\n(.*?)^```")
    (worker / "example.py").write_text(example.replace(ADDRESS, broker.bootstrap_servers))
    told = subprocess.run(
        [sys.executable, "example.py"],
        cwd=worker,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    lines = told.stdout.splitlines()
    assert len(lines) == 30, told.stdout + (worker / "worker.log").read_text()
    answers = [line.split(maxsplit=2) for line in lines]
    assert [number for number, _, _ in answers] == [str(n) for n in range(30)]
    # Nothing is known at first; soon there is enough to be sure of what the class depends on.
    assert answers[0][1:] == ["None", "[]"]
    assert [answer for _, answer, _ in answers[9:]] == ["yes", "no", "yes"] * 7
    assert all(path == "['history']" for _, _, path in answers[9:])
    tree = espalier("tree", "loans", directory=worker)
    assert tree.stdout == "history\n  bad: no\n  good: yes\n"
