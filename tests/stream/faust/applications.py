"""Faust applications for tests, and the document that describes one."""

from collections.abc import Callable
from typing import Any

import faust

from tests.paths import REPOSITORY

DOCUMENT = (REPOSITORY / "docs" / "faust.md").read_text()
ADDRESS = "127.0.0.1:9092"
SECONDS = 60.0
Names = Callable[[str], str]


def app_named(name: str, **settings: Any) -> faust.App:
    return faust.App(name, **{"broker": f"kafka://{ADDRESS}", **settings})
