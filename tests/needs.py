"""What a test needs and this machine may not have: it is skipped, or fails where nothing may be skipped."""

import os
from typing import NoReturn

import pytest

BROKER = "ESPALIER_REQUIRE_BROKER"
DATA = "ESPALIER_REQUIRE_DATA"
OBSERVE = "ESPALIER_REQUIRE_OBSERVE"
PEERS = "ESPALIER_REQUIRE_PEERS"


def missing(reason: str, variable: str) -> NoReturn:
    """Skip the test, or fail it where the variable demands that nothing is skipped."""
    if os.environ.get(variable) == "1":
        pytest.fail(f"{variable}=1, but {reason}", pytrace=False)
    pytest.skip(reason)
