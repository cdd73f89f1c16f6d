"""Snapshots: a model's state as a whole, so that a restore need not replay the journal from its beginning.

A snapshot is made by a copy of the process (`fork`), which costs the loop some milliseconds whatever the
model's size, and comes back through a pipe as the loop has room for it: a few pieces go into each
transaction. It has two slots, written in turn. A slot counts once its manifest is there, which is written
last and has the checksum of every piece; whatever is torn, damaged or half compacted away is a slot that does
not count, and the other is still whole.

Messages, all under keys that a compacted topic keeps the newest of: `model|slot|number` a piece of the
compressed state, `model|slot` the manifest.
"""

import contextlib
import gc
import hashlib
import logging
import os
import signal
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from stream.errors import NewerFormat, StateError
from stream.journal import seal, unseal
from stream.record import Output, Record

log = logging.getLogger(__name__)

FORMAT = 1
SLOTS = "AB"
PIECE_BYTES = 512 << 10
"""A piece passes every default limit of brokers and clients."""
SHARE_BYTES = 2 << 20
"""How much of a snapshot goes into one transaction: what is open holds back readers."""
IMPROVE_SECONDS = 10.0
"""How much spare time may have to be spent again by a restore."""
_SIZE_BYTES = 8
MOST_RATIO = 1_100
"""zlib cannot do better than 1,032 to 1: a manifest that says so is not ours."""


class Manifest(msgspec.Struct, array_like=True, frozen=True):
    """What a slot holds.

    Attributes:
        format: The layout of the snapshot.
        model: Whose it is.
        slot: Which one.
        number: Counts the model's snapshots; the newest has the highest.
        sequence: The number of the journal's first entry that is not in it.
        journal_offset: Where in the journal that entry may be found, or later.
        size: How many bytes the state has.
        pieces: The SHA-256 of each piece.
        digest: The tree.
    """

    format: int
    model: str
    slot: str
    number: int
    sequence: int
    journal_offset: int
    size: int
    pieces: list[bytes]
    digest: str


class Point(NamedTuple):
    """The moment a snapshot is of."""

    sequence: int
    digest: str
    journal_offset: int


class Snapshot(NamedTuple):
    """A snapshot that was read, whole and unharmed."""

    manifest: Manifest
    state: bytes


# ---- writing


class Snapshotting:
    """A snapshot being made and written."""

    def __init__(self, model: str, slot: str, number: int, point: Point, encode: Callable[[], bytes]) -> None:
        self._model, self._slot, self._number, self._point = model, slot, number, point
        self._pieces: list[bytes] = []
        self._rest = b""
        self._size = 0
        self._done = False
        self._pipe, self._child = _fork(encode)

    @property
    def bytes_written(self) -> int:
        """How many bytes of it have been handed out."""
        return self._size

    @property
    def is_over(self) -> bool:
        """Whether everything has been handed out."""
        return self._done

    def take(self, topic: str, partition: int) -> tuple[list[Output], Manifest | None]:
        """Return what is to be written with the next transaction; with the last of it, the manifest.

        Raises:
            StateError: It could not be made.
        """
        assert not self._done, "the manifest has been handed out"
        outputs: list[Output] = []
        while not self._done and len(outputs) * PIECE_BYTES < SHARE_BYTES:
            try:
                data = os.read(self._pipe, PIECE_BYTES)
            except BlockingIOError:
                return outputs, None
            self._rest += data
            # The last eight bytes are no part of a piece, and they may come at any moment.
            if len(self._rest) >= PIECE_BYTES + _SIZE_BYTES:
                piece, self._rest = self._rest[:PIECE_BYTES], self._rest[PIECE_BYTES:]
                outputs.append(self._piece(piece, topic, partition))
            elif not data:
                self._done = True
        if not self._done:
            return outputs, None
        size = self._end()
        if self._rest:
            outputs.append(self._piece(self._rest, topic, partition))
        point = self._point
        manifest = Manifest(
            FORMAT,
            self._model,
            self._slot,
            self._number,
            point.sequence,
            point.journal_offset,
            size,
            self._pieces,
            point.digest,
        )
        key = f"{self._model}|{self._slot}".encode()
        outputs.append(Output(topic, seal(msgspec.msgpack.encode(manifest)), key, partition))
        return outputs, manifest

    def _piece(self, piece: bytes, topic: str, partition: int) -> Output:
        key = f"{self._model}|{self._slot}|{len(self._pieces)}".encode()
        self._pieces.append(hashlib.sha256(piece).digest())
        self._size += len(piece)
        return Output(topic, piece, key, partition)

    def _end(self) -> int:
        """Take leave of the child; the last bytes it wrote are the size of the state."""
        status = self._leave()
        if status != 0 or len(self._rest) < _SIZE_BYTES:
            raise StateError(f"the snapshot of {self._model} could not be made (status {status})")
        size = int.from_bytes(self._rest[-_SIZE_BYTES:], "little")
        self._rest = self._rest[:-_SIZE_BYTES]
        return size

    def _leave(self) -> int:
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
        if self._child > 0:
            child, self._child = self._child, 0
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return 0

    def drop(self) -> None:
        """Give it up."""
        if self._child > 0:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child, signal.SIGKILL)
        self._leave()


def _fork(encode: Callable[[], bytes]) -> tuple[int, int]:
    """Return a pipe on which a copy of this process writes the compressed state, and the copy's number."""
    reading, writing = os.pipe()
    # The collector would touch, and so copy, every object there is.
    gc.freeze()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _write_state(encode, writing)
            status = 0
        finally:
            os._exit(status)
    gc.unfreeze()
    os.close(writing)
    os.set_blocking(reading, False)
    return reading, child


def _write_state(encode: Callable[[], bytes], writing: int) -> None:
    """Run in the copy: nothing but this model and the pipe is touched, and no connection is kept open."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    os.dup2(writing, 3)
    os.closerange(4, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") < 1 << 16 else 1 << 16)
    gc.disable()
    state = encode()
    squeezer = zlib.compressobj(1)
    for start in range(0, len(state), PIECE_BYTES):
        _write(3, squeezer.compress(state[start : start + PIECE_BYTES]))
    _write(3, squeezer.flush() + len(state).to_bytes(_SIZE_BYTES, "little"))


def _write(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]


# ---- when


class Schedule:
    """Says when a model is due for a snapshot.

    A snapshot holds everything a model retains, so that the larger it is, the more records there are between
    two: not less than the last one held, or an eighth of that once the time has come. What snapshots add to
    the writing of the journal is bounded by that, and so is what a restore has to replay. Spare time that was
    spent on a better tree is spent again by a replay, and so it makes a snapshot due as well.

    Args:
        records: After how many records at the earliest.
        seconds: After how many seconds, where fewer records have come.
    """

    def __init__(self, records: int, seconds: float) -> None:
        self._records = records
        self._seconds = seconds
        self._since = 0
        self._held = 0
        self._last = 0.0
        self._improving = 0.0

    def improved(self, seconds: float) -> None:
        """Note that so much time has been spent on a better tree."""
        self._improving += seconds

    def learned(self, records: int) -> None:
        """Note that records have been learned."""
        self._since += records

    def is_due(self, now: float) -> bool:
        """Whether it is time."""
        if self._improving >= IMPROVE_SECONDS:
            return True
        if self._since >= max(self._records, self._held):
            return True
        return self._since > 0 and now - self._last >= self._seconds and 8 * self._since >= self._held

    def begun(self, now: float, retained: int) -> None:
        """Note that one has begun, of so many instances."""
        self._since = 0
        self._improving = 0.0
        self._held = retained
        self._last = now


# ---- reading


class Snapshots:
    """The messages of a snapshot topic that concern one model."""

    def __init__(self, model: str, records: Iterable[Record]) -> None:
        self._model = model
        self._values: dict[bytes, bytes] = {}
        mine = f"{model}|".encode()
        for record in records:
            if record.key is not None and record.key.startswith(mine):
                if record.value is None:
                    self._values.pop(record.key, None)
                else:
                    self._values[record.key] = record.value
        self._manifests = sorted(self._read_manifests(), key=lambda one: -one.number)

    @property
    def latest_number(self) -> int:
        """The number of the newest snapshot; 0 where there is none."""
        return self._manifests[0].number if self._manifests else 0

    @property
    def next_slot(self) -> str:
        """The slot to write next: not that of the newest snapshot."""
        return SLOTS[1] if self._manifests and self._manifests[0].slot == SLOTS[0] else SLOTS[0]

    def whole(self) -> Iterator[Snapshot]:
        """Yield the snapshots that are whole, the newest first; say which are not."""
        for manifest in self._manifests:
            try:
                state = self._assembled(manifest)
            except StateError as error:
                log.warning("snapshot %d of %s is passed over: %s", manifest.number, self._model, error)
            else:
                yield Snapshot(manifest, state)

    def _read_manifests(self) -> Iterator[Manifest]:
        for slot in SLOTS:
            data = self._values.get(f"{self._model}|{slot}".encode())
            if data is not None:
                try:
                    yield unseal(data, Manifest, FORMAT, "a manifest of a snapshot")
                except NewerFormat:
                    raise
                except StateError as error:
                    log.warning("a snapshot of %s in slot %s is passed over: %s", self._model, slot, error)

    def _assembled(self, manifest: Manifest) -> bytes:
        compressed = bytearray()
        for number, checksum in enumerate(manifest.pieces):
            piece = self._values.get(f"{manifest.model}|{manifest.slot}|{number}".encode())
            if piece is None:
                raise StateError(f"piece {number} of {len(manifest.pieces)} is missing")
            if hashlib.sha256(piece).digest() != checksum:
                raise StateError(f"piece {number} is of another snapshot, or damaged")
            compressed += piece
        if manifest.size > MOST_RATIO * len(compressed) + 64:
            raise StateError(f"it claims to hold {manifest.size} bytes")
        try:
            state = zlib.decompressobj().decompress(bytes(compressed), manifest.size + 1)
        except zlib.error as error:
            raise StateError(f"it cannot be unpacked: {error}") from error
        if len(state) != manifest.size:
            raise StateError(f"it holds {len(state)} bytes instead of {manifest.size}")
        return state
