"""Fixtures for the tests of commands: sites with and without a broker, and CSV files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from stream.broker import Broker
from tests.stream.cli.evaluating import ROWS, Csv
from tests.stream.cli.sites import CSV, NOBODY, Site, succeed


@pytest.fixture
def site(topics: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site for which there is no broker yet."""
    monkeypatch.chdir(tmp_path)
    place = Site(tmp_path, topics("loans"), topics("applications"))
    place.write(NOBODY)
    (tmp_path / "loans.csv").write_text(CSV)
    return place


@pytest.fixture
def live(site: Site, broker: Broker) -> Site:
    """A site on the session's broker, with its topics."""
    site.write(broker.bootstrap_servers)
    succeed("topics", "create")
    return site


@pytest.fixture
def csv(tmp_path: Path) -> Csv:
    def write(*rows: str, header: str = "outlook,wind,class") -> Path:
        path = tmp_path / "weather.csv"
        path.write_text("\n".join([header, *(rows or ROWS)]) + "\n", "utf-8")
        return path

    return write
