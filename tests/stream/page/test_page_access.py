"""The page by keys, pointer and screen reader, in either light, and with hostile names."""

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from learners.id5r.learner import ID5R
from learners.id5r.options import CoreOptions
from tests.stream.page.garden import garden
from tests.stream.page.reading import grown, in_the_outline, on_the_page, open_all, wait_for_version

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "javascript:alert(1)",
    "'\"&lt;b&gt;\u202egnp\u0000",
    "__proto__",
)


def test_hostile_names_and_values_stay_text(page: Page) -> None:
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    learner = ID5R(options=CoreOptions(significance=None, min_records_per_value=0))
    with garden(learner=learner) as one:
        page.goto(one.address)
        for n in range(40):
            values = {name: HOSTILE[(n + place) % 5] for place, name in enumerate(HOSTILE)}
            one.bed.learn(values, HOSTILE[n % 3], identity=HOSTILE[n % 5])
        wait_for_version(page, one.bed.version)
        open_all(page)
        assert [node[:3] for node in on_the_page(page)] == [
            node[:3] for node in in_the_outline(learner.outline())
        ]
        page.locator(".node").first.hover()
        page.get_by_role("button", name="Answer", exact=True).click()
        expect(page.locator("#answer b")).not_to_be_empty()
        expect(page.locator("#changes li").first).to_contain_text("by record")
        made = page.evaluate("[...document.querySelectorAll('script, img, b[onclick], iframe')].length")
        assert made == 2, "one script and one image are the page's own"
        assert dialogs == []
        assert page.evaluate("({}).polluted === undefined && Object.keys(Object.prototype).length === 0")


def test_the_tree_can_be_walked_opened_and_closed_by_keys_alone(page: Page) -> None:
    with garden() as one:
        grown(one.bed, 600)
        page.goto(one.address)
        wait_for_version(page, one.bed.version)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # skip to the tree
        page.locator("#open-some").focus()
        for _ in range(6):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.getAttribute('role')") == "treeitem":
                break
        focused = "document.activeElement.getAttribute('aria-label')"
        assert "asks" in page.evaluate(focused)
        drawn = page.locator("#nodes .node").count()
        page.keyboard.press("ArrowLeft")
        assert page.locator("#nodes .node").count() == 1
        assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false"
        page.keyboard.press("ArrowRight")
        assert page.locator("#nodes .node").count() == drawn
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.getAttribute('aria-level')") == "2"
        seen = {page.evaluate(focused)}
        for _ in range(drawn - 2):
            page.keyboard.press("ArrowDown")
            seen.add(page.evaluate(focused))
        assert len(seen) > drawn // 2
        page.keyboard.press("Home")
        before = page.locator("#zoom").text_content()
        page.keyboard.press("-")
        assert page.locator("#zoom").text_content() != before
        page.keyboard.press("0")
        assert page.locator("#zoom").text_content() == before


def test_every_control_has_a_name_and_every_node_says_what_it_is(page: Page) -> None:
    with garden() as one:
        grown(one.bed)
        page.goto(one.address)
        wait_for_version(page, one.bed.version)
        nameless = page.evaluate(
            """() => [...document.querySelectorAll("button, input, select, [role=treeitem], svg[role=img]")]
              .filter((one) => one.offsetParent !== null || one.ownerSVGElement)
              .filter((one) => !one.getAttribute("aria-label") && !one.textContent.trim())
              .filter((one) => !one.labels?.length)
              .map((one) => one.outerHTML)"""
        )
        assert nameless == []
        assert page.evaluate("document.documentElement.lang") == "en"


def test_zoom_and_pan_by_the_pointer_move_the_drawing_and_fit_brings_it_back(page: Page) -> None:
    with garden() as one:
        grown(one.bed)
        page.goto(one.address)
        wait_for_version(page, one.bed.version)
        world = page.locator("#world")
        first = world.get_attribute("transform")
        box = page.locator("#stage").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30)
        page.mouse.wheel(0, -200)
        expect(world).not_to_have_attribute("transform", str(first))
        zoomed = world.get_attribute("transform")
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] / 2 + 80, box["y"] + 60, steps=4)
        page.mouse.up()
        assert world.get_attribute("transform") != zoomed
        page.get_by_role("button", name="Fit").click()
        assert world.get_attribute("transform") == first


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground_in_either_light(browser: Browser, scheme: str) -> None:
    with garden() as one, browser.new_context(color_scheme=scheme) as context:  # type: ignore[arg-type]
        grown(one.bed, 60)
        page = context.new_page()
        page.goto(one.address)
        ratios = page.evaluate(
            """() => {
              const ground = getComputedStyle(document.querySelector(".panel")).backgroundColor;
              const light = (text) => {
                const [r, g, b] = text.match(/[\\d.]+/g).map((n) => Number(n) / 255)
                  .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
              };
              return ["h2", ".sub", ".figures dt", "#when"].map((name) => {
                const [a, b] = [light(getComputedStyle(document.querySelector(name)).color), light(ground)];
                return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
              });
            }"""
        )
        # What WCAG asks for text of this size (level AA).
        assert min(ratios) > 4.5, ratios
