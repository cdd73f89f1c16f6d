# cython: boundscheck=False, wraparound=False, embedsignature=True
"""Batches of records from JSON bytes straight to codes.

What is read here is read as `stream.records.json_decoder.Decoder` and `learners.codes.Codes` read it; what is new, odd or
wrong is left to them. The grammar is in record.c.
"""

import os

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport INT32_MAX, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

import numpy as np

from learners.schema import MISSING

cdef extern from "fast.h" nogil:
    enum: LABEL, ID, FIRST_ATTRIBUTE
    enum: STRING, BOOLEAN, NUMBER
    enum: SKIP_PLAIN, SKIP_NESTED
    int32_t NO_CODE
    ctypedef struct Names:
        pass
    ctypedef struct Name:
        pass
    ctypedef struct Field:
        uint32_t takes
        uint32_t numeric
        uint32_t skips
        uint32_t retired
    ctypedef struct Reader:
        Names names
        Field *fields
        uint32_t count
        uint32_t refuse_null
        uint32_t wide
        uint32_t max_depth
    ctypedef struct Record:
        const char *at
        size_t length
        const char *id
        size_t id_length
    Name *names_put(
        Names *names, uint32_t owner, const char *text, size_t length, int32_t as_string, int32_t as_plain
    )
    int reader_init(Reader *reader, uint64_t seed, uint64_t other_seed)
    void reader_free(Reader *reader)
    int reader_add_field(Reader *reader)
    int reader_list_field(Reader *reader, uint32_t field, const char *name, size_t length)
    int reader_skip(Reader *reader, const char *name, size_t length, uint32_t when)
    void read_records(
        Reader *reader, Record *records, size_t count, void *codes, int32_t *labels, uint8_t *understood
    )

# A field that has no type yet takes none: which one it gets is for the codes to learn.
cdef dict TYPES = {
    "string": STRING, "boolean": BOOLEAN, "number": NUMBER, "any": STRING | BOOLEAN | NUMBER
}

MOST_SKIPPED = 10_000
# Values are passed over by recursion.
MOST_DEEP = 500


@cython.final
cdef class Rows:
    """A batch as codes, one of each for every record."""

    cdef readonly object codes
    cdef readonly object labels
    cdef readonly list ids
    cdef readonly object understood

    def __init__(self, codes, labels, list ids, understood):
        self.codes = codes
        self.labels = labels
        self.ids = ids
        self.understood = understood

    def __len__(self):
        return len(self.ids)


cdef bytes as_in_record(str text):
    """Return a text as it stands in a record, or None where it cannot stand there without an escape."""
    cdef bytes raw
    cdef uint8_t byte
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        return None
    if len(raw) > INT32_MAX:
        return None
    for byte in raw:
        if byte < 0x20 or byte == c'"' or byte == c"\\":
            return None
    return raw


def _may_be_number(str text):
    """Return whether a text may be that of a number."""
    return bool(text) and (text[0] in "+-.0123456789" or text.lower() in ("nan", "inf", "infinity"))


@cython.final
cdef class RowReader:
    """Reads records whose names are all known; keeps up with the names by itself.

    A record's key and headers are not looked at. Where they matter (a key that is long, an operation), give
    None for the record, which is never understood. One thread at a time.

    Args:
        codes: The names to read by. They are never added to; their schema and limits stay as they are.
        label: The field that holds the class.
        id_field: The field that names a record.
        max_bytes: The longest value that is looked at.
        max_depth: How deep brackets may be nested in a value that is passed over.
    """

    cdef Reader reader
    cdef object codes
    cdef Py_ssize_t max_bytes
    cdef bint busy
    cdef set reserved
    cdef set sentinels
    cdef bint numeric_sentinels  # some numbers mean "no value": that is not for here
    # How far the codes had grown when this last kept up with them.
    cdef object grown
    cdef list kinds
    cdef object label_kind
    cdef list values_known
    cdef Py_ssize_t classes_known
    cdef set skipped  # names that are not looked at, or not where they are nested

    def __cinit__(
        self, codes, str label not None, str id_field not None, Py_ssize_t max_bytes, uint32_t max_depth=1
    ):
        memset(&self.reader, 0, sizeof(self.reader))
        seed = np.frombuffer(os.urandom(16), dtype=np.uint64)
        if reader_init(&self.reader, seed[0], seed[1]):
            raise MemoryError
        self.codes = codes
        self.max_bytes = max_bytes
        self.reader.max_depth = min(max_depth, MOST_DEEP)
        self.skipped = set()
        self.reserved = {label, id_field}
        self.sentinels = {MISSING, *codes.schema.missing_values}
        self.numeric_sentinels = any(map(_may_be_number, codes.schema.missing_values))
        self.values_known = []
        # The label last: it is the label where both have one name.
        self._list_field(ID, id_field)
        self._list_field(LABEL, label)

    def __dealloc__(self):
        reader_free(&self.reader)

    def read(self, list values not None):
        """Return a batch as codes; of a record that is not understood, nothing but that.

        `codes` are uint32, or uint64 where there are numbers, with a column for each attribute there is now, `labels` int32 with -1 where there
        is no label, `ids` the JSON text of each id or None, `understood` uint8 and 0 where the record must
        be read the general way.
        """
        # Others may change the list while the lock is released; the records must live on.
        cdef tuple held = tuple(values)
        cdef Py_ssize_t count = len(held)
        if self.busy:
            raise RuntimeError("a reader is used by two threads at once. Make one for each")
        self._keep_up()
        labels = np.empty(count, dtype=np.int32)
        understood = np.empty(count, dtype=np.uint8)
        kind = np.uint64 if self.reader.wide else np.uint32
        codes = np.empty((count, self.reader.count - FIRST_ATTRIBUTE), dtype=kind)
        ids = self._read(held, codes, labels, understood) if count else []
        return Rows(codes, labels, ids, understood)

    def skip(self, names, *, bint plain, bint nested):
        """Pass over the values of some fields from now on.

        The label and the id are always read. No more than `MOST_SKIPPED` names are remembered; records with
        others are not understood here.

        Args:
            names: The fields.
            plain: Whether texts, numbers, booleans and null are passed over.
            nested: Whether objects and arrays are passed over.
        """
        cdef bytes raw
        cdef uint32_t when = (SKIP_PLAIN if plain else 0) | (SKIP_NESTED if nested else 0)
        for name in names:
            if (name, when) in self.skipped or name in self.reserved or len(self.skipped) >= MOST_SKIPPED:
                continue
            self.skipped.add((name, when))
            raw = as_in_record(name)
            if raw is not None and reader_skip(&self.reader, raw, len(raw), when):
                raise MemoryError

    cdef list _read(
        self, tuple held, codes, int32_t[::1] labels, uint8_t[::1] understood
    ):
        cdef Py_ssize_t i, count = len(held)
        cdef uint8_t[::1] data = codes.reshape(-1).view(np.uint8)
        cdef uint64_t nothing = 0
        cdef void *rows = <void *>&data[0] if data.shape[0] else <void *>&nothing
        cdef Record *records = <Record *>PyMem_Malloc(count * sizeof(Record))
        if records is NULL:
            raise MemoryError
        try:
            for i in range(count):
                records[i].at = NULL
                if PyBytes_CheckExact(held[i]) and PyBytes_GET_SIZE(held[i]) <= self.max_bytes:
                    records[i].at = PyBytes_AS_STRING(held[i])
                    records[i].length = PyBytes_GET_SIZE(held[i])
            self.busy = True
            with nogil:
                read_records(&self.reader, records, count, rows, &labels[0], &understood[0])
            self.busy = False
            return [
                PyBytes_FromStringAndSize(records[i].id, records[i].id_length) if records[i].id else None
                for i in range(count)
            ]
        finally:
            PyMem_Free(records)

    # ---- keeping up

    cdef int _keep_up(self) except -1:
        """Take over what the codes have been taught since the last time."""
        codes = self.codes
        self.reader.refuse_null = codes.reject_missing
        if self.grown == codes.grown and self.kinds == codes.kinds and self.label_kind == codes.label_kind:
            return 0
        cdef Py_ssize_t a
        for a in range(len(self.values_known), len(codes.attributes)):
            self._add_attribute(codes.attributes[a])
        for a in range(len(self.values_known)):
            self._add_values(a)
            self.reader.fields[FIRST_ATTRIBUTE + a].takes = TYPES.get(codes.kinds[a], 0)
            if a in codes.retired:  # it is missing whatever a record says
                self.reader.fields[FIRST_ATTRIBUTE + a].skips |= SKIP_PLAIN
                self.reader.fields[FIRST_ATTRIBUTE + a].retired = 1
            if codes.is_numeric(a):
                self.reader.wide = self.reader.fields[FIRST_ATTRIBUTE + a].numeric = 1
                if self.numeric_sentinels:
                    self.reader.fields[FIRST_ATTRIBUTE + a].takes = 0
        self._add_classes()
        self.reader.fields[LABEL].takes = TYPES.get(codes.label_kind, 0)
        self.grown, self.kinds, self.label_kind = codes.grown, list(codes.kinds), codes.label_kind
        return 0

    cdef int _add_attribute(self, str name) except -1:
        cdef Py_ssize_t attribute = len(self.values_known)
        if reader_add_field(&self.reader):
            raise MemoryError
        self.values_known.append(1)
        if name not in self.reserved:
            self._list_field(FIRST_ATTRIBUTE + attribute, name)
        for text in self.sentinels:
            self._put(FIRST_ATTRIBUTE + attribute, text, 0, NO_CODE)
        return 0

    cdef int _add_values(self, Py_ssize_t attribute) except -1:
        cdef list texts = self.codes.values[attribute]
        cdef Py_ssize_t code
        for code in range(self.values_known[attribute], len(texts)):
            text = texts[code]
            if text in self.sentinels:
                self._put(FIRST_ATTRIBUTE + attribute, text, 0, code)
            else:
                self._put(FIRST_ATTRIBUTE + attribute, text, NO_CODE if self._is_long(text) else code, code)
        self.values_known[attribute] = len(texts)
        return 0

    cdef int _add_classes(self) except -1:
        cdef list texts = self.codes.classes
        cdef Py_ssize_t code
        for code in range(self.classes_known, len(texts)):
            refused = not texts[code] or self._is_long(texts[code])
            self._put(LABEL, texts[code], NO_CODE if refused else code, code)
        self.classes_known = len(texts)
        return 0

    cdef bint _is_long(self, str text):
        """Whether the codes refuse a text because of its length, though they know it: it was declared."""
        return len(text) > self.codes.limits.max_text

    cdef int _put(self, uint32_t owner, str text, Py_ssize_t as_string, Py_ssize_t as_plain) except -1:
        cdef bytes raw = as_in_record(text)
        if raw is None or as_plain > INT32_MAX:
            return 0
        if names_put(&self.reader.names, owner, raw, len(raw), <int32_t>as_string, <int32_t>as_plain) is NULL:
            raise MemoryError
        return 0

    cdef int _list_field(self, uint32_t field, str name) except -1:
        cdef bytes raw = as_in_record(name)
        if raw is not None and reader_list_field(&self.reader, field, raw, len(raw)):
            raise MemoryError
        return 0
