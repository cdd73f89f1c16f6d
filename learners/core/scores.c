/* How good a test is. Sums are whole numbers: x log2 x in fixed point, so that their order does not matter
 * and the tree is to the last tie the one that plain Python builds (learners/merit.py). */
#include <math.h>

#include "core.h"

#define ROUNDING 100000
int64_t x_log_x_table[X_LOG_X_TABLE];

int64_t computed_x_log_x(int64_t x) {
    return llrint(((double)x * log2((double)x)) * (double)(1 << FRACTION_BITS));
}

void make_x_log_x(void) {
    if (x_log_x_table[2]) return;
    for (int64_t x = 2; x < X_LOG_X_TABLE; x++) x_log_x_table[x] = computed_x_log_x(x);
}

/* Scores are compared after rounding to 1e-5: two that lie this close may be equal. Twice the unit, because
 * rounding in the last bit of x log x can make a bound that is not looked at too high by so much. */
int64_t rounding_unit(int64_t n) { return 2 * ((n << FRACTION_BITS) / ROUNDING) + 2; }

static int64_t rounded(int64_t numerator, __int128 denominator) {
    if (numerator >= 0 && numerator < INT64_C(1) << 44 && denominator < INT64_C(1) << 60) {
        int64_t narrow = (int64_t)denominator; /* as almost always: without a division of 128 bits */
        return (numerator * 2 * ROUNDING + narrow) / (2 * narrow);
    }
    __int128 value = (__int128)numerator * 2 * ROUNDING + denominator;
    __int128 twice = 2 * denominator;
    int64_t quotient = (int64_t)(value / twice);
    return value % twice < 0 ? quotient - 1 : quotient; /* towards minus infinity, as Python divides */
}

int64_t score_of(Tree *tree, const Node *node, int32_t attribute) {
    int32_t classes = tree->classes, step = tree->class_capacity;
    int32_t values = tree->value_capacity[attribute];
    const uint32_t *cell = node->counts + (size_t)tree->offsets[attribute] * step;
    int64_t sum = 0;
    tree->ops.scores++;
    for (int32_t value = 0; value < values; value++, cell += step) {
        int64_t total = 0, parts = 0;
        for (int32_t c = 0; c < classes; c++) {
            total += cell[c];
            parts += x_log_x(cell[c]);
        }
        if (total) sum += x_log_x(total) - parts;
    }
    return sum;
}

static int64_t spread_of(const Tree *tree, const Node *node, int32_t attribute) {
    int32_t classes = tree->classes, step = tree->class_capacity;
    const uint32_t *cell = node->counts + (size_t)tree->offsets[attribute] * step;
    int64_t sum = 0;
    for (int32_t value = 0; value < tree->value_capacity[attribute]; value++, cell += step) {
        int64_t total = 0;
        for (int32_t c = 0; c < classes; c++) total += cell[c];
        sum += x_log_x(total);
    }
    return x_log_x(node->n) - sum;
}

static double pearson_of(const Tree *tree, const Node *node, int32_t attribute) {
    int32_t classes = tree->classes, step = tree->class_capacity;
    const uint32_t *cell = node->counts + (size_t)tree->offsets[attribute] * step;
    long double sum = 0;
    for (int32_t value = 0; value < tree->value_capacity[attribute]; value++, cell += step) {
        int64_t total = 0;
        for (int32_t c = 0; c < classes; c++) total += cell[c];
        if (!total) continue;
        for (int32_t c = 0; c < classes; c++)
            if (cell[c])
                sum += (long double)((double)cell[c] * (double)cell[c] /
                                     ((double)total * (double)node->classes[c]));
    }
    return (double)node->n * ((double)sum - 1.0);
}

static int64_t critical(Tree *tree, int64_t degrees) {
    if (degrees >= 256) return tree->critical(tree->context, degrees);
    if (tree->critical_cache[degrees] < 0) tree->critical_cache[degrees] = tree->critical(tree->context, degrees);
    return tree->critical_cache[degrees];
}

static double critical_pearson(Tree *tree, int64_t degrees) {
    if (degrees >= 64) return tree->critical_pearson(tree->context, degrees);
    if (tree->pearson_cache[degrees] < 0)
        tree->pearson_cache[degrees] = tree->critical_pearson(tree->context, degrees);
    return tree->pearson_cache[degrees];
}

/* The gain an attribute must pass to be significant, by G; INT64_MAX where it cannot be. */
static int64_t needed_gain(Tree *tree, const Node *node, int32_t attribute) {
    int64_t degrees = (int64_t)(node->values_here[attribute] - 1) * (node->present - 1);
    return degrees < 1 ? INT64_MAX : critical(tree, degrees);
}

static int is_identifier(const Tree *tree, const Node *node, int32_t attribute) {
    return node->n < (int64_t)tree->settings.records_per_value * node->values_here[attribute];
}

static int is_significant(Tree *tree, const Node *node, int32_t attribute) {
    if (is_identifier(tree, node, attribute)) return 0;
    if (tree->settings.pearson) {
        int64_t degrees = (int64_t)(node->values_here[attribute] - 1) * (node->present - 1);
        return degrees >= 1 && pearson_of(tree, node, attribute) > critical_pearson(tree, degrees);
    }
    int64_t need = needed_gain(tree, node, attribute);
    return need != INT64_MAX && node->disorder - node->S[attribute] > need;
}

typedef struct {
    int64_t score;
    int32_t runner_up;
    int64_t margin;
} Choice;

/* Whether an attribute whose S may be an old bound can be significant. */
static int may_be_significant(Tree *tree, const Node *node, int32_t attribute) {
    if (is_identifier(tree, node, attribute)) return 0;
    int64_t need = needed_gain(tree, node, attribute);
    return need != INT64_MAX && node->disorder - node->S[attribute] + 2 * node->n + 2 > need;
}

/* The attribute with the highest gain ratio among those whose gain is not below the mean (section 5.3).
 * There is no bound to save work with: every attribute is looked at. */
static int32_t best_by_ratio(Tree *tree, Node *node, Choice *choice) {
    __int128 sum = 0;
    int32_t count = 0;
    __int128 unit = (__int128)node->n << FRACTION_BITS;
    for (int32_t i = 0; i < tree->attributes; i++) {
        int32_t a = tree->order[i];
        if (tree->used[a]) continue;
        sum += node->disorder - node->S[a];
        count++;
    }
    int64_t mean = count ? rounded((int64_t)sum, unit * count) : 0;
    int32_t best = -1, second = -1;
    int64_t highest = 0, next = 0;
    for (int32_t i = 0; i < tree->attributes; i++) {
        int32_t a = tree->order[i];
        if (tree->used[a]) continue;
        int64_t gain = node->disorder - node->S[a];
        if (rounded(gain, unit) < mean) continue;
        int64_t spread = spread_of(tree, node, a);
        int64_t ratio = spread ? rounded(gain, spread) : 0;
        if (tree->settings.gated && !is_significant(tree, node, a)) continue;
        if (best < 0 || ratio > highest) {
            second = best, next = highest;
            best = a, highest = ratio;
        } else if (second < 0 || ratio > next) {
            second = a, next = ratio;
        }
    }
    *choice = (Choice){highest, second, second < 0 ? 0 : highest - next};
    node->S_alarm = node->disorder_alarm = INT64_MIN; /* always look */
    node->n_alarm = INT64_MAX;
    return best;
}

/* The attribute with the lowest E-score among those that may be used; the first by order among equals. Of
 * attributes whose S is only a lower bound none can win: `look` has seen to that. */
static int32_t best_by_score(Tree *tree, const Node *node, Choice *choice) {
    __int128 unit = (__int128)node->n << FRACTION_BITS;
    int32_t best = -1, second = -1;
    int64_t lowest = 0, next = 0;
    for (int32_t i = 0; i < tree->attributes; i++) {
        int32_t a = tree->order[i];
        if (tree->used[a] || (tree->settings.gated && !is_significant(tree, node, a))) continue;
        int64_t score = rounded(node->S[a], unit);
        if (best < 0 || score < lowest) {
            second = best, next = lowest;
            best = a, lowest = score;
        } else if (second < 0 || score < next) {
            second = a, next = score;
        }
    }
    *choice = (Choice){lowest, second, second < 0 ? 0 : next - lowest};
    return best;
}

/* Note when to look again. A rival can win only if it is as good as the test and significant; of the two
 * one that does not hold now is watched. Both are bounded: S never falls while instances are added. */
static void set_alarms(Tree *tree, Node *node, int32_t best) {
    int64_t reach = best < 0 ? INT64_MAX : node->S[best] + rounding_unit(node->n);
    node->S_alarm = node->disorder_alarm = node->n_alarm = INT64_MAX;
    for (int32_t a = 0; a < tree->attributes; a++) {
        if (tree->used[a] || a == best) continue;
        if (node->S[a] > reach) {
            if (node->S[a] < node->S_alarm) node->S_alarm = node->S[a];
        } else if (!tree->settings.gated) {
            node->S_alarm = INT64_MIN;
        } else if (is_identifier(tree, node, a)) {
            int64_t n = (int64_t)tree->settings.records_per_value * node->values_here[a];
            if (n < node->n_alarm) node->n_alarm = n;
        } else if (tree->settings.pearson) {
            node->disorder_alarm = INT64_MIN;
        } else {
            int64_t need = needed_gain(tree, node, a);
            if (need == INT64_MAX) continue; /* a new value or class makes us look anyway */
            int64_t alarm = node->S[a] + need - 2 * node->n - 2;
            if (node->disorder - node->S[a] > need) /* significant, and as good as the test, if there is one */
                node->S_alarm = node->disorder_alarm = INT64_MIN;
            else if (alarm < node->disorder_alarm)
                node->disorder_alarm = alarm;
        }
    }
}

/* Note again when to look, after an instance was taken out and what is known of every score has fallen. */
void watch(Tree *tree, Node *node) {
    if (tree->settings.gain_ratio) return; /* which looks every time */
    if (node->form == SPLIT) node->S[node->test.attribute] = node->S_test;
    set_alarms(tree, node, node->form == SPLIT ? node->test.attribute : -1);
}

/* Whether something may have made another attribute the best since the last look. */
int needs_look(Tree *tree, const Node *node) {
    if (node->n >= node->n_alarm || node->disorder > node->disorder_alarm) return 1;
    if (node->form != SPLIT) return 0;
    if (node->S_alarm == INT64_MIN || node->S_test + rounding_unit(node->n) >= node->S_alarm) return 1;
    if (!tree->settings.gated) return 0;
    if (tree->settings.pearson || is_identifier(tree, node, node->test.attribute)) return 1;
    int64_t need = needed_gain(tree, node, node->test.attribute);
    return need == INT64_MAX || node->disorder - node->S_test <= need;
}

/* Find the best attribute of a node with counts; -1 where none may be tested. What is known of attributes
 * that cannot win is left as it is, unless everything is to be looked at. */
int look(Tree *tree, Node *node, int everything) {
    int64_t reach = INT64_MAX;
    if (tree->settings.gain_ratio || tree->settings.pearson) everything = 1;
    if (node->form == SPLIT && !everything) {
        node->S[node->test.attribute] = node->S_test;
        reach = node->S_test + rounding_unit(node->n);
        if (tree->settings.gated && !is_significant(tree, node, node->test.attribute)) reach = INT64_MAX;
    }
    for (int32_t a = 0; a < tree->attributes; a++) {
        if (tree->used[a]) continue;
        if (everything) {
            node->S[a] = score_of(tree, node, a);
        } else if (node->S[a] <= reach && !(node->form == SPLIT && a == node->test.attribute)) {
            if (tree->settings.gated && !may_be_significant(tree, node, a)) continue;
            node->S[a] = score_of(tree, node, a);
        }
    }
    int32_t best;
    Choice choice;
    if (tree->settings.gain_ratio) {
        best = best_by_ratio(tree, node, &choice);
    } else {
        best = best_by_score(tree, node, &choice);
        set_alarms(tree, node, best);
    }
    if (best < 0) return best;
    node->S_test = node->S[best];
    /* How clearly a test was chosen is told as of the moment it was, when everything was looked at: what
     * is known of the others later on may be bounds only. */
    if (everything && (node->form != SPLIT || node->stale || best != node->test.attribute)) {
        node->score = choice.score;
        node->runner_up = choice.runner_up;
        node->margin = choice.margin;
        node_unexplain(tree, node);
    }
    return best;
}

int32_t majority(const Tree *tree, const Node *node) {
    int32_t best = -1;
    for (int32_t c = 0; c < tree->classes; c++) {
        if (!node->classes[c]) continue;
        if (best < 0 || node->classes[c] > node->classes[best] ||
            (node->classes[c] == node->classes[best] && tree->class_rank[c] < tree->class_rank[best]))
            best = c;
    }
    return best;
}
