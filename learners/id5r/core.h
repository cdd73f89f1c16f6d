/* The data structure of the compiled ID5R. README.md beside this file draws it.
 *
 * scores.c  how good a test is       store.c  the instances
 * nodes.c   nodes and their tables   tree.c   learning, forgetting, answering
 * cuts.c    numbers and their bins   shift.c  a threshold that moves
 * shelf.c   tests that come and go   dump.c   to and from bytes
 * check.c   whether a tree is sound  boundary.c  what may come in
 * logs.c    logarithms               critical.c  what is significant
 * missing.c  predictions without a tested value    budget.c  what fits into `max_bytes`
 *
 * Nothing here knows Python; nothing here fails but for want of memory, which is reported by `failed`.
 */
#ifndef ESPALIER_CORE_H
#define ESPALIER_CORE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "critical.h"
#include "memory.h"

#define FRACTION_BITS 24
#define NO_INSTANCE UINT32_MAX
#define MOST_SPARES 32
#define FEW_CLASSES 8 /* classes that scores.c is made for */
#define BLOCK_OVERHEAD 16 /* bytes that the allocator keeps beside each block */
#define A_SIDE 512    /* a node with fewer instances has tables of sides made */

/* What a decision node asks. A threshold on a number is an attribute with a cut: whether its bin is at most
 * that, branch 0 if so, branch 1 if not. Without a cut (-1) the node has a branch for each value. */
typedef struct {
    int32_t attribute; /* -1: no test */
    int32_t cut;
} Test;

typedef enum {
    LISTED,  /* a set of instances, no counts */
    COUNTED, /* a set of instances and their counts: mixed, and no attribute may be tested yet */
    SPLIT    /* counts, a test, and branches */
} Form;

/* Why a node has to be looked at before use: nothing is known of its scores, or what is known are bounds. */
enum { STALE = 1, UNSURE };

/* What is left to do at a node or below it. Whoever leaves something to do anywhere marks the whole path to it, so that
 * what is CLEAN is passed by: RESHAPED: settle it and outline it again; SETTLED: outline it again; UNJUDGED: settle it, it
 * looks the same. */
enum { CLEAN, RESHAPED, SETTLED, UNJUDGED };

typedef struct Node Node;

/* Branches that gave way to others, and what has come since. */
typedef struct {
    Test test;
    Node **branches;
    uint32_t *waiting; /* one entry for each time that an instance came */
    uint32_t count, capacity;
    int64_t instances, weight; /* as of the moment it was made */
} Shelf;

struct Node {
    uint64_t id;       /* never given twice, so that others can keep things by it */
    int64_t n;         /* instances in the subtree */
    uint32_t *classes; /* how many of each class */
    int32_t present;   /* how many classes there are any of */
    uint8_t form;
    uint8_t stale;    /* STALE or UNSURE: the test may not be the best: look before use */
    uint8_t reshaped; /* CLEAN, or what has to be done here or below before the tree is published */
    Test test;
    uint32_t *set;         /* LISTED, COUNTED: the instances, in no order */
    uint32_t set_count, set_capacity;
    uint32_t alike;        /* so many of the set, from the first on, are known to have one description */
    uint32_t *counts;      /* COUNTED, SPLIT: [attribute offset + value][class] */
    uint16_t *values_here; /* COUNTED, SPLIT: how many values of each attribute are present */
    int64_t *S;            /* COUNTED, SPLIT: n times the E-score of each attribute, or a lower bound of it */
    Node **branches;       /* SPLIT: by value of the tested attribute */
    Shelf *shelf;          /* SPLIT: the branches before these; most often none */
    Test kept;             /* COUNTED: the test of branches that are kept for when it is significant again */
    int64_t S_test;        /* SPLIT: exact, kept up to date */
    int64_t S_rest;        /* SPLIT by a number: the best S of its other cuts, or a lower bound of it */
    int64_t disorder;      /* n times the entropy, exact, kept up to date */
    int64_t S_alarm;       /* look again once S_test comes this close */
    int64_t disorder_alarm; /* look again once disorder comes here */
    int64_t n_alarm;        /* look again once n comes here */
    int32_t runner_up;      /* as of the last look */
    int64_t score, margin;  /* as of the last look, in units of 1 / ROUNDING */
    uint8_t explained;      /* the path to it has been told and has not changed since */
    uint8_t unjudged;       /* a test above it has changed: how clearly its own was chosen is found out anew */
};

/* How many nodes or instances were looked at one by one, where most records need none: what tests of cost count. */
typedef struct {
    uint64_t settled, compared, searched, sifted;
} Walks;

typedef struct {
    uint64_t additions, scores, expansions, pull_ups, transpositions, collapses, repairs, stored, forgotten;
} Ops;

typedef struct {
    int gain_ratio;           /* else E-score */
    int gated;                /* a test must be significant */
    int pearson;              /* by Pearson's statistic, else by G */
    int32_t records_per_value; /* a gated nominal test needs so many instances per value; 0: no such rule */
    int hat;                   /* learn only what is answered wrongly */
    int replace;               /* a contradiction replaces the older instance */
    int64_t window;            /* instances retained; 0: no limit */
    int64_t max_bytes;         /* what the tree may weigh; 0: no limit */
    int64_t outline_bytes;     /* what is kept outside for each node: its outline, where the tree is published */
    int64_t small;             /* a subtree of so few instances is cheaper to make anew than to transpose */
    int32_t bins;              /* how many bins the cuts of a number make, at the most */
    int ordered;               /* the order of arrival is kept, whatever else is set */
    double level;              /* of significance, where tests are gated */
    double max_time_jump;      /* two times that are farther apart do not agree */
    double window_time;        /* for how long an instance is retained, by its own time; 0: no limit */
} Settings;

/* The instances: identical ones are kept once, with how often. */
typedef struct {
    int32_t width;      /* attributes */
    int32_t code_bytes; /* 1 or 2 */
    int32_t numbers;    /* how many of the attributes are numbers */
    size_t code_stride; /* bytes of the codes of a row, a multiple of 8; the numbers follow */
    size_t stride;      /* bytes of a row */
    uint8_t *rows;
    uint32_t *times; /* how often; 0: the place is free */
    uint32_t *place; /* where in the set of its leaf it was put last; of a free one, the next that is free */
    uint16_t *labels;
    uint32_t used, capacity, free_head;
    uint32_t distinct;
    uint32_t *hash;
    uint8_t *tags; /* eight more bits of each hash: most strangers are told apart without looking at their row */
    uint64_t hash_mask;
    /* Order of arrival, where something may have to leave: a ring of instances. An instance that was
     * forgotten out of turn is passed over `skip` times when it comes up. */
    int keeps_order;
    uint32_t *ring;
    uint64_t ring_start, ring_length, ring_capacity;
    uint32_t *skip;
} Store;

/* A number is kept as a whole number of 64 bits that is in the same order; 0: it is missing. Its code in a
 * row is the bin it is in: one more than there are cuts below it. A missing one goes where the bin of the
 * median goes, which at the root is the larger branch. */
typedef struct {
    int32_t number; /* its place among the numbers of a row; -1: not a number */
    int32_t fixed;  /* the cuts are declared */
    int32_t count;  /* how many cuts */
    int32_t median; /* the bin with the median of all instances, as of the cuts */
    uint64_t *cuts; /* ascending */
    uint32_t reach; /* how far a search among them goes at first (cuts.c) */
} Scale;

/* What is needed to hold a tree to `max_bytes` (budget.c). All but the counts of branches follows from the records. */
typedef struct {
    int64_t weight; /* what the tree weighed when that was last found out for those who ask */
    uint64_t due;   /* it is found out again when so many have been learned */
    int32_t *codes; /* by attribute: one more than the highest code met; 0: no value has been */
    int32_t classes, attributes; /* one more than the highest class met; how many attributes there is room for */
    int64_t *splits;    /* by attribute: how many nodes have branches by its values, closed ones included */
    int64_t thresholds; /* how many have branches by a threshold */
} Budget;

typedef struct {
    Settings settings;
    Store store;
    Node *root;
    int32_t attributes, classes;       /* how many there are */
    int32_t *value_capacity, *offsets; /* the layout of every node's counts, by attribute */
    int32_t *known; /* by attribute: how many codes are given out, at most as many as there is room for */
    int32_t class_capacity, rows_of_counts;
    Scale *scales;      /* by attribute */
    int32_t numbers;    /* how many attributes are numbers */
    int32_t *best_cut;  /* by attribute, as of the score at hand; -1: no cut divides */
    int64_t *next_best; /* by attribute: the best S of the other cuts */
    uint8_t *scored;     /* by attribute: whether the look at hand has scored it */
    uint32_t *below_cut; /* by class: how many are below the cut at hand */
    int64_t sides[(FEW_CLASSES + 1) * A_SIDE]; /* for the node at hand: x log x of both sides of a cut (scores.c) */
    int64_t *votes; /* by class: what speaks for it; and twice as much room to find that out */
    int64_t since_cuts; /* instances learned since the cuts were made */
    uint8_t aged;       /* something was forgotten since then */
    int32_t time;       /* the attribute with the time of an instance; -1: none has been met */
    double newest;      /* the latest time met */
    uint8_t confirmed;  /* two instances agree about it */
    uint8_t recut;      /* the cuts have changed since this was last asked */
    uint8_t dropped;    /* the past was dropped since this was last asked */
    int32_t *order;      /* attributes in the order in which ties are broken */
    int32_t *class_rank; /* classes in the order in which ties are broken */
    uint8_t *used;       /* while going down: attributes tested above, and those that are retired */
    uint8_t *retired;    /* attributes that are never tested, as many as `retired_count` says; others are not */
    int32_t retired_count, retired_values; /* of the latter those that are no numbers */
    int32_t left;        /* while going down: how many are not */
    uint8_t *row;        /* the row at hand, as the store keeps it */
    size_t *cells;       /* where the values of the row at hand are counted, in every table */
    uint8_t *aside;      /* where the row at hand is kept while the oldest is forgotten */
    Ops ops;
    uint64_t next_id;
    int64_t bytes;      /* memory used by nodes */
    void *spare[MOST_SPARES]; /* blocks for tables that were given back, to be used again */
    int32_t spares;
    int64_t shelved;    /* what is on shelves, by weight (shelf.c) */
    int64_t brought_back; /* how often a test was found on a shelf */
    uint8_t changed;    /* the record at hand has reshaped the tree */
    uint8_t failed;     /* out of memory */
    Levels *levels;     /* what is significant, where tests are gated */
    Far far[FAR_SLOTS];
    int64_t nodes, tables; /* how many there are, on shelves too */
    Budget budget;      /* where there is a limit on memory */
    Walks walks;
} Tree;

/* How an answer came about. */
enum { ANSWER_PLAIN, ANSWER_UNSEEN, ANSWER_MISSING };

typedef struct {
    Node *node;
    int32_t how;
} Answer;

/* logs.c */
void make_logs(void);
unsigned __int128 exact_log(uint64_t x);

/* scores.c */
#define X_LOG_X_TABLE (1 << 18)
extern int64_t x_log_x_table[X_LOG_X_TABLE]; /* the same for all trees; larger arguments are computed */
void make_x_log_x(void);
int64_t computed_x_log_x(int64_t x);
static inline int64_t x_log_x(int64_t x) {
    return x < X_LOG_X_TABLE ? x_log_x_table[x] : computed_x_log_x(x);
}
void watch(Tree *tree, Node *node);
typedef enum { WHAT_MAY_WIN, EVERYTHING, THE_REST } Scope;
Test look(Tree *tree, Node *node, Scope scope);
int32_t majority(const Tree *tree, const Node *node);
int needs_look(Tree *tree, const Node *node);
int64_t least_gain(Tree *tree, const Node *node);
int64_t rounding_unit(int64_t n);

/* bayes.c */
void make_log_table(void);

/* store.c */
int store_init(Store *store);
void store_free(Store *store);
void store_clear(Store *store);
int64_t store_bytes(const Store *store);
int store_compact(Store *store, uint32_t *numbers);
void store_compact_order(Store *store);
int store_widen(Store *store, int32_t width, int32_t code_bytes, int32_t numbers);
int store_rehash(Store *store);
uint32_t store_find(const Store *store, const uint8_t *row, uint16_t label);
void store_expect(const Store *store, const uint8_t *row, uint16_t label);
uint32_t store_add(Store *store, const uint8_t *row, uint16_t label);
void store_drop(Store *store, uint32_t instance);
int store_arrived(Store *store, uint32_t instance);
uint32_t store_front(Store *store);
uint32_t store_oldest(Store *store);
int store_skip(Store *store, uint32_t instance);
uint64_t store_tail(const Store *store, int64_t count, uint32_t *seen);
void store_order(Store *store, int keeps);
static inline int32_t code_at(const Store *store, const uint8_t *row, int32_t attribute) {
    return store->code_bytes == 1 ? row[attribute] : ((const uint16_t *)row)[attribute];
}
static inline uint8_t *row_of(const Store *store, uint32_t instance) {
    return store->rows + (size_t)instance * store->stride;
}
static inline void set_code(const Store *store, uint8_t *row, int32_t attribute, int32_t code) {
    if (store->code_bytes == 1)
        row[attribute] = (uint8_t)code;
    else
        ((uint16_t *)row)[attribute] = (uint16_t)code;
}
static inline uint64_t *numbers_of(const Store *store, const uint8_t *row) {
    return (uint64_t *)(row + store->code_stride);
}
static inline int is_number(const Tree *tree, int32_t attribute) {
    return tree->numbers && tree->scales[attribute].number >= 0;
}
/* Which branch of a test a row belongs to. A code never learned is beyond all branches. */
static inline int32_t branch_of(const Tree *tree, const uint8_t *row, Test test) {
    int32_t code = code_at(&tree->store, row, test.attribute);
    if (test.cut < 0) return code;
    return (code ? code : tree->scales[test.attribute].median) > test.cut;
}

/* nodes.c */
void *take(Tree *tree, size_t size);
void give(Tree *tree, void *block, size_t size);
Node *node_new(Tree *tree);
void node_free(Tree *tree, Node *node);
void node_free_all(Tree *tree, Node *node);
int node_tabulate(Tree *tree, Node *node);
void node_recount(Tree *tree, Node *node);
void node_recount_unscored(Tree *tree, Node *node);
void node_untabulate(Tree *tree, Node *node);
void node_store(Tree *tree, Node *node, uint32_t instance);
void node_unlink(Tree *tree, Node *node, uint32_t instance);
int node_distribute(Tree *tree, Node *node, Test test);
void node_gather(Tree *tree, Node *node, Node *into);
void node_collapse(Tree *tree, Node *node);
void node_close(Tree *tree, Node *node);
void node_fold(Tree *tree, Node *node);
void node_make_set(Tree *tree, Node *node);
void node_link(Tree *tree, Node *node, uint32_t instance);
void node_empty(Node *node);
static inline Test branching(const Node *node) { return node->test.attribute >= 0 ? node->test : node->kept; }
void node_unexplain(const Tree *tree, Node *node);
void node_unjudge(const Tree *tree, Node *node);
int node_is_uniform(Tree *tree, Node *node);
int node_pull_up(Tree *tree, Node *node, Test test);
int32_t branch_count(const Tree *tree, Test test);
size_t table_size(const Tree *tree);
int node_add_table(Tree *tree, Node *node);
void tree_drop_spares(Tree *tree);
int tree_layout(Tree *tree, const int32_t *value_capacity, int32_t attributes, int32_t class_capacity);

/* cuts.c */
#define MOST_BINS 128
int32_t bin_of(const Scale *scale, uint64_t number);
double number_of(uint64_t number);
int32_t find_cuts(uint64_t *numbers, int64_t count, int32_t bins, uint64_t *cuts);
void tree_recut_if_due(Tree *tree);
int tree_set_cuts(Tree *tree, int32_t attribute, const uint64_t *cuts, int32_t count, int32_t median, int fixed);
void tree_relist(Tree *tree);

/* shift.c */
int node_shift(Tree *tree, Node *node, Test test);

/* shelf.c */
Shelf *shelf_copy(Tree *tree, const Node *node);
int shelf_replace(Tree *tree, Node *node, Test test);
void node_clear_shelf(Tree *tree, Node *node);
void shelf_note(Tree *tree, Node *node, uint32_t instance);
uint32_t *shelf_exchange(Tree *tree, Node *node, uint32_t *count);

/* budget.c */
int budget_widen(Tree *tree, int32_t attributes);
void budget_count_known(Tree *tree);
void budget_note(Tree *tree, int32_t label);
void budget_count_branches(Tree *tree, Test test, int more);
void budget_keep(Tree *tree);
int64_t tree_weight(Tree *tree, const Budget *names);

/* tree.c */
Tree *tree_new(const Settings *settings);
void tree_free(Tree *tree);
int tree_reserve(Tree *tree, int32_t attributes, const int32_t *values, const int32_t *numbers, int32_t classes);
void tree_find_cells(Tree *tree);
int class_in(Tree *tree, Node *node, int32_t label);
void class_out(Tree *tree, Node *node, int32_t label);
void tree_set_order(Tree *tree, const int32_t *order, const int32_t *class_rank);
void tree_set_retired(Tree *tree, const uint8_t *retired);
void tree_row(Tree *tree, const uint32_t *codes);
void tree_wide_row(Tree *tree, const uint64_t *codes);
Answer tree_answer(Tree *tree);
void tree_learn(Tree *tree, int32_t label);
int tree_forget(Tree *tree, int32_t label);
int tree_arrived_lately(Tree *tree, int32_t label, int64_t count);
uint32_t tree_copies(const Tree *tree, int32_t label);
int tree_holds(Tree *tree, int32_t label);
int tree_forget_oldest(Tree *tree);
void tree_settle(Tree *tree);
void tree_keep_last(Tree *tree, int64_t keep);
void tree_take_last(Tree *tree, const Tree *from, int64_t count);
int64_t tree_bytes(const Tree *tree);
int64_t tree_run(Tree *tree, const void *codes, int wide, const int32_t *labels, int64_t start, int64_t end,
                 int stop, int32_t *answers, int32_t *how, uint64_t *nodes, uint32_t *counts, int64_t *scores, Ops *spent,
                 int *why);
int is_explained(const Answer *answer);
enum { RAN_OUT, STOPPED_CHANGED, STOPPED_UNEXPLAINED };

/* check.c */
int tree_check(const Tree *tree, char *message, size_t room);
#ifdef NDEBUG
#define assert_sound(tree) ((void)0)
#else
void assert_sound(const Tree *tree);
#endif

#endif
