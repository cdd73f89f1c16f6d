# The types of the tree in use, for the compiler alone.
from libc.stdint cimport int32_t, uint64_t


cdef class Node:
    cdef public int test           # the attribute; -1: a leaf
    cdef public bint numeric
    cdef public double at_most
    cdef public uint64_t key       # the code of the threshold less one
    cdef public dict branches      # by code of the value; of a number 0: at most, 1: above
    cdef public list counts        # records by class
    cdef public list rows
    cdef public long long n
    cdef public int label
    cdef public long long last_r   # what the last attempt to improve it was allowed
    cdef public long long tried    # how many records it had then
    cdef public long long tests    # how many numeric tests it has
    cdef public bint stuck         # no test divides its records
    cdef public object shape       # the outline, whose counts may be older
    cdef public int shown          # the class that a leaf answers in it
    cdef public object explained   # the decisions that lead to it
    cdef public long long leaves   # of the subtree, as of an epoch
    cdef public long long nodes
    cdef public long long epoch
    cdef public double errors      # to be expected of the subtree; -1: to be found anew

    cpdef become(self, Node other)


cdef class Forest:
    cdef object _x, _labels
    cdef uint64_t[:, ::1] x
    cdef int32_t[::1] y
    cdef public long long base, first, next
    cdef public int width
    cdef public Node root
    cdef public list domain        # how many values of each attribute there are
    cdef public list known         # of each attribute the highest code met
    cdef public list lacking       # whether it was missing
    cdef public list numeric
    cdef public list ranks         # of each class its place among equally frequent ones
    cdef public long long epoch    # changes when a domain grows, and all sizes with it

    cpdef widen(self, int width, list declared, list numeric)
    cpdef long long put(self, list row, int label)
    cdef resize(self, Py_ssize_t room)
    cpdef compact(self, long long base)
    cpdef int label_of(self, long long number)
    cpdef int majority(self, list counts)
    cdef void count(self, Node node, int label, int by)
    cpdef long long branch(self, Node node, long long number)
    cpdef list path_to_leaf(self, Node root, long long number)
    cpdef list insert(self, Node root, long long number)
    cpdef list remove(self, long long number)
    cpdef list rows_below(self, Node root)
    cpdef tuple find(self, Node root, list row)
    cpdef bint alike(self, long long one, long long other)
    cpdef long long size(self, Node root)
    cdef bint is_sized(self, Node node)
