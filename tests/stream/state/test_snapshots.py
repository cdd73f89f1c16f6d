"""Snapshots: whatever happens to one slot, what is read is a whole snapshot or none."""

import hashlib
import logging
import os
import random
import time
import tracemalloc
import zlib

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stream.state.snapshot_writer
from stream.errors import NewerFormat, StateError
from stream.records.journal import seal
from stream.records.record import Output, Partition, Record
from stream.state.schedule import Schedule
from stream.state.snapshot_format import PIECE_BYTES, Manifest, SnapshotPoint
from stream.state.snapshot_writer import SHARE_BYTES, SnapshotWriter
from stream.state.snapshots import Snapshots

POINT = SnapshotPoint(7, "d" * 64, 42)


def noise(size: int, seed: int = 0) -> bytes:
    """Bytes that cannot be compressed."""
    return random.Random(seed).randbytes(size)


def written(state: bytes, slot: str = "A", number: int = 1, model: str = "m") -> list[Output]:
    running = SnapshotWriter(model, slot, number, POINT, lambda: state)
    outputs: list[Output] = []
    manifest = None
    while manifest is None:
        pieces, manifest = running.take("s", 0)
        assert sum(len(piece.value or b"") for piece in pieces) <= SHARE_BYTES + 2 * PIECE_BYTES
        outputs += pieces
    return outputs


def read(*batches: list[Output], model: str = "m") -> Snapshots:
    outputs = [output for batch in batches for output in batch]
    return Snapshots(
        model,
        [Record(Partition("s", 0), place, one.value, one.key) for place, one in enumerate(outputs)],
    )


def state_of(compressed: int) -> bytes:
    """Return noise that has this many bytes once it is compressed, which makes it a little longer."""
    size = compressed
    while True:
        state = noise(size)
        squeezer = zlib.compressobj(1)
        came = len(squeezer.compress(state)) + len(squeezer.flush())
        if came == compressed:
            return state
        size += compressed - came


SIZES = [0, 1, PIECE_BYTES, 3 * PIECE_BYTES + 1, 5 << 20]
BORDERS = [times * PIECE_BYTES + more for times in (1, 2) for more in (-9, -8, -7, -4, -1, 0, 1, 4, 7, 8, 9)]
"""Lengths on the pipe at which the eight bytes of the size lie before, across and behind a piece's end."""


@pytest.mark.parametrize("size", SIZES)
def test_a_snapshot_of_any_size_comes_back(size: int) -> None:
    state = noise(size)
    [snapshot] = read(written(state)).whole()
    assert snapshot.state == state
    assert snapshot.manifest.journal_offset == POINT.journal_offset
    assert (snapshot.manifest.sequence, snapshot.manifest.digest) == POINT[:2]


@pytest.mark.parametrize("length", BORDERS)
def test_a_snapshot_that_ends_near_the_end_of_a_piece_comes_back(length: int) -> None:
    state = state_of(length)
    outputs = written(state)
    [snapshot] = read(outputs).whole()
    assert snapshot.state == state
    assert sum(len(output.value or b"") for output in outputs[:-1]) == length
    assert max(len(output.value or b"") for output in outputs[:-1]) <= PIECE_BYTES


def test_a_snapshot_of_every_length_comes_back_in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way in which the end of the pipe can lie to the ends of pieces; in one process, it is many."""
    monkeypatch.setattr(stream.state.snapshot_writer, "PIECE_BYTES", 32)
    monkeypatch.setattr(stream.state.snapshot_writer, "SHARE_BYTES", 64)
    for size in range(80):
        state = noise(size)
        [snapshot] = read(written(state)).whole()
        assert snapshot.state == state, size


@settings(max_examples=12, deadline=None)
@given(st.binary(max_size=200), st.integers(min_value=1, max_value=64))
def test_repetitive_states_come_back_too(seed: bytes, times: int) -> None:
    [snapshot] = read(written(seed * times * 1_000)).whole()
    assert snapshot.state == seed * times * 1_000


def test_every_piece_passes_the_default_limits_of_brokers() -> None:
    for output in written(noise(4 << 20)):
        assert len(output.key or b"") + len(output.value or b"") < 1_000_000


def test_the_newest_comes_first_and_the_next_goes_to_the_other_slot() -> None:
    kept = read(written(b"one", "A", 1), written(b"two", "B", 2))
    assert [snapshot.state for snapshot in kept.whole()] == [b"two", b"one"]
    assert (kept.next_slot, kept.latest_number) == ("A", 2)
    assert read().next_slot == "A"
    assert read(written(b"one", "A", 1)).next_slot == "B"


def test_what_a_crash_left_of_a_snapshot_does_not_count() -> None:
    whole, torn = written(b"one", "A", 1), written(noise(3 * PIECE_BYTES), "B", 2)
    for end in range(len(torn)):
        assert [one.state for one in read(whole, torn[:end]).whole()] == [b"one"]


def test_a_slot_half_overwritten_does_not_count(caplog: pytest.LogCaptureFixture) -> None:
    older, newer = written(noise(2 * PIECE_BYTES, 1), "A", 1), written(b"two", "B", 2)
    third = written(noise(2 * PIECE_BYTES, 3), "A", 3)
    kept = read(older, newer, third[:1])
    assert [one.state for one in kept.whole()] == [b"two"]
    assert "piece 0 is of another snapshot, or damaged" in caplog.text


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_damage_anywhere_is_noticed_and_the_other_slot_is_used(data: st.DataObject) -> None:
    older, newer = written(b"one", "A", 1), written(noise(PIECE_BYTES + 99), "B", 2)
    victim = data.draw(st.sampled_from(range(len(newer))))
    value = bytearray(newer[victim].value or b"")
    place = data.draw(st.integers(0, len(value) - 1))
    value[place] ^= data.draw(st.integers(1, 255))
    newer[victim] = newer[victim]._replace(value=bytes(value))
    assert [one.state for one in read(older, newer).whole()] == [b"one"]


def test_a_piece_deleted_by_compaction_is_noticed(caplog: pytest.LogCaptureFixture) -> None:
    newer = written(noise(2 * PIECE_BYTES), "B", 2)
    newer.append(Output("s", None, newer[1].key))
    assert [one.state for one in read(written(b"one"), newer).whole()] == [b"one"]
    assert "piece 1 of 3 is missing" in caplog.text


def test_models_do_not_see_each_others_snapshots() -> None:
    kept = written(b"one", model="m"), written(b"other", model="m|A")
    assert [one.state for one in read(*kept).whole()] == [b"one"]
    assert [one.state for one in read(*kept, model="m|A").whole()] == [b"other"]


def forged(**changes: object) -> list[Output]:
    pieces = written(b"x" * 1_000)
    manifest = msgspec.msgpack.decode((pieces[-1].value or b"")[:-4], type=Manifest)
    value = seal(msgspec.msgpack.encode(msgspec.structs.replace(manifest, **changes)))
    return [*pieces[:-1], pieces[-1]._replace(value=value)]


def test_a_manifest_that_claims_too_much_is_not_believed(caplog: pytest.LogCaptureFixture) -> None:
    assert list(read(forged(size=1 << 40)).whole()) == []
    assert "claims to hold" in caplog.text
    assert list(read(forged(size=999)).whole()) == []
    assert list(read(forged(size=1_001)).whole()) == []


def test_a_bomb_is_not_unpacked_beyond_what_was_claimed() -> None:
    bomb = zlib.compress(b"\0" * (64 << 20), 9)
    pieces = written(b"x")
    manifest = msgspec.msgpack.decode((pieces[-1].value or b"")[:-4], type=Manifest)
    checked = msgspec.structs.replace(manifest, pieces=[hashlib.sha256(bomb).digest()], size=5)
    value = seal(msgspec.msgpack.encode(checked))
    kept = read([pieces[0]._replace(value=bomb), pieces[1]._replace(value=value)])
    tracemalloc.start()
    try:
        assert list(kept.whole()) == []
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 1 << 20


def test_a_newer_format_stops_the_restore() -> None:
    with pytest.raises(NewerFormat, match="format 2"):
        read(forged(format=2))


def test_a_snapshot_that_cannot_be_made_is_said_and_leaves_no_process() -> None:
    def fail() -> bytes:
        raise MemoryError

    running = SnapshotWriter("m", "A", 1, POINT, fail)
    child = running._child
    with pytest.raises(StateError, match="could not be made"):
        while True:
            running.take("s", 0)
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)


def test_nothing_can_be_taken_after_the_manifest() -> None:
    running = SnapshotWriter("m", "A", 1, POINT, lambda: b"x")
    while not running.is_over:
        running.take("s", 0)
    with pytest.raises(AssertionError, match="handed out"):
        running.take("s", 0)


def test_a_snapshot_given_up_leaves_no_process() -> None:
    running = SnapshotWriter("m", "A", 1, POINT, lambda: noise(50 << 20))
    child = running._child
    running.take("s", 0)
    running.drop()
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)


def test_neither_taking_nor_giving_up_waits_for_the_copy() -> None:
    def encode() -> bytes:
        time.sleep(60)
        return b""

    running = SnapshotWriter("m", "A", 1, POINT, encode)
    began = time.monotonic()
    assert running.take("s", 0) == ([], None)
    running.drop()
    assert time.monotonic() - began < 20, "it waited for the copy, which takes a minute"


@given(
    st.lists(st.tuples(st.integers(0, 400), st.floats(0, 50)), max_size=40),
    st.integers(1, 500),
    st.integers(1, 100),
)
def test_what_snapshots_write_and_restores_replay_is_bounded(
    steps: list[tuple[int, float]], records: int, seconds: float
) -> None:
    schedule = Schedule(records, seconds)
    schedule.begun(0.0, 0)
    now, retained, since, held, written = 0.0, 0, 0, 0, 0
    for learned, waited in steps:
        now += waited
        retained += learned
        since += learned
        schedule.learned(learned)
        if schedule.is_due(now):
            assert since > 0
            written += retained
            since, held = 0, retained
            schedule.begun(now, retained)
        else:
            assert since < max(records, held)
    # Whatever the times: each snapshot is at least an eighth larger than the last.
    assert written <= 9 * retained


def test_records_alone_make_a_model_due_each_time_it_has_doubled() -> None:
    schedule = Schedule(10, 1e9)
    schedule.begun(0.0, 0)
    due = []
    for number in range(1, 100):
        schedule.learned(1)
        if schedule.is_due(0.0):
            due.append(number)
            schedule.begun(0.0, number)
    assert due == [10, 20, 40, 80]


def test_time_alone_makes_a_small_model_due() -> None:
    schedule = Schedule(1_000, 10.0)
    schedule.begun(0.0, 8)
    assert not schedule.is_due(100.0)
    schedule.learned(1)
    assert not schedule.is_due(9.9)
    assert schedule.is_due(10.0)
    schedule.begun(0.0, 9)
    schedule.learned(1)
    assert not schedule.is_due(10.0)


@pytest.fixture(autouse=True)
def _loud(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
