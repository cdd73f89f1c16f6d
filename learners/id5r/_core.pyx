# cython: boundscheck=False, wraparound=False, embedsignature=True
"""The Python face of the compiled tree: codes in, codes out. `id5r.py` makes a learner of it."""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from learners.id5r.c cimport *

from hashlib import sha256

import numpy as np

from learners.learner import Step
from learners.merit import ROUNDING
from learners.outline import AttributeTest, Evidence, Leaf, Size, Split, opening_of_test, quoted
from learners.schema import CodesError

cdef double SCORE_UNITS = ROUNDING

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


def logs_of(int64_t x):
    """Return (x log2 x, log2 x) of a whole number above 0, as the trees have them; `learners.merit` has the rule."""
    make_x_log_x()
    make_log_table()
    return x_log_x(x), log_of(x)


def critical_values(double level, int64_t degrees):
    """Return (gain, Pearson's statistic) above which a test is significant; `learners.merit` has the rule."""
    return critical_gain(level, degrees), chi_square_threshold(level, degrees)


cdef int _refuse(Refusal refusal) except -1:
    """Say why a row cannot be learned."""
    if refusal.why == BAD_LABEL:
        raise CodesError(f"row {refusal.row} has class {refusal.found}, and {refusal.room} classes are known")
    if refusal.why == BAD_NUMBER:
        raise CodesError(
            f"row {refusal.row} has {refusal.found:#x} for attribute {refusal.attribute}, which is not the code of a number"
        )
    if refusal.why == TOO_MANY:
        raise CodesError(f"{refusal.found} instances are retained, and no more than {refusal.room} can be. Set a window")
    if refusal.found >= 0xFFFFFFFF:
        raise CodesError(f"row {refusal.row} has a value of attribute {refusal.attribute} that was never given a code")
    raise CodesError(
        f"row {refusal.row} has code {refusal.found} of attribute {refusal.attribute}, which has {refusal.room} codes"
    )


def fail_allocation(int64_t number):
    """Let the allocation with this number from now on fail, for tests; 0: none. Return what was set and is left."""
    global fail_in
    cdef int64_t before = fail_in
    fail_in = number
    return before


def cuts_of(numbers, int32_t bins):
    """Return the cuts of some numbers, given and returned as codes; `learners.numbers` has the rule."""
    cdef uint64_t[::1] sorted_here = np.array(numbers, dtype=np.uint64)
    cdef uint64_t[::1] cuts = np.empty(max(bins, 1), dtype=np.uint64)
    cdef int32_t found = 0
    if len(numbers):
        found = find_cuts(&sorted_here[0], len(numbers), bins, &cuts[0])
    return np.asarray(cuts)[:found].tolist()


include "outlines.pxi"


@cython.final
cdef class CoreTree:
    """A tree over codes.

    Args:
        gain_ratio: Whether tests are chosen by gain ratio instead of E-score.
        significance: The level at which a test must be significant; 0: no gate.
        pearson: Whether that is by Pearson's statistic instead of G.
        records_per_value: How many instances per value a gated test needs.
        hat: Whether only what is answered wrongly is learned.
        replace: Whether a contradiction replaces the older instance.
        window: How many instances are retained; 0: all.
        max_bytes: What the tree may weigh (budget.c); 0: no limit.
        small: Subtrees of at most so many instances are not transposed but made anew.
        bins: How many bins the cuts of a number make, at the most.
        ordered: Whether the order of arrival is kept, though nothing has to leave by it.
        window_time: For how long an instance is retained, by its own time; 0: for ever.
        max_time_jump: Two times that are farther apart do not agree (learners/clock.py).
        outline_bytes: How much memory the outline of a node takes, where it is kept (`outline` without `fresh`).
    """

    cdef Tree *tree
    cdef Outlines outlines

    def __cinit__(
        self, *, bint gain_ratio=False, double significance=0.0, bint pearson=False, int records_per_value=0,
        bint hat=False, bint replace=False, int64_t window=0, int64_t max_bytes=0, int64_t small=256,
        int32_t bins=32, bint ordered=False, double window_time=0.0, double max_time_jump=0.0,
        int64_t outline_bytes=0,
    ):
        cdef Settings settings
        if min(records_per_value, window, max_bytes, small) < 0 or not window_time >= 0:
            raise ValueError("a limit is below 0")
        if not 2 <= bins <= MOST_BINS:
            raise ValueError(f"{bins} bins are not between 2 and {MOST_BINS}")
        memset(&settings, 0, sizeof(settings))
        settings.gain_ratio = gain_ratio
        settings.gated = significance > 0
        settings.level = significance
        settings.pearson = pearson and settings.gated
        settings.records_per_value = records_per_value if settings.gated else 0
        settings.hat = hat
        settings.replace = replace
        settings.window = window
        settings.max_bytes = max_bytes
        settings.small = small
        settings.bins = bins
        settings.ordered = ordered
        settings.window_time = window_time
        settings.max_time_jump = max_time_jump
        settings.outline_bytes = outline_bytes
        self.tree = tree_new(&settings)
        if self.tree is NULL:
            raise MemoryError
        self.outlines = Outlines()
        self.outlines.tree = self.tree

    def __dealloc__(self):
        tree_free(self.tree)

    cdef int _check(self) except -1:
        if self.tree.failed:
            raise MemoryError("the tree has run out of memory and cannot be used any more")
        return 0

    @property
    def failed(self):
        """Whether the tree has run out of memory; it is of no use then but to be let go of."""
        return bool(self.tree.failed)

    def reserve(self, values, order, class_rank, numbers=None, retired=()):
        """Make room for what there is now.

        Args:
            values: How many codes each attribute has.
            numbers: The place of each attribute among those that are numbers; -1: it is none.
            order: The attributes in the order in which ties are broken.
            class_rank: The place of each class in the order in which ties are broken.
            retired: The attributes that are never tested; no instance has a value of them.
        """
        cdef int32_t[::1] counts = np.ascontiguousarray(values, dtype=np.int32)
        cdef int32_t[::1] orders = np.ascontiguousarray(order, dtype=np.int32)
        cdef int32_t[::1] ranks = np.ascontiguousarray(class_rank, dtype=np.int32)
        cdef int32_t none = 0
        self._check()
        if numbers is None:
            numbers = [-1] * len(values)
        cdef int32_t[::1] places = np.ascontiguousarray(numbers, dtype=np.int32)
        self._check_room(values, order, class_rank, numbers)
        tree_reserve(
            self.tree, <int32_t>len(values), &counts[0] if len(values) else &none,
            &places[0] if len(values) else &none, <int32_t>len(class_rank),
        )
        self._check()
        tree_set_order(self.tree, &orders[0] if len(values) else &none, &ranks[0] if len(class_rank) else &none)
        self._check()
        cdef uint8_t[::1] mask = np.zeros(len(values) + 1, dtype=np.uint8)
        for attribute in retired:
            mask[<Py_ssize_t>attribute] = 1
        tree_set_retired(self.tree, &mask[0])
        self._check()

    cdef int _check_room(self, values, order, class_rank, numbers) except -1:
        """Refuse a layout that the tree cannot have, or cannot change to."""
        cdef int32_t a
        if min(values, default=1) < 1 or max(values, default=1) > 65_535:
            raise CodesError("an attribute has no codes, or more than 65,535 of them")
        if len(class_rank) > 65_535:
            raise CodesError("there are more than 65,535 classes")
        if sorted(order) != list(range(len(values))) or sorted(class_rank) != list(range(len(class_rank))):
            raise CodesError("the order of attributes or classes does not name each of them once")
        places = [place for place in numbers if place >= 0]
        if len(numbers) != len(values) or sorted(places) != list(range(len(places))):
            raise CodesError("the places of the numbers do not fit the attributes")
        if len(values) < self.tree.attributes or len(class_rank) < self.tree.classes:
            raise CodesError("a tree does not lose attributes or classes")
        for a in range(self.tree.attributes):
            if is_number(self.tree, a) and numbers[a] != self.tree.scales[a].number:
                raise CodesError(f"attribute {a} is a number and stays one")
            if values[a] < self.tree.known[a]:
                raise CodesError(f"attribute {a} has lost codes")
        for a in range(<int32_t>len(values)):
            if numbers[a] >= 0 and values[a] <= self.tree.settings.bins:
                raise CodesError(f"attribute {a} is a number and has no room for its bins")
        return 0

    # ---- one row at a time

    def set_cuts(self, int32_t attribute, cuts, int32_t median, bint fixed):
        """Give a number its cuts, before any of it is learned."""
        cdef uint64_t[::1] view = np.array([*cuts, 0], dtype=np.uint64)
        if not 0 <= attribute < self.tree.attributes or not is_number(self.tree, attribute):
            raise CodesError(f"attribute {attribute} is not a number")
        if len(cuts) + 2 > self.tree.value_capacity[attribute] or not 1 <= median <= len(cuts) + 1:
            raise CodesError(f"attribute {attribute} has no room for {len(cuts)} cuts, or no bin {median}")
        if any(not low < high for low, high in zip(cuts, cuts[1:])):
            raise CodesError(f"the cuts of attribute {attribute} do not ascend")
        if self.tree.store.distinct and (len(cuts) or self.tree.scales[attribute].count):
            raise CodesError(f"attribute {attribute} has been learned with other cuts")
        tree_set_cuts(self.tree, attribute, &view[0], <int32_t>len(cuts), median, fixed)
        self._check()

    def cuts(self, int32_t attribute):
        """Return the cuts of a number and the bin of its median; no cuts where it is no number."""
        if not 0 <= attribute < self.tree.attributes:
            raise CodesError(f"there is no attribute {attribute}")
        cdef Scale *scale = &self.tree.scales[attribute]
        cdef int32_t k
        return [scale.cuts[k] for k in range(scale.count)], scale.median

    @property
    def cut_age(self):
        """How many instances were learned since the cuts were made, and whether any was forgotten."""
        return self.tree.since_cuts, bool(self.tree.aged)

    @cut_age.setter
    def cut_age(self, age):
        since, aged = age
        if not 0 <= since <= MOST_INSTANCES:
            raise ValueError(f"{since} instances cannot have been learned since the cuts were made")
        self.tree.since_cuts, self.tree.aged = since, aged

    def set_time(self, int32_t attribute):
        """Say which number is the time of an instance."""
        if not 0 <= attribute < self.tree.attributes or not is_number(self.tree, attribute):
            raise CodesError(f"attribute {attribute} is not a number")
        self.tree.time = attribute

    @property
    def newest(self):
        """The latest time met; minus infinity before any."""
        return self.tree.newest

    @newest.setter
    def newest(self, double time):
        self.tree.newest = time

    @property
    def confirmed(self):
        """Whether two instances agree about that time."""
        return bool(self.tree.confirmed)

    @confirmed.setter
    def confirmed(self, bint confirmed):
        self.tree.confirmed = confirmed

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

    cdef int _take_row(self, row, int32_t label=-1) except -1:
        """Take up a row; with a label, one that is to be learned."""
        cdef int32_t width = self.tree.attributes, a = 0
        cdef Refusal refusal
        self._check()
        cdef uint64_t *codes = <uint64_t *>PyMem_Malloc((width + 1) * sizeof(uint64_t))
        if codes is NULL:
            raise MemoryError
        try:
            memset(codes, 0, (width + 1) * sizeof(uint64_t))
            for code in row:
                if not -(2**64) < code < 2**64:
                    raise CodesError(f"{code} is not a code")
                if a < width:
                    codes[a] = <uint64_t>code if code >= 0 else 0xFFFFFFFFFFFFFFFFu
                elif label >= 0:
                    raise CodesError(f"a row has {len(row)} attributes, more than the {width} there is room for")
                a += 1
            if label >= 0 and tree_refuses(self.tree, codes, 1, &label, 0, 1, &refusal):
                _refuse(refusal)
            tree_wide_row(self.tree, codes)
        finally:
            PyMem_Free(codes)
        return 0

    cdef int _check_label(self, int32_t label) except -1:
        if not 0 <= label < self.tree.classes:
            raise CodesError(f"there is no class {label}: {self.tree.classes} are known")
        return 0

    def learn(self, row, int32_t label):
        """Learn a row.

        Raises:
            CodesError: There is no room for a code or the class; nothing has changed.
        """
        self._check_label(label)
        self._take_row(row, label)
        with nogil:
            tree_learn(self.tree, label)
        self._check()

    def forget(self, row, int32_t label):
        """Forget a row; return whether it was there."""
        cdef int missing
        self._check_label(label)
        self._take_row(row)
        with nogil:
            missing = tree_forget(self.tree, label)
        self._check()
        return not missing

    def answer(self, row, codes):
        """Return (class or -1, how, counts of the classes, path in names, scores of the classes if any) of a row.

        Where a value is missing, the scores are the logarithms of what speaks for each class there (missing.c).
        """
        self._take_row(row)
        cdef Answer told = tree_answer(self.tree)
        self._check()
        if told.node is NULL:
            return -1, ANSWER_PLAIN, [], (), None
        path = path_of(self.tree, told.node, codes)
        counts = [told.node.classes[c] for c in range(self.tree.classes)]
        if told.how != ANSWER_MISSING:
            return majority(self.tree, told.node), told.how, counts, path, None
        scores = np.zeros(self.tree.classes, dtype=np.int64)
        cdef int64_t[::1] view = scores
        return missing_answer(self.tree, told.node, &view[0]), told.how, counts, path, scores.tolist()

    def explain(self, codes):
        """Return the path of the row at hand, and note that its answer has been explained.

        None where the path ends within a set of one description: then it holds for this row alone.
        """
        self._check()
        cdef Answer told = tree_answer(self.tree)
        self._check()
        if told.node is NULL:
            return ()
        if told.how != ANSWER_PLAIN and told.node.form != SPLIT:
            return None
        told.node.explained = 1
        return path_of(self.tree, told.node, codes)

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
        self._check_batch(codes, labels, start, batch)
        if codes.shape[0] and codes.shape[1]:
            if wide:
                wide_codes = codes
                data = &wide_codes[0, 0]
            else:
                narrow_codes = codes
                data = &narrow_codes[0, 0]
        self._check_codes(codes, data, wide, labels, start, batch)
        with nogil:
            reached = tree_run(
                self.tree, data, wide, &labels[0], start, end, stop, &batch.answers[0], &batch.how[0],
                &batch.nodes[0], &batch.counts[0, 0] if self.tree.classes else NULL,
                &batch.scores[0, 0] if self.tree.classes else NULL, <Ops *>&batch.spent[0, 0], &why,
            )
        self._check()
        return reached, why

    cdef int _check_batch(self, codes, const int32_t[::1] labels, int64_t start, Batch batch) except -1:
        """See to it that nothing is read or written that is not there."""
        self._check()
        if codes.ndim != 2 or start < 0:
            raise ValueError("codes are a table, and rows are counted from 0")
        if codes.dtype != np.uint64 and (codes.dtype != np.uint32 or self.tree.numbers):
            raise ValueError("codes have 32 bits, or 64 where there are numbers")
        if codes.shape[0] != len(labels) or codes.shape[1] != self.tree.attributes:
            raise ValueError("rows and labels differ in size")
        if batch.answers.shape[0] != len(labels):
            raise ValueError("labels and results differ in size")
        if batch.counts.shape[1] != self.tree.classes:
            raise ValueError("the results have room for another number of classes")
        return 0

    cdef int _check_codes(
        self, codes, const void *data, int wide, const int32_t[::1] labels, int64_t start, Batch batch
    ) except -1:
        """Refuse a batch with a row that cannot be learned: all of it, before anything is changed.

        A batch is looked through once, however often the tree stops in it.
        """
        cdef Refusal refusal
        cdef int refuses
        if batch.checked is codes and batch.checked_by is self and batch.checked_labels == &labels[0]:
            return 0
        with nogil:
            refuses = tree_refuses(self.tree, data, wide, &labels[0], start, labels.shape[0], &refusal)
        if refuses:
            _refuse(refusal)
        batch.checked, batch.checked_by = codes, self
        batch.checked_labels = &labels[0]
        return 0

    def unexplain(self):
        """Note that everything has to be explained again."""
        self._check()
        if self.tree.root is not NULL:
            node_unexplain(self.tree, self.tree.root)

    # ---- the tree as data

    def settle(self):
        """Do all repairs that were put off."""
        self._check()
        with nogil:
            tree_settle(self.tree)
        self._check()

    @property
    def changed(self):
        """Whether the last row may have changed how the tree looks."""
        return bool(self.tree.changed)

    def outline(self, codes, bint fresh=True):
        """Return the tree as data.

        Args:
            codes: The names of attributes, values and classes.
            fresh: Whether counts are to be those of this moment everywhere. Otherwise what looks the same as
                when it was last told without this is told again as it was, which costs nothing.
        """
        self.settle()
        return self.outlines.fresh(codes) if fresh else self.outlines.publish(codes)

    def forget_outlines(self):
        """Let go of the outlines that are kept: the next one is made as a whole."""
        self.outlines.forget()

    def subtree(self, path, codes):
        """Return the outline of the subtree at a path of the tree just published, with counts of this moment."""
        self._check()
        return self.outlines.subtree(path, codes)

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
    def walks(self):
        """How much was looked at one by one: what was settled, compared, searched and sifted (core.h)."""
        cdef Walks *walks = &self.tree.walks
        return walks.settled, walks.compared, walks.searched, walks.sifted

    @property
    def outlines_made(self):
        """How many nodes were outlined so far."""
        return self.outlines.made

    @property
    def outlines_kept(self):
        """How many outlines of nodes are kept."""
        return len(self.outlines.kept)

    @property
    def nodes(self):
        """How many nodes there are, those kept for later included."""
        return self.tree.nodes

    @property
    def bytes(self):
        """How much memory the tree holds, the outlines that are kept for it included.

        That depends on how it came to be, for example on whether it was restored from a snapshot.
        """
        return tree_bytes(self.tree)

    @property
    def weight(self):
        """What the tree weighed when that was last found out, where there is a limit: it follows from the records."""
        return self.tree.budget.weight

    def weigh(self, CoreTree beside not None):
        """Return what the tree weighs now; the records had names as the other tree has met them."""
        cdef int64_t weight
        self._check()
        with nogil:
            weight = tree_weight(self.tree, &beside.tree.budget)
        self._check()
        return weight

    def note(self, row, int32_t label):
        """Count the names in a row that has a class and is not learned; there is room for them."""
        self._check_label(label)
        self._take_row(row)
        if self.tree.settings.max_bytes:
            budget_note(self.tree, label)

    def count_known_names(self):
        """Count all names that there is room for as met."""
        budget_count_known(self.tree)

    @property
    def budget(self):
        """What a limit on memory needs to know of the past: (weight, when it is found out again, names); None without one."""
        cdef Budget *budget = &self.tree.budget
        if not self.tree.settings.max_bytes:
            return None
        codes = [budget.codes[a] for a in range(min(budget.attributes, self.tree.attributes))]
        return budget.weight, budget.due, codes, budget.classes

    @budget.setter
    def budget(self, found):
        cdef Budget *budget = &self.tree.budget
        weight, due, codes, classes = found
        if len(codes) > min(budget.attributes, self.tree.attributes) or not 0 <= classes <= self.tree.classes:
            raise ValueError("the names that were met do not fit the tree")
        if not 0 <= weight < 2**63 or not 0 <= due < 2**63:
            raise ValueError("the weight of the tree is no count")
        for a, code in enumerate(codes):
            if not 0 <= code <= self.tree.known[<Py_ssize_t>a]:
                raise ValueError(f"attribute {a} does not have {code} codes")
        for a, code in enumerate(codes):
            budget.codes[<Py_ssize_t>a] = code
        budget.weight, budget.due, budget.classes = weight, due, classes

    def check(self):
        """Return what is wrong with the tree, or None where it is sound: its counts are those of its instances.

        It takes time in proportion to the instances times the depth of the tree.
        """
        cdef char message[256]
        cdef int wrong
        with nogil:
            wrong = tree_check(self.tree, message, sizeof(message))
        return message.decode() if wrong else None

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
        self._check()
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
            self._check()
            raise MemoryError
        form = np.empty(numbers.length, dtype="<i8")
        cdef int64_t[::1] form_view = form
        if numbers.length:
            memcpy(&form_view[0], numbers.data, numbers.length * sizeof(int64_t))
        free(numbers.data)
        return rows, numbers_here, labels, times, ring[:length], form, self.operations()

    def load(self, rows, numbers, labels, times, ring, form, operations):
        """Restore what `dump` returned into a fresh tree that has room and its cuts.

        Without a form the tree is made anew from its instances; what that costs is added to the operations.

        Raises:
            ValueError: It is not what `dump` could have returned.
        """
        cdef Store *store = &self.tree.store
        self._check()
        if store.distinct or self.tree.root is not NULL:
            raise ValueError("the tree is not a fresh one")
        counted = form is not None or len(operations) > 0
        if counted and (len(operations) != len(OPERATIONS) or not all(0 <= n < 2**64 for n in operations)):
            raise ValueError("the operations are not counts")
        self._check_dump(rows, numbers, labels, times, ring)
        try:
            self._load(rows, numbers, labels, times, ring, form)
        except ValueError:
            tree_empty(self.tree)
            raise
        if not counted:
            return
        if form is None:
            self.settle()
            operations = tuple(map(sum, zip(operations, self.operations(), strict=True)))
        cdef Ops *ops = &self.tree.ops
        (
            ops.additions, ops.scores, ops.expansions, ops.pull_ups, ops.transpositions, ops.collapses,
            ops.repairs, ops.stored, ops.forgotten,
        ) = operations

    cdef int _check_dump(self, rows, numbers, labels, times, ring) except -1:
        """Refuse instances that no dump of such a tree can hold."""
        cdef Store *store = &self.tree.store
        if len(labels) != len(rows) or len(times) != len(rows) or numbers.shape != (len(rows), self.tree.numbers):
            raise ValueError("rows, classes and multiplicities differ in number")
        if rows.shape != (len(rows), self.tree.attributes):
            raise ValueError("the rows have another width than the tree")
        if len(ring) and int(ring.max()) >= len(rows):
            raise ValueError("the order of arrival names instances that are not there")
        arrived = np.bincount(ring, minlength=len(rows)) if len(ring) else np.zeros(len(rows), dtype=np.int64)
        if store.keeps_order and (arrived != times).any():
            raise ValueError("the order of arrival does not fit the instances")
        if int(times.sum(dtype=np.uint64)) > MOST_INSTANCES:
            raise ValueError(f"there are more than {MOST_INSTANCES} instances")
        if len(rows) and (int(times.min()) == 0 or int(labels.max()) >= self.tree.classes):
            raise ValueError("an instance has no class or is not there at all")
        return 0

    cdef int _load(self, rows, numbers, labels, times, ring, form) except -1:
        cdef Store *store = &self.tree.store
        cdef Py_ssize_t k
        cdef uint32_t i
        cdef char message[256]
        for k in range(len(rows)):
            row = rows[k].tolist()
            for a in range(self.tree.attributes):
                if is_number(self.tree, a):
                    row[a] = int(numbers[k, self.tree.scales[a].number])
            self._take_row(row, labels[k])
            if store_find(store, self.tree.row, <uint16_t>labels[k]) != NO_INSTANCE:
                raise ValueError("an instance is there twice")
            i = store_add(store, self.tree.row, <uint16_t>labels[k])
            if i == NO_INSTANCE:
                self.tree.failed = 1
                self._check()
            store.times[i] = times[k]
        for k in range(len(ring)):
            if store_arrived(store, <uint32_t>ring[k]):
                self.tree.failed = 1
                self._check()
        if form is None:
            tree_relist(self.tree)
            self._check()
            return 0
        cdef const int64_t[::1] form_view = np.ascontiguousarray(form, dtype=np.int64)
        cdef int bad = tree_load(self.tree, &form_view[0] if len(form) else NULL, len(form))
        self._check()
        if bad or tree_check(self.tree, message, sizeof(message)):
            raise ValueError("the form is not that of a tree of these instances")
        return 0


include "voices.pxi"


@cython.final
cdef class Batch:
    """Room for what a batch comes to, row by row."""

    cdef int32_t[::1] answers
    cdef int32_t[::1] how
    cdef uint64_t[::1] nodes
    cdef uint32_t[:, ::1] counts
    cdef int64_t[:, ::1] scores
    cdef uint64_t[:, ::1] spent
    cdef int8_t[::1] by
    cdef double[:, ::1] shares
    cdef object checked  # the codes that were found fit to be learned,
    cdef object checked_by  # by which tree,
    cdef const int32_t *checked_labels  # with which labels

    def __init__(self, Py_ssize_t rows, Py_ssize_t classes, bint voices=False):
        self.answers = np.full(rows, -1, dtype=np.int32)
        self.how = np.zeros(rows, dtype=np.int32)
        self.nodes = np.zeros(rows, dtype=np.uint64)
        self.counts = np.zeros((rows, classes), dtype=np.uint32)
        self.scores = np.zeros((rows, classes), dtype=np.int64)
        self.spent = np.zeros((rows, sizeof(Ops) // sizeof(uint64_t)), dtype=np.uint64)
        self.by = np.zeros(rows if voices else 0, dtype=np.int8)
        self.shares = np.zeros((rows if voices else 0, classes), dtype=np.float64)

    def voices(self):
        """Return (answerer, share of each class) of each row."""
        return np.asarray(self.by), np.asarray(self.shares)

    def scores_of(self, Py_ssize_t row):
        """Return what speaks for each class where a value is missing."""
        return np.asarray(self.scores[row]).tolist()

    def arrays(self):
        """Return (answers, how, nodes, counts, operations spent before each row)."""
        return (
            np.asarray(self.answers), np.asarray(self.how), np.asarray(self.nodes), np.asarray(self.counts),
            np.asarray(self.spent),
        )
