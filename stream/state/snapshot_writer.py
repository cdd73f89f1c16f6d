"""Making a snapshot beside the work: a copy of the process encodes it, the pieces come through a pipe."""

import contextlib
import gc
import hashlib
import os
import signal
import zlib
from collections.abc import Callable

import msgspec

from stream.errors import StateError
from stream.records.journal import seal
from stream.records.record import Output
from stream.state.snapshot_format import (
    FORMAT,
    PIECE_BYTES,
    Manifest,
    SnapshotPoint,
)

SHARE_BYTES = 2 << 20
"""How much of a snapshot goes into one transaction: what is open holds back readers."""
_SIZE_BYTES = 8


class SnapshotWriter:
    """A snapshot being made and written."""

    def __init__(
        self, model: str, slot: str, number: int, point: SnapshotPoint, encode: Callable[[], bytes]
    ) -> None:
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
