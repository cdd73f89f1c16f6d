# The types of tree.py, for the compiler alone.
cimport cython
from learners.mdl.growing cimport Growing
from learners.mdl.records cimport Node


cdef class Tree(Growing):
    cdef public double retry
    cdef public bint pull, changed
    cdef public long long saved, expansions, collapses, pull_ups, rebuilds

    @cython.locals(place=cython.longlong, label=cython.int, leaf=Node, wrong=cython.bint)
    cpdef learn(self)
    @cython.locals(node=Node, branch=Node, available=cython.int)
    cpdef list updated(self, Node root, long long place, int label)
    @cython.locals(n=cython.longlong, here=cython.longlong, more=cython.longlong)
    cpdef long long growth(self, Node branch, int label)
    @cython.locals(best=cython.int)
    cpdef relabel(self, Node leaf)
    @cython.locals(at=cython.int, node=Node, same=cython.int)
    cpdef refresh_path(self, list path)
    @cython.locals(node=Node)
    cpdef note(self, list path)
    @cython.locals(old=Node, above=Node, node=Node, up=cython.int)
    cpdef replace(self, list path, int at, Node new)
    @cython.locals(old=Node, before=cython.longlong, saved=cython.longlong)
    cpdef bint adopt(self, list path, int at, Node new)
    cpdef bint is_early(self, Node node)
    @cython.locals(at=cython.int, node=Node, new=Node, saved=cython.longlong)
    cpdef bint restructure(self, list path)
    @cython.locals(at=cython.int, node=Node, leaf=Node, saved=cython.longlong, less=cython.longlong)
    cpdef bint prune(self, list path)
    @cython.locals(leaf=Node, new=Node, saved=cython.longlong, runner=cython.int, margin=cython.longlong)
    cpdef bint extend(self, list path)
    cpdef tuple counted(self)
    @cython.locals(place=cython.longlong, node=Node, last=cython.int)
    cpdef forget_oldest(self)
    @cython.locals(leaf=Node)
    cpdef rebuild(self)
    @cython.locals(node=Node, branch=Node, value=cython.longlong)
    cpdef tuple find(self, list row)
