# cython: language_level=3, boundscheck=False, wraparound=False
"""The tree in use: nodes that know their records, and the records themselves."""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport qsort

import numpy as np

from learners.lookahead._lookahead import Job
from learners.canonical import number_code, number_of

cdef uint64_t MISSING = 0
cdef uint64_t LOWEST = 0x0010000000000000  # the codes of the numbers that are farthest from zero
cdef uint64_t HIGHEST = 0xFFEFFFFFFFFFFFFF


cdef class Node:
    """A node. A leaf has its records, in order of arrival; all others have branches.

    A missing number is above all others: it is compared as the code below the first.
    """

    def __cinit__(self):
        self.test = self.shown = -1
        self.leaves, self.errors = -1, -1
        self.branches = {}
        self.counts = []
        self.rows = []

    cpdef become(self, Node other):
        """Take another's place, which is given up. What it counts it counts already."""
        self.test, self.numeric, self.at_most, self.key = other.test, other.numeric, other.at_most, other.key
        self.branches, self.rows, self.tests, self.stuck = other.branches, other.rows, other.tests, other.stuck
        self.last_r, self.tried = other.last_r, other.tried
        self.counts, self.n, self.label = other.counts, other.n, other.label
        self.shape = self.explained = None
        self.leaves, self.errors = -1, -1


cdef int compare(const void *one, const void *other) noexcept nogil:
    cdef uint64_t a = (<uint64_t*>one)[0], b = (<uint64_t*>other)[0]
    return (a > b) - (a < b)


cdef class Made:
    """A tree being built, and what its codes stand for."""

    cdef public object job
    cdef public list ids      # the records
    cdef object values        # the codes behind those of the table, one array for each attribute
    cdef object code
    cdef object numeric


cdef class Forest:
    """Records, and the nodes that hold them."""

    def __cinit__(self):
        self._x = np.zeros((64, 0), dtype=np.uint64)
        self._labels = np.zeros(64, dtype=np.int32)
        self.x, self.y = self._x, self._labels
        self.domain, self.known, self.lacking, self.numeric, self.ranks = [], [], [], [], []

    # ---- records

    cpdef widen(self, int width, list declared, list numeric):
        """Make room for attributes; records so far lack them.

        Args:
            width: How many there are.
            declared: How many values of each are declared.
            numeric: Whether each is.
        """
        if width > self.width:
            wider = np.zeros((self._x.shape[0], width), dtype=np.uint64)
            wider[:, : self.width] = self._x
            self._x = wider
            self.x = wider
            for a in range(self.width, width):
                self.known.append(declared[a])
                self.lacking.append(self.next > self.base)
                self.domain.append(max(1, declared[a] + (self.next > self.base)))
            self.width = width
        self.numeric = numeric

    cpdef long long put(self, list row, int label):
        """Keep a record as the newest; return its number."""
        cdef Py_ssize_t place, a, length = len(row)
        cdef uint64_t code
        place = self.next - self.base
        if place == self._x.shape[0]:
            self.resize(2 * place)
        for a in range(self.width):
            code = row[a] if a < length else MISSING
            if self.numeric[a] and code != MISSING:
                # What is infinite is told as the largest number, which a threshold can be above.
                code = min(max(code, LOWEST), HIGHEST)
            self.x[place, a] = code
            if code == MISSING:
                if not self.lacking[a]:
                    self.lacking[a] = True
                    self.domain[a] = self.known[a] + 1
                    self.epoch += 1
            elif not self.numeric[a] and <long long>code > <long long>self.known[a]:
                self.known[a] = code
                self.epoch += 1
                self.domain[a] = <long long>code + (1 if self.lacking[a] else 0)
        self.y[place] = label
        self.next += 1
        return self.next - 1

    cdef resize(self, Py_ssize_t room):
        self._x = np.resize(self._x, (room, self.width)) if self.width else np.zeros((room, 0), np.uint64)
        self._labels = np.resize(self._labels, room)
        self.x, self.y = self._x, self._labels

    cpdef compact(self, long long base):
        """Give back the room of records before a number."""
        cdef Py_ssize_t gone = base - self.base
        if gone > 1024 + (self.next - base):
            kept = self.next - base
            room = max(64, kept + kept // 2)
            x = np.zeros((room, self.width), dtype=np.uint64)
            y = np.zeros(room, dtype=np.int32)
            x[:kept] = self._x[gone : gone + kept]
            y[:kept] = self._labels[gone : gone + kept]
            self._x, self._labels, self.base = x, y, base
            self.x, self.y = x, y

    def blank(self, int attribute):
        """Let no record have a value of an attribute; return whether one had, or could have had."""
        had = bool(self.known[attribute]) or bool(self._x[: self.next - self.base, attribute].any())
        self._x[:, attribute] = MISSING
        self.known[attribute] = 0
        self.domain[attribute] = 1
        self.epoch += 1
        return had

    def dumped(self, long long start):
        """Return the records from a number on as bytes: codes and labels."""
        kept = slice(start - self.base, self.next - self.base)
        return self._x[kept].astype("<u8").tobytes(), self._labels[kept].astype("<i4").tobytes()

    def load(self, object x, object labels, long long base):
        """Take over records that were dumped."""
        room = max(64, len(labels))
        self._x = np.zeros((room, self.width), dtype=np.uint64)
        self._labels = np.zeros(room, dtype=np.int32)
        self._x[: len(labels)] = x
        self._labels[: len(labels)] = labels
        self.x, self.y = self._x, self._labels
        self.base = base
        self.next = base + len(labels)

    cpdef int label_of(self, long long number):
        """Return the class of a record."""
        return self.y[number - self.base]

    # ---- nodes

    cpdef int majority(self, list counts):
        """Return the most frequent class."""
        cdef int best = -1, c
        for c in range(len(counts)):
            if counts[c] and (
                best < 0
                or counts[c] > counts[best]
                or (counts[c] == counts[best] and self.ranks[c] < self.ranks[best])
            ):
                best = c
        return best

    cdef void count(self, Node node, int label, int by):
        cdef list counts = node.counts
        while len(counts) <= label:
            counts.append(0)
        counts[label] = counts[label] + by
        node.n += by
        node.explained = None
        node.errors = -1
        cdef int best = node.label if node.n > by else -1
        if by > 0 and best >= 0:
            if best != label and (
                counts[label] > counts[best]
                or (counts[label] == counts[best] and self.ranks[label] < self.ranks[best])
            ):
                node.label = label
        else:
            node.label = self.majority(counts)

    cpdef long long branch(self, Node node, long long number):
        """Return the branch that a record takes."""
        cdef uint64_t code = self.x[number - self.base, node.test]
        if node.numeric:
            return code - 1 > node.key
        return code

    cpdef list path_to_leaf(self, Node root, long long number):
        """Return the nodes that a record passes, the last of which is a leaf or has no branch for it."""
        cdef Node node = root
        cdef list path = [node]
        while node.test >= 0:
            below = node.branches.get(self.branch(node, number))
            if below is None:
                break
            node = below
            path.append(node)
        return path

    cpdef list insert(self, Node root, long long number):
        """Count a record on its way and put it into its leaf; return the nodes on the way.

        Where a value has no branch yet, it gets one.
        """
        cdef int label = self.y[number - self.base]
        cdef list path = self.path_to_leaf(root, number)
        cdef Node node = path[len(path) - 1], leaf
        if node.test >= 0:
            leaf = Node()
            node.branches[self.branch(node, number)] = leaf
            path.append(leaf)
        for node in path:
            self.count(node, label, 1)
        (<Node>path[len(path) - 1]).rows.append(number)
        return path

    cpdef list remove(self, long long number):
        """Take a record out of its leaf; return the nodes on the way. Empty ones stay."""
        cdef list path = self.path_to_leaf(self.root, number)
        cdef Node node
        for node in path:
            self.count(node, self.y[number - self.base], -1)
        (<Node>path[len(path) - 1]).rows.remove(number)
        return path

    cpdef list rows_below(self, Node root):
        """Return the records of a subtree, in order of arrival."""
        cdef list stack = [root], rows = []
        cdef Node node
        while stack:
            node = stack.pop()
            if node.test < 0:
                rows.extend(node.rows)
            else:
                stack.extend(node.branches.values())
        rows.sort()
        return rows

    cpdef tuple find(self, Node root, list row):
        """Return the node that a description comes to, and whether it can go no further; nothing is kept."""
        cdef Node node = root
        cdef uint64_t code
        cdef Py_ssize_t length = len(row)
        while node.test >= 0:
            if node.numeric:
                code = row[node.test] if node.test < length else MISSING
                below = node.branches.get(1 if code - 1 > node.key else 0)
            else:
                below = node.branches.get(row[node.test] if node.test < length else MISSING)
            if below is None:
                return node, True
            node = below
        return node, False

    cpdef bint alike(self, long long one, long long other):
        """Whether two records have the same values."""
        cdef Py_ssize_t a
        for a in range(self.width):
            if self.x[one - self.base, a] != self.x[other - self.base, a]:
                return False
        return True

    cdef bint is_sized(self, Node node):
        return node.leaves >= 0 and node.epoch == self.epoch

    cpdef long long size(self, Node root):
        """Return the number of leaves; a value of a nominal test that has no branch counts as one.

        It is kept, as is the number of nodes, so that a change costs the nodes on its path.
        """
        cdef list stack = [root]
        cdef Node node, below
        cdef bint waits
        while stack:
            node = stack[len(stack) - 1]
            if not self.is_sized(node):
                waits = False
                for below in node.branches.values():
                    if not self.is_sized(below):
                        stack.append(below)
                        waits = True
                if waits:
                    continue
                node.leaves = node.nodes = 1
                if node.test >= 0:
                    node.leaves = 2 if node.numeric else <long long>self.domain[node.test]
                    node.leaves -= len(node.branches)
                    for below in node.branches.values():
                        node.leaves += below.leaves
                        node.nodes += below.nodes
                node.epoch = self.epoch
            stack.pop()
        return root.leaves

    # ---- trees to be built

    def make(self, list ids, int repeats, uint64_t seed, object width=None, list domain=None):
        """Return a tree to be built of some records.

        Args:
            ids: The records.
            repeats: How many trees are drawn for each branch; 0: ID3.
            seed: What the random numbers are made from.
            width: How many attributes count; None: all.
            domain: How many values of each there are; None: as many as now.
        """
        cdef Py_ssize_t m = len(ids), n = self.width if width is None else width, a, i, low, high, middle
        cdef list domains = self.domain if domain is None else domain
        codes = np.empty((n, m), dtype=np.int32)
        levels = np.ones(n, dtype=np.int32)
        domain_of = np.zeros(n, dtype=np.int32)
        labels = np.empty(m, dtype=np.int32)
        places = np.array(ids, dtype=np.int64) - self.base
        cdef int32_t[:, ::1] code = codes
        cdef int32_t[::1] level = levels, label = labels, given = domain_of
        cdef long long[::1] place = places
        cdef uint64_t[::1] sorted_codes
        cdef int32_t[::1] seat
        cdef uint64_t one
        cdef int32_t count
        cdef Made made = Made()
        made.values = []
        made.numeric = [bool(self.numeric[a]) for a in range(n)]
        for a in range(n):
            if self.numeric[a]:
                column = np.empty(m, dtype=np.uint64)
                sorted_codes = column
                for i in range(m):
                    sorted_codes[i] = self.x[place[i], a] - 1
                if m:
                    qsort(&sorted_codes[0], m, sizeof(uint64_t), compare)
                count = 0
                for i in range(m):
                    if i == 0 or sorted_codes[i] != sorted_codes[count - 1]:
                        sorted_codes[count] = sorted_codes[i]
                        count += 1
                for i in range(m):
                    one = self.x[place[i], a] - 1
                    low, high = 0, count - 1
                    while low < high:
                        middle = (low + high) // 2
                        if sorted_codes[middle] < one:
                            low = middle + 1
                        else:
                            high = middle
                    code[a, i] = low
                made.values.append(column[:count])
            else:
                seats = np.full(self.known[a] + 1, -1, dtype=np.int32)
                seat = seats
                for i in range(m):
                    seat[self.x[place[i], a]] = 1
                present = np.flatnonzero(seats >= 0)
                seats[present] = np.arange(len(present), dtype=np.int32)
                for i in range(m):
                    code[a, i] = seat[self.x[place[i], a]]
                count = len(present)
                made.values.append(present)
                given[a] = max(<int>domains[a], <int>count)
            level[a] = max(1, count)
        seats = np.full(len(self.ranks), -1, dtype=np.int32)
        for i in range(m):
            seats[self.y[place[i]]] = 1
        present = np.flatnonzero(seats >= 0)
        seats[present] = np.arange(len(present), dtype=np.int32)
        for i in range(m):
            label[i] = seats[self.y[place[i]]]
        made.ids, made.code = ids, codes
        made.job = Job(codes, labels, levels, domain_of, len(present), repeats, seed)
        return made

    def grown(self, Made made, long long last_r):
        """Return the tree that has been built, with its records; `last_r` is what it was allowed."""
        cdef Py_ssize_t i, k
        cdef int32_t[:, ::1] node_of
        cdef int32_t[::1] order
        cdef int32_t[:, ::1] code = made.code
        cdef Node node, parent
        cdef int32_t above, cut, attribute
        cdef list nodes = []
        built, placed = made.job.tree()
        node_of, order = built, placed
        for i in range(node_of.shape[0]):
            node = Node()
            nodes.append(node)
            node.last_r = last_r
            node.tests = node_of[i, 6]
            attribute, cut = node_of[i, 0], node_of[i, 1]
            if i:
                parent = nodes[node_of[i, 4]]
                value = node_of[i, 5] if parent.numeric else int(made.values[parent.test][node_of[i, 5]])
                parent.branches[value] = node
            if attribute < 0:
                node.rows = [made.ids[order[k]] for k in range(node_of[i, 2], node_of[i, 3])]
            else:
                node.test = attribute
                if cut >= 0:
                    above = 0x7FFFFFFF
                    for k in range(node_of[i, 2], node_of[i, 3]):
                        if cut < code[attribute, order[k]] < above:
                            above = code[attribute, order[k]]
                    node.numeric = True
                    values = made.values[attribute]
                    node.at_most, node.key = between(int(values[cut]), int(values[above]))
            for k in range(node_of[i, 2], node_of[i, 3]):
                self.count(node, self.y[<long long>made.ids[order[k]] - self.base], 1)
            node.tried = node.n
        node = nodes[0]
        # No test divides the records of a leaf that are not of one class.
        for node in nodes:
            if node.test < 0 and node.n > max(node.counts):
                node.stuck = True
        return nodes[0]


def between(low, high):
    """Return a threshold between two numbers given as codes less one, and its own.

    What divides numbers from what is missing is the largest number there is.
    """
    middle = number_of(HIGHEST)
    if high + 1 < 1 << 64:
        below, above = number_of(low + 1), number_of(high + 1)
        middle = below / 2 + above / 2
        if not below <= middle < above:
            middle = below
    return middle, number_code(middle) - 1


