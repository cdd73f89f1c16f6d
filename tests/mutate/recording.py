"""Which test runs which line: a plugin of pytest for a run under coverage (`-p tests.mutate.recording`).

Each test is a context of coverage. A fixture wider than a function has its module as its context, because all
tests of the module rest on it. A process that a test starts has the test as its context. The time and
the outcome of each test are written as JSON to the file that RECORDED_TESTS names.
"""

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import coverage
import pytest

FILE = "RECORDED_TESTS"
CONFIGURATION = "COVERAGE_PROCESS_CONFIG"
SEEDS = 6
_NUMBERS = re.compile(r"[\d-]+\]")


class Recorder:
    """Names the running test to coverage, here and in the processes that are started from here."""

    def __init__(self, measured: coverage.Coverage, file: Path) -> None:
        self._measured = measured
        self._file = file
        self._context = ""
        self._tests: dict[str, dict[str, Any]] = {}
        self._start = subprocess.Popen.__init__

    def install(self) -> None:
        start = self._start

        def with_context(process: subprocess.Popen[Any], *args: Any, **named: Any) -> None:
            given: Mapping[str, str] | None = named.get("env")
            named["env"] = {**(os.environ if given is None else given), CONFIGURATION: self._configuration()}
            start(process, *args, **named)

        subprocess.Popen.__init__ = with_context  # type: ignore[assignment, method-assign]

    def uninstall(self) -> None:
        subprocess.Popen.__init__ = self._start  # type: ignore[method-assign]

    def _configuration(self) -> str:
        config = self._measured.config
        before, config.context = config.context, self._context
        try:
            return config.serialize()
        finally:
            config.context = before

    def _switch(self, context: str) -> str:
        before, self._context = self._context, context
        self._measured.switch_context(context)
        return before

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the first seeds of a test that runs with many: the others run the same lines."""
        kept: Counter[str] = Counter()
        for item in list(items):
            name, _, parameters = item.nodeid.partition("[")
            kept[name] += 1
            if kept[name] > SEEDS and _NUMBERS.fullmatch(parameters):
                items.remove(item)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._tests[item.nodeid] = {
            "seconds": 0.0,
            "passed": True,
            "broker": item.get_closest_marker("broker") is not None,
        }
        before = self._switch(item.nodeid)
        try:
            return (yield)
        finally:
            self._switch(before)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        if fixturedef.scope not in ("module", "class"):
            return (yield)
        before = self._switch(request.node.nodeid)
        try:
            return (yield)
        finally:
            self._switch(before)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = self._tests[report.nodeid]
        test["seconds"] += report.duration
        test["passed"] = test["passed"] and report.outcome == "passed"

    def pytest_sessionfinish(self) -> None:
        self.uninstall()
        self._file.write_text(json.dumps(self._tests))


def pytest_configure(config: pytest.Config) -> None:
    measured = coverage.Coverage.current()
    if measured is None or FILE not in os.environ:
        raise pytest.UsageError(f"recording needs `coverage run -m pytest` and a file in {FILE}")
    recorder = Recorder(measured, Path(os.environ[FILE]))
    recorder.install()
    config.pluginmanager.register(recorder)
