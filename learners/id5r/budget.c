/* How many instances `max_bytes` lets a tree retain: after every record the oldest leave until the tree weighs no more.
 *
 * What a tree really allocates depends on how it came to be: arrays have spare room, a snapshot lets go of what only saves
 * work, a batch brings names before their records are learned. If that decided which instances leave, the tree would not be
 * a function of the records. So the tree is weighed instead: its weight follows from the instances retained, the settled
 * tree and the names in the records so far, all of which a snapshot keeps. Spare room is part of the weight, so that what is
 * really allocated stays below it or not far above.
 *
 * Weighing looks at every node. It is needed only when there may be too much: what all nodes that there are would weigh,
 * those kept below closed ones included, is known at any time and is never less.
 *
 * The weights are constants and not `sizeof`: another build or a later version must retain the same instances. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

#define TREE 49152     /* a tree without anything in it */
#define NODE 304       /* a node, its block, and the spare room of its set */
#define BLOCK 16       /* what the allocator keeps beside a block */
#define AN_ATTRIBUTE 80
#define AN_INSTANCE 18 /* besides its row: class, count, place, entry in a set, times to be passed over */
#define SPARE 4        /* arrays have this part more than they need, */
#define FEW 64         /* and so many places */
#define MARGIN 32      /* this part of the limit is free after instances have left */
#define OFTEN 16       /* for those who ask, the weight is found out once this part of the instances is new, */
#define LEAST 16       /* or so many of them */

_Static_assert(sizeof(Tree) + 64 * 5 <= TREE, "a tree takes more than it is said to weigh");
_Static_assert(sizeof(Node) + 2 * BLOCK + 16 <= NODE, "a node takes more than it is said to weigh");
_Static_assert(BLOCK_OVERHEAD <= BLOCK, "a block takes more than it is said to weigh");

static int64_t with_spare(int64_t count) { return count + count / SPARE + 1; }

static int64_t retained(const Tree *tree) { return tree->root ? tree->root->n : 0; }

/* ---- names and branches */

/* Make room for the names of more attributes; -1 where there is no memory. */
int budget_widen(Tree *tree, int32_t attributes) {
    Budget *budget = &tree->budget;
    if (attributes <= budget->attributes) return 0;
    int32_t *codes = realloc(budget->codes, sizeof *codes * (size_t)attributes);
    if (!codes) return -1;
    budget->codes = codes;
    int64_t *splits = realloc(budget->splits, sizeof *splits * (size_t)attributes);
    if (!splits) return -1;
    budget->splits = splits;
    for (int32_t a = budget->attributes; a < attributes; a++) codes[a] = 0, splits[a] = 0;
    budget->attributes = attributes;
    return 0;
}

/* Count branches by a test that are made (1) or given back (-1). */
void budget_count_branches(Tree *tree, Test test, int more) {
    Budget *budget = &tree->budget;
    if (!budget->splits) return;
    if (test.cut >= 0)
        budget->thresholds += more;
    else
        budget->splits[test.attribute] += more;
}

/* Count all names that there is room for as met: those of a schema, or of a snapshot that does not say which were. */
void budget_count_known(Tree *tree) {
    Budget *budget = &tree->budget;
    for (int32_t a = 0; a < tree->attributes && a < budget->attributes; a++)
        if (budget->codes[a] < tree->known[a]) budget->codes[a] = tree->known[a];
    if (budget->classes < tree->classes) budget->classes = tree->classes;
}

/* What of the layout follows from the names that were met. */
typedef struct {
    int32_t attributes, nominal, numbers; /* nominal: those that may be tested */
    int64_t classes, values, table, stride;
} Layout;

static int64_t values_of(const Tree *tree, const Budget *names, int32_t attribute) {
    if (is_number(tree, attribute)) return tree->value_capacity[attribute];
    return with_spare(names->codes[attribute]);
}

static Layout layout_of(const Tree *tree, const Budget *names) {
    Layout layout = {0};
    int64_t code_bytes = 1, widest = 0;
    for (int32_t a = 0; a < tree->attributes && a < names->attributes; a++)
        if (names->codes[a] || is_number(tree, a)) layout.attributes = a + 1;
    for (int32_t a = 0; a < layout.attributes; a++) {
        int64_t values = values_of(tree, names, a);
        layout.values += values;
        if (values > widest) widest = values;
        if (is_number(tree, a))
            layout.numbers++;
        else
            layout.nominal += !(a < tree->retired_count && tree->retired[a]);
    }
    if (widest > 255) code_bytes = 2;
    layout.classes = with_spare(names->classes);
    layout.table = 10 * (int64_t)layout.attributes + 4 * layout.values * layout.classes + BLOCK;
    layout.stride = (layout.attributes * code_bytes + 7) / 8 * 8 + 8 * (int64_t)layout.numbers;
    return layout;
}

/* Note the names in the row at hand, which has a class, whether or not it is learned. */
void budget_note(Tree *tree, int32_t label) {
    Budget *budget = &tree->budget;
    if (label >= budget->classes) budget->classes = label + 1;
    for (int32_t a = 0; a < tree->attributes; a++) {
        int32_t code = code_at(&tree->store, tree->row, a);
        if (code >= budget->codes[a] && code && !is_number(tree, a) && code < tree->value_capacity[a])
            budget->codes[a] = code + 1;
    }
}

/* ---- weighing */

typedef struct {
    const Budget *names;
    int64_t nodes, tables, branches; /* branches in bytes */
} Parts;

static int64_t weight_of_branches(const Tree *tree, const Budget *names, Test test) {
    return 8 * (test.cut < 0 ? values_of(tree, names, test.attribute) : 2) + BLOCK;
}

/* Whether a mixed set has a table: where a test might be significant. By its classes alone, so that it does not matter how
 * the set came to be. */
static int deserves_table(Tree *tree, const Node *node, int32_t left) {
    if (node->present < 2 || !tree->settings.gated || (left <= 0 && !tree->numbers)) return 0;
    if (tree->settings.pearson) return 1;
    int64_t disorder = x_log_x(node->n);
    for (int32_t c = 0; c < tree->classes; c++) disorder -= x_log_x(node->classes[c]);
    return disorder > least_gain(tree, node);
}

/* Weigh a settled subtree. Where there is a limit, what only saves work is let go of, so that all that there is is weighed:
 * what is below closed nodes, and the tables of sets that were more mixed before. */
static void weigh_node(Tree *tree, Node *node, int32_t left, Parts *parts) {
    parts->nodes++;
    if (node->form != SPLIT) {
        int table = deserves_table(tree, node, left);
        parts->tables += table;
        if (!tree->settings.max_bytes) return;
        node_fold(tree, node);
        if (!table && node->form == COUNTED) node_make_set(tree, node);
        return;
    }
    Test test = node->test;
    parts->tables++;
    parts->branches += weight_of_branches(tree, parts->names, test);
    for (int32_t v = 0; v < branch_count(tree, test) && !tree->failed; v++)
        if (node->branches[v]) weigh_node(tree, node->branches[v], left - (test.cut < 0), parts);
}

static int64_t weight_of_instances(const Tree *tree, const Layout *layout) {
    int64_t distinct = tree->store.distinct, places = FEW;
    while ((distinct + 1) * 3 > places * 2) places *= 2;
    return (layout->stride + AN_INSTANCE) * (with_spare(distinct) + FEW) + 5 * places +
           4 * (with_spare(retained(tree)) + FEW);
}

static int64_t weight_of(const Tree *tree, const Layout *layout, const Parts *parts) {
    return TREE + (int64_t)layout->attributes * AN_ATTRIBUTE + (int64_t)layout->numbers * 8 * tree->settings.bins +
           weight_of_instances(tree, layout) + parts->tables * layout->table + parts->branches +
           parts->nodes * (NODE + 4 * layout->classes + tree->settings.outline_bytes);
}

/* What a tree weighs, if `names` are those that its records had. */
int64_t tree_weight(Tree *tree, const Budget *names) {
    Layout layout = layout_of(tree, names);
    Parts parts = {names, 0, 0, 0};
    tree_settle(tree);
    if (tree->root && !tree->failed) weigh_node(tree, tree->root, layout.nominal, &parts);
    return weight_of(tree, &layout, &parts);
}

/* What a settled tree weighs at most. */
static int64_t most_weight(const Tree *tree) {
    const Budget *budget = &tree->budget;
    Layout layout = layout_of(tree, budget);
    Parts parts = {budget, tree->nodes, tree->tables, budget->thresholds * weight_of_branches(tree, budget, (Test){0, 1})};
    for (int32_t a = 0; a < layout.attributes; a++)
        if (budget->splits[a]) parts.branches += budget->splits[a] * weight_of_branches(tree, budget, (Test){a, -1});
    return weight_of(tree, &layout, &parts);
}

/* ---- giving back what is not needed */

static void renumber(const Tree *tree, Node *node, const uint32_t *numbers) {
    for (uint32_t k = 0; k < node->set_count; k++) node->set[k] = numbers[node->set[k]];
    for (int32_t v = 0; node->branches && v < branch_count(tree, branching(node)); v++)
        if (node->branches[v]) renumber(tree, node->branches[v], numbers);
}

/* Give back the room of instances that have left, where it is a large part. */
static void tidy(Tree *tree) {
    Store *store = &tree->store;
    if (store->ring_length > (uint64_t)(retained(tree) + retained(tree) / 2 + 1024)) store_compact_order(store);
    if (store->capacity <= (uint64_t)store->distinct + store->distinct / 2 + 1024) return;
    uint32_t *numbers = malloc(((size_t)store->used + 1) * sizeof *numbers);
    if (!numbers || store_compact(store, numbers)) {
        tree->failed = 1;
    } else if (tree->root) {
        renumber(tree, tree->root, numbers);
    }
    free(numbers);
}

/* ---- the limit */

static int64_t share(int64_t count, int64_t part, int64_t whole) {
    return (int64_t)((__int128)count * part / (whole > 0 ? whole : 1));
}

static void keep(Tree *tree, int64_t most) {
    while (retained(tree) > most && !tree->failed && !tree_forget_oldest(tree)) {
    }
}

/* Let the oldest go until the tree is within the limit, and somewhat more, so that this is not needed at every record. */
static void let_go(Tree *tree) {
    int64_t limit = tree->settings.max_bytes, weight = tree_weight(tree, &tree->budget);
    if (weight <= limit) return;
    while (weight > limit && retained(tree) > 1 && !tree->failed) {
        int64_t n = retained(tree), fit = share(n, limit - limit / MARGIN, weight);
        keep(tree, fit >= n ? n - 1 : fit < 1 ? 1 : fit);
        weight = tree_weight(tree, &tree->budget);
    }
    tree->budget.due = 0;
    tidy(tree);
}

/* Hold a tree that has learned a record to its limit. */
void budget_keep(Tree *tree) {
    Budget *budget = &tree->budget;
    tree_settle(tree);
    if (!tree->failed && most_weight(tree) > tree->settings.max_bytes) let_go(tree);
    if (tree->failed || tree->ops.stored < budget->due) return;
    int64_t wait = retained(tree) / OFTEN;
    budget->weight = tree_weight(tree, budget);
    budget->due = tree->ops.stored + (uint64_t)(wait > LEAST ? wait : LEAST);
}
