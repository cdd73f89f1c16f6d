"""Snapshots: a model's state as a whole, so that a restore need not replay the journal from its beginning.

A snapshot is made by a copy of the process (`fork`), which costs the loop some milliseconds whatever the
model's size, and comes back through a pipe as the loop has room for it: a few pieces go into each
transaction. It has two slots, written in turn. A slot counts once its manifest is there, which is written
last and has the checksum of every piece; whatever is torn, damaged or half compacted away is a slot that does
not count, and the other is still whole.

Messages, all under keys that a compacted topic keeps the newest of: `model|slot|number` a piece of the
compressed state, `model|slot` the manifest.
"""

import hashlib
import logging
import zlib
from collections.abc import Iterable, Iterator

from stream.errors import NewerFormat, StateError
from stream.records.journal import unseal
from stream.records.record import Record
from stream.state.snapshot_format import FORMAT, MOST_RATIO, SLOTS, Manifest, Snapshot

log = logging.getLogger(__name__)


# ---- writing


# ---- when


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
