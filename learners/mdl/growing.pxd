# The types of growing.py, for the compiler alone.
cimport cython
from learners.mdl.judging cimport Judging
from learners.mdl.records cimport Node


cdef class Growing(Judging):
    cdef public bint deep

    @cython.locals(branch=Node)
    cpdef recount(self, Node node, bytes used)
    @cython.locals(node=Node, place=cython.longlong)
    cpdef Node leaf_of(self, list ids, bytes used, int available)
    @cython.locals(leaf=Node)
    cpdef Node folded(self, Node node)
    @cython.locals(made=Node, place=cython.longlong, available=cython.int)
    cpdef Node split(self, Node node, int test, int cut)
    cpdef Node grown(self, Node leaf)
    @cython.locals(saved=cython.longlong, runner=cython.int, margin=cython.longlong, node=Node)
    cpdef Node grown_with(self, Node leaf, int test, int cut)
    @cython.locals(node=Node)
    cpdef Node deep_grown(self, Node leaf)
    @cython.locals(found=Node, node=Node, place=cython.int, a=cython.int, cut=cython.int)
    cpdef Node best_subtree(self, Node leaf)
    @cython.locals(made=Node, middle=Node, branch=Node, below=Node, available=cython.int)
    cpdef Node pulled_up(self, Node node, int test, int cut)
    cpdef Node settled(self, Node node)
    @cython.locals(saved=cython.longlong, runner=cython.int, margin=cython.longlong, pulled=Node, made=Node)
    cpdef Node settled_with(self, Node node, int test, int cut)
