"""A page under a thousand changes a second: `make bench-page`, `python -m tests.stream.page.soak`.

A tree of a thousand nodes changes its root's first branch to and fro. Measured are the browser's memory
after its garbage was collected, its elements, how often a tree was drawn and how old it was then, and what
one batch costs the thread that learns. Exit status 1 if a goal is missed.
"""

import argparse
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from playwright.sync_api import CDPSession, Page, sync_playwright

from learners.change import diff
from learners.outline import Leaf, Outline, Split, digest, size
from stream.events import BatchPredicted, ModelMeasured, PartitionProgress
from stream.records.published import Cause, TreeChange, TreeState, change_record, encode
from tests.stream.page.garden import Bed, Garden, Planted, full_tree, garden

CHANGES_A_SECOND = 1_000
LOOKS = 12


class Figure(NamedTuple):
    """Something that was measured, beside what it should be."""

    name: str
    figure: str
    goal: str
    is_met: bool


class Look(NamedTuple):
    """The browser at some moment."""

    heap: float
    elements: float
    drawn: int
    age: float


def two_trees(depth: int) -> tuple[Outline, Outline]:
    """Return two trees that differ in one branch."""
    one = full_tree(depth)
    assert isinstance(one, Split)
    (value, _), *others = one.branches
    other = Split(one.test, one.counts, ((value, Leaf("no", (("no", 5),))), *others), one.evidence)
    return one, other


def change_records(bed: Bed, trees: tuple[Outline, Outline]) -> tuple[bytes, bytes]:
    """Return the records of the way there and back; the page reads no more of them than their words."""
    told = []
    for before, after in (trees, trees[::-1]):
        state = TreeState(1, digest(after), digest(before), *size(after))
        cause = Cause(bed.agent.input, 0, 17, "a record")
        changes = tuple(map(change_record, diff(before, after)))
        record = TreeChange(bed.agent.name, bed.model, "id5r", 1, cause, changes, {}, state)
        told.append(encode(record))
    return told[0], told[1]


def look(page: Page, cdp: CDPSession) -> Look:
    """Collect the garbage and look at what is left."""
    cdp.send("HeapProfiler.collectGarbage")
    metrics = {one["name"]: one["value"] for one in cdp.send("Performance.getMetrics")["metrics"]}
    drawn, age = page.locator("#tree").evaluate("(t) => [Number(t.dataset.drawn), Number(t.dataset.age)]")
    return Look(metrics["JSHeapUsedSize"], metrics["Nodes"], drawn, age)


def drive(one: Garden, page: Page, cdp: CDPSession, seconds: float) -> tuple[list[Look], list[float], float]:
    """Change the tree at the rate for so long; return looks at the browser, costs of batches, the rate."""
    bed, learner = one.bed, one.bed.learner
    assert isinstance(learner, Planted)
    trees = two_trees(6)
    records = change_records(bed, trees)
    looks: list[Look] = []
    costs: list[float] = []
    began = time.perf_counter()
    pause = 0.0  # spent looking, which stands in the way of the changes
    for number in range(int(seconds * CHANGES_A_SECOND)):
        after = number % 2
        learner.outline_lately = trees[1 - after]
        bed.version += 1
        bed.digest = digest(trees[1 - after])
        grown = ModelMeasured(
            bed.agent.name, bed.model, size(trees[1 - after]), 1_000, None, [records[after]]
        )
        start = time.perf_counter()
        one.hub.observe(BatchPredicted(bed.agent.name, [True, False], 0))
        one.hub.observe(grown)
        one.hub.observe(PartitionProgress(bed.agent.name, bed.agent.input, 0, number, number + 1, 3))
        costs.append(time.perf_counter() - start)
        now = time.perf_counter() - began - pause
        if now > (len(looks) + 1) * seconds / LOOKS:
            looks.append(look(page, cdp))
            pause = time.perf_counter() - began - now
        ahead = (number + 1) / CHANGES_A_SECOND - now
        if ahead > 0.001:
            time.sleep(ahead)
    return looks, costs, len(costs) / (time.perf_counter() - began - pause)


def soak(page: Page, seconds: float) -> list[Figure]:
    """Return what was measured over so many seconds."""
    with garden(learner=Planted(full_tree(6))) as one:
        cdp = page.context.new_cdp_session(page)
        cdp.send("Performance.enable")
        one.bed.restored()
        page.goto(one.address)
        page.locator("#nodes .node").first.wait_for()
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
        looks, costs, rate = drive(one, page, cdp, seconds)
    return figures(looks, costs, rate, paint, seconds)


def figures(
    looks: Sequence[Look], costs: Sequence[float], rate: float, paint: float, seconds: float
) -> list[Figure]:
    # The first looks see lists that are still filling up; growth is what comes after.
    heaps = [one.heap for one in looks[LOOKS // 4 :]]
    elements = [one.elements for one in looks[LOOKS // 4 :]]
    first, last = statistics.median(heaps[:3]), statistics.median(heaps[-3:])
    drawn = (looks[-1].drawn - looks[0].drawn) / (seconds * (LOOKS - 1) / LOOKS)
    age = statistics.median(one.age for one in looks)
    cost = statistics.median(costs) * 1e6
    return [
        Figure("changes a second", f"{rate:.0f}", f"{CHANGES_A_SECOND}", rate > 0.8 * CHANGES_A_SECOND),
        Figure("first paint, ms", f"{paint:.0f}", "< 1000", paint < 1_000),
        Figure("trees drawn a second", f"{drawn:.1f}", "<= 10", 0 < drawn <= 11),
        Figure("age of a tree when it is drawn, s", f"{age:.2f}", "< 1", age < 1),
        Figure("heap, MB", f"{first / 1e6:.2f} -> {last / 1e6:.2f}", "no growth", last < first + 1e6),
        Figure(
            "elements",
            f"{elements[0]:.0f} -> {elements[-1]:.0f}",
            "no growth",
            elements[-1] < elements[0] + 2_000,
        ),
        Figure("hub, microseconds a batch with a change", f"{cost:.1f}", "a few", cost < 100),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        found = soak(browser.new_page(viewport={"width": 1440, "height": 900}), seconds)
        browser.close()
    for one in found:
        print(f"{'ok  ' if one.is_met else 'MISS'} {one.name:<42} {one.figure:<20} goal: {one.goal}")
    return 0 if all(one.is_met for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
