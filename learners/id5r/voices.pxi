# A part of _core.pyx: the voices of a tree, which need its inside.

@cython.final
cdef class Voices:
    """Who is believed: the answerers of a tree, the tree of the last few records, and when the past is dropped.

    Args:
        main: The tree of everything that is retained.
        recent: The tree of the last few records.
        candidate: Room for a tree that shows whether the past is worth dropping; needed for "verified".
        answer: "tree", "adaptive" or "bayes".
        drift: "none", "ddm" or "verified".
        decay: What a right answer still counts, one record later.
    """

    cdef _Voices voices
    cdef readonly CoreTree main, recent, candidate

    def __cinit__(
        self, CoreTree main not None, CoreTree recent, CoreTree candidate, str answer, str drift, double decay
    ):
        memset(&self.voices, 0, sizeof(self.voices))
        self.main, self.recent, self.candidate = main, recent, candidate
        self.voices.main = main.tree
        self.voices.recent = NULL if recent is None else recent.tree
        self.voices.candidate = NULL if candidate is None else candidate.tree
        self.voices.adaptive = answer != "tree"
        self.voices.only_bayes = answer == "bayes"
        self.voices.drift = {"none": DRIFT_NONE, "ddm": DRIFT_DDM, "verified": DRIFT_VERIFIED}[drift]
        self.voices.decay = decay
        if len({id(tree) for tree in (main, recent, candidate) if tree is not None}) != 1 + (recent is not None) + (candidate is not None):
            raise ValueError("the trees are not different ones")
        if drift == "verified" and candidate is None:
            raise ValueError("there is no room for a candidate")
        voices_reset_monitor(&self.voices.monitor)

    def __dealloc__(self):
        blend_free(&self.voices.blend)

    cdef int _take_row(self, row, int32_t label=-1) except -1:
        self._check_room()
        for tree in (self.main, self.recent, self.candidate):
            if tree is not None:
                (<CoreTree>tree)._take_row(row, label)
        return 0

    cdef int _check_room(self) except -1:
        """See to it that what one tree has room for, all have."""
        cdef Tree *main = self.main.tree
        cdef Tree *beside
        cdef int32_t a
        for tree in (self.recent, self.candidate):
            if tree is None:
                continue
            beside = (<CoreTree>tree).tree
            if beside.attributes != main.attributes or beside.classes != main.classes:
                raise ValueError("the trees have room for different attributes or classes")
            for a in range(main.attributes):
                if beside.known[a] != main.known[a] or beside.scales[a].number != main.scales[a].number:
                    raise ValueError(f"the trees have room for different values of attribute {a}")
        return 0

    cdef int _check(self) except -1:
        for tree in (self.main, self.recent, self.candidate):
            if tree is not None:
                (<CoreTree>tree)._check()
        return 0

    def learn(self, row, int32_t label):
        """Answer a row, judge the answerers by its label, and learn it."""
        self.main._check_label(label)
        self._take_row(row, label)
        with nogil:
            voices_learn(&self.voices, label)
        self._check()

    def forget(self, row, int32_t label):
        """Forget a row; return whether it was there."""
        self.main._check_label(label)
        self._take_row(row)
        cdef int missing
        with nogil:
            missing = voices_forget(&self.voices, label)
        self._check()
        return not missing

    def answer(self, row):
        """Return (class or -1, answerer, share of each class) of a row."""
        cdef Told told
        shares = np.zeros(max(self.main.tree.classes, 1), dtype=np.float64)
        cdef double[::1] view = shares
        self._take_row(row)
        told = voices_answer(&self.voices, &view[0])
        self._check()
        return told.answer, told.by, shares.tolist()

    def run(self, codes, const int32_t[::1] labels, int64_t start, int stop, Batch batch):
        """Answer each row from `start` on, then learn it; return the row to go on with, and why it stopped."""
        cdef int why
        cdef int64_t reached, end = labels.shape[0]
        cdef uint64_t nothing = 0
        cdef const void *data = &nothing
        cdef int wide = codes.dtype == np.uint64
        cdef const uint8_t[::1] view
        if start >= end:
            return end, RAN_OUT
        self._check_room()
        self.main._check_batch(codes, labels, start, batch)
        if batch.by.shape[0] != labels.shape[0]:
            raise ValueError("the results have no room for who answered")
        if codes.shape[0] and codes.shape[1]:
            view = np.ascontiguousarray(codes).reshape(-1).view(np.uint8)
            data = &view[0]
        self.main._check_codes(codes, data, wide, labels, start, batch)
        with nogil:
            reached = voices_run(
                &self.voices, data, wide, &labels[0], start, end, stop, &batch.answers[0], &batch.how[0],
                &batch.by[0], &batch.nodes[0], &batch.counts[0, 0] if self.voices.main.classes else NULL,
                &batch.shares[0, 0] if self.voices.main.classes else NULL, <Ops *>&batch.spent[0, 0], &why,
            )
        self._check()
        return reached, why

    @property
    def drops(self):
        """How often the past was dropped."""
        return self.voices.drops

    @property
    def state(self):
        """Everything that is not in the trees, as plain numbers."""
        cdef _Voices *v = &self.voices
        cdef int i
        records = [
            [v.main_record.answerers[i] for i in range(3)] + [v.main_record.tree],
            [v.recent_record.answerers[i] for i in range(3)] + [v.recent_record.tree],
            [v.candidate_record.answerers[i] for i in range(3)] + [v.candidate_record.tree],
        ]
        monitor = [v.monitor.n, v.monitor.errors, v.monitor.since_warning]
        lowest = [v.monitor.lowest_p, v.monitor.lowest_s]
        return records, monitor, lowest, [v.candidate_age, v.only_candidate, v.only_main, v.drops]

    @state.setter
    def state(self, state):
        cdef _Voices *v = &self.voices
        records, monitor, lowest, trial = state
        if not all(-1 <= count <= 2**62 for count in (*monitor, *trial)):
            raise ValueError("the ensemble has counts that are none")
        for i in range(3):
            v.main_record.answerers[i] = records[0][i]
            v.recent_record.answerers[i] = records[1][i]
            v.candidate_record.answerers[i] = records[2][i]
        v.main_record.tree, v.recent_record.tree, v.candidate_record.tree = (
            records[0][3], records[1][3], records[2][3],
        )
        v.monitor.n, v.monitor.errors, v.monitor.since_warning = monitor
        v.monitor.lowest_p, v.monitor.lowest_s = lowest
        v.candidate_age, v.only_candidate, v.only_main, v.drops = trial
        if v.candidate_age and v.candidate is NULL:
            raise ValueError("there is no room for a candidate")

    @property
    def blend(self):
        """What the blend has learned: (trust of its sources, slopes by position and class, who was right alone)."""
        cdef Blend *blend = &self.voices.blend
        cdef Py_ssize_t i
        if not self.voices.adaptive or self.voices.only_bayes:
            return [], [], (0.0, 0.0)
        if blend_make_room(blend, self.main.tree):
            raise MemoryError
        trust = [(blend.trust[i].value, blend.trust[i].squares) for i in range(blend_sources(blend))]
        slopes = [
            (blend.slopes[i].value, blend.slopes[i].squares)
            for i in range((blend.attributes + 1) * blend.classes)
        ]
        return trust, slopes, (blend.only_answerers, blend.only_blend)

    @blend.setter
    def blend(self, learned):
        cdef Blend *blend = &self.voices.blend
        cdef Py_ssize_t i
        trust, slopes, alone = learned
        if trust:
            if blend_make_room(blend, self.main.tree):
                raise MemoryError
            if len(trust) != blend_sources(blend) or len(slopes) != (blend.attributes + 1) * blend.classes:
                raise ValueError("the blend has other sources than there are")
        for i in range(len(trust)):
            blend.trust[i].value, blend.trust[i].squares = trust[i]
        for i in range(len(slopes)):
            blend.slopes[i].value, blend.slopes[i].squares = slopes[i]
        blend.only_answerers, blend.only_blend = alone
