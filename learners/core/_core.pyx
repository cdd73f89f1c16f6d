# cython: boundscheck=False, wraparound=False, embedsignature=True
"""The Python face of the compiled tree: codes in, codes out. `id5r.py` makes a learner of it."""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from learners.core.c cimport *

import numpy as np

from learners.texts import number_of
from learners.outline import AttributeTest, Evidence, Leaf, Split

PLAIN = ANSWER_PLAIN
UNSEEN = ANSWER_UNSEEN
MISSING = ANSWER_MISSING
CHANGED = STOPPED_CHANGED
UNEXPLAINED = STOPPED_UNEXPLAINED
STOP_AT_CHANGES = 1
STOP_AT_UNEXPLAINED = 2

OPERATIONS = (
    "instance_count_additions", "e_scores", "expansions", "pull_ups", "transpositions", "collapses", "repairs",
    "instances_stored", "instances_forgotten",
)


cdef int64_t _critical(void *context, int64_t degrees, int64_t tests) noexcept with gil:
    return (<CoreTree>context).critical(degrees, tests)


cdef double _critical_pearson(void *context, int64_t degrees, int64_t tests) noexcept with gil:
    return (<CoreTree>context).critical_pearson(degrees, tests)


def cuts_of(numbers, int32_t bins):
    """Return the cuts of some numbers, given and returned as codes; `learners.cuts` has the rule."""
    cdef uint64_t[::1] sorted_here = np.array(numbers, dtype=np.uint64)
    cdef uint64_t[::1] cuts = np.empty(max(bins, 1), dtype=np.uint64)
    cdef int32_t found = 0
    if len(numbers):
        found = find_cuts(&sorted_here[0], len(numbers), bins, &cuts[0])
    return np.asarray(cuts)[:found].tolist()


@cython.final
cdef class CoreTree:
    """A tree over codes.

    Args:
        gain_ratio: Whether tests are chosen by gain ratio instead of E-score.
        critical: For degrees of freedom, and how many tests the best is chosen from, the gain that is
            significant; None: no gate.
        critical_pearson: The same for Pearson's statistic, which is then used instead of G.
        records_per_value: How many instances per value a gated test needs.
        hat: Whether only what is answered wrongly is learned.
        replace: Whether a contradiction replaces the older instance.
        window: How many instances are retained; 0: all.
        max_bytes: How much memory may be used; 0: no limit.
        small: Subtrees of at most so many instances are not transposed but made anew.
        bins: How many bins the cuts of a number make, at the most.
        ordered: Whether the order of arrival is kept, though nothing has to leave by it.
        window_time: For how long an instance is retained, by its own time; 0: for ever.
    """

    cdef Tree *tree
    cdef public object critical
    cdef public object critical_pearson
    cdef dict _shadow

    def __cinit__(
        self, *, bint gain_ratio=False, critical=None, critical_pearson=None, int records_per_value=0,
        bint hat=False, bint replace=False, int64_t window=0, int64_t max_bytes=0, int64_t small=256,
        int32_t bins=32, bint ordered=False, double window_time=0.0,
    ):
        cdef Settings settings
        memset(&settings, 0, sizeof(settings))
        settings.gain_ratio = gain_ratio
        settings.gated = critical is not None or critical_pearson is not None
        settings.pearson = critical_pearson is not None
        settings.records_per_value = records_per_value if settings.gated else 0
        settings.hat = hat
        settings.replace = replace
        settings.window = window
        settings.max_bytes = max_bytes
        settings.small = small
        settings.bins = bins
        settings.ordered = ordered
        settings.window_time = window_time
        self.tree = tree_new(&settings)
        if self.tree is NULL:
            raise MemoryError
        self.critical = critical
        self.critical_pearson = critical_pearson
        self.tree.critical = _critical
        self.tree.critical_pearson = _critical_pearson
        self.tree.context = <void *>self
        self._shadow = {}

    def __dealloc__(self):
        tree_free(self.tree)

    cdef int _check(self) except -1:
        if self.tree.failed:
            raise MemoryError("the tree has run out of memory and cannot be used any more")
        return 0

    def reserve(self, values, order, class_rank, numbers=None):
        """Make room for what there is now.

        Args:
            values: How many codes each attribute has.
            numbers: The place of each attribute among those that are numbers; -1: it is none.
            order: The attributes in the order in which ties are broken.
            class_rank: The place of each class in the order in which ties are broken.
        """
        cdef int32_t[::1] counts = np.ascontiguousarray(values, dtype=np.int32)
        cdef int32_t[::1] orders = np.ascontiguousarray(order, dtype=np.int32)
        cdef int32_t[::1] ranks = np.ascontiguousarray(class_rank, dtype=np.int32)
        cdef int32_t none = 0
        if numbers is None:
            numbers = [-1] * len(values)
        cdef int32_t[::1] places = np.ascontiguousarray(numbers, dtype=np.int32)
        if max(values, default=0) > 65_534:
            raise ValueError("an attribute has more than 65,534 values")
        tree_reserve(
            self.tree, <int32_t>len(values), &counts[0] if len(values) else &none,
            &places[0] if len(values) else &none, <int32_t>len(class_rank),
        )
        self._check()
        tree_set_order(self.tree, &orders[0] if len(values) else &none, &ranks[0] if len(class_rank) else &none)
        self._check()

    # ---- one row at a time

    def set_cuts(self, int32_t attribute, cuts, int32_t median, bint fixed):
        """Give a number its cuts, before anything is learned."""
        cdef uint64_t[::1] view = np.array([*cuts, 0], dtype=np.uint64)
        tree_set_cuts(self.tree, attribute, &view[0], <int32_t>len(cuts), median, fixed)
        self._check()

    def cuts(self, int32_t attribute):
        """Return the cuts of a number and the bin of its median; no cuts where it is no number."""
        cdef Scale *scale = &self.tree.scales[attribute]
        cdef int32_t k
        return [scale.cuts[k] for k in range(scale.count)], scale.median

    @property
    def cut_age(self):
        """How many instances were learned since the cuts were made, and whether any was forgotten."""
        return self.tree.since_cuts, bool(self.tree.aged)

    @cut_age.setter
    def cut_age(self, age):
        self.tree.since_cuts, self.tree.aged = age

    def set_time(self, int32_t attribute):
        """Say which number is the time of an instance."""
        self.tree.time = attribute

    @property
    def newest(self):
        """The latest time met; minus infinity before any."""
        return self.tree.newest

    @newest.setter
    def newest(self, double time):
        self.tree.newest = time

    def take_recut(self):
        """Return whether the cuts have changed since this was last asked."""
        told = bool(self.tree.recut)
        self.tree.recut = 0
        return told

    def take_dropped(self):
        """Return whether the past was dropped since this was last asked."""
        told = bool(self.tree.dropped)
        self.tree.dropped = 0
        return told

    cdef int _take_row(self, row) except -1:
        cdef int32_t width = self.tree.attributes, a = 0
        cdef uint64_t *codes = <uint64_t *>PyMem_Malloc((width + 1) * sizeof(uint64_t))
        if codes is NULL:
            raise MemoryError
        memset(codes, 0, (width + 1) * sizeof(uint64_t))
        for code in row:
            if a < width:
                codes[a] = <uint64_t>code if code >= 0 else 0xFFFFFFFFFFFFFFFFu
            a += 1
        tree_wide_row(self.tree, codes)
        PyMem_Free(codes)
        return 0

    def learn(self, row, int32_t label):
        """Learn a row."""
        self._take_row(row)
        with nogil:
            tree_learn(self.tree, label)
        self._check()

    def forget(self, row, int32_t label):
        """Forget a row; return whether it was there."""
        cdef int missing
        self._take_row(row)
        with nogil:
            missing = tree_forget(self.tree, label)
        self._check()
        return not missing

    def answer(self, row, bint with_instances=True):
        """Return (class or -1, how, counts of the classes, steps, instances below if needed) of a row.

        A step is (attribute, value or branch, runner-up or -1, margin, cut or -1). The instances, as (row, class, times), are
        those below the node where a value is missing.
        """
        self._take_row(row)
        cdef Answer told = tree_answer(self.tree)
        self._check()
        if told.node is NULL:
            return -1, ANSWER_PLAIN, [], [], None
        steps = self._steps(told)
        counts = [told.node.classes[c] for c in range(self.tree.classes)]
        below = self._instances_of(told.node) if told.how == ANSWER_MISSING and with_instances else None
        return majority(self.tree, told.node), told.how, counts, steps, below

    cdef list _steps(self, Answer told):
        """Return the decisions that led the row at hand to its answer."""
        cdef Node *node = self.tree.root
        cdef const uint8_t *first
        cdef int32_t a, i, value
        steps = []
        used = set()
        while node.form == SPLIT and node is not told.node:
            a = node.test.attribute
            value = branch_of(self.tree, self.tree.row, node.test)
            steps.append((a, value, node.runner_up, node.margin, node.test.cut))
            if node.test.cut < 0:
                used.add(a)
            node = node.branches[value]
        if node.form != SPLIT and node.present > 1 and not self.tree.settings.gated and node.set_count:
            # A set of one description stands for a chain of tests with one branch each.
            first = row_of(&self.tree.store, node.set[0])
            for i in range(self.tree.attributes):
                a = self.tree.order[i]
                if a in used or is_number(self.tree, a):
                    continue
                value = code_at(&self.tree.store, self.tree.row, a)
                if value != code_at(&self.tree.store, first, a):
                    break
                used.add(a)
                steps.append((a, value, self._next_in_chain(used), 0, -1))
        return steps

    cdef int32_t _next_in_chain(self, used):
        cdef int32_t i
        for i in range(self.tree.attributes):
            if self.tree.order[i] not in used and not is_number(self.tree, self.tree.order[i]):
                return self.tree.order[i]
        return -1

    cdef list _instances_of(self, Node *node):
        cdef uint32_t i, k
        cdef int32_t v, a
        found = []
        if node.branches is not NULL:
            for v in range(branch_count(self.tree, branching(node))):
                if node.branches[v] is not NULL:
                    found += self._instances_of(node.branches[v])
        for k in range(node.set_count):
            i = node.set[k]
            row = tuple([code_at(&self.tree.store, row_of(&self.tree.store, i), a) for a in range(self.tree.attributes)])
            found.append((row, self.tree.store.labels[i], self.tree.store.times[i]))
        return found

    # ---- whole batches

    def run(self, codes, const int32_t[::1] labels, int64_t start, int stop, Batch batch):
        """Answer each row from `start` on, then learn it; return the row to go on with, and why it stopped.

        Codes are of 32 bits, or of 64 where some may be numbers.
        """
        cdef int why
        cdef int64_t reached, end = labels.shape[0]
        cdef const uint32_t[:, ::1] narrow_codes
        cdef const uint64_t[:, ::1] wide_codes
        cdef uint64_t nothing = 0
        cdef const void *data = &nothing
        cdef int wide = codes.dtype == np.uint64
        if start >= end:
            return end, RAN_OUT
        self._check_batch(codes, labels, batch)
        if codes.shape[0] and codes.shape[1]:
            if wide:
                wide_codes = codes
                data = &wide_codes[0, 0]
            else:
                narrow_codes = codes
                data = &narrow_codes[0, 0]
        with nogil:
            reached = tree_run(
                self.tree, data, wide, &labels[0], start, end, stop, &batch.answers[0], &batch.how[0],
                &batch.nodes[0], &batch.counts[0, 0] if self.tree.classes else NULL,
                <Ops *>&batch.spent[0, 0], &why,
            )
        self._check()
        return reached, why

    cdef int _check_batch(self, codes, const int32_t[::1] labels, Batch batch) except -1:
        """See to it that nothing is read or written that is not there."""
        if codes.dtype != np.uint64 and (codes.dtype != np.uint32 or self.tree.numbers):
            raise ValueError("codes have 32 bits, or 64 where there are numbers")
        if codes.shape[0] != len(labels) or codes.shape[1] != self.tree.attributes:
            raise ValueError("rows and labels differ in size")
        if batch.answers.shape[0] != len(labels):
            raise ValueError("labels and results differ in size")
        if batch.counts.shape[1] != self.tree.classes:
            raise ValueError("the results have room for another number of classes")
        return 0

    def explained(self):
        """Note that the answer to the row at hand has been explained."""
        cdef Answer told = tree_answer(self.tree)
        if told.node is not NULL:
            told.node.explained = 1

    def unexplain(self):
        """Note that everything has to be explained again."""
        if self.tree.root is not NULL:
            node_unexplain(self.tree, self.tree.root)

    # ---- the tree as data

    def settle(self):
        """Do all repairs that were put off."""
        with nogil:
            tree_settle(self.tree)
        self._check()

    @property
    def changed(self):
        """Whether the last row may have changed how the tree looks."""
        return bool(self.tree.changed)

    def outline(self, codes, bint by_ratio, bint fresh=True):
        """Return the tree as data.

        Args:
            codes: The names of attributes, values and classes.
            by_ratio: Whether scores are gain ratios.
            fresh: Whether counts are to be those of this moment everywhere. Otherwise what looks the same as
                when it was last told without this is told again as it was, which costs nothing.
        """
        self.settle()
        if self.tree.root is NULL:
            self._shadow = {}
            return None
        if fresh:
            return self._outline(self.tree.root, codes, by_ratio, None, set())
        kept = {}
        told = self._outline(self.tree.root, codes, by_ratio, kept, set())
        self._shadow.update(kept)
        if len(self._shadow) > 4 * len(kept) + 10_000:
            self._shadow = {}
        return told

    def subtree(self, path, codes, bint by_ratio):
        """Return the outline of the subtree at a path of (attribute, branch) codes, with counts of this moment."""
        cdef Node *node = self.tree.root
        used = set()
        rest = list(path)
        while rest and node.form == SPLIT:
            a, v = rest.pop(0)
            if node.test.cut < 0:
                used.add(a)
            node = node.branches[v]
        told = self._outline(node, codes, by_ratio, None, used)
        for _ in rest:
            told = told.branches[0][1]
        return told

    cdef object _outline(self, Node *node, codes, bint by_ratio, dict kept, set used):
        cdef int32_t v, c
        if kept is not None and not node.reshaped:
            shadow = self._shadow.get(node.id)
            if shadow is not None:
                return shadow
        counts = tuple(sorted([(codes.classes[c], node.classes[c]) for c in range(self.tree.classes) if node.classes[c]]))
        if node.form != SPLIT:
            told = self._chain(node, codes, counts, used)
        else:
            if node.test.cut < 0:
                values = codes.values[node.test.attribute]
                inner = used | {node.test.attribute}
            else:
                values = ("true", "false")
                inner = used
            branches = []
            for v in range(branch_count(self.tree, node.test)):
                if node.branches[v] is not NULL:
                    branches.append((values[v], self._outline(node.branches[v], codes, by_ratio, kept, inner)))
            branches.sort()
            told = Split(
                self._test(node, codes), counts, tuple(branches), self._evidence(node, codes),
            )
        if kept is not None:
            node.reshaped = 0
            kept[node.id] = told
        return told

    cdef object _test(self, Node *node, codes):
        name = codes.attributes[node.test.attribute]
        if node.test.cut < 0:
            return AttributeTest(name)
        return AttributeTest(name, number_of(self.tree.scales[node.test.attribute].cuts[node.test.cut - 1]))

    cdef object _evidence(self, Node *node, codes):
        runner_up = None if node.runner_up < 0 else codes.attributes[node.runner_up]
        return Evidence(node.score / 100_000, runner_up, None if node.runner_up < 0 else node.margin / 100_000)

    cdef object _chain(self, Node *node, codes, counts, used):
        """Return the outline of a set: a leaf, below a chain of tests if it is mixed and of one description."""
        cdef int32_t i, a, value
        told = Leaf(codes.classes[majority(self.tree, node)], counts)
        if node.present < 2 or self.tree.settings.gated:
            return told
        first = row_of(&self.tree.store, node.set[0])
        left = [
            self.tree.order[i] for i in range(self.tree.attributes)
            if self.tree.order[i] not in used and not is_number(self.tree, self.tree.order[i])
        ]
        for i in range(len(left) - 1, -1, -1):
            a = left[i]
            value = code_at(&self.tree.store, first, a)
            told = Split(AttributeTest(codes.attributes[a]), counts, ((codes.values[a][value], told),))
        return told

    # ---- facts

    def operations(self):
        """Return the operations performed, in the order of `OPERATIONS`."""
        cdef Ops *ops = &self.tree.ops
        return (
            ops.additions, ops.scores, ops.expansions, ops.pull_ups, ops.transpositions, ops.collapses,
            ops.repairs, ops.stored, ops.forgotten,
        )

    @property
    def retained(self):
        """How many instances the tree stands for."""
        return 0 if self.tree.root is NULL else self.tree.root.n

    @property
    def distinct(self):
        """How many different ones there are among them."""
        return self.tree.store.distinct

    @property
    def brought_back(self):
        """How often a test was the best again, and its branches were still there."""
        return self.tree.brought_back

    @property
    def bytes(self):
        """How much memory the tree holds."""
        return tree_bytes(self.tree)

    # ---- snapshots

    def dump(self, bint let_go=True):
        """Return (rows, numbers, labels, times, order of arrival, form of the tree, operations) as arrays.

        With `let_go`, what the tree keeps for its convenience is dropped: it goes on as the restored one does.
        Where an attribute is a number, its code in the row is 0; the numbers are in the order of their places.
        """
        cdef Store *store = &self.tree.store
        cdef uint32_t i, k = 0
        cdef int32_t a
        cdef uint64_t r, length = 0
        cdef Numbers numbers
        rows = np.empty((store.distinct, self.tree.attributes), dtype="<u2")
        labels = np.empty(store.distinct, dtype="<u2")
        times = np.empty(store.distinct, dtype="<u4")
        places = np.zeros(max(store.used, 1), dtype="<u4")
        numbers_here = np.empty((store.distinct, self.tree.numbers), dtype="<u8")
        cdef uint16_t[:, ::1] row_view = rows
        cdef uint64_t[:, ::1] number_view = numbers_here
        cdef uint16_t[::1] label_view = labels
        cdef uint32_t[::1] time_view = times
        cdef uint32_t[::1] place_view = places
        for i in range(store.used):
            if not store.times[i]:
                continue
            for a in range(self.tree.attributes):
                row_view[k, a] = 0
                if is_number(self.tree, a):
                    number_view[k, self.tree.scales[a].number] = (
                        numbers_of(store, row_of(store, i))[self.tree.scales[a].number]
                    )
                else:
                    row_view[k, a] = <uint16_t>code_at(store, row_of(store, i), a)
            label_view[k] = store.labels[i]
            time_view[k] = store.times[i]
            place_view[i] = k
            k += 1
        ring = np.empty(store.ring_length, dtype="<u4")
        cdef uint32_t[::1] ring_view = ring
        passed = np.zeros(max(store.used, 1), dtype="<u4")
        cdef uint32_t[::1] passed_view = passed
        for r in range(store.ring_length):
            i = store.ring[(store.ring_start + r) % store.ring_capacity]
            if store.skip is not NULL and passed_view[i] < store.skip[i]:
                passed_view[i] += 1
                continue
            ring_view[length] = place_view[i]
            length += 1
        memset(&numbers, 0, sizeof(numbers))
        cdef int failed
        with nogil:
            failed = tree_dump(self.tree, let_go, &numbers)
        if failed:
            free(numbers.data)
            raise MemoryError
        form = np.empty(numbers.length, dtype="<i8")
        cdef int64_t[::1] form_view = form
        if numbers.length:
            memcpy(&form_view[0], numbers.data, numbers.length * sizeof(int64_t))
        free(numbers.data)
        return rows, numbers_here, labels, times, ring[:length], form, self.operations()

    def load(self, rows, numbers, labels, times, ring, form, operations):
        """Restore what `dump` returned into a fresh tree that has room and its cuts.

        Without a form the tree is made anew from its instances.

        Raises:
            ValueError: It is not what `dump` could have returned.
        """
        cdef Store *store = &self.tree.store
        cdef Py_ssize_t k
        cdef uint32_t i
        if len(labels) != len(rows) or len(times) != len(rows) or numbers.shape != (len(rows), self.tree.numbers):
            raise ValueError("rows, classes and multiplicities differ in number")
        arrived = np.bincount(ring, minlength=len(rows)) if len(ring) else np.zeros(len(rows), dtype=np.int64)
        if store.keeps_order and (len(arrived) != len(rows) or (arrived != times).any()):
            raise ValueError("the order of arrival does not fit the instances")
        for k in range(len(rows)):
            if not times[k] or labels[k] >= self.tree.classes:
                raise ValueError("an instance has no class or is not there at all")
            row = rows[k].tolist()
            for a in range(self.tree.attributes):
                if is_number(self.tree, a):
                    row[a] = int(numbers[k, self.tree.scales[a].number])
            self._take_row(row)
            i = store_add(store, self.tree.row, <uint16_t>labels[k])
            if i != <uint32_t>k or store.distinct != <uint32_t>(k + 1):
                raise ValueError("an instance is there twice")
            store.times[i] = times[k]
        for k in range(len(ring)):
            if store_arrived(store, <uint32_t>ring[k]):
                raise MemoryError
        if form is None:
            tree_relist(self.tree)
            self._check()
            return
        cdef const int64_t[::1] form_view = np.ascontiguousarray(form, dtype=np.int64)
        cdef int bad = tree_load(self.tree, &form_view[0] if len(form) else NULL, len(form))
        if bad or self.tree.failed:
            raise ValueError("the form is not that of a tree of these instances")
        cdef Ops *ops = &self.tree.ops
        (
            ops.additions, ops.scores, ops.expansions, ops.pull_ups, ops.transpositions, ops.collapses,
            ops.repairs, ops.stored, ops.forgotten,
        ) = operations


include "voices.pxi"


@cython.final
cdef class Batch:
    """Room for what a batch comes to, row by row."""

    cdef int32_t[::1] answers
    cdef int32_t[::1] how
    cdef uint64_t[::1] nodes
    cdef uint32_t[:, ::1] counts
    cdef uint64_t[:, ::1] spent
    cdef int8_t[::1] by
    cdef double[:, ::1] shares

    def __init__(self, Py_ssize_t rows, Py_ssize_t classes, bint voices=False):
        self.answers = np.full(rows, -1, dtype=np.int32)
        self.how = np.zeros(rows, dtype=np.int32)
        self.nodes = np.zeros(rows, dtype=np.uint64)
        self.counts = np.zeros((rows, classes), dtype=np.uint32)
        self.spent = np.zeros((rows, sizeof(Ops) // sizeof(uint64_t)), dtype=np.uint64)
        self.by = np.zeros(rows if voices else 0, dtype=np.int8)
        self.shares = np.zeros((rows if voices else 0, classes), dtype=np.float64)

    def voices(self):
        """Return (answerer, share of each class) of each row."""
        return np.asarray(self.by), np.asarray(self.shares)

    def arrays(self):
        """Return (answers, how, nodes, counts, operations spent before each row)."""
        return (
            np.asarray(self.answers), np.asarray(self.how), np.asarray(self.nodes), np.asarray(self.counts),
            np.asarray(self.spent),
        )
