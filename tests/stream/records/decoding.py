"""Decoders, a record around a value, and what comes of decoding it."""

from learners.codes import Codes
from learners.schema import InstanceError
from stream.config import Limits
from stream.errors import RejectedRecord
from stream.records.json_decoder import Decoded, Decoder
from stream.records.record import Headers, Partition, Record

PLACE = Partition("in", 3)
MEGABYTES = Decoder("class", "id", max_bytes=4_000_000, max_depth=32)
USUAL = Decoder("class", "id", Limits().max_record_bytes, Limits().max_depth)


def record(value: bytes | None, key: bytes | None = None, headers: Headers = ()) -> Record:
    return Record(PLACE, 17, value, key, headers, timestamp_ms=1_700_000_000_000)


def outcome(decoder: Decoder, value: bytes | None) -> str:
    """Return the reason for which a value is refused by us or by a fresh model, or "accepted"."""
    try:
        decoded = decoder.decode(record(value))
        if decoded.label is None:
            Codes().look_up(decoded.values)
        else:
            Codes().encode(decoded.values, decoded.label)
    except RejectedRecord as error:
        assert error.stage == "decode"
        return error.reason
    except InstanceError as error:
        return error.misfit.value
    return "accepted"


def decoded(value: bytes) -> Decoded:
    return USUAL.decode(record(value))
