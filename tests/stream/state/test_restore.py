"""A model restored from a snapshot goes on as if nothing had happened; a bad one is passed over aloud."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.learner import make_options
from learners.registry import LEARNERS, make_learner
from stream.config import Agent
from stream.errors import NewerFormat, StateError
from stream.model.processing import Processor
from stream.records.journal import seal
from stream.records.record import Output, Partition, Record
from stream.state.restore import RestoredModel, restore
from stream.state.snapshot_format import SnapshotPoint
from stream.state.snapshot_writer import SnapshotWriter
from stream.state.snapshots import Snapshots
from tests.stream.stories import INPUT, Story, Told, make, pieces, records_of, stories, told_by

AGENT = Agent(name="a", input=INPUT, learner="id5r-reference")
OTHER = make_options(LEARNERS["id5r-reference"].options_type, {"window": 3})
VALUES = [
    b'{"a": "%s", "b": "%s", "class": "%s"}' % pair
    for pair in [
        (b"x", b"u", b"p"),
        (b"x", b"v", b"q"),
        (b"y", b"u", b"p"),
        (b"y", b"v", b"p"),
        (b"z", b"u", b"q"),
    ]
]


@pytest.fixture(scope="module", autouse=True)
def _deep_enough() -> None:
    """The readable learners raise the recursion limit once, which hypothesis must not see happen."""
    for name in LEARNERS:
        make_learner(name)


def seen(told: Told) -> tuple[list[Any], list[Any], list[Output]]:
    """Return what readers see. Costs are left out: what a snapshot spares need not be paid again."""
    changes = [{**change, "operations": None} for change in told.changes]
    return told.predictions, changes, told.letters


@settings(max_examples=150, deadline=None)
@given(stories(), st.data())
def test_a_model_restored_from_a_snapshot_goes_on_as_the_first(story: Story, data: st.DataObject) -> None:
    first = make(story.agent)
    batches = pieces(data.draw, story.records)
    taken = data.draw(st.integers(0, len(batches)))
    for batch in batches[:taken]:
        first.process(batch)
    second = make(story.agent)
    second.restore(first.snapshot())
    assert (second.point, second.next_offsets, second.retained) == (
        first.point,
        first.next_offsets,
        first.retained,
    )
    for batch in batches[taken:]:
        one, other = told_by(first.process(batch), story.agent), told_by(second.process(batch), story.agent)
        assert seen(one) == seen(other)
        assert one.journal == other.journal


@settings(max_examples=60, deadline=None)
@given(stories(max_size=8), st.data())
def test_a_damaged_state_is_a_state_error_and_nothing_else(story: Story, data: st.DataObject) -> None:
    processor = make(story.agent)
    processor.process(story.records)
    state = bytearray(processor.snapshot())
    state[data.draw(st.integers(0, len(state) - 1))] ^= data.draw(st.integers(1, 255))
    fresh = make(story.agent)
    try:
        fresh.restore(bytes(state[: data.draw(st.integers(0, len(state)))]))
    except StateError:
        # Refused as a whole: it is as it was.
        assert fresh.point == make(story.agent).point
        assert told_by(fresh.process(story.records), story.agent) == told_by(
            make(story.agent).process(story.records), story.agent
        )


def test_the_state_of_another_model_learner_or_setting_is_refused() -> None:
    state = make(AGENT).snapshot()
    other = Agent(name="a", input="other", learner="id5r-reference")
    with pytest.raises(StateError, match='is of model "in"'):
        make(other).restore(state)
    with pytest.raises(StateError, match="other settings"):
        make(Agent(name="a", input=INPUT, learner="id5r-reference", options=OTHER)).restore(state)
    with pytest.raises(StateError, match="other settings"):
        make(Agent(name="a", input=INPUT, learner="id5r")).restore(state)


# ---- from topics


class Site:
    """A journal and snapshots as they are in topics."""

    def __init__(self) -> None:
        self.processor = make(AGENT)
        self.journal: list[Record] = []
        self.snapshots: list[Record] = []
        self.trimmed = 0
        self.asked: list[int] = []

    def learn(self, value: bytes) -> None:
        [record] = records_of([value], len(self.journal))
        for output in self.processor.process([record]):
            if output.topic == AGENT.topics.journal:
                self.journal.append(Record(Partition("j", 0), len(self.journal), output.value))

    def snapshot(self, slot: str, number: int, *, offset: int | None = None, damaged: bool = False) -> None:
        end = len(self.journal) if offset is None else offset
        point = SnapshotPoint(*self.processor.point, end)
        running = SnapshotWriter("in", slot, number, point, self.processor.snapshot)
        manifest = None
        while manifest is None:
            outputs, manifest = running.take("s", 0)
            for output in outputs:
                value = output.value or b""
                if damaged:
                    value = value[:-1] + bytes([value[-1] ^ 1])
                self.snapshots.append(Record(Partition("s", 0), len(self.snapshots), value, output.key))

    def restore(self) -> RestoredModel:
        def journal(processor: Processor, start: int) -> list[Record]:
            self.asked.append(start)
            return self.journal[max(start, self.trimmed) :]

        return restore(lambda: make(AGENT), "in", Snapshots("in", self.snapshots), journal)


@pytest.fixture
def site() -> Site:
    site = Site()
    for number, value in enumerate(VALUES):
        site.learn(value)
        if number in (1, 3):
            site.snapshot("AB"[number // 2], 1 + number // 2)
    return site


def test_only_what_came_after_the_snapshot_is_replayed(site: Site) -> None:
    restored = site.restore()
    assert (restored.snapshot, restored.replayed, site.asked) == (2, 1, [4])
    assert restored.processor.point == site.processor.point


def test_without_snapshots_the_whole_journal_is_replayed(site: Site) -> None:
    site.snapshots = []
    restored = site.restore()
    assert (restored.snapshot, restored.replayed, site.asked) == (0, 5, [0])
    assert restored.processor.point == site.processor.point


def test_a_damaged_snapshot_falls_back_to_the_older_and_says_so(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    site.snapshot("B", 3, damaged=True)
    restored = site.restore()
    assert (restored.snapshot, restored.replayed) == (1, 3)
    assert restored.processor.point == site.processor.point
    assert "passed over" in caplog.text


@pytest.mark.parametrize("offset", [0, 3])
def test_a_snapshot_that_does_not_fit_the_journal_falls_back(
    site: Site, offset: int, caplog: pytest.LogCaptureFixture
) -> None:
    site.snapshot("A", 3, offset=offset)
    restored = site.restore()
    assert restored.snapshot == 2
    assert restored.processor.point == site.processor.point
    assert "snapshot 3 of in is passed over" in caplog.text


def test_a_trimmed_journal_is_enough_where_a_snapshot_reaches_it(site: Site) -> None:
    site.trimmed = 4
    assert site.restore().processor.point == site.processor.point


def test_a_journal_that_does_not_reach_back_is_a_clear_stop(site: Site) -> None:
    site.learn(VALUES[0])
    site.trimmed = 5
    with pytest.raises(StateError, match="Part of the journal is missing"):
        site.restore()
    site.snapshots = []
    site.trimmed = 3
    with pytest.raises(StateError, match="Part of the journal is missing"):
        site.restore()


def test_a_newer_journal_is_not_mended_by_an_older_snapshot(site: Site) -> None:
    entry = msgspec.msgpack.decode((site.journal[-1].value or b"")[:-4])
    from_future = msgspec.msgpack.encode([99, *entry[1:]])
    site.journal[-1] = site.journal[-1]._replace(value=seal(from_future))
    with pytest.raises(NewerFormat):
        site.restore()
