"""The live page, in a real browser: trees, predictions, agents and the connection."""

import time
from itertools import islice

from playwright.sync_api import Page, expect

from learners.id5r.learner import ID5R
from learners.outline import Split, size
from stream.config import Agent, Scope
from stream.demo.generators import loans
from stream.events import Rebalanced
from tests.stream.page.garden import Bed, Planted, described, full_tree, garden
from tests.stream.page.reading import grown, in_the_outline, on_the_page, open_all, wait_for_version


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
