"""Read the tree on a page, and compare it with an outline."""

from typing import Any

from playwright.sync_api import Page, expect

from learners.outline import Leaf, Outline, Split, walk
from stream.demo.generators import loans
from tests.stream.page.garden import Bed

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
