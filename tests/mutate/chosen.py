"""Only the chosen tests, in the chosen order, each with its own time limit (`-p tests.mutate.chosen`)."""

import json
import os
import resource
from pathlib import Path

import pytest

FILE = "CHOSEN_TESTS"
MOST_BYTES = 6 << 30
"""How much memory tests without a browser or a broker may take: a mutant may never stop filling a list."""


def pytest_configure() -> None:
    chosen = json.loads(Path(os.environ[FILE]).read_text())
    if chosen["limited"]:
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    limits: dict[str, float] = json.loads(Path(os.environ[FILE]).read_text())["limits"]
    by_name = {item.nodeid: item for item in items}
    left = [item for item in items if item.nodeid not in limits]
    items[:] = [by_name[name] for name in limits if name in by_name]
    for item in items:
        item.add_marker(pytest.mark.timeout(limits[item.nodeid]), append=False)
    config.hook.pytest_deselected(items=left)
