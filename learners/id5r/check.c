/* Whether a tree is sound: what must hold between records, found out from the instances alone. It takes time in proportion
 * to the instances times the depth of the tree, so it is called by tests, by the fuzz program and in sanitizer builds. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* ---- the instances */

static int check_instance(Check *check, uint32_t i) {
    const Tree *tree = check->tree;
    const Store *store = &tree->store;
    const uint8_t *row = row_of(store, i);
    MUST(store->labels[i] < tree->classes, "instance %u has class %u of %d", i, store->labels[i], tree->classes);
    for (int32_t a = 0; a < tree->attributes; a++) {
        int32_t code = code_at(store, row, a);
        if (is_number(tree, a))
            MUST(code == bin_of(&tree->scales[a], numbers_of(store, row)[tree->scales[a].number]),
                 "instance %u is in bin %d of attribute %d and should not be", i, code, a);
        MUST(code < tree->value_capacity[a], "instance %u has code %d of attribute %d, which has %d", i, code, a,
             tree->value_capacity[a]);
    }
    MUST(store_find(store, row, store->labels[i]) == i, "instance %u is not found by its row", i);
    return 0;
}

static int check_order(Check *check) {
    const Store *store = &check->tree->store;
    MUST(store->ring_length <= store->ring_capacity, "the order of arrival is longer than its room");
    if (!store->keeps_order) return 0;
    for (uint64_t r = 0; r < store->ring_length; r++) {
        uint32_t i = store->ring[(store->ring_start + r) % store->ring_capacity];
        MUST(i < store->used, "the order of arrival names instance %u of %u", i, store->used);
        check->arrived[i]++;
    }
    for (uint32_t i = 0; i < store->used; i++) {
        uint32_t skip = store->skip ? store->skip[i] : 0;
        MUST(check->arrived[i] == store->times[i] + skip, "instance %u is there %u times, passed over %u times and arrived %u times",
             i, store->times[i], skip, check->arrived[i]);
    }
    return 0;
}

static int check_store(Check *check) {
    const Tree *tree = check->tree;
    const Store *store = &tree->store;
    uint32_t distinct = 0, unused = 0, waiting = 0;
    int64_t all = 0;
    MUST(store->used <= store->capacity, "%u instances are in room for %u", store->used, store->capacity);
    for (uint32_t i = 0; i < store->used; i++) {
        all += check->copies[i] = store->times[i];
        distinct += store->times[i] != 0;
        waiting += !store->times[i] && store->skip && store->skip[i];
        if (store->times[i] && check_instance(check, i)) return -1;
    }
    for (uint32_t i = store->free_head; i != NO_INSTANCE; i = store->place[i]) {
        MUST(i < store->used && !store->times[i] && unused < store->used, "instance %u is free and is not", i);
        unused++;
    }
    MUST(distinct == store->distinct, "%u different instances are counted as %u", distinct, store->distinct);
    MUST(distinct + unused + waiting == store->used, "%u places: %u taken, %u free, %u waiting", store->used, distinct,
         unused, waiting);
    MUST(all == (tree->root ? tree->root->n : 0), "%lld instances are kept, the root has %lld", (long long)all,
         (long long)(tree->root ? tree->root->n : 0));
    return check_order(check);
}

/* ---- nodes */

static int check_test(Check *check, const Node *node, Test test) {
    const Tree *tree = check->tree;
    MUST(test.attribute >= 0 && test.attribute < tree->attributes, "node %llu tests attribute %d of %d",
         (unsigned long long)node->id, test.attribute, tree->attributes);
    if (is_number(tree, test.attribute))
        MUST(test.cut >= 1 && test.cut <= tree->scales[test.attribute].count, "node %llu tests cut %d of attribute %d",
             (unsigned long long)node->id, test.cut, test.attribute);
    else
        MUST(test.cut == -1 && !check->used[test.attribute], "node %llu tests attribute %d again, or at cut %d",
             (unsigned long long)node->id, test.attribute, test.cut);
    return 0;
}

static int check_form(Check *check, const Node *node) {
    unsigned long long id = node->id;
    MUST(node->id < check->tree->next_id, "node %llu was never made", id);
    MUST(node->n > 0 && node->present > 0, "node %llu is empty", id);
    MUST(node->form <= SPLIT && (node->form == LISTED) == !node->counts, "node %llu of form %d: its counts are %s", id,
         node->form, node->counts ? "there" : "not there");
    MUST(node->form == LISTED || node->present > 1, "node %llu of form %d is pure", id, node->form);
    MUST((node->form == SPLIT) == (node->test.attribute >= 0), "node %llu of form %d tests attribute %d", id, node->form,
         node->test.attribute);
    MUST(!node->branches == (branching(node).attribute < 0), "node %llu has branches without a test, or a test without", id);
    MUST(!node->branches || node->form != LISTED, "node %llu is a plain set with branches", id);
    MUST(!node->shelf || node->form == SPLIT, "node %llu has a shelf and no test", id);
    MUST(node->form != SPLIT || !node->set_count, "node %llu is divided and has a set", id);
    MUST(node->set_count <= node->set_capacity, "node %llu has a set larger than its room", id);
    return branching(node).attribute < 0 ? 0 : check_test(check, node, branching(node));
}

/* The set of a node: instances that belong here, each once. Those that wait in a closed node are there one time each. */
static int check_set(Check *check, const Node *node, uint32_t visit, uint32_t *classes) {
    const Tree *tree = check->tree;
    const Store *store = &tree->store;
    const Settings *settings = &tree->settings;
    /* Where there are no shelves, no instance is ever in two sets. */
    int exact = settings->window || settings->window_time > 0 || settings->max_bytes || settings->replace;
    for (uint32_t k = 0; k < node->set_count; k++) {
        uint32_t i = node->set[k];
        unsigned long long id = node->id;
        MUST(i < store->used && check->copies[i], "node %llu holds instance %u, which is not there", id, i);
        MUST(check->visit[i] != visit, "instance %u is in two sets, one of them that of node %llu", i, id);
        MUST(!node->branches || check->copies[i] == 1, "instance %u waits in node %llu and is there %u times", i, id,
             check->copies[i]);
        MUST(!exact || store->place[i] == k, "instance %u is at %u in the set of node %llu and said to be at %u", i, k, id,
             store->place[i]);
        for (int32_t d = 0; d < check->depth; d++)
            MUST(branch_of(tree, row_of(store, i), check->way[d].test) == check->way[d].branch,
                 "instance %u is in node %llu and belongs elsewhere", i, id);
        check->visit[i] = visit;
        classes[store->labels[i]] += check->copies[i];
    }
    if (visit == 1) check->linked += node->set_count;
    return 0;
}

static int check_node(Check *check, const Node *node, uint32_t visit);

/* Some branches, whose class counts are added to those given. */
static int check_branches(Check *check, Node *const *branches, Test test, uint32_t visit, uint32_t *classes) {
    const Tree *tree = check->tree;
    int32_t count = branch_count(tree, test), depth = check->depth;
    check->bytes += (int64_t)sizeof(Node *) * count + BLOCK_OVERHEAD;
    MUST(depth < check->deepest, "the tree is deeper than there are tests");
    if (test.cut < 0) check->used[test.attribute] = 1;
    for (int32_t v = 0; v < count; v++) {
        if (!branches[v]) continue;
        check->way[depth] = (Decision){test, v};
        check->depth = depth + 1;
        if (check_node(check, branches[v], visit)) return -1;
        for (int32_t c = 0; c < tree->classes; c++) classes[c] += branches[v]->classes[c];
    }
    check->depth = depth;
    if (test.cut < 0) check->used[test.attribute] = 0;
    return 0;
}

/* The branches on a shelf are those of the instances here, but for what waits to go down. */
static int check_shelf(Check *check, const Node *node, uint32_t *classes) {
    const Tree *tree = check->tree;
    const Shelf *shelf = node->shelf;
    unsigned long long id = node->id;
    if (check_test(check, node, shelf->test)) return -1;
    for (uint32_t k = 0; k < shelf->count; k++) {
        MUST(shelf->waiting[k] < tree->store.used && check->copies[shelf->waiting[k]], "what waits at node %llu is not there", id);
        check->copies[shelf->waiting[k]]--;
        classes[tree->store.labels[shelf->waiting[k]]]++;
    }
    if (check_branches(check, shelf->branches, shelf->test, ++check->visits, classes)) return -1;
    for (uint32_t k = 0; k < shelf->count; k++) check->copies[shelf->waiting[k]]++;
    for (int32_t c = 0; c < tree->classes; c++)
        MUST(classes[c] == node->classes[c], "the shelf of node %llu has %u instances of class %d, not %u", id, classes[c], c,
             node->classes[c]);
    check->bytes += shelf->instances * 5;
    check->shelved += shelf->weight;
    return 0;
}

static int check_parts(Check *check, const Node *node, uint32_t visit, uint32_t *classes) {
    const Tree *tree = check->tree;
    int64_t n = 0;
    int32_t present = 0;
    if (node->branches && check_branches(check, node->branches, branching(node), visit, classes)) return -1;
    if (check_set(check, node, visit, classes)) return -1;
    for (int32_t c = 0; c < tree->classes; c++) {
        MUST(classes[c] == node->classes[c], "node %llu has %u instances of class %d, and %u below", (unsigned long long)node->id,
             node->classes[c], c, classes[c]);
        n += classes[c];
        present += classes[c] != 0;
    }
    MUST(n == node->n && present == node->present, "node %llu counts %lld instances of %d classes, not %lld of %d",
         (unsigned long long)node->id, (long long)node->n, node->present, (long long)n, present);
    if (node->counts && check_table(check, node)) return -1;
    memset(classes, 0, sizeof *classes * (size_t)tree->classes);
    return node->shelf ? check_shelf(check, node, classes) : 0;
}

static int check_node(Check *check, const Node *node, uint32_t visit) {
    const Tree *tree = check->tree;
    check->bytes += (int64_t)sizeof *node + 4 * (int64_t)tree->class_capacity + BLOCK_OVERHEAD;
    if (node->counts) check->bytes += (int64_t)table_size(tree) + BLOCK_OVERHEAD;
    if (check_form(check, node)) return -1;
    uint32_t *classes = calloc((size_t)tree->classes + 1, sizeof *classes);
    MUST(classes, "no memory to check the tree");
    int wrong = check_parts(check, node, visit, classes);
    free(classes);
    return wrong;
}

static int check_tree(Check *check) {
    const Tree *tree = check->tree;
    MUST(!tree->failed, "the tree has failed");
    MUST(check->copies && check->visit && check->arrived && check->table && check->used && check->way,
         "no memory to check the tree");
    if (check_store(check)) return -1;
    if (tree->root && check_node(check, tree->root, check->visits)) return -1;
    MUST(check->linked == tree->store.distinct, "%llu instances are in sets, %u are kept", (unsigned long long)check->linked,
         tree->store.distinct);
    MUST(check->bytes == tree->bytes, "the nodes take %lld bytes and are said to take %lld", (long long)check->bytes,
         (long long)tree->bytes);
    MUST(check->shelved == tree->shelved, "what is on shelves weighs %lld and is said to weigh %lld",
         (long long)check->shelved, (long long)tree->shelved);
    return 0;
}

/* Verify that a tree is sound; -1 where it is not, and then `message` says what is wrong. */
int tree_check(const Tree *tree, char *message, size_t room) {
    size_t instances = (size_t)tree->store.used + 1;
    Check check = {.tree = tree, .visits = 1, .message = message, .room = room};
    check.deepest = tree->attributes + tree->rows_of_counts + 1;
    check.copies = calloc(instances, 4);
    check.visit = calloc(instances, 4);
    check.arrived = calloc(instances, 4);
    check.table = calloc(cells_of(tree) + 1, 4);
    check.used = calloc((size_t)tree->attributes + 1, 1);
    check.way = calloc((size_t)check.deepest + 1, sizeof *check.way);
    int wrong = check_tree(&check);
    free(check.copies);
    free(check.visit);
    free(check.arrived);
    free(check.table);
    free(check.used);
    free(check.way);
    return wrong;
}

#ifndef NDEBUG
/* In a build for tests: end the program where a tree is not sound. Now and then, so that a record costs a constant. */
void assert_sound(const Tree *tree) {
    char message[256];
    int64_t n = tree->root ? tree->root->n : 0;
    if (tree->failed || tree->ops.stored % (uint64_t)(1 + n / 4)) return;
    if (!tree_check(tree, message, sizeof message)) return;
    fprintf(stderr, "the tree is not sound: %s\n", message);
    abort();
}
#endif
