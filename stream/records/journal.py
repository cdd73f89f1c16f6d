"""The journal: what a model has learned from, in order, one message per model and transaction.

For an exact learner the smallest correct delta is the instance itself, since one instance can restructure
the whole tree. A message holds the instances of one transaction as codes, the names that were new among
them, the offsets to read next, and the digest of the tree that came of it, so that a restored tree can be
compared with the one that was there.

A message is MessagePack, of which the first element is the format, and four bytes: the CRC-32 of the rest,
little-endian. Every format keeps these two, so that damage is never taken for a newer version.
"""

import zlib
from collections.abc import Sequence
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.clock import ClockState
from learners.vocabulary import Growth, Row
from stream.errors import NewerFormat, StateError

FORMAT = 1
WITH_IMPROVING = 2
"""The format of an entry that has units of spare time: an earlier version would leave them out."""
WITH_RETIRED = 3
"""The format of an entry that retires attributes."""
CHECKSUM_BYTES = 4

T = TypeVar("T")
WIDE = 8


class Block(msgspec.Struct, array_like=True, frozen=True):
    """Instances whose rows have one width; the arrays are little-endian.

    Attributes:
        width: How many codes a row has.
        rows: The codes, of 32 bits, or of 64 where some are numbers; how long it is says which.
        labels: The classes, of 32 bits.
        places: The input partition and offset of each, of 64 bits.
        retired: Attributes that are left out from these instances on.
    """

    width: int
    rows: bytes
    labels: bytes
    places: bytes
    retired: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        rows: "Sequence[Row] | NDArray[np.uint32] | NDArray[np.uint64]",
        labels: NDArray[np.int32],
        places: NDArray[np.int64],
        retired: tuple[int, ...] = (),
    ) -> "Block | None":
        """Return the labelled ones among some instances; None where there are none."""
        chosen = np.flatnonzero(labels >= 0)
        if not len(chosen):
            return None
        # Of a record without a label the codes may be of what nothing is known about, which are negative.
        known = rows[chosen] if isinstance(rows, np.ndarray) else [rows[i] for i in chosen.tolist()]
        wide = (
            known.dtype.itemsize == WIDE
            if isinstance(known, np.ndarray)
            else any(code >> 32 for row in known for code in row)
        )
        coded = np.asarray(known, dtype="<u8" if wide else "<u4").reshape(len(chosen), -1)
        return cls(
            coded.shape[1],
            coded.tobytes(),
            labels[chosen].astype("<i4").tobytes(),
            places[chosen].astype("<i8").tobytes(),
            retired,
        )

    def unpack(self) -> tuple[NDArray[np.uint32] | NDArray[np.uint64], NDArray[np.int32]]:
        """Return rows and labels.

        Raises:
            StateError: The arrays do not fit each other.
        """
        try:
            labels = np.frombuffer(self.labels, dtype="<i4")
            wide = self.width > 0 and len(self.rows) == WIDE * self.width * len(labels)
            rows = np.frombuffer(self.rows, dtype="<u8" if wide else "<u4").reshape(len(labels), self.width)
        except ValueError as error:
            raise StateError(f"the journal holds a block whose sizes do not agree: {error}") from error
        return rows, labels


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
        blocks: The instances learned from, in order.
        version: How many times the tree has changed, after these instances.
        digest: The tree after these instances.
        improved: How many units of work were spent on a better tree since the entry before, and before these
            instances.
        described: The settings behind `settings`, in the first entry and where no
            entry before has them; otherwise "".
        clock: How far time has come, and how many records from the future were refused in a row, where
            records are retained by their time.
    """

    format: int
    model: str
    sequence: int
    learner: str
    settings: str
    next_offsets: dict[int, int]
    growth: Growth
    blocks: list[Block]
    version: int
    digest: str
    improved: int = 0
    described: str = ""
    clock: ClockState | None = None


def pack(entry: JournalEntry) -> bytes:
    """Return an entry as bytes."""
    return seal(msgspec.msgpack.encode(entry))


def seal(body: bytes) -> bytes:
    """Return the body of a message with its checksum."""
    return body + zlib.crc32(body).to_bytes(CHECKSUM_BYTES, "little")


def unseal(data: bytes, kind: type[T], newest: int, what: str) -> T:
    """Return what a sealed message holds; its first element is its format.

    Args:
        data: The message.
        kind: What it is to hold.
        newest: The newest format that is known here.
        what: What to call it in an error.

    Raises:
        StateError: It holds nothing of the kind.
        NewerFormat: It was written by a later version.
    """
    body = data[:-CHECKSUM_BYTES]
    if seal(body) != data:
        raise StateError(f"a message that is to be {what} has a wrong checksum. It was damaged")
    try:
        head = msgspec.msgpack.decode(body, type=list[msgspec.Raw])
        number = msgspec.msgpack.decode(head[0], type=int) if head else 0
        if number > newest:
            raise NewerFormat(f"{what} has format {number}; this version reads up to {newest}. Upgrade it")
        return msgspec.msgpack.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StateError(f"a message is not {what}: {error}") from error


def unpack(data: bytes) -> JournalEntry:
    """Return the entry that some bytes hold.

    Raises:
        StateError: They hold none, or one of a newer format.
    """
    return unseal(data, JournalEntry, WITH_RETIRED, "an entry of the journal")
