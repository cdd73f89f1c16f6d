"""What the journal of a processor restores, and which journals are refused."""

from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.learner import make_options
from learners.registry import LEARNERS
from learners.schema import Schema
from stream.assembly import processor_factory
from stream.config import Agent, Limits
from stream.errors import NewerFormat, StateError
from stream.model.ports import unit_of
from stream.model.processor import LearningProcessor
from stream.records.journal import WITH_RETIRED, JournalEntry, pack, seal, unpack
from tests.stream.model.journal_places import BARE, places_in
from tests.stream.stories import INPUT, Story, ignore, make, pieces, records_of, stories, told_by


@settings(max_examples=150)
@given(st.data(), stories())
def test_a_processor_restored_from_the_journal_goes_on_exactly(data: st.DataObject, story: Story) -> None:
    batches = pieces(data.draw, story.records)
    split = data.draw(st.integers(0, len(batches)))
    first = make(story.agent)
    journal: list[bytes] = []
    for batch in batches[:split]:
        journal += told_by(first.process(batch), story.agent).journal
    second = make(story.agent)
    instances = sum(map(second.replay, journal))
    assert instances == sum(len(places_in(unpack(entry))) for entry in journal)
    assert second.digest == first.digest
    assert second.version == first.version
    assert second.next_offsets == first.next_offsets
    assert second.learner.snapshot() == first.learner.snapshot()
    for batch in batches[split:]:
        assert list(second.process(batch)) == list(first.process(batch))
    assert second.learner.snapshot() == first.learner.snapshot()


GOOD = [
    b'{"a": "x", "b": "1", "class": "p"}',
    b'{"a": "y", "b": "1", "class": "n"}',
    b'{"a": "x", "b": "2", "c": "late", "class": "n"}',
    b'{"a": "y", "b": "2", "class": "p"}',
    b"?",
    b'{"a": "z", "b": "2", "class": "n"}',
]
AGENT = Agent(name="a", input=INPUT, options=BARE)


@pytest.fixture
def journal() -> list[bytes]:
    """The journal of three batches."""
    processor = make(AGENT)
    records = records_of(GOOD)
    batches = records[:2], records[2:4], records[4:]
    return [told_by(processor.process(batch), AGENT).journal[0] for batch in batches]


def replayed(journal: Iterable[bytes], agent: Agent = AGENT, model: str = INPUT) -> LearningProcessor:
    processor = processor_factory(agent, Limits(), ignore)(unit_of(model, None))
    assert isinstance(processor, LearningProcessor)
    for entry in journal:
        processor.replay(entry)
    return processor


def test_a_whole_journal_is_replayed(journal: list[bytes]) -> None:
    processor = replayed(journal)
    assert processor.next_offsets == {0: len(GOOD)}
    assert processor.version == unpack(journal[-1]).version > 3


def test_a_gap_is_refused(journal: list[bytes]) -> None:
    with pytest.raises(StateError, match=r"entry 2 of a\.journal follows entry 0"):
        replayed([journal[0], journal[2]])
    with pytest.raises(StateError, match=r"entry 1 of a\.journal follows entry -1"):
        replayed(journal[1:])


def test_an_entry_that_comes_twice_is_refused(journal: list[bytes]) -> None:
    with pytest.raises(StateError, match="follows entry"):
        replayed([*journal, journal[-1]])


def test_a_fork_is_refused(journal: list[bytes]) -> None:
    """Another worker went on from the same entry with other records."""
    other = replayed(journal[:1])
    strange = told_by(other.process(records_of([b'{"a": "x", "class": "q"}'], 2)), AGENT).journal
    with pytest.raises(StateError, match="follows entry"):
        replayed([journal[0], journal[1], *strange])
    # Or one numbered as if it followed, but made from another tree.
    forged = msgspec.structs.replace(unpack(strange[0]), sequence=2)
    with pytest.raises(StateError, match="leads to tree"):
        replayed([journal[0], journal[1], pack(forged)])


def test_the_journal_of_another_model_is_refused(journal: list[bytes]) -> None:
    with pytest.raises(StateError, match='is of model "in", not "other"'):
        replayed(journal, model="other")


@pytest.mark.parametrize(
    "other",
    [
        Agent(name="a", input=INPUT, learner="id3"),
        Agent(name="a", input=INPUT, options=make_options(LEARNERS["id5r"].options_type, {"window": 9})),
        Agent(
            name="a",
            input=INPUT,
            options=make_options(LEARNERS["id5r"].options_type, {"train": "errors"}),
        ),
        Agent(name="a", input=INPUT, schema=Schema(classes=("p", "n"))),
    ],
    ids=["learner", "window", "train", "schema"],
)
def test_a_journal_of_other_settings_is_refused(journal: list[bytes], other: Agent) -> None:
    with pytest.raises(StateError, match="was written with other settings"):
        replayed(journal, other)


def test_an_entry_that_leads_to_another_tree_is_refused(journal: list[bytes]) -> None:
    first = unpack(journal[0])
    (block,) = first.blocks
    replayed([pack(first)])
    _, labels = block.unpack()
    for others in (labels[::-1], labels * 0):
        forged = msgspec.structs.replace(block, labels=others.tobytes())
        assert forged != block
        with pytest.raises(StateError, match="leads to tree"):
            replayed([pack(msgspec.structs.replace(first, blocks=[forged]))])


@given(st.data())
def test_a_flipped_byte_is_refused(data: st.DataObject) -> None:
    processor = make(AGENT)
    entry = told_by(processor.process(records_of(GOOD)), AGENT).journal[0]
    at = data.draw(st.integers(0, len(entry) - 1))
    damaged = bytearray(entry)
    damaged[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(StateError, match="checksum"):
        replayed([bytes(damaged)])


def test_a_newer_format_is_refused_as_such(journal: list[bytes]) -> None:
    body: list[object] = msgspec.msgpack.decode(journal[0][:-4])
    newer = seal(msgspec.msgpack.encode([WITH_RETIRED + 1, "another", {"lay": "out"}]))
    for message in (newer, seal(msgspec.msgpack.encode([WITH_RETIRED + 1, *body[1:]]))):
        with pytest.raises(NewerFormat, match=f"format {WITH_RETIRED + 1}"):
            replayed([message])


def test_a_refused_entry_names_what_to_do(journal: list[bytes]) -> None:
    entry: JournalEntry = unpack(journal[0])
    with pytest.raises(StateError, match="give the agent another name"):
        replayed([pack(msgspec.structs.replace(entry, settings="0" * 16, described=""))])
