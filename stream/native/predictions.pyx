# cython: boundscheck=False, wraparound=False
"""Predictions straight to JSON: the bytes that `stream.records.published.encode` gives, without an object for each.

What stays the same from record to record (agent, model, the path to a leaf, the names of classes) is encoded
once; counts and probabilities are those of the moment.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int8_t, int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

import msgspec

from learners.canonical import as_sent

cdef object _encode = msgspec.json.encode


@cython.final
cdef class PredictionWriter:
    """Writes the predictions of one model.

    Args:
        agent: The agent's name.
        model: The model's name.
        learner: The learner's name.
        topic: The input topic.
        answerers: The names of those who may answer, where there is a choice.
    """

    cdef bytes _head, _topic
    cdef list _answerers  # each of them as JSON
    cdef list _classes  # each class as the key of a JSON object, by code
    cdef list _typed  # each class with the JSON type that labels are sent with
    cdef str _kind
    cdef list _order  # codes in the order of names
    cdef dict _paths  # id of a path -> (path, JSON)
    cdef char *_data
    cdef size_t _length, _capacity

    def __cinit__(self, str agent, str model, str learner, str topic, answerers=()):
        self._head = b',"agent":%b,"model":%b,"learner":%b,"prediction":' % (
            _encode(agent), _encode(model), _encode(learner),
        )
        self._topic = b'},"source":{"topic":%b,"partition":' % _encode(topic)
        self._answerers = [_encode(name) for name in answerers]
        self._classes = []
        self._typed = []
        self._kind = ""
        self._order = []
        self._paths = {}
        self._data = NULL
        self._length = self._capacity = 0

    def __dealloc__(self):
        free(self._data)

    cdef int _room(self, size_t more) except -1:
        cdef size_t capacity
        cdef char *bigger
        if self._length + more > self._capacity:
            capacity = 2 * (self._length + more) + 256
            bigger = <char *>realloc(self._data, capacity)
            if bigger is NULL:
                raise MemoryError
            self._data = bigger
            self._capacity = capacity
        return 0

    cdef int _put(self, bytes text) except -1:
        cdef size_t size = PyBytes_GET_SIZE(text)
        self._room(size)
        memcpy(self._data + self._length, PyBytes_AS_STRING(text), size)
        self._length += size
        return 0

    cdef int _put_number(self, uint64_t number) except -1:
        cdef char digits[24]
        cdef int at = 24
        while True:
            at -= 1
            digits[at] = <char>(48 + number % 10)
            number //= 10
            if not number:
                break
        self._room(24)
        memcpy(self._data + self._length, digits + at, 24 - at)
        self._length += 24 - at
        return 0

    cdef bytes _path(self, path):
        known = self._paths.get(id(path))
        if known is not None:
            return known[1]
        if len(self._paths) > 10_000:
            self._paths.clear()
        text = _encode(path)
        # The path is kept beside its text, so that its id is not given to another meanwhile.
        self._paths[id(path)] = (path, text)
        return text

    def name_classes(self, list names, str kind="string"):
        """Take over the names of the classes, by code, and the JSON type that labels are sent with."""
        if len(names) != len(self._classes) or kind != self._kind:
            self._kind = kind
            self._classes = [_encode(name) for name in names]
            self._typed = [_encode(as_sent(name, kind)) for name in names]
            self._order = sorted(range(len(names)), key=names.__getitem__)

    def write(
        self, list ids, const int32_t[::1] answers, const uint32_t[:, ::1] counts, list paths,
        const int64_t[:, ::1] places, const int32_t[::1] labels, bytes tree, Py_ssize_t start, Py_ssize_t end,
        const int8_t[::1] by=None, const double[:, ::1] shares=None, int64_t since=-1,
    ):
        """Return the predictions of the records from `start` to before `end`, all answered by one tree.

        Args:
            ids: The records' ids, as JSON.
            answers: The class answered; -1: none.
            counts: How many instances of each class are behind the answer.
            paths: The decisions that led to it.
            places: The partition and offset of each record.
            labels: Their classes; -1: not known.
            tree: The tree's version and digest, as JSON without the closing brace.
            start: The first record.
            end: The one after the last.
            by: Who answered, where there is a choice.
            shares: How probable each class is by whoever answered.
            since: How many records the tree had seen since that version when it predicted the first, and one
                more for each that follows; below 0: the tree of that version predicted all of them.
        """
        cdef Py_ssize_t i
        told = []
        if counts.shape[1] > len(self._classes):
            raise ValueError("there are classes without a name")
        if by is not None and (shares is None or shares.shape[1] > len(self._classes)):
            raise ValueError("whoever answered has not said how probable each class is")
        for i in range(start, end):
            told.append(
                self._write(
                    <bytes>ids[i], answers[i], counts[i], paths[i], tree, places[i, 0], places[i, 1], labels[i],
                    -1 if by is None else by[i], None if by is None else shares[i],
                    -1 if since < 0 else since + i - start,
                )
            )
        return told

    cdef bytes _write(
        self, bytes id_text, int32_t answer, const uint32_t[::1] counts, path, bytes tree, int64_t partition,
        int64_t offset, int32_t label, int by, const double[::1] shares, int64_t since,
    ):
        cdef int32_t code
        cdef int64_t total = 0
        cdef bint first = True
        self._length = 0
        self._put(b'{"id":')
        self._put(id_text)
        self._put(self._head)
        self._put(<bytes>self._typed[answer] if answer >= 0 else b"null")
        self._put(b',"probabilities":{')
        if answer >= 0 and by >= 0:
            for code in self._order:
                if shares[code]:
                    if not first:
                        self._put(b",")
                    first = False
                    self._put(<bytes>self._classes[code])
                    self._put(b":")
                    self._put(<bytes>_encode(shares[code]))
        elif answer >= 0:
            for code in range(counts.shape[0]):
                total += counts[code]
            for code in self._order:
                if counts[code]:
                    if not first:
                        self._put(b",")
                    first = False
                    self._put(<bytes>self._classes[code])
                    self._put(b":")
                    self._put(b"1.0" if counts[code] == total else <bytes>_encode(counts[code] / <double>total))
        self._put(b'},"path":')
        self._put(self._path(path))
        self._put(b',"leaf":{"counts":{')
        first = True
        if answer >= 0:
            for code in self._order:
                if counts[code]:
                    if not first:
                        self._put(b",")
                    first = False
                    self._put(<bytes>self._classes[code])
                    self._put(b":")
                    self._put_number(counts[code])
        self._put(b'}},"flags":[],"tree":')
        self._put(tree)
        if since > 0:
            self._put(b',"records_since":')
            self._put_number(since)
        self._put(self._topic)
        self._put_number(partition)
        self._put(b',"offset":')
        self._put_number(offset)
        self._put(b"}")
        if by >= 0 and answer >= 0:
            self._put(b',"answered_by":')
            self._put(<bytes>self._answerers[by])
        if label >= 0:
            self._put(b',"label":')
            self._put(<bytes>self._typed[label])
            self._put(b',"correct":true' if label == answer else b',"correct":false')
        self._put(b"}")
        return PyBytes_FromStringAndSize(self._data, self._length)
