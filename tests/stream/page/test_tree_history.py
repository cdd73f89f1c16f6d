"""Versions and curves are bounded, and the document names the bounds."""

from hypothesis import given
from hypothesis import strategies as st

from stream.page import tree_view
from stream.page.downsampling import Curve, CurvePoint
from stream.page.feed import KEPT_CHANGES, SHARE, TICK_SECONDS
from stream.page.live_state import RECENT, SHARE_UNWATCHED, SHARE_WATCHED
from stream.page.routes import STATIC
from stream.page.server import REQUEST_SECONDS
from stream.page.versions import MOST, TreeHistory
from tests.paths import REPOSITORY

# ---- versions and curves


@given(st.lists(st.integers(1, 40), max_size=300), st.integers(4, 20))
def test_versions_are_bounded_in_order_and_the_newest_and_the_first_are_kept(
    gaps: list[int], most: int
) -> None:
    versions = TreeHistory(most)
    given_versions: list[int] = []
    for gap in gaps:
        given_versions.append((given_versions[-1] if given_versions else 0) + gap)
        versions.add(given_versions[-1], 0.0, 1, "grew", 1, str(given_versions[-1]).encode())
        kept = [stop.version for stop in versions.stops]
        assert len(kept) <= most
        assert kept == sorted(set(kept))
        assert kept[0] == given_versions[0] and kept[-1] == given_versions[-1]
        # What is recent is kept whole.
        assert kept[-(most // 2) :] == given_versions[-(most // 2) :]
        for wanted in (0, *given_versions, given_versions[-1] + 9):
            before = [version for version in kept if version <= wanted] or kept[:1]
            assert versions.body(wanted) == str(before[-1]).encode()


def test_a_model_that_begins_again_leaves_no_version_of_the_future() -> None:
    versions = TreeHistory()
    for version in (1, 2, 3, 4, 3):
        versions.add(version, 0.0, 1, "", 1, b"x")
    assert [stop.version for stop in versions.stops] == [1, 2, 3]
    assert TreeHistory().body(5) is None


@given(st.lists(st.floats(0.5, 50), max_size=400), st.integers(2, 30))
def test_a_curve_covers_the_whole_run_in_so_many_points(gaps: list[float], most: int) -> None:
    curve = Curve(most, seconds=1.0)
    now = 0.0
    for gap in gaps:
        now += gap
        curve.add(CurvePoint(now, None, None, 0, 0))
        times = [point.at for point in curve.points]
        assert len(times) <= most
        assert times == sorted(times)
        assert times[0] == gaps[0]


# ---- what is written about it


def test_the_figures_in_the_document_are_those_of_the_program() -> None:
    text = " ".join((REPOSITORY / "docs" / "page.md").read_text().split())
    assert f"more than {tree_view.MOST_NODES:,} nodes" in text
    assert f"the last {RECENT:,} records" in text
    assert f"The last {MOST // 2} are kept one by one, the {MOST // 2} before them" in text
    assert f"takes nothing for {REQUEST_SECONDS:.0f} seconds is dropped" in text
    assert f"the screen, {KEPT_CHANGES} changes and 20 older trees" in text
    shares = {20: "a twentieth of the time", 100: "one hundredth of", 1_000: "a thousandth while nobody"}
    for share in (SHARE, SHARE_WATCHED, SHARE_UNWATCHED):
        assert shares[share] in text
    assert TICK_SECONDS == 0.1 and "at most ten times a second" in text
    script = (STATIC / "app.js").read_text()
    assert "const MOST_OLD = 20;" in script
    assert f"const MOST = {KEPT_CHANGES};" in (STATIC / "changes.js").read_text()
