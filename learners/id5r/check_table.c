/* Whether the counts and scores of a node are those of its instances. */
#include <string.h>

#include "check.h"

static void tabulate(Check *check, const Node *node) {
    const Tree *tree = check->tree;
    const Store *store = &tree->store;
    if (node->branches)
        for (int32_t v = 0; v < branch_count(tree, branching(node)); v++)
            if (node->branches[v]) tabulate(check, node->branches[v]);
    for (uint32_t k = 0; k < node->set_count; k++) {
        uint32_t i = node->set[k];
        for (int32_t a = 0; a < tree->attributes; a++) {
            size_t cell = (size_t)(tree->offsets[a] + code_at(store, row_of(store, i), a)) * (size_t)tree->class_capacity;
            check->table[cell + store->labels[i]] += check->copies[i];
        }
    }
}

static int64_t disorder_of(const Tree *tree, const uint32_t *classes) {
    int64_t n = 0, parts = 0;
    for (int32_t c = 0; c < tree->classes; c++) {
        n += classes[c];
        parts += x_log_x(classes[c]);
    }
    return x_log_x(n) - parts;
}

/* What a threshold at a cut leaves of the disorder, from the table at hand; -1 where it does not divide. */
static int64_t left_by_cut(const Check *check, const Node *node, int32_t attribute, int32_t cut) {
    const Tree *tree = check->tree;
    const uint32_t *cells = check->table + (size_t)tree->offsets[attribute] * (size_t)tree->class_capacity;
    int64_t below = 0, parts = 0;
    for (int32_t c = 0; c < tree->classes; c++) {
        int64_t lower = tree->scales[attribute].median <= cut ? cells[c] : 0;
        for (int32_t bin = 1; bin <= cut; bin++) lower += cells[(size_t)bin * (size_t)tree->class_capacity + c];
        below += lower;
        parts += x_log_x(lower) + x_log_x(node->classes[c] - lower);
    }
    return below && below < node->n ? x_log_x(below) + x_log_x(node->n - below) - parts : -1;
}

/* What the best test of an attribute leaves of the disorder, and how many values or bins of it there are. */
static int64_t left_by(const Check *check, const Node *node, int32_t attribute, int32_t *values) {
    const Tree *tree = check->tree;
    const uint32_t *cells = check->table + (size_t)tree->offsets[attribute] * (size_t)tree->class_capacity;
    int64_t sum = 0, least = -1;
    *values = 0;
    int joined = 0;
    for (int32_t v = 0; v < tree->value_capacity[attribute]; v++, cells += tree->class_capacity) {
        int64_t n = 0;
        for (int32_t c = 0; c < tree->classes; c++) n += cells[c];
        if (n && is_number(tree, attribute) && (!v || v == tree->scales[attribute].median)) joined++;
        *values += n != 0;
        sum += disorder_of(tree, cells);
    }
    if (!is_number(tree, attribute)) return sum;
    *values -= joined == 2; /* a missing number counts as one in the bin of the median */
    for (int32_t cut = 1; cut <= tree->scales[attribute].count; cut++) {
        int64_t left = left_by_cut(check, node, attribute, cut);
        if (left >= 0 && (least < 0 || left < least)) least = left;
    }
    return least < 0 ? disorder_of(tree, node->classes) : least;
}

/* What a node with counts knows: the table exactly, and unless it is stale, the disorder, the score of its test and a lower
 * bound of every other score. */
int check_table(Check *check, const Node *node) {
    const Tree *tree = check->tree;
    unsigned long long id = node->id;
    memset(check->table, 0, cells_of(tree) * 4);
    tabulate(check, node);
    MUST(!memcmp(check->table, node->counts, cells_of(tree) * 4), "the table of node %llu is not that of its instances", id);
    if (node->stale == STALE) return 0;
    MUST(node->disorder == disorder_of(tree, node->classes), "the disorder of node %llu is wrong", id);
    for (int32_t a = 0; a < tree->attributes; a++) {
        if (a < tree->retired_count && tree->retired[a]) continue; /* nothing is scored that is never tested */
        int32_t values;
        int64_t left = left_by(check, node, a, &values);
        /* Rounding may make a bound too high: by a unit in the last place for each term. */
        int64_t slack = rounding_unit(node->n) + 4 * (int64_t)tree->value_capacity[a] * (tree->classes + 1);
        MUST(node->values_here[a] == values, "attribute %d has %d values in node %llu, not %d", a, values, id,
             node->values_here[a]);
        if (node->form == SPLIT && a == node->test.attribute) {
            if (node->test.cut >= 0) left = left_by_cut(check, node, a, node->test.cut);
            MUST(node->S_test == left, "the score of the test of node %llu is wrong by %lld", id,
                 (long long)(node->S_test - left));
        } else if (!check->used[a]) {
            MUST(node->S[a] <= left + slack, "the bound of attribute %d in node %llu is too high by %lld", a, id,
                 (long long)(node->S[a] - left));
        }
    }
    return 0;
}
