"""Fixtures for the tests of metrics and logs."""

import logging
import signal
from collections.abc import Iterator

import pytest

from stream.observe.metrics import Metrics


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, and what was logged put back as it was."""
    logger = logging.getLogger()
    before, level, switch = logger.handlers[:], logger.level, signal.getsignal(signal.SIGUSR1)
    yield logger
    logger.handlers[:] = before
    logger.setLevel(level)
    signal.signal(signal.SIGUSR1, switch)
