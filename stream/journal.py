"""The journal: what a model has learned from, in order, one message per model and transaction.

For an exact learner the smallest correct delta is the instance itself, since one instance can restructure
the whole tree. A message holds the instances of one transaction as codes, the names that were new among
them, the offsets to read next, and the digest of the tree that came of it, so that a restored tree can be
compared with the one that was there.

A message is MessagePack, of which the first element is the format, and four bytes: the CRC-32 of the rest,
little-endian. Every format keeps these two, so that damage is never taken for a newer version.
"""

import zlib

import msgspec

from learners.codes import Growth, Row
from stream.errors import NewerFormat, StateError

FORMAT = 1
CHECKSUM_BYTES = 4


class JournalEntry(msgspec.Struct, array_like=True, frozen=True):
    """One message of the journal.

    Attributes:
        format: The layout of the message.
        model: Whose journal it is.
        sequence: Its number; the first is 0 and none is left out.
        learner: The learner that wrote it.
        settings: What decides how it learns, as a digest: other settings would grow another tree.
        next_offsets: For each input partition the offset to read next.
        growth: Names that were new.
        rows: The descriptions learned from.
        labels: Their classes.
        positions: Their input partitions and offsets.
        version: How many times the tree has changed, after these instances.
        digest: The tree after these instances.
    """

    format: int
    model: str
    sequence: int
    learner: str
    settings: str
    next_offsets: dict[int, int]
    growth: Growth
    rows: list[Row]
    labels: list[int]
    positions: list[tuple[int, int]]
    version: int
    digest: str


def pack(entry: JournalEntry) -> bytes:
    """Return an entry as bytes."""
    return seal(msgspec.msgpack.encode(entry))


def seal(body: bytes) -> bytes:
    """Return the body of a message with its checksum."""
    return body + zlib.crc32(body).to_bytes(CHECKSUM_BYTES, "little")


def unpack(data: bytes) -> JournalEntry:
    """Return the entry that some bytes hold.

    Raises:
        StateError: They hold none, or one of a newer format.
    """
    body = data[:-CHECKSUM_BYTES]
    if seal(body) != data:
        raise StateError("the journal holds a message whose checksum is wrong. It was damaged")
    try:
        head = msgspec.msgpack.decode(body, type=list[msgspec.Raw])
        number = msgspec.msgpack.decode(head[0], type=int) if head else 0
        if number > FORMAT:
            raise NewerFormat(
                f"the journal has format {number}; this version reads up to {FORMAT}. Upgrade it"
            )
        return msgspec.msgpack.decode(body, type=JournalEntry)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StateError(f"the journal holds a message that is not an entry: {error}") from error
