/* Predictions where the tested value is missing: naive Bayes from the counts of the node that asks for it, and nothing
 * below it. The cost depends on attributes and classes, never on how many instances are retained.
 * learners/bayes.py has the rule in plain Python; docs/decisions/0013 says why it is this one. */
#include <stdlib.h>
#include <string.h>

#include "missing.h"
#include "voices.h"

#define NEAR 8 /* as in bayes.c: bins count as near that are this part of all bins away */

/* Count into `met`, by class, the instances of a node whose code is that of the row at hand, or near it for a number.
 * Return the weight of an instance with the same code; 0 where the attribute says nothing. */
static int32_t count_met(const Tree *tree, const Node *node, int32_t attribute, int64_t *met, int32_t *values) {
    size_t step = (size_t)tree->class_capacity;
    int32_t code = code_at(&tree->store, tree->row, attribute), reach = 0, any = 0;
    int32_t first = code, last = code, highest = tree->value_capacity[attribute] - 1;
    *values = node->values_here[attribute];
    if (is_number(tree, attribute)) {
        if (!code) return 0;
        *values = tree->scales[attribute].count + 1;
        reach = *values / NEAR;
        first = code > reach ? code - reach : 1;
        last = code + reach;
    }
    if (last > highest) last = highest;
    if (*values < 2 || first > last) return 0;
    memset(met, 0, sizeof *met * (size_t)tree->classes);
    const uint32_t *cell = node->counts + (size_t)(tree->offsets[attribute] + first) * step;
    for (int32_t at = first; at <= last; at++, cell += step)
        for (int32_t c = 0; c < tree->classes; c++) {
            met[c] += (int64_t)(reach + 1 - abs(at - code)) * cell[c];
            any |= cell[c] != 0;
        }
    return any ? reach + 1 : 0;
}

/* Return the class predicted for the row at hand at a node, and the logarithm of what speaks for each class; classes
 * that are not at the node get INT64_MIN. A set of one description has nothing but its classes to go by. */
int32_t missing_answer(Tree *tree, const Node *node, int64_t *scores) {
    int64_t *met = tree->votes + tree->classes;
    int32_t values, best = -1;
    for (int32_t c = 0; c < tree->classes; c++) scores[c] = node->classes[c] ? log_of(node->classes[c]) : INT64_MIN;
    for (int32_t a = 0; node->form == SPLIT && a < tree->attributes; a++) {
        int32_t most = count_met(tree, node, a, met, &values);
        if (!most) continue;
        for (int32_t c = 0; c < tree->classes; c++)
            if (node->classes[c]) scores[c] += log_of(met[c] + most) - log_of((int64_t)node->classes[c] * most + values);
    }
    for (int32_t c = 0; c < tree->classes; c++)
        if (node->classes[c] && (best < 0 || scores[c] > scores[best] ||
                                 (scores[c] == scores[best] && tree->class_rank[c] < tree->class_rank[best])))
            best = c;
    return best;
}
