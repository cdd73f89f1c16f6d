"""Fixtures for the tests of the page: a real Chromium, and an agent to look at.

With ESPALIER_REQUIRE_OBSERVE=1 it is a failure that there is no browser.
"""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from stream.demo.generators import loans
from tests.needs import OBSERVE, missing
from tests.stream.page.garden import Garden, garden

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_MS = 45_000
"""How long a condition of the page is waited for; a busy machine takes longer than Playwright's 5 s."""

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing(f"there is no browser: none of {', '.join(NAMES)} is on the path", OBSERVE)
    with sync_playwright() as playwright:
        try:
            running = playwright.chromium.launch(
                executable_path=path,
                args=["--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc"],
            )
        except PlaywrightError as error:
            missing(f"{path} does not start: {error}", OBSERVE)
        yield running
        running.close()


@pytest.fixture
def expected_complaints() -> set[str]:
    """Messages of the console that a test causes on purpose; it adds them itself."""
    return set()


@pytest.fixture
def page(browser: Browser, expected_complaints: set[str]) -> Iterator[Page]:
    """A page of its own; whatever it complains about fails the test, unless the test expects it."""
    complaints: list[str] = []
    with browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce") as context:
        one = context.new_page()
        one.set_default_timeout(PATIENCE_MS)
        one.on(
            "console",
            lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
        )
        one.on("pageerror", lambda error: complaints.append(str(error)))
        yield one
    assert [text for text in complaints if text not in expected_complaints] == []


@pytest.fixture
def one() -> Iterator[Garden]:
    """An agent that has learned 100 records, with its page."""
    with garden() as planted:
        planted.bed.learn_stream(loans(1), 100)
        planted.presenter.tick()
        yield planted
