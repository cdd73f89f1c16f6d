"""A model may go to another worker while it is being restored; that is no damage to its state."""

import logging
from collections.abc import Iterator

import pytest

from stream.config import Agent, Kafka, State
from stream.errors import Abortable, StateError
from stream.events import RestoreFinished
from stream.kafka import checkpoints
from stream.kafka.checkpoints import CheckpointManager
from stream.model.ports import unit_of
from stream.records.record import Partition, Record
from tests.stream.stories import INPUT, make, records_of, told_by

AGENT = Agent(name="a", input=INPUT, learner="id5r-reference")
UNIT = unit_of(INPUT, None)
VALUES = [b'{"a": "x", "class": "p"}', b'{"a": "y", "class": "q"}', b'{"a": "x", "class": "p"}']


class Place:
    """A worker's place in a group of which others take over: what it is told, one thing after the other."""

    def __init__(self, committed: list[int], *, lost_at: int | None = None) -> None:
        self._committed = committed
        self._signs_left = lost_at
        self.started: list[dict[int, int]] = []

    def committed(self, unit: object) -> dict[int, int]:
        return {0: self._committed.pop(0) if len(self._committed) > 1 else self._committed[0]}

    def keep_alive(self, seconds: float | None = None) -> None:
        if self._signs_left is not None:
            self._signs_left -= 1

    def has_lost(self, unit: object) -> bool:
        return self._signs_left is not None and self._signs_left <= 0

    def start(self, unit: object, next_offsets: dict[int, int]) -> None:
        self.started.append(next_offsets)


@pytest.fixture
def journal(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The journal of three records, read as from a broker; tests may damage it."""
    processor = make(AGENT)
    entries = [
        entry
        for record in records_of(VALUES)
        for entry in told_by(processor.process([record]), AGENT).journal
    ]

    def read(
        kafka: object,
        where: Partition,
        start: int,
        alive: Iterator[None],
        group: str,
        end: int,
        *others: object,
    ) -> Iterator[Record]:
        assert end == len(entries), "a restore reads up to the high watermark"
        if where.topic == AGENT.topics.journal:
            for offset, entry in enumerate(entries[start:], start):
                yield Record(where, offset, entry)
        next(alive)

    monkeypatch.setattr(checkpoints, "read_to_end", read)
    monkeypatch.setattr(CheckpointManager, "_end", lambda keeper, topic, unit: len(entries))
    return entries


def keeper_of(place: Place, told: list[object] | None = None) -> CheckpointManager:
    observe = (told if told is not None else []).append
    return CheckpointManager(Kafka(), AGENT, State(), observe, lambda unit: make(AGENT), place)  # type: ignore[arg-type]


def test_a_model_that_stands_where_it_was_committed_goes_on(journal: list[bytes]) -> None:
    told: list[object] = []
    place = Place([3])
    processor = keeper_of(place, told).restore(UNIT)
    assert processor is not None
    assert (processor.next_offsets, place.started) == ({0: 3}, [{0: 3}])
    assert [type(event) for event in told] == [RestoreFinished]


@pytest.mark.parametrize("sign", [1, 2])
def test_a_model_that_goes_meanwhile_is_left_to_its_new_owner(
    journal: list[bytes], sign: int, caplog: pytest.LogCaptureFixture
) -> None:
    # The new owner has committed three; when we asked it was two.
    told: list[object] = []
    place = Place([2], lost_at=sign)
    with caplog.at_level(logging.INFO):
        assert keeper_of(place, told).restore(UNIT) is None
    assert (place.started, told) == ([], [])
    assert "model in went while it was being restored" in caplog.text


def test_who_was_not_told_yet_sees_it_by_offsets_that_go_on(journal: list[bytes]) -> None:
    with pytest.raises(Abortable, match=r"the offsets of in went on from \{0: 2\} to \{0: 3\}"):
        keeper_of(Place([2, 3])).restore(UNIT)


def test_offsets_whose_marker_is_written_after_the_journals_are_waited_for(journal: list[bytes]) -> None:
    place = Place([2, 2, 2, 2, 3])
    with pytest.raises(Abortable, match="went on"):
        keeper_of(place).restore(UNIT)
    assert keeper_of(place).restore(UNIT) is not None


def test_a_journal_cut_away_by_a_new_owner_is_no_damage(journal: list[bytes]) -> None:
    journal[0] = journal[1]
    with pytest.raises(Abortable, match="another worker goes on"):
        keeper_of(Place([2, 3])).restore(UNIT)


def test_offsets_that_were_moved_back_are_a_clear_stop(
    journal: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "JOURNAL_SECONDS", 0.3)
    with pytest.raises(StateError, match=r"offsets \{0: 2\} are behind those of the journal \{0: 3\}"):
        keeper_of(Place([2, 2])).restore(UNIT)


def test_a_damaged_journal_is_a_clear_stop(journal: list[bytes]) -> None:
    journal[0] = journal[1]
    with pytest.raises(StateError):
        keeper_of(Place([3, 3])).restore(UNIT)


def test_a_journal_that_stays_behind_is_a_clear_stop(
    journal: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "JOURNAL_SECONDS", 0.0)
    with pytest.raises(StateError, match="partition 0 at 3 instead of 4"):
        keeper_of(Place([4, 4])).restore(UNIT)
