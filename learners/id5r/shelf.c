/* Tests that come and go. Where two tests are nearly equal, they take turns at a node, and giving it the other one
 * means restructuring all that is below. So the branches that gave way are put on a shelf, as they were, with a list of
 * what has come since: if their test is the best again, only that list has to go down.
 *
 * What is on a shelf is a convenience, not a part of the tree. It holds instances that are in the tree as well, so it is
 * thrown away as soon as one of them is forgotten, and where that is the rule there are no shelves at all. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

#define OUT_OF_DATE 4 /* once so large a part of the instances has not been seen, the branches are of no use */
#define LEAST 32      /* fewer instances are divided anew at no cost worth speaking of */
#define MOST 4        /* once what is on all shelves weighs so many times what there is, there are no more */
#define TABLE 250     /* what a table weighs, in instances; its size would depend on when names were added */

static Node **copy_branches(Tree *tree, const Node *node);

/* A subtree once more, with nodes of its own; what is on its shelves is left out. */
static Node *copy_node(Tree *tree, const Node *node) {
    Node *copy = node_new(tree);
    if (!copy) return NULL;
    Node own = *copy;
    *copy = *node;
    copy->id = own.id;
    copy->classes = own.classes;
    copy->explained = own.explained;
    copy->reshaped = own.reshaped;
    copy->shelf = NULL;
    copy->set = NULL;
    copy->counts = NULL;
    copy->set_count = copy->set_capacity = 0;
    memcpy(copy->classes, node->classes, (size_t)tree->class_capacity * 4);
    if (node->set_count && (copy->set = malloc(node->set_count * sizeof *copy->set))) {
        memcpy(copy->set, node->set, node->set_count * sizeof *copy->set);
        copy->set_count = copy->set_capacity = node->set_count;
    } else if (node->set_count) {
        tree->failed = 1;
    }
    if (node->counts && !node_add_table(tree, copy)) memcpy(copy->S, node->S, table_size(tree));
    if (node->branches) copy->branches = copy_branches(tree, node);
    return copy;
}

static Node **copy_branches(Tree *tree, const Node *node) {
    int32_t count = branch_count(tree, branching(node));
    Node **branches = take(tree, sizeof *branches * (size_t)count);
    for (int32_t v = 0; branches && v < count; v++)
        if (node->branches[v]) branches[v] = copy_node(tree, node->branches[v]);
    return branches;
}

/* Whether the branches of a node may be put aside, and are worth it. */
static int may_shelve(const Tree *tree, const Node *node) {
    const Settings *settings = &tree->settings;
    if (settings->window || settings->window_time > 0 || settings->max_bytes || settings->replace) return 0;
    int64_t least = settings->small < LEAST ? settings->small : LEAST;
    return node->n >= least && tree->shelved <= tree->root->n * MOST;
}

/* What the tables of some branches weigh. */
static int64_t weight_of(const Tree *tree, Node *const *branches, Test test) {
    int64_t weight = 0;
    for (int32_t v = 0; branches && v < branch_count(tree, test); v++) {
        const Node *node = branches[v];
        if (node) weight += (node->counts ? TABLE : 0) + weight_of(tree, node->branches, branching(node));
    }
    return weight;
}

static Shelf *shelf_new(Tree *tree, const Node *node, Node **branches) {
    Shelf *shelf = branches ? calloc(1, sizeof *shelf) : NULL;
    if (!shelf) {
        tree->failed = 1;
        return NULL;
    }
    shelf->test = node->test;
    shelf->branches = branches;
    shelf->instances = node->n;
    tree->bytes += node->n * 5; /* the sets, and some that wait */
    shelf->weight = node->n + weight_of(tree, branches, node->test);
    tree->shelved += shelf->weight;
    return shelf;
}

/* Put a copy of a node's branches aside, if they are worth it; NULL where they are not. */
Shelf *shelf_copy(Tree *tree, const Node *node) {
    if (!may_shelve(tree, node)) return NULL;
    Node **branches = copy_branches(tree, node);
    Shelf *shelf = shelf_new(tree, node, branches);
    if (shelf || !branches) return shelf;
    int32_t count = branch_count(tree, node->test);
    for (int32_t v = 0; v < count; v++) node_free_all(tree, branches[v]);
    give(tree, branches, sizeof *branches * (size_t)count);
    return NULL;
}

/* Let the instances of a subtree go down into branches by a test, and leave the subtree as it is. */
static void divide(Tree *tree, const Node *node, Test test, Node **branches) {
    const Store *store = &tree->store;
    if (node->branches)
        for (int32_t v = 0; v < branch_count(tree, branching(node)); v++)
            if (node->branches[v]) divide(tree, node->branches[v], test, branches);
    for (uint32_t k = 0; k < node->set_count; k++) {
        Node **branch = &branches[branch_of(tree, row_of(store, node->set[k]), test)];
        if (!*branch && !(*branch = node_new(tree))) return;
        node_store(tree, *branch, node->set[k]);
    }
}

/* Give a node that is small another test: its branches go on the shelf as they are, and its instances into others.
 * Return whether it has been done. */
int shelf_replace(Tree *tree, Node *node, Test test) {
    if (node->n > 2 * tree->settings.small || !may_shelve(tree, node)) return 0;
    Node **branches = take(tree, sizeof *branches * (size_t)branch_count(tree, test));
    Shelf *shelf = branches ? shelf_new(tree, node, node->branches) : NULL;
    if (!shelf) {
        give(tree, branches, sizeof *branches * (size_t)branch_count(tree, test));
        return 0;
    }
    for (int32_t v = 0; v < branch_count(tree, node->test); v++)
        if (node->branches[v]) divide(tree, node->branches[v], test, branches);
    for (int32_t v = 0; v < branch_count(tree, test); v++)
        if (branches[v]) branches[v]->stale = branches[v]->present > 1;
    node->shelf = shelf;
    node->test = test;
    node->branches = branches;
    node->reshaped = 1;
    tree->ops.transpositions++;
    return 1;
}

/* Throw away what is on the shelf of a node. */
void node_clear_shelf(Tree *tree, Node *node) {
    Shelf *shelf = node->shelf;
    if (!shelf) return;
    node->shelf = NULL;
    int32_t count = branch_count(tree, shelf->test);
    for (int32_t v = 0; shelf->branches && v < count; v++) node_free_all(tree, shelf->branches[v]);
    give(tree, shelf->branches, sizeof *shelf->branches * (size_t)count);
    tree->bytes -= shelf->instances * 5;
    tree->shelved -= shelf->weight;
    free(shelf->waiting);
    free(shelf);
}

/* Note that an instance has come to a node, which what is on its shelf has not seen. */
void shelf_note(Tree *tree, Node *node, uint32_t instance) {
    Shelf *shelf = node->shelf;
    if (!shelf) return;
    if ((int64_t)shelf->count * OUT_OF_DATE > node->n) {
        node_clear_shelf(tree, node);
        return;
    }
    if (shelf->count == shelf->capacity) {
        uint32_t capacity = shelf->capacity + shelf->capacity / 2 + 16;
        uint32_t *more = realloc(shelf->waiting, capacity * sizeof *more);
        if (!more) {
            tree->failed = 1;
            return;
        }
        shelf->waiting = more;
        shelf->capacity = capacity;
    }
    shelf->waiting[shelf->count++] = instance;
}

static void note_back(const Tree *tree, Node *node) {
    node->explained = 0;
    node->reshaped = 1;
    if (node->branches)
        for (int32_t v = 0; v < branch_count(tree, branching(node)); v++)
            if (node->branches[v]) note_back(tree, node->branches[v]);
}

/* Exchange the branches of a node and those on its shelf. What had waited for the latter has to go down still: it is
 * returned, and belongs to the caller. */
uint32_t *shelf_exchange(Tree *tree, Node *node, uint32_t *count) {
    Shelf *shelf = node->shelf;
    Shelf back = *shelf;
    shelf->test = node->test;
    shelf->branches = node->branches;
    shelf->waiting = NULL;
    shelf->count = shelf->capacity = 0;
    node->test = back.test;
    node->branches = back.branches;
    note_back(tree, node);
    *count = back.count;
    return back.waiting;
}
