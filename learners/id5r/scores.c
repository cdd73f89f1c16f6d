/* How good a test is. Sums are whole numbers: x log2 x in fixed point, so that their order does not matter
 * and the tree is to the last tie the one that plain Python builds (learners/merit.py). */
#include <math.h>
#include <string.h>

#include "core.h"

#define ROUNDING 100000
int64_t x_log_x_table[X_LOG_X_TABLE];

int64_t computed_x_log_x(int64_t x) {
    return (int64_t)((exact_log((uint64_t)x) * (uint64_t)x + (UINT64_C(1) << 37)) >> (62 - FRACTION_BITS));
}

void make_x_log_x(void) {
    if (x_log_x_table[2]) return;
    make_logs();
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

/* What is found out about the cuts of a number. */
typedef struct {
    int64_t best, next;
    int32_t cut, bins; /* bins: how many there is anything in */
} Found;

/* The best two of some cuts, each an S and in its lowest bits the cut. The first among equals is the better one. There is
 * no branch in it, because which cut is better than those before it is hard to predict. */
typedef struct {
    int64_t best, next;
} Keys;

#define CUT_BITS 8
#define NO_KEY INT64_MAX

static inline void consider(Keys *keys, int64_t S, int32_t cut) {
    int64_t key = S * (1 << CUT_BITS) + cut;
    int64_t worse = key < keys->best ? keys->best : key;
    keys->best = key < keys->best ? key : keys->best;
    keys->next = worse < keys->next ? worse : keys->next;
}

static inline void tell(const Keys *keys, int32_t bins, Found *found) {
    found->bins = bins;
    if (keys->best == NO_KEY) return;
    found->best = keys->best >> CUT_BITS;
    found->cut = (int32_t)(keys->best & ((1 << CUT_BITS) - 1));
    if (keys->next >> CUT_BITS < found->next) found->next = keys->next >> CUT_BITS;
}

/* A few classes, and instances enough for the table of logarithms alone: as most often. First the bins with something
 * in them are found, then the cuts between them are scored, both without a branch that depends on what is counted. Made
 * for each number of classes, with and without missing numbers and tables of sides. */
static inline __attribute__((always_inline)) void score_few(const Node *node, const uint32_t *missing, const Scale *scale,
                                                            size_t step, const int32_t classes, const int some_missing,
                                                            const int64_t *sides, Found *found) {
    const int64_t *f = x_log_x_table;
    const uint32_t *cell = missing + step;
    uint32_t n = (uint32_t)node->n, all[FEW_CLASSES], sum[FEW_CLASSES] = {0}, lower[MOST_BINS + 1][FEW_CLASSES];
    uint8_t cuts[MOST_BINS + 1];
    int32_t bins = 0;
    for (int32_t bin = 1; bin <= scale->count + 1; bin++, cell += step) {
        uint32_t any = 0;
        for (int32_t c = 0; c < classes; c++) {
            uint32_t here = some_missing && bin == scale->median ? cell[c] + missing[c] : cell[c];
            any |= here;
            lower[bins][c] = sum[c] += here;
        }
        cuts[bins] = (uint8_t)bin;
        bins += any != 0;
    }
    Keys keys = {NO_KEY, NO_KEY};
    for (int32_t c = 0; c < classes; c++) all[c] = node->classes[c];
    for (int32_t k = 0; k < bins - 1; k++) {
        uint32_t below = 0;
        int64_t S = 0;
        for (int32_t c = 0; c < classes; c++) {
            uint32_t here = lower[k][c];
            below += here;
            S -= sides ? sides[(c + 1) * A_SIDE + here] : f[here] + f[all[c] - here];
        }
        S += sides ? sides[below] : f[below] + f[n - below];
        consider(&keys, S, cuts[k]);
    }
    tell(&keys, bins, found);
}

/* Two classes, whose counts of a bin are one word. */
static inline __attribute__((always_inline)) void score_two(const Node *node, const uint32_t *missing, const Scale *scale,
                                                            const int64_t *sides, Found *found) {
    const int64_t *f = x_log_x_table;
    uint64_t sum = 0, lower[MOST_BINS + 1], both;
    uint32_t n = (uint32_t)node->n, zeros = node->classes[0], ones = node->classes[1];
    uint8_t cuts[MOST_BINS + 1];
    size_t bins = 0;
    memcpy(&both, missing, 8);
    for (int32_t bin = 1; bin <= scale->count + 1; bin++) {
        uint64_t here;
        memcpy(&here, missing + 2 * (size_t)bin, 8);
        here += bin == scale->median ? both : 0;
        lower[bins] = sum += here;
        cuts[bins] = (uint8_t)bin;
        bins += here != 0;
    }
    Keys keys = {NO_KEY, NO_KEY};
    for (size_t k = 0; k + 1 < bins; k++) {
        size_t first = (uint32_t)lower[k], second = lower[k] >> 32, below = first + second;
        int64_t S;
        if (sides)
            S = sides[below] - sides[A_SIDE + first] - sides[2 * A_SIDE + second];
        else
            S = f[below] + f[n - below] - f[first] - f[zeros - first] - f[second] - f[ones - second];
        consider(&keys, S, cuts[k]);
    }
    tell(&keys, (int32_t)bins, found);
}

/* Any number of classes: of the sums, only what a bin changes is made anew. */
static void score_classes(Tree *tree, const Node *node, const uint32_t *missing, const Scale *scale, Found *found) {
    int32_t classes = tree->classes;
    size_t step = (size_t)tree->class_capacity;
    const uint32_t *cell = missing + step;
    uint32_t *below = tree->below_cut;
    int64_t n = 0, parts = x_log_x(node->n) - node->disorder; /* of each class, below and above */
    memset(below, 0, sizeof *below * (size_t)classes);
    for (int32_t bin = 1; bin <= scale->count + 1; bin++, cell += step) {
        int64_t before = n;
        for (int32_t c = 0; c < classes; c++) {
            uint32_t here = cell[c] + (bin == scale->median ? missing[c] : 0);
            if (!here) continue;
            uint32_t old = below[c], all = node->classes[c];
            below[c] += here;
            n += here;
            parts += x_log_x(old + here) - x_log_x(old) + x_log_x(all - old - here) - x_log_x(all - old);
        }
        if (n == before) continue;
        found->bins++;
        if (n == node->n) return;
        int64_t S = x_log_x(n) + x_log_x(node->n - n) - parts;
        if (found->cut < 0 || S < found->best) {
            if (found->cut >= 0 && found->best < found->next) found->next = found->best;
            found->best = S;
            found->cut = bin;
        } else if (S < found->next) {
            found->next = S;
        }
    }
}

#define MADE_FOR(CLASSES)                                                                                       \
    case CLASSES:                                                                                               \
        if (sides && !some_missing)                                                                             \
            score_few(node, missing, scale, step, CLASSES, 0, sides, &found);                                   \
        else if (!some_missing)                                                                                 \
            score_few(node, missing, scale, step, CLASSES, 0, NULL, &found);                                    \
        else                                                                                                    \
            score_few(node, missing, scale, step, CLASSES, 1, NULL, &found);                                    \
        break

/* How much of the disorder a threshold leaves, for every cut of a number in one pass over its bins. A cut with
 * an empty bin below it divides as the one before does and is passed over. Where no cut divides, all is left. */
static int64_t score_of_cuts(Tree *tree, Node *node, int32_t attribute, const int64_t *sides) {
    const Scale *scale = &tree->scales[attribute];
    size_t step = (size_t)tree->class_capacity;
    const uint32_t *missing = node->counts + (size_t)tree->offsets[attribute] * step;
    Found found = {node->disorder, node->disorder, -1, 0};
    tree->ops.scores++;
    int32_t classes = node->n < X_LOG_X_TABLE && scale->count < MOST_BINS ? tree->classes : FEW_CLASSES + 1;
    uint32_t some_missing = 0;
    for (int32_t c = 0; c < tree->classes; c++) some_missing |= missing[c];
    switch (classes == 2 && step == 2 ? 1 : classes) {
        case 1:
            if (sides)
                score_two(node, missing, scale, sides, &found);
            else
                score_two(node, missing, scale, NULL, &found);
            break;
        MADE_FOR(2);
        MADE_FOR(3);
        MADE_FOR(4);
        MADE_FOR(5);
        MADE_FOR(6);
        MADE_FOR(7);
        MADE_FOR(8);
        default: score_classes(tree, node, missing, scale, &found);
    }
    tree->best_cut[attribute] = found.cut;
    tree->next_best[attribute] = found.next;
    node->values_here[attribute] = (uint16_t)found.bins;
    return found.best;
}

/* What x log x of both sides of a cut comes to, by how many are below it: of all instances, and of each class. Made once
 * for a node whose attributes are all scored, it halves what has to be looked up for each cut. NULL where it does not
 * pay. */
static const int64_t *find_sides(Tree *tree, const Node *node) {
    const int64_t *f = x_log_x_table;
    if (node->n >= A_SIDE || tree->classes > FEW_CLASSES || tree->numbers < 2) return NULL;
    for (int64_t x = 0; x <= node->n; x++) tree->sides[x] = f[x] + f[node->n - x];
    for (int32_t c = 0; c < tree->classes; c++) {
        int64_t all = node->classes[c], *side = tree->sides + (c + 1) * A_SIDE;
        for (int64_t x = 0; x <= all; x++) side[x] = f[x] + f[all - x];
    }
    return tree->sides;
}

static int64_t score_of(Tree *tree, Node *node, int32_t attribute, const int64_t *sides) {
    if (is_number(tree, attribute)) return score_of_cuts(tree, node, attribute, sides);
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

/* How many instances of each class, and in all, are below the best cut of a number. */
static int64_t count_below(const Tree *tree, const Node *node, int32_t attribute) {
    const Scale *scale = &tree->scales[attribute];
    const uint32_t *missing = node->counts + (size_t)tree->offsets[attribute] * tree->class_capacity;
    int64_t n = 0;
    memset(tree->below_cut, 0, sizeof *tree->below_cut * (size_t)tree->classes);
    for (int32_t bin = 1; bin <= tree->best_cut[attribute]; bin++)
        for (int32_t c = 0; c < tree->classes; c++) {
            uint32_t here = missing[(size_t)bin * tree->class_capacity + c] + (bin == scale->median ? missing[c] : 0);
            tree->below_cut[c] += here;
            n += here;
        }
    return n;
}

static int64_t spread_of(const Tree *tree, const Node *node, int32_t attribute) {
    if (is_number(tree, attribute)) {
        int64_t n = count_below(tree, node, attribute);
        return x_log_x(node->n) - x_log_x(n) - x_log_x(node->n - n);
    }
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

static double pearson_of_cut(const Tree *tree, const Node *node, int32_t attribute) {
    int64_t n = count_below(tree, node, attribute);
    long double sum = 0;
    for (int32_t c = 0; c < tree->classes; c++) {
        double all = (double)node->classes[c], lower = (double)tree->below_cut[c], upper = all - lower;
        if (lower > 0) sum += (long double)(lower * lower / ((double)n * all));
        if (upper > 0) sum += (long double)(upper * upper / ((double)(node->n - n) * all));
    }
    return (double)node->n * ((double)sum - 1.0);
}

static double pearson_of(const Tree *tree, const Node *node, int32_t attribute) {
    if (is_number(tree, attribute)) return pearson_of_cut(tree, node, attribute);
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

static int64_t critical(Tree *tree, int64_t degrees) { return levels_gain(tree->levels, tree->far, degrees, 1); }

/* The same where the best of several cuts was chosen. */
static int64_t critical_cut(Tree *tree, int64_t degrees, int64_t cuts) {
    return levels_gain(tree->levels, tree->far, degrees, cuts);
}

static double critical_pearson(Tree *tree, int64_t degrees, int64_t tests) {
    return levels_pearson(tree->levels, tree->far, degrees, tests);
}

/* The gain that a test must pass at the least, whichever it is. */
int64_t least_gain(Tree *tree, const Node *node) { return critical(tree, node->present - 1); }

/* How many tests an attribute offers, of which the best is chosen: of a number, as many as cuts divide. */
static int64_t tests_of(const Tree *tree, const Node *node, int32_t attribute) {
    return is_number(tree, attribute) ? node->values_here[attribute] - 1 : 1;
}

static int64_t degrees_of(const Tree *tree, const Node *node, int32_t attribute) {
    int64_t more = node->values_here[attribute] - 1;
    return (is_number(tree, attribute) && more > 1 ? 1 : more) * (node->present - 1);
}

/* The gain an attribute must pass to be significant, by G; INT64_MAX where it cannot be. */
static int64_t needed_gain(Tree *tree, const Node *node, int32_t attribute) {
    int64_t more = node->values_here[attribute] - 1, degrees = node->present - 1;
    if (is_number(tree, attribute)) return more < 1 || degrees < 1 ? INT64_MAX : critical_cut(tree, degrees, more);
    degrees *= more;
    return degrees < 1 ? INT64_MAX : critical(tree, degrees);
}

static int is_identifier(const Tree *tree, const Node *node, int32_t attribute) {
    return node->n < (int64_t)tree->settings.records_per_value * node->values_here[attribute] &&
           !is_number(tree, attribute);
}

static int is_significant(Tree *tree, const Node *node, int32_t attribute) {
    if (is_identifier(tree, node, attribute)) return 0;
    if (tree->settings.pearson) {
        int64_t degrees = degrees_of(tree, node, attribute);
        return degrees >= 1 && pearson_of(tree, node, attribute) >
                                   critical_pearson(tree, degrees, tests_of(tree, node, attribute));
    }
    int64_t need = needed_gain(tree, node, attribute);
    return need != INT64_MAX && node->disorder - node->S[attribute] > need;
}

/* Whether an attribute may be tested at all: one that was tested above has nothing more to say, and of a number
 * some cut must divide. */
static int is_candidate(const Tree *tree, const Node *node, int32_t attribute) {
    return !tree->used[attribute] && (!is_number(tree, attribute) || node->values_here[attribute] > 1);
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
        if (!is_candidate(tree, node, a)) continue;
        sum += node->disorder - node->S[a];
        count++;
    }
    int64_t mean = count ? rounded((int64_t)sum, unit * count) : 0;
    int32_t best = -1, second = -1;
    int64_t highest = 0, next = 0;
    for (int32_t i = 0; i < tree->attributes; i++) {
        int32_t a = tree->order[i];
        if (!is_candidate(tree, node, a)) continue;
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
    int64_t lowest = 0, next = 0, beyond = INT64_MAX; /* an S that is neither the best nor the second */
    for (int32_t i = 0; i < tree->attributes; i++) {
        int32_t a = tree->order[i];
        if (node->S[a] > beyond || !is_candidate(tree, node, a)) continue;
        if (tree->settings.gated && !is_significant(tree, node, a)) continue;
        int64_t score = rounded(node->S[a], unit);
        if (best < 0 || score < lowest) {
            second = best, next = lowest;
            best = a, lowest = score;
        } else if (second < 0 || score < next) {
            second = a, next = score;
        }
        if (second >= 0) beyond = node->S[second] + rounding_unit(node->n);
    }
    *choice = (Choice){lowest, second, second < 0 ? 0 : next - lowest};
    return best;
}

/* Whether nothing is as good as the test of a decision node but what is not significant. */
static int test_stands(Tree *tree, const Node *node, int32_t tested, int64_t reach) {
    if (!is_candidate(tree, node, tested)) return 0;
    for (int32_t a = 0; a < tree->attributes; a++)
        if (node->S[a] <= reach && a != tested && is_candidate(tree, node, a) &&
            (!tree->settings.gated || is_significant(tree, node, a)))
            return 0;
    return 1;
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

/* Whether another cut of the number that is tested may be the better one by now. Cuts of one number are compared
 * without rounding; what their sums are rounded by is allowed for. */
static int another_cut_may_win(const Tree *tree, const Node *node) {
    return node->S_test + 2 * tree->classes + 4 >= node->S_rest;
}

/* Whether something may have made another attribute the best since the last look. */
int needs_look(Tree *tree, const Node *node) {
    if (node->n >= node->n_alarm || node->disorder > node->disorder_alarm) return 1;
    if (node->form != SPLIT) return 0;
    if (node->S_alarm == INT64_MIN || node->S_test + rounding_unit(node->n) >= node->S_alarm) return 1;
    if (node->test.cut >= 0 && another_cut_may_win(tree, node)) return 1;
    if (!tree->settings.gated) return 0;
    if (tree->settings.pearson || is_identifier(tree, node, node->test.attribute)) return 1;
    int64_t need = needed_gain(tree, node, node->test.attribute);
    return need == INT64_MAX || node->disorder - node->S_test <= need;
}

/* What S a runner-up has at the most, going by the attributes that the look at hand has scored. */
static int64_t reach_of_second(Tree *tree, const Node *node) {
    int64_t first = INT64_MAX, second = INT64_MAX, unit = rounding_unit(node->n);
    for (int32_t a = 0; a < tree->attributes; a++) {
        int64_t S = node->S[a];
        if (S >= second || !tree->scored[a] || !is_candidate(tree, node, a)) continue;
        if (tree->settings.gated && !is_significant(tree, node, a)) continue;
        second = S < first ? first : S;
        first = S < first ? S : first;
    }
    return second == INT64_MAX ? second : second + unit;
}

/* Find the best test of a node with counts; none where nothing may be tested. What is known of attributes
 * that cannot win is left as it is, unless everything is to be looked at; or, after a look that has found another best
 * test, whatever may be its runner-up. */
Test look(Tree *tree, Node *node, Scope scope) {
    int64_t reach = INT64_MAX;
    int32_t tested = node->form == SPLIT ? node->test.attribute : -1;
    uint8_t *scored = tree->scored;
    int by_score = !tree->settings.gain_ratio && !tree->settings.pearson;
    if (scope == WHAT_MAY_WIN && !by_score) scope = EVERYTHING;
    if (scope != THE_REST) memset(scored, 0, (size_t)tree->attributes);
    if (tested >= 0 && scope == WHAT_MAY_WIN) {
        node->S[tested] = node->S_test;
        scored[tested] = 1;
        if (is_number(tree, tested)) {
            tree->best_cut[tested] = node->test.cut;
            tree->next_best[tested] = node->S_rest;
            if (another_cut_may_win(tree, node)) node->S[tested] = score_of(tree, node, tested, NULL);
        }
        reach = node->S[tested] + rounding_unit(node->n);
        if (tree->settings.gated && !is_significant(tree, node, tested)) reach = INT64_MAX;
    }
    const int64_t *sides = scope != EVERYTHING ? NULL : find_sides(tree, node);
    if (scope == THE_REST && !by_score) scope = EVERYTHING;
    if (scope == THE_REST) reach = reach_of_second(tree, node);
    for (int32_t a = 0; a < tree->attributes; a++) {
        if (tree->used[a] || scored[a]) continue;
        if (scope != EVERYTHING &&
            (node->S[a] > reach || (tree->settings.gated && !may_be_significant(tree, node, a))))
            continue;
        node->S[a] = score_of(tree, node, a, sides);
        scored[a] = 1;
        if (scope == THE_REST) reach = reach_of_second(tree, node);
    }
    int32_t best;
    Choice choice = {0, -1, 0};
    if (scope == WHAT_MAY_WIN && reach != INT64_MAX && test_stands(tree, node, tested, reach)) {
        best = tested; /* as most often: nothing has to be rounded and compared */
        set_alarms(tree, node, best);
    } else if (tree->settings.gain_ratio) {
        best = best_by_ratio(tree, node, &choice);
    } else {
        best = best_by_score(tree, node, &choice);
        set_alarms(tree, node, best);
    }
    Test test = {best, -1};
    if (best < 0) return test;
    node->S_test = node->S[best];
    if (is_number(tree, best)) {
        test.cut = tree->best_cut[best];
        node->S_rest = tree->next_best[best];
    }
    /* How clearly a test was chosen is told as of the moment it was, when everything was looked at: what
     * is known of the others later on may be bounds only. */
    if (scope != WHAT_MAY_WIN && (node->form != SPLIT || node->stale || node->unjudged || best != tested ||
                                  test.cut != node->test.cut)) {
        node->unjudged = 0;
        node->score = choice.score;
        node->runner_up = choice.runner_up;
        node->margin = choice.margin;
        node_unexplain(tree, node);
    }
    return test;
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
