/* Naive Bayes from the counts of a node. Logarithms are whole numbers in fixed point, so that the answer is the same
 * everywhere. Of a number, the bins near that of the row count as well, the less the farther off they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "voices.h"

#define NEAR 8 /* bins count as near that are this part of all bins away */
#define LOG_TABLE (1 << 16)

static int64_t log_table[LOG_TABLE]; /* filled when the first tree is made: trees are used by several threads */

static int64_t computed_log(int64_t x) { return (int64_t)((exact_log((uint64_t)x) + (UINT64_C(1) << 37)) >> (62 - FRACTION_BITS)); }

void make_log_table(void) {
    if (log_table[LOG_TABLE - 1]) return;
    for (int64_t i = 1; i < LOG_TABLE; i++) log_table[i] = computed_log(i);
}

/* The logarithm to base 2 of a whole number above 0, in fixed point. */
int64_t log_of(int64_t x) { return x >= LOG_TABLE ? computed_log(x) : log_table[x]; }

/* How often the code of the row, or one near it, was met in each class. */
typedef struct {
    int32_t code, reach; /* codes so far away still count */
    int32_t most;        /* what an instance with the same code counts for */
    int32_t values;      /* how many codes there are */
    int64_t *counts;     /* by class */
    int64_t *all;        /* by class: the logarithm of all that could have been met */
} Evidence;

/* What an instance counts for that has another code: of a number, less with every bin in between. */
static inline int64_t nearness(const Evidence *evidence, int32_t code) {
    int32_t away = abs(code - evidence->code);
    return away > evidence->reach ? 0 : evidence->most - away;
}

static void weigh_counts(const Tree *tree, const Node *node, int32_t attribute, Evidence *evidence) {
    int32_t first = evidence->code - evidence->reach, last = evidence->code + evidence->reach;
    if (first < 1 && evidence->reach) first = 1; /* a number that is missing is not next to the smallest */
    if (last >= tree->value_capacity[attribute]) last = tree->value_capacity[attribute] - 1;
    if (first > last) return; /* a value never learned */
    size_t step = (size_t)tree->class_capacity;
    const uint32_t *cell = node->counts + (size_t)(tree->offsets[attribute] + first) * step;
    for (int32_t code = first; code <= last; code++, cell += step) {
        int64_t weight = nearness(evidence, code);
        for (int32_t c = 0; c < tree->classes; c++) evidence->counts[c] += weight * cell[c];
    }
}

static void weigh_set(const Tree *tree, const Node *node, int32_t attribute, Evidence *evidence) {
    const Store *store = &tree->store;
    for (uint32_t k = 0; k < node->set_count; k++) {
        uint32_t i = node->set[k];
        int32_t code = code_at(store, row_of(store, i), attribute);
        if (code || !evidence->reach)
            evidence->counts[store->labels[i]] += nearness(evidence, code) * store->times[i];
    }
}

/* How many values of a nominal attribute there are in a tree. */
static int32_t values_in(const Tree *tree, int32_t attribute) {
    const Node *root = tree->root;
    uint8_t met[(UINT16_MAX + 1) / 8];
    int32_t values = 0;
    if (root->values_here) return root->values_here[attribute];
    memset(met, 0, (size_t)tree->known[attribute] / 8 + 1);
    for (uint32_t k = 0; k < root->set_count; k++) {
        int32_t code = code_at(&tree->store, row_of(&tree->store, root->set[k]), attribute);
        values += !(met[code / 8] >> code % 8 & 1);
        met[code / 8] |= (uint8_t)(1 << code % 8);
    }
    return values;
}

/* Find out what an attribute of the row at hand has to say; return 0 where that is nothing. */
static int take_up(const Tree *tree, const Node *node, int32_t attribute, Evidence *evidence) {
    int32_t values, reach = 0;
    evidence->code = code_at(&tree->store, tree->row, attribute);
    if (is_number(tree, attribute)) {
        if (!evidence->code) return 0; /* it is missing */
        values = tree->scales[attribute].count + 1;
        reach = values / NEAR;
    } else {
        values = values_in(tree, attribute);
    }
    if (values < 2) return 0;
    if (values == evidence->values && reach == evidence->reach) return 1;
    evidence->reach = reach;
    evidence->most = reach + 1;
    evidence->values = values;
    for (int32_t c = 0; c < tree->classes; c++)
        evidence->all[c] = log_of((int64_t)node->classes[c] * evidence->most + values);
    return 1;
}

/* Add what an attribute of the row at hand says about each class to the scores; return whether it says anything. */
static int add_evidence(const Tree *tree, const Node *node, int32_t attribute, Evidence *evidence, int64_t *scores) {
    if (!take_up(tree, node, attribute, evidence)) return 0;
    memset(evidence->counts, 0, sizeof *evidence->counts * (size_t)tree->classes);
    if (node->counts)
        weigh_counts(tree, node, attribute, evidence);
    else
        weigh_set(tree, node, attribute, evidence);
    for (int32_t c = 0; c < tree->classes; c++)
        if (node->classes[c]) scores[c] += log_of(evidence->counts[c] + evidence->most) - evidence->all[c];
    return 1;
}

/* Return the class that naive Bayes answers for the row at hand, and the logarithm of what speaks for each class;
 * those that are not at the node are left out. If asked for, `parts` gets the scores before and after each
 * attribute, and `speaks` whether it says anything. */
int32_t bayes(const Tree *tree, const Node *node, int64_t *scores, int64_t *parts, uint8_t *speaks) {
    size_t row = sizeof *scores * (size_t)tree->classes;
    Evidence evidence = {0, 0, 1, 0, tree->votes + tree->classes, tree->votes + 2 * (size_t)tree->classes};
    for (int32_t c = 0; c < tree->classes; c++) scores[c] = node->classes[c] ? log_of(node->classes[c]) : INT64_MIN;
    if (parts) memcpy(parts, scores, row);
    for (int32_t a = 0; a < tree->attributes; a++) {
        int said = node->present > 1 && add_evidence(tree, node, a, &evidence, scores);
        if (!parts) continue;
        speaks[a] = (uint8_t)said;
        memcpy(parts + (size_t)(a + 1) * (size_t)tree->classes, scores, row);
    }
    int32_t best = -1;
    for (int32_t c = 0; c < tree->classes; c++)
        if (node->classes[c] && (best < 0 || scores[c] > scores[best] ||
                                 (scores[c] == scores[best] && tree->class_rank[c] < tree->class_rank[best])))
            best = c;
    return best;
}

/* How probable each class is by an answerer. */
void shares_of(const Tree *tree, const Node *node, int32_t answerer, double *shares) {
    double sum = 0;
    if (answerer == MAJORITY) {
        for (int32_t c = 0; c < tree->classes; c++) shares[c] = (double)node->classes[c] / (double)node->n;
        return;
    }
    int64_t *scores = tree->votes;
    int32_t best = bayes(tree, answerer == ROOT_BAYES ? tree->root : node, scores, NULL, NULL);
    for (int32_t c = 0; c < tree->classes; c++) {
        shares[c] = scores[c] == INT64_MIN ? 0.0 : exp2((double)(scores[c] - scores[best]) / (double)(1 << FRACTION_BITS));
        sum += shares[c];
    }
    for (int32_t c = 0; c < tree->classes; c++) shares[c] /= sum;
}
