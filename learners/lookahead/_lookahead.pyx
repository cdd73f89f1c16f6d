# cython: language_level=3, boundscheck=False, wraparound=False
"""LSID3's work as an object that can be stopped after any unit; see `lookahead.h`."""

cimport cython
from libc.math cimport log2
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

import numpy as np


cdef extern from "lookahead.h" nogil:
    ctypedef struct Table:
        int32_t rows
        int32_t width
        int32_t classes
        const int32_t *label
        const int32_t *code
        const int32_t *levels
        const int32_t *domain
        const int64_t *xlogx

    ctypedef struct Built:
        int32_t attribute
        int32_t cut
        int32_t lo
        int32_t hi
        int32_t parent
        int32_t branch
        int32_t tests

    ctypedef struct Position:
        int32_t looked
        int32_t test
        int32_t part
        int32_t repeat
        int32_t best
        int64_t least
        int64_t total
        int64_t best_total
        int64_t sampled

    ctypedef struct Space:
        int32_t *order

    ctypedef struct Sample:
        int active

    ctypedef struct CJob "Job":
        Table table
        Space space
        Sample sample
        Built *nodes
        int32_t length
        int32_t *decisions
        int32_t decided
        int32_t at
        Position position
        int64_t spent
        int done
        int failed

    uint64_t _splitmix64 "splitmix64"(uint64_t seed, uint64_t place)
    int job_init(CJob *job, int32_t repeats, uint64_t seed, int words)
    void job_free(CJob *job)
    void job_run(CJob *job, int64_t limit)
    void job_resume(CJob *job, const int32_t *known, int32_t length, const Position *position, int64_t spent)


cdef object _xlogx = np.zeros(1, dtype=np.int64)


cdef object xlogx_to(Py_ssize_t most):
    """Return n log2 n of 0 to at least `most` in units of 2^-20. What was returned before stays as it is."""
    global _xlogx
    cdef Py_ssize_t n, length
    cdef int64_t[::1] made
    if len(_xlogx) <= most:
        length = 2 * most + 64
        table = np.zeros(length, dtype=np.int64)
        made = table
        for n in range(2, length):
            made[n] = <int64_t>(n * log2(<double>n) * 1048576.0 + 0.5)
        _xlogx = table
    return _xlogx


def splitmix64(uint64_t seed, uint64_t place):
    """Return the random number at a place of the sequence that belongs to a seed; the first is at 1."""
    return _splitmix64(seed, place)


cdef class Job:
    """A tree that is being built by LSID3.

    Args:
        code: The records, a row for each attribute: the place of a nominal value among those present, the
            rank of a number.
        label: Their classes, counted from 0.
        levels: How many codes each attribute has.
        domain: How many values each nominal attribute can have; 0: it is numeric.
        classes: How many classes there are.
        repeats: How many trees are drawn for each branch; 0: ID3.
        seed: What the random numbers are made from.
        words: Whether few records are counted by words of bits: the tree is the same.
    """

    cdef CJob job
    cdef object _keep

    def __cinit__(
        self,
        const int32_t[:, ::1] code not None,
        const int32_t[::1] label not None,
        const int32_t[::1] levels not None,
        const int32_t[::1] domain not None,
        int32_t classes,
        int32_t repeats,
        uint64_t seed,
        bint words=True,
    ):
        cdef Table *table = &self.job.table
        cdef const int64_t[::1] xlogx = xlogx_to(label.shape[0])
        cdef Py_ssize_t a, i
        memset(&self.job, 0, sizeof(CJob))
        if label.shape[0] < 1 or code.shape[1] != label.shape[0]:
            raise ValueError("there must be a label for each record, and at least one record")
        if levels.shape[0] != code.shape[0] or domain.shape[0] != code.shape[0]:
            raise ValueError("there must be levels and a domain for each attribute")
        for i in range(label.shape[0]):
            if not 0 <= label[i] < classes:
                raise ValueError(f"there is no class {label[i]} of {classes}")
        for a in range(code.shape[0]):
            if domain[a] and domain[a] < levels[a]:
                raise ValueError("a nominal attribute has fewer values than codes")
            for i in range(code.shape[1]):
                if not 0 <= code[a, i] < levels[a]:
                    raise ValueError(f"there is no code {code[a, i]} of {levels[a]}")
        self._keep = (code, label, levels, domain, xlogx)
        table.rows = <int32_t>label.shape[0]
        table.width = <int32_t>code.shape[0]
        table.classes = classes
        table.label = &label[0]
        table.code = &code[0, 0] if code.shape[0] else NULL
        table.levels = &levels[0] if code.shape[0] else NULL
        table.domain = &domain[0] if code.shape[0] else NULL
        table.xlogx = &xlogx[0]
        if job_init(&self.job, repeats, seed, words):
            raise MemoryError("there is no memory for another tree")

    def __dealloc__(self):
        job_free(&self.job)

    @property
    def done(self):
        """Whether the tree is ready."""
        return bool(self.job.done)

    @property
    def spent(self):
        """How many units it has cost so far."""
        return self.job.spent

    def run(self, int64_t limit):
        """Work until so many units are spent in all, or the tree is ready; others may run meanwhile."""
        with nogil:
            job_run(&self.job, limit)
        if self.job.failed:
            raise MemoryError("there is no memory for another tree")

    def tree(self):
        """Return attribute, cut, first and end of its records, parent, branch and numeric tests of each node,
        parents first; and the records in the order in which nodes have them."""
        assert self.job.done
        cdef Py_ssize_t i, rows = self.job.table.rows
        nodes = np.empty((self.job.length, 7), dtype=np.int32)
        order = np.empty(rows, dtype=np.int32)
        cdef int32_t[:, ::1] told = nodes
        cdef int32_t[::1] placed = order
        cdef Built *node
        for i in range(self.job.length):
            node = &self.job.nodes[i]
            told[i, 0], told[i, 1], told[i, 2], told[i, 3] = node.attribute, node.cut, node.lo, node.hi
            told[i, 4], told[i, 5], told[i, 6] = node.parent, node.branch, node.tests
        for i in range(rows):
            placed[i] = self.job.space.order[i]
        return nodes, order

    def position(self):
        """Return how far it has come, as numbers from which `resume` goes on."""
        cdef Position *here = &self.job.position
        cdef Py_ssize_t i
        decisions = [self.job.decisions[i] for i in range(2 * self.job.decided)]
        if self.job.at < 0:
            return [self.job.spent, int(self.job.done), here.looked, 0, 0, 0, 0, 0, 0, 0, 0], decisions
        return [
            self.job.spent, int(self.job.done), here.looked, here.test, here.part, here.repeat, here.best,
            here.least, here.total, here.best_total, here.sampled if self.job.sample.active else -1,
        ], decisions

    def resume(self, list numbers, list decisions):
        """Go on where another one stood, which was made alike. Only the sample at hand is drawn again.

        Raises:
            ValueError: No such one can have stood there.
        """
        cdef Position here
        cdef Py_ssize_t i
        (spent, done, here.looked, here.test, here.part, here.repeat, here.best,
         here.least, here.total, here.best_total, here.sampled) = numbers
        known = np.array(decisions, dtype=np.int32).reshape(-1, 2)
        cdef const int32_t[:, ::1] told = known
        for i in range(told.shape[0]):
            if not 0 <= told[i, 0] < self.job.table.width or (
                (told[i, 1] < 0) != (self.job.table.domain[told[i, 0]] > 0)
            ):
                raise ValueError("there is no such test")
        cdef int32_t length = <int32_t>told.shape[0]
        cdef const int32_t *first = &told[0, 0] if length else NULL
        cdef int64_t paid = spent
        with nogil:
            job_resume(&self.job, first, length, &here, paid)
        if self.job.failed or (done and (self.job.at >= 0)):
            raise ValueError("the tree that is being built does not lead there")
        self.job.done = bool(done)
