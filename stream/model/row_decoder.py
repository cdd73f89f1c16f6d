"""From records to rows: what fits is given codes, what does not becomes a dead letter.

There are two ways to the same codes. The general one takes a record apart as JSON and looks every name up;
the fast one reads known names straight from the bytes. Whatever the fast one does not understand takes the
general one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.codes import Coded, Codes
from learners.schema import InstanceError
from learners.vocabulary import Row
from stream.errors import RejectedRecord
from stream.native.messages import are_plain
from stream.native.rows import RowReader, Rows
from stream.records.fields import MOST_NAMES, Nested
from stream.records.json_decoder import Decoded, Decoder
from stream.records.record import Record

Refuse = Callable[[Record, RejectedRecord], None]
Note = Callable[[Record, str, str], None]
"""Called with a record, a field that is read as missing, and the flag that says why."""
NESTED = "nested"
"""The flag of a field that is left out because it holds an object or an array."""
Flags = Mapping[int, tuple[str, ...]]
_NO_FLAGS: Flags = MappingProxyType({})
Codings = NDArray[np.uint32] | NDArray[np.uint64]
"""Rows as an array; codes have 64 bits where some may be numbers."""


class Segment(NamedTuple):
    """Records that fit, in order, whose rows have one width.

    Attributes:
        records: The records.
        ids: The id of each, as JSON.
        rows: The codes of each.
        labels: The class of each; -1: only to be predicted.
        retired: Attributes that the first of these records retires, before anything else is done with it.
        flags: By index, why fields of a record were read as missing.
    """

    records: list[Record]
    ids: list[bytes]
    rows: list[Row] | Codings
    labels: NDArray[np.int32]
    retired: tuple[int, ...] = ()
    flags: Flags = _NO_FLAGS


class _Gathered:
    """The records of a segment so far."""

    def __init__(self, retired: tuple[int, ...] = ()) -> None:
        self.records: list[Record] = []
        self.ids: list[bytes] = []
        self.rows: list[Row] = []
        self.labels: list[int] = []
        self.flags: dict[int, tuple[str, ...]] = {}
        self.retired = retired

    def add(self, record: Record, coded: Coded, id_text: bytes) -> None:
        if coded.flags:
            self.flags[len(self.records)] = coded.flags
        self.records.append(record)
        self.ids.append(id_text)
        self.rows.append(coded.row)
        self.labels.append(coded.label)

    def ends_before(self, coded: Coded) -> bool:
        """Whether the next record begins another segment.

        An attribute has appeared, and what came before knows nothing of it; or one is retired.
        """
        return bool(coded.retired) or (bool(self.rows) and len(coded.row) > len(self.rows[-1]))

    def segment(self, *, as_arrays: bool) -> Segment:
        rows: list[Row] | Codings = as_array(self.rows) if as_arrays else self.rows
        labels = np.array(self.labels, dtype=np.int32)
        return Segment(self.records, self.ids, rows, labels, self.retired, self.flags)


class RowDecoder:
    """Takes in the records of one model.

    Args:
        codes: The names met so far; they grow.
        decoder: The general way.
        reader: The fast way, for learners that take rows as arrays.
        refuse: Called with each record that does not fit.
        note: Called with each field that is read as missing; with a nested one once.
    """

    def __init__(
        self, codes: Codes, decoder: Decoder, reader: RowReader | None, refuse: Refuse, note: Note
    ) -> None:
        self._codes = codes
        self._decoder = decoder
        self._reader = reader
        self._refuse = refuse
        self._note = note
        self._nested: set[str] = set()
        # What is declared is known to the fast way before a record has shown that it is not an attribute.
        declared = (attribute.name for attribute in codes.schema.attributes)
        self._pass_over([name for name in declared if not decoder.fields.is_attribute(name)])

    def segments(self, records: Sequence[Record]) -> Iterator[Segment]:
        """Yield the records that fit. A segment must be learned before the next is asked for."""
        if self._reader is None:
            yield from self._general(records, None)
            return
        rows = self._reader.read([record.value for record in records])
        plain = rows.understood.all() and are_plain(records, self._decoder.max_bytes)
        if plain and self._codes.admits_all(rows.codes, rows.labels):
            ids = [b"null" if text is None else text for text in rows.ids]
            yield Segment(list(records), ids, rows.codes, rows.labels)
        else:
            yield from self._general(records, rows)

    def _is_plain(self, record: Record) -> bool:
        return are_plain([record], self._decoder.max_bytes)

    def _general(self, records: Sequence[Record], read: Rows | None) -> Iterator[Segment]:
        """Take the general way with every record that the fast one has not understood."""
        gathered = _Gathered()
        as_arrays = self._reader is not None
        for index, record in enumerate(records):
            try:
                if read is not None and self._still_holds(read, index) and self._is_plain(record):
                    coded, id_text = self._as_read(read, index), read.ids[index] or b"null"
                else:
                    coded, id_text = self._accept(record)
            except RejectedRecord as error:
                self._refuse(record, error)
                continue
            if gathered.ends_before(coded):
                if gathered.records:
                    yield gathered.segment(as_arrays=as_arrays)
                gathered = _Gathered(coded.retired)
            gathered.add(record, coded, id_text)
        if gathered.records:
            yield gathered.segment(as_arrays=as_arrays)

    def _as_read(self, read: Rows, index: int) -> Coded:
        """Return what the fast way read, as wide as rows are now and without what was retired meanwhile."""
        row: list[int] = read.codes[index].tolist()
        row += [0] * (len(self._codes.attributes) - len(row))
        for attribute in self._codes.retired:
            row[attribute] = 0
        coded = Coded(tuple(row), int(read.labels[index]))
        try:
            self._codes.admit(coded.row, coded.label)
        except InstanceError as error:
            raise RejectedRecord(error.misfit.value, "learn", str(error), error.field) from error
        return coded

    def _still_holds(self, read: Rows, index: int) -> bool:
        """Whether what the fast way read is what the general way would say, now that names may be new."""
        wider = len(self._codes.attributes) > read.codes.shape[1]
        return bool(read.understood[index]) and not (wider and self._codes.reject_missing)

    def _accept(self, record: Record) -> tuple[Coded, bytes]:
        decoded = self._decoder.decode(record)
        try:
            if decoded.label is None:
                coded = self._codes.look_up(decoded.values)
            else:
                coded = self._codes.encode(decoded.values, decoded.label)
        except InstanceError as error:
            # A learner knows no name for the label but "label", which may also be that of an attribute.
            is_label = error.field == "label" and "label" not in decoded.values
            field = self._decoder.label if is_label else error.field
            raise RejectedRecord(error.misfit.value, "learn", str(error), field) from error
        # A retired attribute is missing whatever a record says: the fast way does not look at it either.
        noted = tuple(one for one in decoded.flags if not self._is_retired(one[0]))
        if noted:
            flags = {*coded.flags, *(flag for _, flag in noted)}
            coded = coded._replace(flags=tuple(sorted(flags)), noted=(*coded.noted, *noted))
        for field, flag in coded.noted:
            self._note(record, field, flag)
        self._leave_out(record, decoded)
        return coded, msgspec.json.encode(decoded.id)

    def _is_retired(self, field: str) -> bool:
        return any(self._codes.attributes[retired] == field for retired in self._codes.retired)

    def _leave_out(self, record: Record, decoded: Decoded) -> None:
        """Let the fast way pass over the fields that are not attributes."""
        for field in decoded.nested:
            if field not in self._nested and len(self._nested) < MOST_NAMES:
                self._nested.add(field)
                self._note(record, field, NESTED)
        self._pass_over(decoded.ignored)
        if self._reader is not None and self._decoder.fields.nested is Nested.IGNORE:
            self._reader.skip(decoded.nested, plain=False, nested=True)

    def _pass_over(self, ignored: Sequence[str]) -> None:
        """Let the fast way pass over fields that are not attributes by the agent's settings."""
        if self._reader is None:
            return
        fields = self._decoder.fields
        for field in ignored:
            # Where objects are flattened, `attributes` may name a field below one that it does not name.
            whole = fields.nested is not Nested.FLATTEN or fields.is_ignored(field)
            self._reader.skip([field], plain=True, nested=whole)


def as_array(rows: Sequence[Row]) -> Codings:
    """Return rows of one width as an array; a code of -1, which no value has, is the highest there is."""
    if all(code < 2**32 for row in rows for code in row):
        return np.array(rows, dtype=np.int64).reshape(len(rows), -1).astype(np.uint32)
    most = 2**64 - 1
    known = [[code if code >= 0 else most for code in row] for row in rows]
    return np.array(known, dtype=np.uint64).reshape(len(rows), -1)
