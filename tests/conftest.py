"""Fixtures for all tests: a real broker per session, topic names per test, the real data sets.

A test marked `broker` or `data` is skipped where these cannot be had; with ESPALIER_REQUIRE_BROKER=1 and
ESPALIER_REQUIRE_DATA=1, as in the project's own CI, it fails instead: a green run proves what it seems to.
Nothing is started or downloaded unless a test asks for it.
"""

import os
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from stream.broker import QUICK_START, Broker, BrokerError, Fetch, Sources
from stream.broker.cluster import say_nothing
from stream.broker.install import install
from tests.needs import BROKER, missing
from tests.paths import REPOSITORY

# "ci" gives the same examples in every run, so that a failure is never luck. "nightly" gives others each time
# and prints what repeats a failure; add it to the test as an `@example`. "laws" looks much further.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None)
hypothesis.settings.register_profile(
    "nightly",
    derandomize=False,
    max_examples=500,
    print_blob=True,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "laws",
    max_examples=2000,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def _path_from(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value) if value else None


@pytest.fixture(autouse=True)
def _what_the_markers_promise(request: pytest.FixtureRequest) -> None:
    """Skip or fail a marked test whose needs cannot be met, whether or not it asks for the fixture."""
    if request.node.get_closest_marker("broker"):
        request.getfixturevalue("broker_sources")
    if request.node.get_closest_marker("data"):
        request.getfixturevalue("data_dir")


@pytest.fixture(scope="session")
def broker_sources() -> Sources:
    """Where Java and the jars of a broker come from, for tests that start their own; both are there."""
    sources = Sources(
        cache=_path_from("XDG_CACHE_HOME"),
        fetch=Fetch(os.environ.get("ESPALIER_BROKER_FETCH", Fetch.AUTO)),
        java=_path_from("ESPALIER_BROKER_JAVA"),
    )
    try:
        install(sources, say_nothing)
    except BrokerError as error:
        missing(f"no broker can be had: {error}", BROKER)
    return sources


@pytest.fixture(scope="session")
def broker(broker_sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """One real Apache Kafka for the whole session; it ends with the session, however that ends.

    RUNNING_BROKER names the directory of one that is running and stays (`Broker.find`).
    """
    if (running_in := _path_from("RUNNING_BROKER")) is not None:
        yield Broker.find(running_in)
        return
    try:
        directory = tmp_path_factory.mktemp("broker")
        running = Broker.start(directory, sources=broker_sources, java_options=QUICK_START)
    except BrokerError as error:
        missing(f"the broker does not start: {error}", BROKER)
    with running:
        yield running


@pytest.fixture
def topics(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Turn a name into a topic, group or transactional id that no other test uses: `topics("input")`."""
    test = re.sub(r"[^A-Za-z0-9-]+", "-", request.node.name).strip("-")[:80]
    prefix = f"{test}-{uuid.uuid4().hex[:8]}"
    return lambda name: f"{prefix}.{name}"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The directory of the real data sets."""
    directory = _path_from("ESPALIER_DATA") or REPOSITORY.parent / "shared" / "data"
    if not (directory / "MANIFEST.csv").is_file():
        missing(
            f'no data sets in "{directory}"; name their directory in ESPALIER_DATA', "ESPALIER_REQUIRE_DATA"
        )
    return directory
