/* The form of a tree as whole numbers, and back. Counts are not written: they follow from the instances. */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "dump.h"

static int put(Numbers *numbers, int64_t value) {
    if (numbers->length == numbers->capacity) {
        size_t capacity = numbers->capacity ? numbers->capacity * 2 : 256;
        int64_t *bigger = realloc(numbers->data, capacity * sizeof *bigger);
        if (!bigger) return -1;
        numbers->data = bigger;
        numbers->capacity = capacity;
    }
    numbers->data[numbers->length++] = value;
    return 0;
}

static int dump_node(const Tree *tree, const Node *node, Numbers *numbers) {
    int failed = put(numbers, node->form) | put(numbers, node->stale) | put(numbers, node->test.attribute) |
                 put(numbers, node->test.cut) | put(numbers, node->runner_up) | put(numbers, node->score) |
                 put(numbers, node->margin);
    if (node->form != LISTED) {
        failed |= put(numbers, node->S_test) | put(numbers, node->S_rest) | put(numbers, node->S_alarm) | put(numbers, node->disorder_alarm) |
                  put(numbers, node->n_alarm);
        for (int32_t a = 0; a < tree->attributes; a++) failed |= put(numbers, node->S[a]);
    }
    if (node->form != SPLIT || failed) return failed;
    int64_t branches = 0;
    for (int32_t v = 0; v < branch_count(tree, node->test); v++) branches += node->branches[v] != NULL;
    failed |= put(numbers, branches);
    for (int32_t v = 0; v < branch_count(tree, node->test) && !failed; v++)
        if (node->branches[v]) failed |= put(numbers, v) | dump_node(tree, node->branches[v], numbers);
    return failed;
}

static void fold_all(Tree *tree, Node *node) {
    node_fold(tree, node);
    node_clear_shelf(tree, node);
    if (node->form != SPLIT) return;
    for (int32_t v = 0; v < branch_count(tree, node->test); v++)
        if (node->branches[v]) fold_all(tree, node->branches[v]);
}

/* What is kept in closed nodes and on shelves is a convenience, not a part of the state. If it is let go of, the tree goes
 * on as one that is made from the numbers does, to the last operation. */
int tree_dump(Tree *tree, int let_go, Numbers *numbers) {
    if (!tree->root) return 0;
    if (let_go) fold_all(tree, tree->root);
    return tree->failed ? -1 : dump_node(tree, tree->root, numbers);
}

/* ---- back */

typedef struct {
    const int64_t *data;
    size_t length, at;
    int bad;
} Reader;

static int64_t get(Reader *reader, int64_t low, int64_t high) {
    if (reader->at >= reader->length) {
        reader->bad = 1;
        return low;
    }
    int64_t value = reader->data[reader->at++];
    if (value < low || value > high) {
        reader->bad = 1;
        return low;
    }
    return value;
}

static Node *load_node(Tree *tree, Reader *reader, int32_t depth) {
    Node *node = node_new(tree);
    if (!node) return NULL;
    node->form = (uint8_t)get(reader, LISTED, SPLIT);
    node->stale = (uint8_t)get(reader, 0, 1);
    Test test = {(int32_t)get(reader, -1, tree->attributes - 1), 0};
    int numeric = test.attribute >= 0 && is_number(tree, test.attribute);
    test.cut = (int32_t)get(reader, numeric ? 1 : -1, numeric ? tree->scales[test.attribute].count : -1);
    node->runner_up = (int32_t)get(reader, -1, tree->attributes - 1);
    node->score = get(reader, INT64_MIN, INT64_MAX);
    node->margin = get(reader, INT64_MIN, INT64_MAX);
    if ((node->form == SPLIT) != (test.attribute >= 0) || depth > tree->attributes + tree->rows_of_counts) reader->bad = 1;
    if (reader->bad) {
        node->form = LISTED;
        return node;
    }
    if (node->form == LISTED) return node;
    Form form = node->form;
    node->form = LISTED;
    if (node_tabulate(tree, node)) return node;
    node->S_test = get(reader, INT64_MIN, INT64_MAX);
    node->S_rest = get(reader, INT64_MIN, INT64_MAX);
    node->S_alarm = get(reader, INT64_MIN, INT64_MAX);
    node->disorder_alarm = get(reader, INT64_MIN, INT64_MAX);
    node->n_alarm = get(reader, INT64_MIN, INT64_MAX);
    for (int32_t a = 0; a < tree->attributes; a++) node->S[a] = get(reader, INT64_MIN, INT64_MAX);
    if (form != SPLIT || reader->bad) return node;
    if (node_distribute(tree, node, test)) return node;
    int64_t branches = get(reader, 0, branch_count(tree, test));
    for (int64_t i = 0; i < branches && !reader->bad && !tree->failed; i++) {
        int64_t value = get(reader, 0, branch_count(tree, test) - 1);
        if (reader->bad || node->branches[value]) {
            reader->bad = 1;
            break;
        }
        node->branches[value] = load_node(tree, reader, depth + 1);
    }
    return node;
}

/* Find a place in the form for an instance. */
static int settle_in(Tree *tree, uint32_t instance) {
    const Store *store = &tree->store;
    const uint8_t *row = row_of(store, instance);
    uint16_t label = store->labels[instance];
    uint32_t times = store->times[instance];
    Node *node = tree->root;
    for (;;) {
        if (node->counts) {
            int32_t step = tree->class_capacity;
            for (int32_t a = 0; a < tree->attributes; a++)
                node->counts[(size_t)(tree->offsets[a] + code_at(store, row, a)) * step + label] += times;
        }
        if (node->form != SPLIT) {
            node_store(tree, node, instance);
            return 0;
        }
        if (!node->classes[label]) node->present++;
        node->classes[label] += times;
        node->n += times;
        Node *branch = node->branches[branch_of(tree, row, node->test)];
        if (!branch) return -1;
        node = branch;
    }
}

/* What follows from the counts, and whether every node has instances as its form demands. */
static int finish(Tree *tree, Node *node) {
    if (node->n == 0) return -1;
    if (node->form == LISTED) return 0;
    node_recount(tree, node);
    if (node->form == SPLIT) {
        if (node->present < 2) return -1;
        for (int32_t v = 0; v < branch_count(tree, node->test); v++)
            if (node->branches[v] && finish(tree, node->branches[v])) return -1;
    }
    return 0;
}

/* Let go of all instances. */
void tree_empty(Tree *tree) {
    node_free_all(tree, tree->root);
    tree->root = NULL;
    store_clear(&tree->store);
}

/* Give an empty tree, whose store is filled, the form that was dumped; -1 where that is not one. */
int tree_load(Tree *tree, const int64_t *data, size_t length) {
    Reader reader = {data, length, 0, 0};
    Ops ops = tree->ops;
    if (length == 0) return tree->store.distinct ? -1 : 0;
    tree->root = load_node(tree, &reader, 0);
    if (reader.bad || tree->failed || reader.at != length) return -1;
    for (uint32_t i = 0; i < tree->store.used; i++)
        if (tree->store.times[i] && settle_in(tree, i)) return -1;
    tree->ops = ops;
    return finish(tree, tree->root);
}
