"""The versions of a tree on the page: the slider, playing, holding, and the list of changes."""

from itertools import islice

import pytest
from playwright.sync_api import Browser, Page, expect

from stream.broker.process import wait_until
from stream.demo.generators import loans
from tests.stream.page.garden import described, garden
from tests.stream.page.reading import HIDE, grown, in_the_outline, on_the_page, open_all, wait_for_version


def test_a_change_comes_to_the_page_by_itself_with_the_record_that_caused_it(page: Page) -> None:
    with garden() as one:
        bed = grown(one.bed)
        page.goto(one.address)
        wait_for_version(page, bed.version)
        rest = map(described, islice(loans(1), 300, None))
        while not bed.learn(*next(rest), identity="the cause"):
            pass
        expect(page.locator("#changes li").first).to_contain_text(
            "by record the cause, applications/0 offset"
        )
        wait_for_version(page, bed.version)


def test_the_slider_shows_an_older_version_and_live_leads_back(page: Page) -> None:
    with garden() as one:
        bed, then = one.bed, {}
        for values, label in map(described, islice(loans(1), 120)):
            if bed.learn(values, label):
                then[bed.version] = in_the_outline(bed.learner.outline())
                one.presenter.tick()
        page.goto(one.address)
        wait_for_version(page, bed.version)
        page.locator("#slider").focus()
        for _ in range(5):
            page.keyboard.press("ArrowLeft")
        open_all(page)
        older = bed.version - 5
        wait_for_version(page, older)
        assert on_the_page(page) == then[older]
        expect(page.locator("#old")).to_have_text(f"version {older} of {bed.version}")
        expect(page.locator("#live")).to_have_attribute("aria-pressed", "false")
        page.get_by_role("button", name="live").click()
        wait_for_version(page, bed.version)
        expect(page.locator("#old")).to_be_hidden()


def test_the_button_plays_the_versions_to_the_newest_and_can_be_stopped(page: Page) -> None:
    with garden() as one:
        grown(one.bed, 120)
        assert one.bed.version > 6
        page.goto(one.address)
        wait_for_version(page, one.bed.version)
        page.locator("#slider").focus()
        page.keyboard.press("Home")
        expect(page.locator("#old")).to_be_visible()
        first = page.locator("#old").inner_text()
        page.get_by_role("button", name="Play the versions").click()
        expect(page.locator("#old")).not_to_have_text(first)
        page.get_by_role("button", name="Stop playing").click()
        stopped = page.locator("#slider").input_value()
        page.get_by_role("button", name="Play the versions").click()
        expect(page.locator("#slider")).not_to_have_value(stopped)
        # It ends by itself with the newest, and the button is what it was.
        wait_for_version(page, one.bed.version)
        expect(page.get_by_role("button", name="Play the versions")).to_be_visible()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nodes_move_to_their_new_places_unless_the_system_asks_for_rest(
    browser: Browser, motion: str
) -> None:
    with garden() as one, browser.new_context(reduced_motion=motion) as context:  # type: ignore[arg-type]
        grown(one.bed, 300)
        page = context.new_page()
        page.goto(one.address)
        wait_for_version(page, one.bed.version)
        page.get_by_role("button", name="Tidy").click()
        frames = page.evaluate(
            """async () => {
              const places = () => [...document.querySelectorAll("#nodes .node")]
                .map((node) => node.getAttribute("transform")).join(" ");
              const frame = () => new Promise((done) => requestAnimationFrame(done));
              await frame();
              const click = new MouseEvent("click", { bubbles: true });
              document.querySelector("#nodes .node").dispatchEvent(click);
              const seen = new Set();
              const end = performance.now() + 800;
              while (performance.now() < end) { await frame(); seen.add(places()); }
              return seen.size;
            }"""
        )
        assert (frames > 2) == (motion == "no-preference"), frames


def test_a_tree_can_be_held_while_it_grows(page: Page) -> None:
    with garden() as one:
        bed = grown(one.bed, 100)
        page.goto(one.address)
        wait_for_version(page, bed.version)
        held = bed.version
        page.get_by_role("button", name="live").click()
        expect(page.locator("#old")).to_be_visible()
        bed.learn_stream(loans(3), 100)
        assert bed.version > held
        expect(page.locator("#f-records")).to_have_text("200")
        expect(page.locator("#tree")).to_have_attribute("data-version", str(held))
        page.get_by_role("button", name="live").click()
        wait_for_version(page, bed.version)


def test_a_page_that_nobody_looks_at_leaves_and_comes_back(page: Page) -> None:
    with garden() as one:
        bed = grown(one.bed, 60)
        page.clock.install()
        page.goto(one.address)
        wait_for_version(page, bed.version)
        page.evaluate(HIDE, True)
        page.clock.fast_forward(30_000)
        assert wait_until(lambda: one.hub.viewers == 0, 45)
        grown(bed, 40)
        page.evaluate(HIDE, False)
        assert wait_until(lambda: one.hub.viewers == 1, 45)
        wait_for_version(page, bed.version)


def test_a_change_in_the_list_leads_to_its_version(page: Page) -> None:
    with garden() as one:
        for values, label in map(described, islice(loans(1), 150)):
            one.bed.learn(values, label)
            one.presenter.tick()
        page.goto(one.address)
        wait_for_version(page, one.bed.version)
        entry = page.locator("#changes li button").nth(6)
        version = entry.evaluate("(button) => button.told.version")
        entry.click()
        wait_for_version(page, version)
