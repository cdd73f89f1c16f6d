"""The pictures of the page in docs/: `make screenshots`. Two agents learn the demonstration's loans."""

import contextlib
import shutil
import sys
import time
from collections.abc import Iterator

from playwright.sync_api import Browser, Page, sync_playwright

from stream.config import Agent
from stream.demo.feeder import Feeder
from stream.demo.generators import loans
from stream.demo.runtime import MemoryRuntime
from stream.observe.metrics import Metrics
from stream.page import feed as page_feed
from stream.page.access_policy import AccessPolicy
from stream.page.http_app import HttpApp
from tests.paths import REPOSITORY

DOCS = REPOSITORY / "docs"
RECORDS = 900
RATE = 45.0
MOST_BYTES = 200_000
DEEP = {"history": "good", "debts": "heavy", "collateral": "vehicle", "income": "low"}
"""An application whose path goes deep."""
AGENTS = (
    Agent(name="loans", input="applications"),
    Agent(name="loans-id4", input="applications", group="loans-id4", learner="id4"),
)


@contextlib.contextmanager
def two_agents() -> Iterator[tuple[str, list[Feeder], HttpApp]]:
    """Serve a page of two agents that begin to learn; yield its address, what feeds them, and its front."""
    front = HttpApp(AGENTS, Metrics())
    port = front.listen("127.0.0.1", 0, AccessPolicy("127.0.0.1", None))
    stages = [MemoryRuntime(agent, 2, front.observe) for agent in AGENTS]
    feeds = [Feeder(stage, loans(1), RECORDS, RATE) for stage in stages]
    try:
        for feed in feeds:
            feed.start()
        yield f"http://127.0.0.1:{port}/", feeds, front
    finally:
        for feed, stage in zip(feeds, stages, strict=True):
            feed.stop()
            stage.close()
        front.close()


def opened(browser: Browser, address: str, scheme: str, width: int = 1320, height: int = 840) -> Page:
    """Open the page in a light."""
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address)
    page.locator("#nodes .node").first.wait_for()
    return page


def shoot(page: Page, name: str) -> None:
    """Take a picture, once nothing moves."""
    page.mouse.move(5, 5)
    page.wait_for_timeout(2_600)
    file = DOCS / f"page-{name}.png"
    page.screenshot(path=file, animations="disabled")
    print(f"{file.relative_to(DOCS.parent)}  {file.stat().st_size / 1000:.0f} kB")
    if file.stat().st_size > MOST_BYTES:
        sys.exit(f"{file} has more than {MOST_BYTES} bytes")


def main() -> None:
    # A run of seconds instead of hours: its curves take a point more often.
    page_feed.CURVE_SECONDS = 0.25
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with two_agents() as (address, feeds, front), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        light = opened(browser, address, "light")
        while feeds[0].sent < RECORDS - 60:
            time.sleep(0.05)
            for agent, feed in zip(AGENTS, feeds, strict=True):
                front.hub.set_lag(agent.name, max(0, feed.sent - front.hub.agents[agent.name].answered))
        shoot(light, "light")
        dark = opened(browser, address, "dark")
        for name, value in {
            "history": "good",
            "debts": "heavy",
            "collateral": "vehicle",
            "income": "low",
        }.items():
            dark.get_by_label(name, exact=True).select_option(value)
        dark.get_by_role("button", name="Answer", exact=True).click()
        dark.locator("#answer b").wait_for()
        shoot(dark, "dark")
        light.locator("#slider").focus()
        for _ in range(8):
            light.keyboard.press("PageDown")
        light.locator("#old").wait_for()
        shoot(light, "versions")
        browser.close()


if __name__ == "__main__":
    main()
