"""What a snapshot is on the topic: pieces in one of two slots, and a manifest that makes them count."""

from typing import NamedTuple

import msgspec

FORMAT = 1
SLOTS = "AB"
PIECE_BYTES = 512 << 10
"""A piece passes every default limit of brokers and clients."""
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


class SnapshotPoint(NamedTuple):
    """The moment a snapshot is of."""

    sequence: int
    digest: str
    journal_offset: int


class Snapshot(NamedTuple):
    """A snapshot that was read, whole and unharmed."""

    manifest: Manifest
    state: bytes
