/* Naive Bayes from the counts of a node. Logarithms are whole numbers in fixed point, so that the answer is the same
 * everywhere. The bins of a number are taken together into a few groups. */
#include <math.h>
#include <string.h>

#include "voices.h"

#define GROUPS 8
#define LOG_TABLE (1 << 16)

static int64_t log_table[LOG_TABLE];

static int64_t computed_log(int64_t x) { return llrint(log2((double)x) * (double)(1 << FRACTION_BITS)); }

static inline int64_t log_of(int64_t x) {
    if (x >= LOG_TABLE) return computed_log(x);
    if (!log_table[3])
        for (int64_t i = 1; i < LOG_TABLE; i++) log_table[i] = computed_log(i);
    return log_table[x];
}

/* The group of bins that a bin belongs to, from `first` to `last`; return how many groups there are. */
static int32_t group_of(int32_t bin, int32_t bins, int32_t *first, int32_t *last) {
    *first = *last = bin;
    if (bins <= GROUPS) return bins;
    int32_t group = (bin - 1) * GROUPS / bins;
    *first = (group * bins + GROUPS - 1) / GROUPS + 1;
    *last = ((group + 1) * bins + GROUPS - 1) / GROUPS;
    return GROUPS;
}

/* How many instances of each class have a code between two, of one attribute. */
static void count_codes(const Tree *tree, const Node *node, int32_t attribute, int32_t first, int32_t last,
                        uint32_t *counts) {
    memset(counts, 0, sizeof *counts * (size_t)tree->classes);
    if (node->counts) {
        size_t step = (size_t)tree->class_capacity;
        const uint32_t *cell = node->counts + (size_t)(tree->offsets[attribute] + first) * step;
        for (int32_t code = first; code <= last && code < tree->value_capacity[attribute]; code++, cell += step)
            for (int32_t c = 0; c < tree->classes; c++) counts[c] += cell[c];
        return;
    }
    const Store *store = &tree->store;
    for (uint32_t k = 0; k < node->set_count; k++) {
        uint32_t i = node->set[k];
        int32_t code = code_at(store, row_of(store, i), attribute);
        if (code >= first && code <= last) counts[store->labels[i]] += store->times[i];
    }
}

/* Return the class that naive Bayes answers for the row at hand, and the logarithm of what speaks for each class;
 * those that are not at the node are left out. A number that is missing says nothing. */
int32_t bayes(Tree *tree, const Node *node, int64_t *scores) {
    uint32_t *counts = tree->below_cut;
    for (int32_t c = 0; c < tree->classes; c++) scores[c] = node->classes[c] ? log_of(node->classes[c]) : INT64_MIN;
    for (int32_t a = 0; a < tree->attributes && node->present > 1; a++) {
        int32_t code = code_at(&tree->store, tree->row, a), first = code, last = code, values;
        if (is_number(tree, a)) {
            if (!code) continue;
            values = group_of(code, tree->scales[a].count + 1, &first, &last);
        } else {
            values = tree->root->values_here ? tree->root->values_here[a] : 2;
        }
        if (values < 2) continue;
        count_codes(tree, node, a, first, last, counts);
        for (int32_t c = 0; c < tree->classes; c++)
            if (node->classes[c]) scores[c] += log_of(counts[c] + 1) - log_of((int64_t)node->classes[c] + values);
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
    int32_t best = bayes((Tree *)tree, answerer == ROOT_BAYES ? tree->root : node, scores);
    for (int32_t c = 0; c < tree->classes; c++) {
        shares[c] = scores[c] == INT64_MIN ? 0.0 : exp2((double)(scores[c] - scores[best]) / (double)(1 << FRACTION_BITS));
        sum += shares[c];
    }
    for (int32_t c = 0; c < tree->classes; c++) shares[c] /= sum;
}
