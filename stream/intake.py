"""From records to rows: what fits is given codes, what does not becomes a dead letter.

There are two ways to the same codes. The general one takes a record apart as JSON and looks every name up;
the fast one reads known names straight from the bytes. Whatever the fast one does not understand takes the
general one.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.codes import Codes, Row
from learners.schema import InstanceError
from stream.codec import Decoder
from stream.errors import RejectedRecord
from stream.fast.messages import are_plain
from stream.fast.rows import RowReader, Rows
from stream.record import Record

Refuse = Callable[[Record, RejectedRecord], None]
Codings = NDArray[np.uint32] | NDArray[np.uint64]
"""Rows as an array; codes have 64 bits where some may be numbers."""


class Segment(NamedTuple):
    """Records that fit, in order, whose rows have one width."""

    records: list[Record]
    ids: list[bytes]  # as JSON
    rows: list[Row] | Codings
    labels: NDArray[np.int32]  # -1: only to be answered


class Intake:
    """Takes in the records of one model.

    Args:
        codes: The names met so far; they grow.
        decoder: The general way.
        reader: The fast way, for learners that take rows as arrays.
        refuse: Told of each record that does not fit.
    """

    def __init__(self, codes: Codes, decoder: Decoder, reader: RowReader | None, refuse: Refuse) -> None:
        self._codes = codes
        self._decoder = decoder
        self._reader = reader
        self._refuse = refuse

    def segments(self, records: Sequence[Record]) -> Iterator[Segment]:
        """Yield the records that fit. A segment must be learned before the next is asked for."""
        if self._reader is None:
            yield from self._general(records, None)
            return
        rows = self._reader.read([record.value for record in records])
        if rows.understood.all() and are_plain(records, self._decoder.max_bytes):
            ids = [b"null" if text is None else text for text in rows.ids]
            yield Segment(list(records), ids, rows.codes, rows.labels)
        else:
            yield from self._general(records, rows)

    def _is_plain(self, record: Record) -> bool:
        return are_plain([record], self._decoder.max_bytes)

    def _general(self, records: Sequence[Record], read: Rows | None) -> Iterator[Segment]:
        """Take the general way with every record that the fast one has not understood."""
        waiting: list[Record] = []
        ids: list[bytes] = []
        rows: list[Row] = []
        labels: list[int] = []
        for index, record in enumerate(records):
            if read is not None and self._still_holds(read, index) and self._is_plain(record):
                row = tuple(read.codes[index].tolist())
                row += (0,) * (len(self._codes.attributes) - len(row))
                label, id_text = int(read.labels[index]), read.ids[index] or b"null"
            else:
                try:
                    row, label, id_text = self._accept(record)
                except RejectedRecord as error:
                    self._refuse(record, error)
                    continue
            if rows and len(row) > len(rows[-1]):
                # An attribute has appeared: what came before it knows nothing of it.
                yield self._segment(waiting, ids, rows, labels)
                waiting, ids, rows, labels = [], [], [], []
            waiting.append(record)
            ids.append(id_text)
            rows.append(row)
            labels.append(label)
        if rows:
            yield self._segment(waiting, ids, rows, labels)

    def _still_holds(self, read: Rows, index: int) -> bool:
        """Whether what the fast way read is what the general way would say, now that names may be new."""
        wider = len(self._codes.attributes) > read.codes.shape[1]
        return bool(read.understood[index]) and not (wider and self._codes.reject_missing)

    def _segment(
        self, records: list[Record], ids: list[bytes], rows: list[Row], labels: list[int]
    ) -> Segment:
        coded: list[Row] | Codings = rows
        if self._reader is not None:
            coded = as_array(rows)
        return Segment(records, ids, coded, np.array(labels, dtype=np.int32))

    def _accept(self, record: Record) -> tuple[Row, int, bytes]:
        decoded = self._decoder.decode(record)
        try:
            if decoded.label is None:
                row, label = self._codes.look_up(decoded.values), -1
            else:
                row, label = self._codes.encode(decoded.values, decoded.label)
        except InstanceError as error:
            raise RejectedRecord(error.misfit.value, "learn", str(error)) from error
        return row, label, msgspec.json.encode(decoded.id)


def as_array(rows: Sequence[Row]) -> Codings:
    """Return rows of one width as an array; a code of -1, which no value has, is the highest there is."""
    if all(code < 2**32 for row in rows for code in row):
        return np.array(rows, dtype=np.int64).reshape(len(rows), -1).astype(np.uint32)
    most = 2**64 - 1
    known = [[code if code >= 0 else most for code in row] for row in rows]
    return np.array(known, dtype=np.uint64).reshape(len(rows), -1)
