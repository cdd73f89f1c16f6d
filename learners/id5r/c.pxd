"""What the compiled tree offers, as its headers have it: the headers say what each means."""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "core.h" nogil:
    ctypedef struct Test:
        int32_t attribute
        int32_t cut
    enum: LISTED, COUNTED, SPLIT
    enum: ANSWER_PLAIN, ANSWER_UNSEEN, ANSWER_MISSING
    enum: RAN_OUT, STOPPED_CHANGED, STOPPED_UNEXPLAINED
    uint32_t NO_INSTANCE
    ctypedef struct Node:
        uint64_t id
        int64_t n
        uint32_t *classes
        int32_t present
        uint8_t form
        uint8_t stale
        uint8_t reshaped
        Test test
        uint32_t *set
        uint32_t set_count
        Node **branches
        Test kept
        int32_t runner_up
        int64_t score
        int64_t margin
        uint8_t explained
    ctypedef struct Ops:
        uint64_t additions, scores, expansions, pull_ups, transpositions, collapses, repairs, stored, forgotten
    ctypedef struct Settings:
        int gain_ratio, gated, pearson
        int32_t records_per_value
        int hat, replace
        int64_t window, max_bytes, outline_bytes, small
        int32_t bins
        int ordered
        double level, window_time, max_time_jump
    ctypedef struct Scale:
        int32_t number, fixed, count, median
        uint64_t *cuts
    ctypedef struct Store:
        int32_t width
        size_t stride
        uint32_t *times
        uint16_t *labels
        uint32_t used
        uint32_t distinct
        int keeps_order
        uint32_t *ring
        uint64_t ring_start, ring_length, ring_capacity
        uint32_t *skip
    ctypedef struct Walks:
        uint64_t settled, compared, searched, sifted
    ctypedef struct Budget:
        int64_t weight
        uint64_t due
        int32_t *codes
        int32_t classes, attributes
    ctypedef struct Tree:
        Settings settings
        Budget budget
        Store store
        Node *root
        int32_t attributes
        int32_t classes
        int32_t *value_capacity
        int32_t *known
        int32_t *order
        uint8_t *used
        uint8_t *retired
        int32_t retired_count
        int32_t left
        uint8_t *row
        Ops ops
        Scale *scales
        int32_t numbers
        int64_t since_cuts
        uint8_t aged
        int32_t time
        double newest
        uint8_t confirmed
        uint8_t recut
        uint8_t dropped
        int64_t brought_back
        uint8_t changed
        uint8_t failed
        int64_t nodes
        Walks walks
    ctypedef struct Answer:
        Node *node
        int32_t how
    void make_x_log_x()
    void make_log_table()
    Tree *tree_new(const Settings *settings)
    void tree_free(Tree *tree)
    int tree_reserve(
        Tree *tree, int32_t attributes, const int32_t *values, const int32_t *numbers, int32_t classes
    )
    int tree_set_cuts(
        Tree *tree, int32_t attribute, const uint64_t *cuts, int32_t count, int32_t median, int fixed
    )
    int32_t MOST_BINS
    int32_t find_cuts(uint64_t *numbers, int64_t count, int32_t bins, uint64_t *cuts)
    double number_of(uint64_t number)
    uint64_t *numbers_of(const Store *store, const uint8_t *row)
    int is_number(const Tree *tree, int32_t attribute)
    int32_t branch_of(const Tree *tree, const uint8_t *row, Test test)
    void tree_set_order(Tree *tree, const int32_t *order, const int32_t *class_rank)
    void tree_set_retired(Tree *tree, const uint8_t *retired)
    void tree_wide_row(Tree *tree, const uint64_t *codes)
    Answer tree_answer(Tree *tree)
    void tree_learn(Tree *tree, int32_t label)
    int tree_forget(Tree *tree, int32_t label)
    void tree_settle(Tree *tree)
    void tree_relist(Tree *tree)
    int64_t tree_bytes(const Tree *tree)
    int64_t tree_weight(Tree *tree, const Budget *names)
    void budget_count_known(Tree *tree)
    void budget_note(Tree *tree, int32_t label)
    int64_t tree_run(Tree *tree, const void *codes, int wide, const int32_t *labels, int64_t start, int64_t end,
                     int stop, int32_t *answers, int32_t *how, uint64_t *nodes, uint32_t *counts, int64_t *scores,
                     Ops *spent, int *why)
    int64_t x_log_x(int64_t x)
    int32_t branch_count(const Tree *tree, Test test)
    int32_t code_at(const Store *store, const uint8_t *row, int32_t attribute)
    const uint8_t *row_of(const Store *store, uint32_t instance)
    uint32_t store_find(const Store *store, const uint8_t *row, uint16_t label)
    uint32_t store_add(Store *store, const uint8_t *row, uint16_t label)
    int store_arrived(Store *store, uint32_t instance)
    int store_skip(Store *store, uint32_t instance)
    int32_t majority(const Tree *tree, const Node *node)
    int tree_check(const Tree *tree, char *message, size_t room)
    void node_unexplain(const Tree *tree, Node *node)
    Test branching(const Node *node)

cdef extern from "critical.h" nogil:
    double chi_square_threshold(double level, int64_t degrees)
    int64_t critical_gain(double level, int64_t degrees)

cdef extern from "missing.h" nogil:
    int32_t missing_answer(Tree *tree, const Node *node, int64_t *scores)

cdef extern from "voices.h" nogil:
    int64_t log_of(int64_t x)
    enum: ROOT_BAYES, LEAF_BAYES, MAJORITY, ANSWERERS
    enum: DRIFT_NONE, DRIFT_DDM, DRIFT_VERIFIED
    ctypedef struct Record:
        double answerers[3]
        double tree
    ctypedef struct Learned:
        double value, squares
    ctypedef struct Blend:
        int32_t attributes, classes
        Learned *trust
        Learned *slopes
        double only_answerers, only_blend
    ctypedef struct Told:
        int32_t by, answer
    ctypedef struct Monitor:
        int64_t n, errors
        double lowest_p, lowest_s
        int64_t since_warning
    ctypedef struct _Voices "Voices":
        Tree *main
        Tree *recent
        Tree *candidate
        int adaptive, only_bayes, drift
        double decay
        Record main_record, recent_record, candidate_record
        Monitor monitor
        int64_t candidate_age, only_candidate, only_main
        uint64_t drops
        Blend blend
    int blend_make_room(Blend *blend, const Tree *tree)
    void blend_free(Blend *blend)
    int32_t blend_sources(const Blend *blend)
    void voices_reset_monitor(Monitor *monitor)
    Told voices_answer(_Voices *voices, double *shares)
    void voices_learn(_Voices *voices, int32_t label)
    int voices_forget(_Voices *voices, int32_t label)
    int64_t voices_run(_Voices *voices, const void *codes, int wide, const int32_t *labels, int64_t start,
                       int64_t end, int stop, int32_t *answers, int32_t *how, int8_t *by, uint64_t *nodes,
                       uint32_t *counts, double *shares, Ops *spent, int *why)

cdef extern from "memory.h" nogil:
    int64_t fail_in

cdef extern from "boundary.h" nogil:
    enum: BAD_CODE, BAD_NUMBER, BAD_LABEL, TOO_MANY
    int64_t MOST_INSTANCES
    ctypedef struct Refusal:
        int32_t why
        int64_t row
        int32_t attribute
        uint64_t found, room
    int tree_refuses(
        const Tree *tree, const void *codes, int wide, const int32_t *labels, int64_t start, int64_t end,
        Refusal *refusal,
    )

cdef extern from "dump.h" nogil:
    ctypedef struct Numbers:
        int64_t *data
        size_t length
        size_t capacity
    int tree_dump(Tree *tree, int let_go, Numbers *numbers)
    void tree_empty(Tree *tree)
    int tree_load(Tree *tree, const int64_t *data, size_t length)
