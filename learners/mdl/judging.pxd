# The types of judging.py, for the compiler alone.
cimport cython
from learners.mdl.records cimport Node, Records


cdef class Judging(Records):
    cdef public int code, weight, best, best_cut, runner
    cdef public bint adds_up, names_classes
    cdef public long long best_bits, margin, lead, threshold_bits, one, slack, scores

    @cython.locals(k=cython.int, c=cython.int, n=cython.longlong, most=cython.longlong, bits=cython.longlong,
                   here=cython.longlong, table=cython.longlong[::1],
                   odds=cython.longlong[::1])
    cpdef long long cell_bits(self, int[::1] counts, int start)
    cpdef long long log(self, long long number)
    cpdef long long length(self, long long n, long long k)
    @cython.locals(shape=cython.longlong)
    cpdef long long total(self, long long nodes, long long decisions, long long tests, long long classes,
                          long long data, long long wrong, long long n)
    cpdef long long bits(self, Node node)
    @cython.locals(most=cython.longlong, c=cython.int, counts=cython.int[::1])
    cpdef long long leaf_bits(self, Node node)
    @cython.locals(nodes=cython.longlong, decisions=cython.longlong, tests=cython.longlong,
                   classes=cython.longlong, data=cython.longlong, wrong=cython.longlong,
                   leaves=cython.longlong, same=cython.int, branch=Node)
    cpdef refresh(self, Node node)
    @cython.locals(bits=cython.longlong)
    cpdef long long test_bits(self, Node node, int attribute)
    cpdef bint last_is_known(self, Node node)
    @cython.locals(k=cython.int, used=bytes, adds_up=cython.bint, one=cython.longlong, slack=cython.longlong,
                   weight=cython.longlong, best=cython.int, runner=cython.int, best_cut=cython.int,
                   best_bits=cython.longlong, second=cython.longlong, rival=cython.longlong, scored=cython.longlong,
                   tests=cython.longlong, place=cython.int, a=cython.int, cut=cython.int,
                   bits=cython.longlong, start=cython.int, data=cython.longlong, leaves=cython.longlong,
                   cell=cython.int, n=cython.longlong, c=cython.int, here=cython.longlong,
                   counts=cython.int[::1], table=cython.longlong[::1], odds=cython.longlong[::1],
                   base=cython.int[::1], sizes=cython.int[::1], numeric=cython.int[::1],
                   order=cython.int[::1])
    cpdef best_extension(self, Node node)
    @cython.locals(k=cython.int, start=cython.int, data=cython.longlong, wrong=cython.longlong,
                   leaves=cython.longlong, n=cython.longlong, most=cython.longlong, value=cython.int,
                   c=cython.int, here=cython.longlong, classes=cython.longlong, counts=cython.int[::1])
    cpdef long long extension_bits(self, Node node, int a)
    @cython.locals(start=cython.int, best=cython.int)
    cpdef long long extension_classes(self, Node node, int a, long long leaves)
    @cython.locals(k=cython.int, start=cython.int, value=cython.int, c=cython.int, found=cython.int,
                   low=cython.longlong, moved=cython.longlong, here=cython.int, tests=cython.longlong,
                   most=cython.longlong, other=cython.longlong, data=cython.longlong, bits=cython.longlong,
                   counts=cython.int[::1], sides=cython.int[::1])
    cpdef int best_threshold(self, Node node, int a)
