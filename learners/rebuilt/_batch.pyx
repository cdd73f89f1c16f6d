# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Batch trees over plain arrays: growing, pruning and answering. What is behind it is in the C files beside it."""

from libc.math cimport M_SQRT2, erf, fabs, log, rint
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

import numpy as np


cdef extern from "batch.h" nogil:
    ctypedef struct Table:
        int32_t m, n, classes
        const int32_t *labels
        const int32_t *arity
        const int32_t *levels
        const double *values
        const int64_t *value_start
        const int32_t *codes
        const int64_t *col_start
        const int32_t *col_rows
        const int32_t *col_codes
        const int64_t *row_start
        const int32_t *row_cols
        const int32_t *row_codes
        int32_t zero
        int32_t most_levels

    ctypedef struct Node:
        int32_t attribute, cut, first, branches

    ctypedef struct Tree:
        Node *nodes
        double *counts
        int32_t length, room, classes
        int64_t looked

    ctypedef struct Rules:
        double min_records
        int min_share
        int mdl

    int tree_open(Tree *tree, int32_t classes)
    void tree_close(Tree *tree)
    int grow_c45(const Table *table, const Rules *rules, Tree *tree)
    int grow_naive(const Table *table, const Rules *rules, int32_t bins, int equal_width, int renormalise,
                   Tree *tree)
    double c_added_errors "added_errors" (double n, double errors, double confidence, double z)
    void c_collapse "collapse" (Tree *tree)
    int c_prune "prune" (const Table *table, Tree *tree, double confidence, double z, int raising)


def added_errors(double n, double errors, double confidence, double z):
    """Return how many errors more than those seen are to be expected of a leaf."""
    return c_added_errors(n, errors, confidence, z)


cdef class Coded:
    """A table as codes. The arrays are kept as long as it is."""

    cdef Table table
    cdef tuple kept

    def __init__(self, int32_t[::1] labels, int32_t classes, int32_t[::1] arity, int32_t[::1] levels,
                 double[::1] values, int64_t[::1] value_start, codes=None, sparse=None, int32_t zero=0):
        cdef int32_t[:, ::1] dense
        cdef int64_t[::1] col_start, row_start
        cdef int32_t[::1] col_rows, col_codes, row_cols, row_codes
        self.kept = (labels, arity, levels, values, value_start, codes, sparse)
        self.table.m = labels.shape[0]
        self.table.n = arity.shape[0]
        self.table.classes = classes
        self.table.labels = &labels[0]
        self.table.arity = &arity[0] if arity.shape[0] else NULL
        self.table.levels = &levels[0] if levels.shape[0] else NULL
        self.table.values = &values[0] if values.shape[0] else NULL
        self.table.value_start = &value_start[0] if value_start.shape[0] else NULL
        self.table.zero = zero
        self.table.most_levels = max(levels) if levels.shape[0] else 1
        if sparse is None:
            dense = codes
            # A table without attributes is dense too: its place is never read.
            self.table.codes = &dense[0, 0] if dense.shape[0] else &labels[0]
        else:
            col_start, col_rows, col_codes, row_start, row_cols, row_codes = sparse
            self.table.col_start = &col_start[0]
            self.table.row_start = &row_start[0]
            if col_rows.shape[0]:
                self.table.col_rows = &col_rows[0]
                self.table.col_codes = &col_codes[0]
                self.table.row_cols = &row_cols[0]
                self.table.row_codes = &row_codes[0]

    def grow(self, str how, double min_records, bint min_share, bint mdl, int32_t bins=0, bint equal_width=False,
             bint renormalise=True, bint collapse=True, double confidence=0.25, double z=0, bint raising=True):
        """Return a tree as arrays: attribute, cut, first child, branches, counts by class; and the values looked at.

        A leaf tests -1.

        Args:
            how: "c45" or "naive".
            min_records: At least two branches have so many.
            min_share: Whether a cut leaves a tenth of the mean class, at most 25, on both sides.
            mdl: Whether the gain of a cut pays for choosing it.
            bins: Naive: how many bins a numeric attribute has.
            equal_width: Naive: whether these have the same width, not the same number of records.
            renormalise: Naive: whether P(x|c) is that in the node's interval.
            collapse: Whether subtrees that are never better than a leaf become one.
            confidence: Of the pruning; 1: none.
            z: The normal quantile that belongs to it.
            raising: Whether a subtree may give way to its largest branch.
        """
        cdef Tree tree
        cdef Rules rules = Rules(min_records, min_share, mdl)
        cdef int failed, naive = how == "naive"
        with nogil:
            failed = tree_open(&tree, self.table.classes)
            if not failed and naive:
                failed = grow_naive(&self.table, &rules, bins, equal_width, renormalise, &tree)
            elif not failed:
                failed = grow_c45(&self.table, &rules, &tree)
            if not failed and collapse:
                c_collapse(&tree)
            if not failed and confidence < 1:
                failed = c_prune(&self.table, &tree, confidence, z, raising)
        try:
            if failed:
                raise MemoryError("there is not enough memory to grow a tree")
            return _arrays(&tree)
        finally:
            tree_close(&tree)


cdef tuple _arrays(Tree *tree):
    """Return the nodes that can be reached from the root, in breadth-first order."""
    cdef int32_t[::1] order = np.zeros(tree.length, dtype=np.int32)
    cdef int32_t reached = 1, i, b, place
    cdef Node *node
    for i in range(tree.length):
        if i >= reached:
            break
        node = &tree.nodes[order[i]]
        if node.attribute >= 0:
            for b in range(node.branches):
                order[reached + b] = node.first + b
            reached += node.branches
    nodes = np.zeros((4, reached), dtype=np.int32)
    counts = np.zeros((reached, tree.classes))
    cdef int32_t[:, ::1] out = nodes
    cdef double[:, ::1] told = counts
    place = 1
    for i in range(reached):
        node = &tree.nodes[order[i]]
        out[0, i] = node.attribute
        out[1, i] = node.cut
        if node.attribute >= 0:
            out[2, i] = place
            out[3, i] = node.branches
            place += node.branches
        memcpy(&told[i, 0], tree.counts + <int64_t> order[i] * tree.classes, sizeof(double) * tree.classes)
    return nodes[0], nodes[1], nodes[2], nodes[3], counts, tree.looked


# ---- answers


def distributions(int32_t[::1] attribute, double[::1] threshold, int32_t[::1] first, int32_t[::1] branches,
                  uint8_t[::1] numeric, double[:, ::1] shares, double[::1] totals, x=None, sparse=None):
    """Return for each row the classes at the leaves it comes to, as shares.

    Args:
        attribute: What each node tests.
        threshold: Up to what a numeric value goes to the first branch.
        first: The first child of each node.
        branches: How many children it has.
        numeric: Of each attribute, whether it is.
        shares: Of the classes at each node; of an empty leaf those of its parent.
        totals: How many records each node has, for those without a value.
        x: The rows.
        sparse: Or where each row starts, columns, and values.
    """
    cdef double[:, ::1] dense
    cdef int64_t[::1] row_start
    cdef int32_t[::1] row_cols
    cdef double[::1] row_values
    cdef bint stored = sparse is not None
    cdef int32_t classes = shares.shape[1], rows, i, c, node, top, b, way
    cdef double value, weight, below
    cdef int64_t low, high, middle
    if stored:
        row_start, row_cols, row_values = sparse
        rows = row_start.shape[0] - 1
    else:
        dense = x
        rows = dense.shape[0]
    found = np.zeros((rows, classes))
    cdef double[:, ::1] out = found
    # Wide enough: every node is put there at most once for a row.
    cdef int32_t[::1] stack = np.zeros(attribute.shape[0] + 1, dtype=np.int32)
    cdef double[::1] load = np.zeros(attribute.shape[0] + 1)
    for i in range(rows):
        stack[0] = 0
        load[0] = 1
        top = 1
        while top:
            top -= 1
            node = stack[top]
            weight = load[top]
            while attribute[node] >= 0:
                if stored:
                    low, high = row_start[i], row_start[i + 1]
                    while low < high:
                        middle = low + (high - low) // 2
                        if row_cols[middle] < attribute[node]:
                            low = middle + 1
                        else:
                            high = middle
                    value = row_values[low] if low < row_start[i + 1] and row_cols[low] == attribute[node] else 0
                else:
                    value = dense[i, attribute[node]]
                if numeric[attribute[node]] and value == value:
                    node = first[node] + (value > threshold[node])
                elif value == value and 0 <= value < branches[node]:
                    node = first[node] + <int32_t> value
                else:
                    way = -1
                    below = 0
                    for b in range(branches[node]):
                        below += totals[first[node] + b]
                    for b in range(branches[node]):
                        if totals[first[node] + b] > 0:
                            if way < 0:
                                way = first[node] + b
                                continue
                            stack[top] = first[node] + b
                            load[top] = weight * totals[first[node] + b] / below
                            top += 1
                    weight *= totals[way] / below
                    node = way
            for c in range(classes):
                out[i, c] += weight * shares[node, c]
    return found


def stops(int32_t[::1] attribute, double[::1] threshold, int32_t[::1] first, int32_t[::1] branches,
          uint8_t[::1] numeric, double[::1] totals, double[:, ::1] x):
    """Return the leaf that each row comes to; -1 - N where it cannot go on at node N.

    A row goes on where its value is known and there are records with it.
    """
    cdef int32_t i, node, below
    cdef double value
    found = np.zeros(x.shape[0], dtype=np.int32)
    cdef int32_t[::1] out = found
    for i in range(x.shape[0]):
        node = 0
        while attribute[node] >= 0:
            value = x[i, attribute[node]]
            if numeric[attribute[node]] and value == value:
                below = first[node] + (value > threshold[node])
            elif value == value and 0 <= value < branches[node]:
                below = first[node] + <int32_t> value
            else:
                below = -1
            if below < 0 or totals[below] <= 0:
                break
            node = below
        out[i] = node if attribute[node] < 0 else -1 - node
    return found


# ---- naive Bayes


cdef inline double _interval(double value, double mean, double deviation, double precision) noexcept nogil:
    """Return the logarithm of the probability of an interval as wide as values are apart."""
    cdef double upper, lower, p
    value = rint(value / precision) * precision
    upper = 0.5 * (1 + erf((value - mean + precision / 2) / deviation / M_SQRT2))
    lower = 0.5 * (1 + erf((value - mean - precision / 2) / deviation / M_SQRT2))
    p = upper - lower
    return log(p) if p > 1e-75 else log(1e-75)


def normal_logs(double[:, ::1] x, double[:, ::1] mean, double[:, ::1] deviation, double[::1] precision):
    """Return for each row and class the sum of the logarithms of its values' probabilities; NaN counts nothing."""
    cdef int32_t rows = x.shape[0], n = x.shape[1], classes = mean.shape[1], i, a, c
    found = np.zeros((rows, classes))
    cdef double[:, ::1] out = found
    with nogil:
        for i in range(rows):
            for a in range(n):
                if x[i, a] == x[i, a]:
                    for c in range(classes):
                        out[i, c] += _interval(x[i, a], mean[a, c], deviation[a, c], precision[a])
    return found


def sparse_normal_logs(int64_t[::1] row_start, int32_t[::1] row_cols, double[::1] row_values,
                       double[:, ::1] mean, double[:, ::1] deviation, double[::1] precision):
    """Return the same for sparse rows."""
    cdef int32_t rows = row_start.shape[0] - 1, n = mean.shape[0], classes = mean.shape[1], i, a, c
    cdef int64_t k
    found = np.zeros((rows, classes))
    zero = np.zeros((n, classes))
    cdef double[:, ::1] out = found, nothing = zero
    with nogil:
        for a in range(n):
            for c in range(classes):
                nothing[a, c] = _interval(0, mean[a, c], deviation[a, c], precision[a])
    found += zero.sum(axis=0)
    with nogil:
        for i in range(rows):
            for k in range(row_start[i], row_start[i + 1]):
                a = row_cols[k]
                for c in range(classes):
                    out[i, c] += _interval(row_values[k], mean[a, c], deviation[a, c], precision[a]) - nothing[a, c]
    return found
