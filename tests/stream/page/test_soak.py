"""A few seconds of what `make bench-page` measures for a minute."""

from playwright.sync_api import Page

from tests.stream.page.soak import soak


def test_the_browser_s_memory_does_not_grow_with_the_changes(page: Page) -> None:
    found = {one.name: one for one in soak(page, 3.0)}
    # What depends on how busy the machine is belongs to the bench.
    for name in ("heap, MB", "elements"):
        assert found[name].is_met, found[name]
