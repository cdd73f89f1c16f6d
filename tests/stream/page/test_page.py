"""The live page, in a real browser."""

import time
from itertools import islice
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from learners.id5r.learner import ID5R
from learners.id5r.options import CoreOptions
from learners.outline import Leaf, Outline, Split, size, walk
from stream.broker.process import wait_until
from stream.config import Agent, Scope
from stream.demo.generators import loans
from stream.events import Rebalanced
from tests.stream.page.garden import Bed, Planted, described, full_tree, garden

NODES_ON_THE_PAGE = """() => [...document.querySelectorAll("#nodes .node")].map((g) => {
  const node = g.node.node;
  const way = [];
  for (let one = node; one.up; one = one.up) way.unshift([one.up.test.attribute, one.value]);
  return [way, node.test ? node.test.attribute : null, node.answer ?? null, node.counts];
})"""


HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def on_the_page(page: Page) -> list[list[Any]]:
    """Every node that is drawn: the way to it, its test, its answer, its counts."""
    nodes: list[list[Any]] = page.evaluate(NODES_ON_THE_PAGE)
    return nodes


def in_the_outline(outline: Outline | None) -> list[list[Any]]:
    return [
        [
            [[test.attribute, value] for test, value in path],
            node.test.attribute if isinstance(node, Split) else None,
            node.answer if isinstance(node, Leaf) else None,
            dict(node.counts),
        ]
        for path, node in walk(outline)
    ]


def wait_for_version(page: Page, version: int) -> None:
    expect(page.locator("#tree")).to_have_attribute("data-version", str(version))


def open_all(page: Page) -> None:
    page.get_by_role("button", name="Open all").click()


def grown(bed: Bed, records: int = 300) -> Bed:
    bed.learn_stream(loans(1), records)
    return bed


def test_the_tree_on_the_page_is_the_outline_with_its_counts(page: Page) -> None:
    with garden() as one:
        bed = grown(one.bed)
        page.goto(one.address)
        wait_for_version(page, bed.version)
        open_all(page)
        # Counts are taken again as soon as that costs next to nothing.
        deadline = time.monotonic() + 45
        while on_the_page(page) != in_the_outline(bed.learner.outline()) and time.monotonic() < deadline:
            bed.learn_all([])
            page.wait_for_timeout(50)
        assert on_the_page(page) == in_the_outline(bed.learner.outline())
        expect(page.locator("#tree")).to_have_attribute("data-digest", bed.digest)
        expect(page.locator("#f-nodes")).to_have_text(f"{size(bed.learner.outline()).nodes} nodes")


def test_before_anything_has_come_the_page_says_so_and_a_restored_tree_is_there_without_a_record(
    page: Page,
) -> None:
    learner = ID5R()
    for values, label in map(described, islice(loans(1), 200)):
        learner.learn_batch([learner.codes.encode(values, label).row], [learner.codes.class_code(label)])
    with garden(learner=learner) as one:
        page.goto(one.address)
        expect(page.get_by_text("The tree is being restored.")).to_be_visible()
        expect(page.get_by_text("There is nothing to ask yet.")).to_be_visible()
        one.bed.version, one.bed.digest = 7, "f" * 64
        one.bed.restored()
        wait_for_version(page, 7)
        expect(page.locator("#empty")).to_be_hidden()


def test_a_page_that_was_open_before_there_was_a_model_shows_it_and_where_it_goes(page: Page) -> None:
    agent = Agent(name="loans", input="in", scope=Scope.PARTITION)
    with garden(agent) as one:
        page.goto(one.address)
        expect(page.get_by_text("it stands by for another one")).to_be_visible()
        bed = Bed(one.hub, agent, model="in/0")
        bed.restored()
        expect(page.get_by_text("No tree yet")).to_be_visible()
        grown(bed, 100)
        wait_for_version(page, bed.version)
        one.hub.observe(Rebalanced("loans", (), (("in", 0),)))
        expect(page.get_by_text("it stands by for another one")).to_be_visible()
        expect(page.locator(".node")).to_have_count(0)


def test_a_model_that_is_restored_keeps_what_was_seen_of_it(page: Page) -> None:
    with garden() as one:
        bed = grown(one.bed, 100)
        page.goto(one.address)
        wait_for_version(page, bed.version)
        again = Bed(one.hub, bed.agent, bed.learner)
        again.version, again.digest = bed.version, bed.digest
        again.restored()
        told = page.locator("#changes li").count()
        while not again.learn(*described(next(loans(again.records + 7)))):
            pass
        wait_for_version(page, again.version)
        expect(page.locator("#changes li")).not_to_have_count(told)
        assert page.locator("#changes li").count() > told


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


def test_the_form_answers_as_the_learner_does_and_lights_the_path(page: Page) -> None:
    with garden() as one:
        bed = grown(one.bed, 900)
        page.goto(one.address)
        wait_for_version(page, bed.version)
        described_ones = (described(one)[0] for one in islice(loans(5), 200))
        values = max(described_ones, key=lambda one: len(bed.learner.predict_one(one).path))
        said = bed.learner.predict_one(values)
        for name in page.locator("#fields label > span").all_text_contents():
            page.get_by_label(name, exact=True).select_option(str(values[name]))
        page.get_by_role("button", name="Answer", exact=True).click()
        expect(page.locator("#answer b")).to_have_text(str(said.answer))
        # The whole path, whatever had to be closed for it.
        expect(page.locator(".node.lit")).to_have_count(len(said.path) + 1)
        assert page.locator(".fields .asked").count() == len(said.path)
        page.locator(".node").first.focus()
        page.keyboard.press("Escape")
        expect(page.locator(".node.lit")).to_have_count(0)


def test_a_value_that_was_never_seen_and_one_that_is_missing_are_answered_and_explained(page: Page) -> None:
    with garden() as one:
        grown(one.bed)
        page.goto(one.address)
        wait_for_version(page, one.bed.version)
        root = one.bed.learner.outline()
        assert isinstance(root, Split)
        field = page.get_by_label(root.test.attribute, exact=True)
        field.select_option(label="– missing")
        page.get_by_role("button", name="Answer", exact=True).click()
        expect(page.locator("#answer")).to_contain_text("a value is missing there")
        field.select_option(label="another value …")
        page.get_by_label(root.test.attribute, exact=True).fill("never seen")
        expect(page.locator("#answer")).to_contain_text("never seen there")


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


def test_each_agent_has_its_tree_figures_and_changes(page: Page) -> None:
    agents = (
        Agent(name="exact", input="applications"),
        Agent(name="bare", input="applications", learner="id4"),
    )
    with garden(*agents) as one:
        for bed in one.beds.values():
            grown(bed, 150)
        page.goto(one.address)
        wait_for_version(page, one.beds["exact"].version)
        page.get_by_role("tab", name="bare").click()
        wait_for_version(page, one.beds["bare"].version)
        expect(page.locator("#tree")).to_have_attribute("data-digest", one.beds["bare"].digest)
        expect(page.get_by_role("tab", name="bare")).to_have_attribute("aria-selected", "true")
        page.get_by_role("tab", name="bare").press("ArrowLeft")
        wait_for_version(page, one.beds["exact"].version)


def test_models_of_partitions_can_be_chosen_from(page: Page) -> None:
    agent = Agent(name="loans", input="in", scope=Scope.PARTITION)
    with garden(agent) as one:
        beds = [Bed(one.hub, agent, model=f"in/{n}") for n in range(2)]
        for records, bed in zip((60, 200), beds, strict=True):
            grown(bed, records)
        page.goto(one.address)
        page.get_by_label("model").select_option("in/1")
        wait_for_version(page, beds[1].version)


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


def test_a_tree_of_a_thousand_nodes_can_be_read_and_opened_whole(page: Page) -> None:
    tree = full_tree(6)
    nodes = size(tree).nodes
    assert nodes > 1_000
    with garden(learner=Planted(tree)) as one:
        one.bed.version = 1
        one.bed.restored()
        page.goto(one.address)
        wait_for_version(page, one.bed.version)
        scale = (
            "Number(document.getElementById('world').getAttribute('transform').match(/scale\\((.*)\\)/)[1])"
        )
        assert page.evaluate(scale) > 0.6, "what is shown at first is large enough to be read"
        open_all(page)
        expect(page.locator("#nodes .node")).to_have_count(nodes)
        page.get_by_role("button", name="Tidy").click()
        assert page.locator("#nodes .node").count() < 100


def test_the_page_comes_back_when_the_worker_does(page: Page, expected_complaints: set[str]) -> None:
    # The browser tries to connect while no worker is there, and says of each attempt that it was refused.
    expected_complaints.add("Failed to load resource: net::ERR_CONNECTION_REFUSED")
    with garden() as one:
        grown(one.bed, 60)
        page.goto(one.address)
        wait_for_version(page, one.bed.version)
        port = int(one.address.rsplit(":", 1)[1].rstrip("/"))
    expect(page.locator("#link")).to_have_attribute("data-state", "lost")
    with garden(port=port) as again:
        grown(again.bed, 90)
        expect(page.locator("#link")).to_have_attribute("data-state", "live")
        wait_for_version(page, again.bed.version)


def test_the_first_paint_waits_for_nothing_that_is_learned(page: Page) -> None:
    """The page is painted while no question to the server is answered."""
    with garden() as one:
        grown(one.bed)
        held: list[str] = []
        page.route("**/api/**", lambda route: held.append(route.request.url))
        page.goto(one.address, wait_until="domcontentloaded")
        page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
        assert held, "the page asks for what it shows"
        assert page.locator("#nodes .node").count() == 0
        page.unroute_all()
        page.reload()
        wait_for_version(page, one.bed.version)
        assert page.locator("#nodes .node").count() > 0
