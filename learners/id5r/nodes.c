/* Nodes and their tables: making, splitting, folding and transposing them.
 *
 * A table counts every attribute, also those tested above, so that two tables can be added as a whole. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

#define OVERHEAD BLOCK_OVERHEAD

int64_t fail_in;

/* Cleared by hand: what the allocator keeps at hand for small blocks, it does not give to those who want them cleared. */
void *take(Tree *tree, size_t size) {
    void *block = malloc(size ? size : 1);
    if (!block) {
        tree->failed = 1;
        return NULL;
    }
    tree->bytes += (int64_t)size + OVERHEAD;
    return memset(block, 0, size);
}

void give(Tree *tree, void *block, size_t size) {
    if (!block) return;
    free(block);
    tree->bytes -= (int64_t)size + OVERHEAD;
}

int32_t branch_count(const Tree *tree, Test test) { return test.cut < 0 ? tree->value_capacity[test.attribute] : 2; }

Node *node_new(Tree *tree) {
    Node *node = take(tree, sizeof *node + (size_t)tree->class_capacity * 4);
    if (!node) return NULL;
    node->classes = (uint32_t *)(node + 1);
    node->id = tree->next_id++;
    node->test = node->kept = (Test){-1, -1};
    node->runner_up = -1;
    node->reshaped = 1;
    tree->nodes++;
    return node;
}

/* ---- tables: the scores, the counts and how many values there are, in one block */

static size_t size_of_table(int32_t attributes, size_t cells) { return (size_t)attributes * 10 + cells * 4; }

size_t table_size(const Tree *tree) {
    return size_of_table(tree->attributes, (size_t)tree->rows_of_counts * (size_t)tree->class_capacity);
}

/* A block for a table, as it was left by another node where there is one. */
static void *take_table(Tree *tree) {
    size_t size = table_size(tree);
    if (!tree->spares) return take(tree, size);
    void *block = tree->spare[--tree->spares];
    tree->bytes += (int64_t)size + OVERHEAD;
    return memset(block, 0, size);
}

/* Tables come and go with each restructuring, and are large enough for the allocator to take its time: a few are kept. */
static void give_table(Tree *tree, void *block) {
    if (tree->spares == MOST_SPARES || tree->settings.max_bytes) {
        give(tree, block, table_size(tree));
        return;
    }
    tree->spare[tree->spares++] = block;
    tree->bytes -= (int64_t)table_size(tree) + OVERHEAD;
}

/* Let go of the blocks that are kept: all, when they are of no use any more. */
void tree_drop_spares(Tree *tree) {
    while (tree->spares) free(tree->spare[--tree->spares]);
}

static void use_as_table(Node *node, void *block, int32_t attributes, size_t cells) {
    node->S = block;
    node->counts = (uint32_t *)(node->S + attributes);
    node->values_here = (uint16_t *)(node->counts + cells);
}

int node_add_table(Tree *tree, Node *node) {
    void *block = take_table(tree);
    if (!block) return -1;
    use_as_table(node, block, tree->attributes, (size_t)tree->rows_of_counts * (size_t)tree->class_capacity);
    tree->tables++;
    return 0;
}

void node_untabulate(Tree *tree, Node *node) {
    if (!node->counts) return;
    give_table(tree, node->S);
    tree->tables--;
    node->counts = NULL;
    node->S = NULL;
    node->values_here = NULL;
}

/* ---- nodes */

/* Room for the branches of a test. */
static Node **take_branches(Tree *tree, Test test) {
    Node **branches = take(tree, sizeof *branches * (size_t)branch_count(tree, test));
    if (branches) budget_count_branches(tree, test, 1);
    return branches;
}

static void drop_branches(Tree *tree, Node *node) {
    node_clear_shelf(tree, node);
    if (node->branches) {
        give(tree, node->branches, sizeof(Node *) * (size_t)branch_count(tree, branching(node)));
        budget_count_branches(tree, branching(node), -1);
    }
    node->branches = NULL;
    node->test = node->kept = (Test){-1, -1};
}

/* Free one node; its branches, if any, belong to somebody else by now. */
void node_free(Tree *tree, Node *node) {
    node_untabulate(tree, node);
    drop_branches(tree, node);
    free(node->set);
    give(tree, node, sizeof *node + (size_t)tree->class_capacity * 4);
    tree->nodes--;
}

void node_free_all(Tree *tree, Node *node) {
    if (!node) return;
    if (node->branches)
        for (int32_t v = 0; v < branch_count(tree, branching(node)); v++) node_free_all(tree, node->branches[v]);
    node_free(tree, node);
}

static void add_classes(const Tree *tree, Node *node, const Node *from) {
    node->n += from->n;
    for (int32_t c = 0; c < tree->classes; c++) {
        if (!node->classes[c] && from->classes[c]) node->present++;
        node->classes[c] += from->classes[c];
    }
}

/* Make room in the set of a node. What sets take is counted with the instances (store.c), not here: how much room
 * one has depends on what has been in it. */
static int make_room(Tree *tree, Node *node, uint32_t wanted) {
    if (wanted <= node->set_capacity) return 0;
    uint32_t capacity = node->set_capacity + node->set_capacity / 2 + 4;
    if (capacity < wanted) capacity = wanted;
    uint32_t *more = realloc(node->set, capacity * sizeof *more);
    if (!more) {
        tree->failed = 1;
        return -1;
    }
    node->set = more;
    node->set_capacity = capacity;
    return 0;
}

/* Put an instance into the set of a node; nothing is counted. */
void node_link(Tree *tree, Node *node, uint32_t instance) {
    assert(instance < tree->store.used);
    if (make_room(tree, node, node->set_count + 1)) return;
    tree->store.place[instance] = node->set_count;
    node->set[node->set_count++] = instance;
}

/* Let go of the set of a node, whose instances are elsewhere by now. */
void node_empty(Node *node) {
    free(node->set);
    node->set = NULL;
    node->set_count = node->set_capacity = node->alike = 0;
}

/* Put an instance, as often as it is there, into the set of a node without counts. */
void node_store(Tree *tree, Node *node, uint32_t instance) {
    uint32_t times = tree->store.times[instance];
    uint16_t label = tree->store.labels[instance];
    node_link(tree, node, instance);
    if (!node->classes[label] && times) node->present++;
    node->classes[label] += times;
    node->n += times;
}

void node_unlink(Tree *tree, Node *node, uint32_t instance) {
    uint32_t *places = tree->store.place, k = places[instance];
    if (k >= node->set_count || node->set[k] != instance) {
        /* It has been put elsewhere since, into a copy. Most often so have the others: their places are noted again. */
        for (uint32_t at = 0; at < node->set_count; at++) places[node->set[at]] = at;
        tree->walks.searched += node->set_count;
        k = places[instance];
    }
    assert(k < node->set_count && node->set[k] == instance);
    uint32_t last = node->set[--node->set_count];
    if (k < node->alike && node->set_count >= node->alike) node->alike = k; /* what takes its place is not known */
    if (node->alike > node->set_count) node->alike = node->set_count;
    node->set[k] = last;
    places[last] = k;
}

#define AHEAD 4

/* The instances of a set lie scattered: have a later one fetched while this one is worked on. */
static inline void look_ahead(const Store *store, const Node *node, uint32_t k) {
    if (k + AHEAD >= node->set_count) return;
    uint32_t instance = node->set[k + AHEAD];
    __builtin_prefetch(row_of(store, instance));
    __builtin_prefetch(&store->times[instance]);
    __builtin_prefetch(&store->labels[instance]);
}

/* Made for codes of one byte and a few numbers of classes, so that finding a cell takes no multiplication. */
static inline __attribute__((always_inline)) void count_rows(const Tree *tree, Node *node, const Node *set,
                                                             const size_t step, const int narrow) {
    const Store *store = &tree->store;
    const int32_t *offsets = tree->offsets;
    int32_t width = tree->attributes;
    for (uint32_t k = 0; k < set->set_count; k++) {
        uint32_t i = set->set[k];
        const uint8_t *row = row_of(store, i);
        const uint16_t *wide = (const uint16_t *)row;
        uint32_t *column = node->counts + store->labels[i];
        uint32_t times = store->times[i];
        look_ahead(store, set, k);
        for (int32_t a = 0; a < width; a++) column[(size_t)(offsets[a] + (narrow ? row[a] : wide[a])) * step] += times;
    }
}

static void count_set(Tree *tree, Node *node, const Node *set) {
    size_t step = (size_t)tree->class_capacity;
    if (tree->store.code_bytes != 1)
        count_rows(tree, node, set, step, 0);
    else if (step == 2)
        count_rows(tree, node, set, 2, 1);
    else if (step == 4)
        count_rows(tree, node, set, 4, 1);
    else
        count_rows(tree, node, set, step, 1);
    tree->ops.additions += (uint64_t)set->n * (uint64_t)tree->attributes;
}

static int is_empty(const Tree *tree, const uint32_t *cell) {
    for (int32_t c = 0; c < tree->classes; c++)
        if (cell[c]) return 0;
    return 1;
}

/* How many of some values there are any instances of. With two classes a value is one word. */
static uint16_t count_values(const Tree *tree, const uint32_t *cell, int32_t values) {
    size_t step = (size_t)tree->class_capacity;
    uint16_t here = 0;
    if (step == 2) {
        for (int32_t v = 0; v < values; v++, cell += 2) here += (cell[0] | cell[1]) != 0;
        return here;
    }
    for (int32_t v = 0; v < values; v++, cell += step) {
        uint32_t any = 0;
        for (size_t c = 0; c < step; c++) any |= cell[c];
        here += any != 0;
    }
    return here;
}

/* Of a number, how many bins there are anything in, where what is missing counts as in the bin of the median. */
static void find_values(const Tree *tree, Node *node, int numbers_too) {
    size_t step = (size_t)tree->class_capacity;
    for (int32_t a = 0; a < tree->attributes; a++) {
        if (!numbers_too && is_number(tree, a)) continue;
        const uint32_t *cell = node->counts + (size_t)tree->offsets[a] * step;
        uint16_t here = count_values(tree, cell, tree->value_capacity[a]);
        if (is_number(tree, a) && !is_empty(tree, cell) && !is_empty(tree, cell + (size_t)tree->scales[a].median * step))
            here--;
        node->values_here[a] = here;
    }
}

static void find_disorder(const Tree *tree, Node *node) {
    node->disorder = x_log_x(node->n);
    for (int32_t c = 0; c < tree->classes; c++) node->disorder -= x_log_x(node->classes[c]);
}

/* Find out what follows from a node's counts. */
void node_recount(Tree *tree, Node *node) {
    find_values(tree, node, 1);
    find_disorder(tree, node);
}

/* The same for a node that is about to be scored as a whole: how many bins of a number there is anything in is found out
 * there. */
void node_recount_unscored(Tree *tree, Node *node) {
    find_values(tree, node, 0);
    find_disorder(tree, node);
}

/* Give a set its counts. What follows from them is not known yet. */
int node_tabulate(Tree *tree, Node *node) {
    if (node_add_table(tree, node)) return -1;
    count_set(tree, node, node);
    node->form = COUNTED;
    return 0;
}

/* Let the instances of a node with counts go down into branches. */
int node_distribute(Tree *tree, Node *node, Test test) {
    const Store *store = &tree->store;
    Node **branches = take_branches(tree, test);
    if (!branches) return -1;
    for (uint32_t k = 0; k < node->set_count; k++) {
        uint32_t i = node->set[k];
        look_ahead(store, node, k);
        assert(branch_of(tree, row_of(store, i), test) < branch_count(tree, test));
        Node **branch = &branches[branch_of(tree, row_of(store, i), test)];
        if (!*branch && !(*branch = node_new(tree))) break;
        node_store(tree, *branch, i);
    }
    node_empty(node);
    node->form = SPLIT;
    node->test = test;
    node->branches = branches;
    node->reshaped = 1;
    for (int32_t v = 0; v < branch_count(tree, test); v++)
        if (branches[v]) branches[v]->stale = branches[v]->present > 1;
    tree->ops.expansions++;
    return tree->failed ? -1 : 0;
}

/* Move all instances of a subtree into a set, and free the subtree. Class counts are not added. */
void node_gather(Tree *tree, Node *node, Node *into) {
    if (node->branches)
        for (int32_t v = 0; v < branch_count(tree, branching(node)); v++)
            if (node->branches[v]) node_gather(tree, node->branches[v], into);
    if (!make_room(tree, into, into->set_count + node->set_count))
        for (uint32_t k = 0; k < node->set_count; k++) node_link(tree, into, node->set[k]);
    node_free(tree, node);
}

/* Turn a decision node into a set with counts. */
void node_collapse(Tree *tree, Node *node) {
    for (int32_t v = 0; v < branch_count(tree, node->test); v++)
        if (node->branches[v]) node_gather(tree, node->branches[v], node);
    drop_branches(tree, node);
    node->form = COUNTED;
    node->reshaped = 1;
    tree->ops.collapses++;
}

/* Take the test of a decision node that is no longer significant, and keep what was below it: noise makes a
 * test come and go, and splitting a large set anew each time would make a record cost more and more. What
 * arrives meanwhile waits in the node's own set. */
void node_close(Tree *tree, Node *node) {
    node_clear_shelf(tree, node);
    node->kept = node->test;
    node->test = (Test){-1, -1};
    node->form = COUNTED;
    node->reshaped = 1;
    tree->ops.collapses++;
}

/* Take the instances below a closed node up into its set, after all. */
void node_fold(Tree *tree, Node *node) {
    if (node->form != COUNTED || !node->branches) return;
    for (int32_t v = 0; v < branch_count(tree, node->kept); v++)
        if (node->branches[v]) node_gather(tree, node->branches[v], node);
    drop_branches(tree, node);
}

/* Turn a node, whatever it is, into a set without counts. */
void node_make_set(Tree *tree, Node *node) {
    if (node->form == SPLIT) node_collapse(tree, node);
    node_fold(tree, node);
    node_untabulate(tree, node);
    node->form = LISTED;
}

/* Note that the paths to all nodes of a subtree have to be told again. */
void node_unexplain(const Tree *tree, Node *node) {
    node->explained = 0;
    if (node->branches)
        for (int32_t v = 0; v < branch_count(tree, branching(node)); v++)
            if (node->branches[v]) node_unexplain(tree, node->branches[v]);
}

/* Note that how clearly the tests below a node were chosen has to be found out anew. What it was depends on when a subtree
 * was made, and that on what was at hand: moved as it is, brought back from a shelf, or divided anew. */
void node_unjudge(const Tree *tree, Node *node) {
    for (int32_t v = 0; node->form == SPLIT && v < branch_count(tree, node->test); v++) {
        Node *branch = node->branches[v];
        if (!branch) continue;
        branch->unjudged = 1;
        if (branch->reshaped == CLEAN) branch->reshaped = UNJUDGED;
        if (branch->reshaped == SETTLED) branch->reshaped = RESHAPED;
        node_unjudge(tree, branch);
    }
}

/* Whether no test tells two rows apart. */
static int are_alike(const Tree *tree, const uint8_t *one, const uint8_t *other) {
    const Store *store = &tree->store;
    if (!memcmp(one, other, store->code_stride)) return 1;
    if (!tree->numbers) return 0;
    for (int32_t a = 0; a < tree->attributes; a++) {
        int32_t mine = code_at(store, one, a), theirs = code_at(store, other, a);
        if (is_number(tree, a)) {
            if (!mine) mine = tree->scales[a].median;
            if (!theirs) theirs = tree->scales[a].median;
        }
        if (mine != theirs) return 0;
    }
    return 1;
}

/* Whether all instances of a set have one description, as far as tests can tell. */
int node_is_uniform(Tree *tree, Node *node) {
    const Store *store = &tree->store;
    if (!node->alike && node->set_count) node->alike = 1;
    for (; node->alike < node->set_count; node->alike++) {
        tree->walks.compared++;
        if (!are_alike(tree, row_of(store, node->set[0]), row_of(store, node->set[node->alike]))) return 0;
    }
    return 1;
}

/* ---- Table 4 */

/* Whether all instances of a node with counts are on one side of a threshold: 0 or 1, or -1 where they are not. */
static int32_t side_of(const Tree *tree, const Node *node, Test test) {
    size_t step = (size_t)tree->class_capacity;
    const uint32_t *cell = node->counts + (size_t)tree->offsets[test.attribute] * step;
    int32_t side = -1, median = tree->scales[test.attribute].median;
    for (int32_t bin = 0; bin <= tree->scales[test.attribute].count + 1; bin++, cell += step) {
        if (is_empty(tree, cell)) continue;
        int32_t here = (bin ? bin : median) > test.cut;
        if (side >= 0 && here != side) return -1;
        side = here;
    }
    return side;
}

/* A branch of the node, as level-two trees by value of the new test: split off where it is a set or small,
 * pulled up where it is not, and as it is where a threshold does not divide it. The branch itself is freed. */
static int split_off(Tree *tree, Node *branch, Test test, Node **level_two, int32_t step) {
    const Store *store = &tree->store;
    if (branch->form == SPLIT && test.cut >= 0) {
        int32_t side = side_of(tree, branch, test);
        if (side >= 0) {
            level_two[(size_t)side * step] = branch;
            return 0;
        }
    }
    if (branch->form == SPLIT && branch->n > tree->settings.small) {
        if (node_pull_up(tree, branch, test)) return -1;
        for (int32_t v = 0; v < branch_count(tree, test); v++) level_two[(size_t)v * step] = branch->branches[v];
        node_free(tree, branch);
        return 0;
    }
    if (branch->form == SPLIT) node_collapse(tree, branch);
    node_fold(tree, branch);
    for (uint32_t k = 0; k < branch->set_count; k++) {
        uint32_t i = branch->set[k];
        look_ahead(store, branch, k);
        Node **place = &level_two[(size_t)branch_of(tree, row_of(store, i), test) * step];
        if (!*place && !(*place = node_new(tree))) return -1;
        node_store(tree, *place, i);
    }
    node_free(tree, branch);
    return 0;
}

/* The new branch for one value of the new test: the old test above some level-two trees. */
static Node *join(Tree *tree, Node **level_two, int32_t count, Test old) {
    Node *joined = node_new(tree);
    if (!joined) return NULL;
    for (int32_t w = 0; w < count; w++)
        if (level_two[w]) add_classes(tree, joined, level_two[w]);
    joined->stale = joined->present > 1;
    if (joined->present < 2 || joined->n <= tree->settings.small) {
        for (int32_t w = 0; w < count; w++)
            if (level_two[w]) node_gather(tree, level_two[w], joined);
        return joined;
    }
    if (node_add_table(tree, joined)) return NULL;
    joined->branches = take_branches(tree, old);
    if (!joined->branches) return NULL;
    joined->form = SPLIT;
    joined->test = old;
    size_t cells = (size_t)tree->rows_of_counts * (size_t)tree->class_capacity;
    for (int32_t w = 0; w < count; w++) {
        Node *lower = joined->branches[w] = level_two[w];
        if (!lower) continue;
        if (lower->counts) {
            for (size_t k = 0; k < cells; k++) joined->counts[k] += lower->counts[k];
            tree->ops.additions += (uint64_t)tree->rows_of_counts;
        } else {
            count_set(tree, joined, lower);
        }
        if (lower->form != SPLIT && lower->present > 1) lower->stale = lower->reshaped = 1;
    }
    return joined;
}

/* Restructure a decision node so that it has another test; its own counts stay as they are. New nodes below
 * are stale: whether their test is the best is found out when they are visited. */
int node_pull_up(Tree *tree, Node *node, Test test) {
    Test old = node->test;
    if (old.attribute == test.attribute && old.cut == test.cut) return 0;
    int32_t olds = branch_count(tree, old), news = branch_count(tree, test);
    Node **level_two = calloc((size_t)olds * (size_t)news, sizeof *level_two);
    Node **branches = take_branches(tree, test);
    if (!level_two || !branches) {
        tree->failed = 1;
        free(level_two);
        return -1;
    }
    for (int32_t w = 0; w < olds; w++)
        if (node->branches[w]) {
            Node *branch = node->branches[w];
            node->branches[w] = NULL;
            split_off(tree, branch, test, level_two + w, olds);
        }
    for (int32_t v = 0; v < news; v++) {
        Node **row = level_two + (size_t)v * olds;
        Node *only = NULL;
        int32_t found = 0;
        for (int32_t w = 0; w < olds; w++)
            if (row[w]) {
                only = row[w];
                found++;
            }
        if (found == 1 && only->form == SPLIT && old.cut >= 0) {
            /* A threshold that divides nothing any more takes nothing from what was below it. */
            only->reshaped = 1;
            branches[v] = only;
        } else if (found == 1 && only->form != SPLIT) {
            /* The old test has one value here: it becomes available again to a set that may be mixed. */
            if (only->counts) {
                node_fold(tree, only);
                node_untabulate(tree, only);
                only->form = LISTED;
            }
            only->stale = only->present > 1;
            only->reshaped = 1;
            branches[v] = only;
        } else if (found) {
            branches[v] = join(tree, row, olds, old);
        }
    }
    drop_branches(tree, node);
    node->test = test;
    node->branches = branches;
    node->reshaped = 1;
    free(level_two);
    tree->ops.transpositions++;
    return tree->failed ? -1 : 0;
}

/* ---- layout */

static int move_table(Tree *tree, Node *node, const int32_t *offsets, int32_t rows, int32_t attributes,
                      int32_t class_capacity) {
    Node moved;
    size_t cells = (size_t)rows * (size_t)class_capacity;
    void *block = take(tree, size_of_table(attributes, cells));
    if (!block) {
        node_untabulate(tree, node);
        return -1;
    }
    use_as_table(&moved, block, attributes, cells);
    for (int32_t a = 0; a < attributes; a++) {
        if (a >= tree->attributes) {
            /* An attribute that appears only now: every instance so far lacks it. */
            memcpy(moved.counts + (size_t)offsets[a] * class_capacity, node->classes, (size_t)tree->classes * 4);
            moved.values_here[a] = 1;
            continue;
        }
        for (int32_t v = 0; v < tree->value_capacity[a]; v++)
            memcpy(moved.counts + (size_t)(offsets[a] + v) * class_capacity,
                   node->counts + (size_t)(tree->offsets[a] + v) * tree->class_capacity,
                   (size_t)tree->class_capacity * 4);
        moved.S[a] = node->S[a];
        moved.values_here[a] = node->values_here[a];
    }
    node_untabulate(tree, node);
    tree->tables++;
    node->counts = moved.counts;
    node->S = moved.S;
    node->values_here = moved.values_here;
    return 0;
}

static Node *move(Tree *tree, Node *node, const int32_t *capacity, const int32_t *offsets, int32_t rows,
                  int32_t attributes, int32_t class_capacity);

static Node **move_branches(Tree *tree, Node **branches, Test test, const int32_t *capacity, const int32_t *offsets,
                            int32_t rows, int32_t attributes, int32_t class_capacity) {
    int32_t olds = branch_count(tree, test), news = test.cut < 0 ? capacity[test.attribute] : 2;
    Node **moved = take(tree, sizeof *moved * (size_t)news);
    /* What cannot be moved is let go of: what is left has one layout, and can be freed. */
    for (int32_t v = 0; v < olds && !moved; v++) node_free_all(tree, branches[v]);
    for (int32_t v = 0; v < olds && moved; v++)
        if (branches[v]) moved[v] = move(tree, branches[v], capacity, offsets, rows, attributes, class_capacity);
    give(tree, branches, sizeof *branches * (size_t)olds);
    return moved;
}

static Node *move(Tree *tree, Node *node, const int32_t *capacity, const int32_t *offsets, int32_t rows,
                  int32_t attributes, int32_t class_capacity) {
    size_t old_size = sizeof *node + (size_t)tree->class_capacity * 4;
    if (attributes != tree->attributes) {
        node_clear_shelf(tree, node);
        node_fold(tree, node);
    }
    /* What is on a shelf stays there: when names are added depends on how the stream is cut into batches. */
    if (node->shelf)
        node->shelf->branches = move_branches(tree, node->shelf->branches, node->shelf->test, capacity, offsets, rows,
                                              attributes, class_capacity);
    if (node->branches)
        node->branches = move_branches(tree, node->branches, branching(node), capacity, offsets, rows, attributes,
                                       class_capacity);
    if (attributes != tree->attributes) {
        node->explained = 0;
        node->stale = node->present > 1;
        node->reshaped = 1;
        if (node->form == COUNTED) {
            node_untabulate(tree, node);
            node->form = LISTED;
        }
    }
    if (node->counts) move_table(tree, node, offsets, rows, attributes, class_capacity);
    if (class_capacity == tree->class_capacity) return node;
    Node *moved = take(tree, sizeof *node + (size_t)class_capacity * 4);
    if (!moved) return node;
    memcpy(moved, node, sizeof *node);
    moved->classes = (uint32_t *)(moved + 1);
    memcpy(moved->classes, node->classes, (size_t)tree->class_capacity * 4);
    give(tree, node, old_size);
    return moved;
}

/* Give every node's tables room for more attributes, values or classes. */
int tree_layout(Tree *tree, const int32_t *value_capacity, int32_t attributes, int32_t class_capacity) {
    int32_t *capacity = malloc(sizeof(int32_t) * (size_t)(attributes + 1));
    int32_t *offsets = malloc(sizeof(int32_t) * (size_t)(attributes + 1));
    if (!capacity || !offsets) {
        free(capacity);
        free(offsets);
        tree->failed = 1;
        return -1;
    }
    int32_t rows = 0;
    for (int32_t a = 0; a < attributes; a++) {
        capacity[a] = value_capacity[a];
        offsets[a] = rows;
        rows += capacity[a];
    }
    if (tree->root) tree->root = move(tree, tree->root, capacity, offsets, rows, attributes, class_capacity);
    tree_drop_spares(tree);
    free(tree->value_capacity);
    free(tree->offsets);
    tree->value_capacity = capacity;
    tree->offsets = offsets;
    tree->rows_of_counts = rows;
    tree->class_capacity = class_capacity;
    tree->attributes = attributes;
    return tree->failed ? -1 : 0;
}
