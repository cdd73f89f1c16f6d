"""A learner's state as bytes: versioned, length-checked, checksummed data. Never code.

Layout, little-endian: 4 bytes `ESPL`, 2 bytes format, 1 byte length of the learner's name, the name, 8 bytes
length of the body, 32 bytes SHA-256 of the body, the body. The body is MessagePack of a struct that each
learner declares.
"""

import hashlib
import struct
from typing import TypeVar

import msgspec

MAGIC = b"ESPL"
FORMAT = 1
MAX_BODY = 1 << 34

T = TypeVar("T")


WRONG_STATE = (msgspec.ValidationError, ValueError, TypeError, LookupError, OverflowError)
"""What making a learner from the state of another may raise, if it is no state that a learner could have."""


class SnapshotError(ValueError):
    """The bytes are not a whole snapshot, or not one of this learner or of a format known here."""


class NewerFormatError(SnapshotError):
    """The snapshot was written by a later version; this one must not guess."""


def pack(learner: str, body: msgspec.Struct) -> bytes:
    """Return a snapshot."""
    data = msgspec.msgpack.encode(body)
    name = learner.encode()
    head = MAGIC + struct.pack("<HB", FORMAT, len(name)) + name + struct.pack("<Q", len(data))
    return head + hashlib.sha256(data).digest() + data


def learner_of(data: bytes) -> str:
    """Return the name of the learner that wrote a snapshot.

    Raises:
        SnapshotError: The bytes are not a snapshot.
    """
    return _head(data)[0]


def unpack(data: bytes, learner: str, body: type[T]) -> T:
    """Return the body of a snapshot.

    Raises:
        SnapshotError: It is not a whole snapshot of this learner.
    """
    name, start, length, checksum = _head(data)
    if name != learner:
        raise SnapshotError(f'the snapshot is of learner "{name}", not "{learner}"')
    raw = data[start:]
    if len(raw) != length:
        raise SnapshotError(f"the snapshot has {len(raw)} bytes where {length} were written")
    if hashlib.sha256(raw).digest() != checksum:
        raise SnapshotError("the snapshot's checksum does not match")
    try:
        return msgspec.msgpack.decode(raw, type=body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise SnapshotError(f"the snapshot's body cannot be read: {error}") from error


def _head(data: bytes) -> tuple[str, int, int, bytes]:
    """Return the learner's name, where the body starts, how long it is, and its checksum."""
    if data[:4] != MAGIC or len(data) < 7 or data[4:6] == b"\0\0":
        raise SnapshotError("the bytes are not a snapshot")
    version, name_length = struct.unpack_from("<HB", data, 4)
    if version > FORMAT:
        raise NewerFormatError(f"the snapshot has format {version}; this version reads up to {FORMAT}")
    start = 7 + name_length + 8 + 32
    if len(data) < start:
        raise SnapshotError("the snapshot is truncated")
    try:
        name = data[7 : 7 + name_length].decode()
    except UnicodeDecodeError as error:
        raise SnapshotError("the snapshot's learner name cannot be read") from error
    (length,) = struct.unpack_from("<Q", data, 7 + name_length)
    if length > MAX_BODY:
        raise SnapshotError(f"the snapshot claims {length} bytes")
    return name, start, length, data[start - 32 : start]
