# cython: boundscheck=False, wraparound=False
"""What is done for every message of a batch and nothing else: here a call costs a third of Python's."""

cimport cython
from libc.stdint cimport int64_t

import numpy as np

from stream.records.record import UNREADABLE, Partition, Record

cdef object _new = tuple.__new__


cpdef tuple headers_of(object message):
    """Return the headers of a message; `UNREADABLE` where the name of one is not UTF-8.

    The client (confluent-kafka 2.13) returns a list and sets an exception at the same time then, which Python
    reports as SystemError. The list has holes: the message must not be asked a second time.
    """
    try:
        headers = message.headers()
    except (SystemError, UnicodeDecodeError):
        return UNREADABLE
    return tuple(headers) if headers else ()


@cython.final
cdef class Taker:
    """Turns consumed messages into records."""

    cdef dict _partitions

    def __cinit__(self):
        self._partitions = {}

    def take(self, list messages):
        """Return the messages before the first error as records, and that error's message, or None."""
        cdef list records = []
        for message in messages:
            if message.error() is not None:
                return records, message
            where = (message.topic(), message.partition())
            partition = self._partitions.get(where)
            if partition is None:
                partition = self._partitions[where] = Partition(*where)
            records.append(
                _new(
                    Record,
                    (
                        partition, message.offset(), message.value(), message.key(),
                        headers_of(message), message.timestamp()[1],
                    ),
                )
            )
        return records, None


def are_plain(records, Py_ssize_t max_bytes):
    """Whether of some records nothing need be looked at but the value, which is all that the fast way sees."""
    cdef tuple fields
    for record in records:
        fields = <tuple>record
        if fields[4]:
            return False
        key, value = fields[3], fields[2]
        if key is not None and len(key) + (0 if value is None else len(value)) > max_bytes:
            return False
    return True


def places_of(list records):
    """Return the input partition and the offset of each record, as an array of two columns."""
    cdef Py_ssize_t i, n = len(records)
    places = np.empty((n, 2), dtype=np.int64)
    cdef int64_t[:, ::1] at = places
    for i in range(n):
        record = records[i]
        at[i, 0] = (<tuple>(<tuple>record)[0])[1]
        at[i, 1] = (<tuple>record)[1]
    return places


def next_offsets(list records):
    """Return for each partition the first offset among some records, and the offset to read next."""
    cdef dict spans = {}
    last = first = offset = None
    for record in records:
        partition = (<tuple>record)[0]
        if partition is not last:
            if last is not None:
                spans[last] = (first, offset + 1)
            last = partition
            known = spans.get(last)
            first = (<tuple>record)[1] if known is None else known[0]
        offset = (<tuple>record)[1]
    if last is not None:
        spans[last] = (first, offset + 1)
    return spans


def first_repeat(list records):
    """Return the first record that does not come after those before it in its partition; None: all do."""
    cdef dict ends = {}
    cdef int64_t end = -1, offset
    last = None
    for record in records:
        partition, offset = (<tuple>record)[0], (<tuple>record)[1]
        if partition is not last:
            if last is not None:
                ends[last] = end
            last = partition
            end = ends.get(partition, -1)
        if offset <= end:
            return record
        end = offset
    return None


def produce_all(produce, str topic, list values, list keys, list partitions, Py_ssize_t start):
    """Produce values from `start` on; return how far it came before the client's queue was full."""
    cdef Py_ssize_t i
    for i in range(start, len(values)):
        try:
            produce(topic, values[i], keys[i], partitions[i])
        except BufferError:
            return i
    return len(values)
