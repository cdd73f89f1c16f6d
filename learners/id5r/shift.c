/* A threshold that moves to another cut of the same number: only the instances between the two cuts change sides. They
 * are taken out of the one branch and put into the other. */
#include <stdlib.h>

#include "core.h"

#define WORTH 4 /* a larger part than this of the instances is cheaper to divide anew */

typedef struct {
    int32_t attribute, above, up_to; /* bins that change sides */
    uint32_t *instances;
    size_t count, capacity;
    int64_t found; /* as often as they are there */
} Between;

static int is_between(const Tree *tree, const Between *between, int32_t bin) {
    if (!bin) bin = tree->scales[between->attribute].median;
    return bin > between->above && bin <= between->up_to;
}

/* How many instances of a node with counts change sides. */
static int64_t count_between(const Tree *tree, const Node *node, const Between *between) {
    size_t step = (size_t)tree->class_capacity;
    const uint32_t *cells = node->counts + (size_t)tree->offsets[between->attribute] * step;
    int64_t count = 0;
    for (int32_t bin = between->above + 1; bin <= between->up_to; bin++)
        for (int32_t c = 0; c < tree->classes; c++) count += cells[(size_t)bin * step + c];
    if (is_between(tree, between, 0))
        for (int32_t c = 0; c < tree->classes; c++) count += cells[c];
    return count;
}

static void find_between(Tree *tree, const Node *node, Between *between, int64_t left);

/* Find those below the branches of a node; return how many of those that change sides are left for its own set. Branches
 * with counts say how many they have: what remains is all that the others, which have none, have to be searched for. */
static int64_t find_in_branches(Tree *tree, const Node *node, Between *between, int64_t left) {
    int32_t count = branch_count(tree, branching(node));
    for (int32_t v = 0; v < count; v++) {
        const Node *branch = node->branches[v];
        if (!branch || !branch->counts) continue;
        int64_t here = count_between(tree, branch, between);
        if (here) find_between(tree, branch, between, here);
        left -= here;
    }
    for (int32_t v = 0; v < count && left > 0; v++) {
        const Node *branch = node->branches[v];
        if (!branch || branch->counts) continue;
        int64_t before = between->found;
        find_between(tree, branch, between, left);
        left -= between->found - before;
    }
    return left;
}

/* Find the instances of a subtree that change sides, of which there are at most `left`. */
static void find_between(Tree *tree, const Node *node, Between *between, int64_t left) {
    const Store *store = &tree->store;
    if (node->branches) left = find_in_branches(tree, node, between, left);
    for (uint32_t k = 0; k < node->set_count && left > 0; k++) {
        uint32_t i = node->set[k];
        tree->walks.sifted++;
        if (!is_between(tree, between, code_at(store, row_of(store, i), between->attribute))) continue;
        left -= store->times[i];
        between->found += store->times[i];
        if (between->count == between->capacity) {
            size_t capacity = 2 * between->capacity + 16;
            uint32_t *more = realloc(between->instances, capacity * sizeof *more);
            if (!more) {
                tree->failed = 1;
                return;
            }
            between->instances = more;
            between->capacity = capacity;
        }
        between->instances[between->count++] = i;
    }
}

/* Take the row at hand out of the counts of a node that will be looked at as a whole. */
static void uncount(Tree *tree, Node *node, int32_t label) {
    for (int32_t a = 0; a < tree->attributes; a++) node->counts[tree->cells[a] + (size_t)label]--;
}

/* The same the other way round. */
static void count(Tree *tree, Node *node, int32_t label) {
    for (int32_t a = 0; a < tree->attributes; a++) node->counts[tree->cells[a] + (size_t)label]++;
}

/* Take all copies of an instance out of a subtree, which may be gone then. What it passes is looked at again when it is
 * visited: one by one, the instances would have every node on their way restructured many times. */
static void take_out(Tree *tree, Node **place, uint32_t instance) {
    Store *store = &tree->store;
    int32_t label = store->labels[instance];
    for (;;) {
        Node *node = *place;
        node_fold(tree, node);
        node_clear_shelf(tree, node);
        for (uint32_t k = 0; k < store->times[instance]; k++) {
            class_out(tree, node, label);
            if (node->counts) uncount(tree, node, label);
        }
        node->stale = node->present > 1;
        node->reshaped = 1;
        if (node->present < 2) node_make_set(tree, node);
        if (tree->failed) return; /* then the instance may not be there */
        if (node->form != SPLIT) {
            node_unlink(tree, node, instance);
            if (node->n) return;
            node_free(tree, node);
            *place = NULL;
            return;
        }
        place = &node->branches[branch_of(tree, tree->row, node->test)];
    }
}

/* Put all copies of an instance into a subtree. */
static void put_in(Tree *tree, Node **place, uint32_t instance) {
    Store *store = &tree->store;
    int32_t label = store->labels[instance];
    for (;;) {
        if (!*place && !(*place = node_new(tree))) return;
        Node *node = *place;
        node_clear_shelf(tree, node);
        node->reshaped = 1;
        node_fold(tree, node); /* when a closed node is opened, each entry that waits there goes down as one copy */
        assert(!node->branches || node->form == SPLIT);
        if (node->form != SPLIT) node_link(tree, node, instance);
        for (uint32_t k = 0; k < store->times[instance]; k++) {
            class_in(tree, node, label);
            if (node->counts) count(tree, node, label);
        }
        node->stale = node->present > 1;
        if (node->form != SPLIT) return;
        place = &node->branches[branch_of(tree, tree->row, node->test)];
    }
}

/* Let a threshold move, if it does and few instances change sides; return whether it has. */
int node_shift(Tree *tree, Node *node, Test test) {
    Test old = node->test;
    if (old.attribute != test.attribute || old.cut < 0 || old.cut == test.cut) return 0;
    int32_t to = test.cut < old.cut;
    Between between = {test.attribute, to ? test.cut : old.cut, to ? old.cut : test.cut, NULL, 0, 0, 0};
    int64_t moving = count_between(tree, node, &between);
    if (moving * WORTH > node->n) return 0;
    uint8_t *row = tree->row;
    const Node *from = node->branches[!to];
    /* The instance that is being forgotten is no longer counted here, but is still below. */
    if (from) find_between(tree, from, &between, from->counts ? count_between(tree, from, &between) : moving + 1);
    for (size_t k = 0; k < between.count && !tree->failed; k++) {
        tree->row = row_of(&tree->store, between.instances[k]);
        tree_find_cells(tree);
        take_out(tree, &node->branches[!to], between.instances[k]);
        if (tree->failed) break;
        put_in(tree, &node->branches[to], between.instances[k]);
    }
    tree->row = row;
    tree_find_cells(tree);
    free(between.instances);
    node->test = test;
    node->reshaped = 1;
    tree->ops.transpositions++;
    return 1;
}
