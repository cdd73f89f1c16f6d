# The types of records.py, for the compiler alone.
cimport cython


cdef class Node:
    cdef public int[::1] counts
    cdef public long long n
    cdef public bytes used
    cdef public int available, test, cut
    cdef public dict branches
    cdef public list ids
    cdef public int label, same
    cdef public long long tried, lead, saved, margin
    cdef public int runner
    cdef public long long nodes, decisions, tests, classes, data, wrong
    cdef public object shape, told, explained

    @cython.locals(c=cython.int)
    cpdef list class_counts(self, int classes)


cdef class Records:
    cdef public Node root
    cdef public long long[::1] table, odds
    cdef public int width, k, cells, odds_of
    cdef public int[::1] base, sizes, numeric, cuts, order, ranks, rows, labels
    cdef public list sorted
    cdef public bint reshaped
    cdef public bytes barred
    cdef public long long room, first, next, additions

    @cython.locals(old=cython.int, width=cython.int, slot=cython.longlong, a=cython.int, place=cython.longlong)
    cpdef lay_out(self, list sizes, list numeric, list cuts, list order, int k, list ranks, list texts,
                  bytes barred)
    cpdef rename(self, list ranks, list texts)
    cpdef reserve_table(self)
    @cython.locals(slot=cython.longlong, start=cython.longlong, a=cython.int)
    cpdef put(self, list row, int label)
    @cython.locals(room=cython.longlong, width=cython.int, old=cython.longlong, new=cython.longlong,
                   place=cython.longlong, a=cython.int)
    cpdef widen_ring(self)
    @cython.locals(place=cython.longlong, slot=cython.longlong, a=cython.int)
    cpdef tuple dumped(self)
    cpdef load(self, list rows, list labels, long long first)
    cpdef set_value(self, long long place, int attribute, int value)
    @cython.locals(value=cython.int)
    cpdef int branch_of(self, Node node, long long place)
    @cython.locals(slot=cython.longlong, start=cython.longlong, k=cython.int, label=cython.int,
                   width=cython.int, a=cython.int, counts=cython.int[::1], rows=cython.int[::1], base=cython.int[::1])
    cpdef count(self, Node node, long long place, int sign)
    @cython.locals(i=cython.int, counts=cython.int[::1], others=cython.int[::1])
    cpdef add_counts(self, Node node, Node other)
    cpdef Node new_root(self)
    cpdef Node new_node(self, bytes used, int available)
    @cython.locals(best=cython.int, c=cython.int, more=cython.int)
    cpdef int most_frequent(self, int[::1] counts, int start)
    cpdef bytes used_below(self, Node node)
    @cython.locals(branch=Node)
    cpdef list collected(self, Node node)
