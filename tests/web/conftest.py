"""A real Chromium for the tests of the page; with ESPALIER_REQUIRE_OBSERVE=1 its absence is a failure."""

import os
import shutil
from collections.abc import Iterator
from typing import NoReturn

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError

NAMES = ("chromium", "chromium-browser", "google-chrome")


def _missing(reason: str) -> NoReturn:
    if os.environ.get("ESPALIER_REQUIRE_OBSERVE") == "1":
        pytest.fail(f"ESPALIER_REQUIRE_OBSERVE=1, but {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        _missing(f"there is no browser: none of {', '.join(NAMES)} is on the path")
    with sync_playwright() as playwright:
        try:
            running = playwright.chromium.launch(
                executable_path=path,
                args=["--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc"],
            )
        except PlaywrightError as error:
            _missing(f"{path} does not start: {error}")
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own; whatever it complains about fails the test."""
    complaints: list[str] = []
    with browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce") as context:
        one = context.new_page()
        one.set_default_timeout(15_000)
        one.on(
            "console",
            lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
        )
        one.on("pageerror", lambda error: complaints.append(str(error)))
        yield one
    assert complaints == []
