/* Quantiles of the chi-square distribution, operation by operation as learners/merit.py computes them, so that both give
 * the same number to the last bit. Entries are filled in when they are first needed: two threads may both compute one,
 * and then write the same number. */
#include "critical.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

struct Levels {
    Levels *next;
    double level;
    int pearson, uses;
    int64_t near[NEAR_DEGREES]; /* by degrees of freedom, all bits turned over; 0: not known yet */
    int64_t cuts[CUT_TESTS][CUT_DEGREES];
};

static Levels *all_levels; /* changed only while Python's lock is held */

/* ---- the logarithm of the gamma function, as CPython computes it (Lanczos) */

#define LANCZOS 13
static const double LANCZOS_G = 6.024680040776729583740234375;
static const double NUMERATOR[LANCZOS] = {
    23531376880.410759688572007674451636754734846804940, 42919803642.649098768957899047001988850926355848959,
    35711959237.355668049440185451547166705960488635843, 17921034426.037209699919755754458931112671403265390,
    6039542586.3520280050642916443072979210699388420708, 1439720407.3117216736632230727949123939715485786772,
    248874557.86205415651146038641322942321632125127801, 31426415.585400194380614231628318205362874684987640,
    2876370.6289353724412254090516208496135991145378768, 186056.26539522349504029498971604569928220784236328,
    8071.6720023658162106380029022722506138218516325024, 210.82427775157934587250973392071336271166969580291,
    2.5066282746310002701649081771338373386264310793408};
static const double DENOMINATOR[LANCZOS] = {0.0,       39916800.0, 120543840.0, 150917976.0, 105258076.0,
                                            45995730.0, 13339535.0, 2637558.0,   357423.0,    32670.0,
                                            1925.0,     66.0,       1.0};

static double lanczos_sum(double x) {
    double above = 0.0, below = 0.0;
    for (int i = 0; i < LANCZOS; i++) {
        int k = x < 5.0 ? LANCZOS - 1 - i : i;
        above = x < 5.0 ? above * x + NUMERATOR[k] : above / x + NUMERATOR[k];
        below = x < 5.0 ? below * x + DENOMINATOR[k] : below / x + DENOMINATOR[k];
    }
    return above / below;
}

static double log_gamma(double x) {
    if (x == 1.0 || x == 2.0) return 0.0;
    double r = log(lanczos_sum(x)) - LANCZOS_G;
    r += (x - 0.5) * (log(x + LANCZOS_G - 0.5) - 1);
    return r;
}

/* ---- quantiles */

static double gamma_tail(double a, double x) {
    double scale = exp(a * log(x) - x - log_gamma(a));
    if (x < a + 1) {
        double term = 1 / a, total = term, denominator = a;
        while (fabs(term) > fabs(total) * 1e-16) {
            denominator += 1;
            term *= x / denominator;
            total += term;
        }
        double tail = 1.0 - total * scale;
        return tail > 0.0 ? tail : 0.0;
    }
    double tiny = 1e-300, b = x + 1 - a, c = 1 / tiny, d = 1 / b, fraction = d;
    for (int i = 1; i < 10000; i++) {
        double step = -i * (i - a), next;
        b += 2;
        next = d * step + b;
        d = 1 / (next != 0.0 ? next : tiny);
        next = b + step / c;
        c = next != 0.0 ? next : tiny;
        double factor = c * d;
        fraction *= factor;
        if (fabs(factor - 1) < 1e-16) break;
    }
    return fraction * scale;
}

static double tail_of(double x, int64_t degrees) { return x <= 0 ? 1.0 : gamma_tail((double)degrees / 2, x / 2); }

/* The value that a chi-square variable passes with some probability. */
double chi_square_threshold(double level, int64_t degrees) {
    double low = 0.0, high = 1.0;
    while (tail_of(high, degrees) > level) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (middle == low || middle == high) break;
        if (tail_of(middle, degrees) > level)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* n times the gain, in fixed point, above which G is significant. */
int64_t critical_gain(double level, int64_t degrees) {
    return (int64_t)floor(chi_square_threshold(level, degrees) / (2 * log(2)) * (double)(1 << FRACTION_BITS));
}

/* ---- tables */

/* The tables of a level, shared by all trees that have it; NULL: out of memory. */
Levels *levels_take(double level, int pearson) {
    Levels *levels = all_levels;
    while (levels && (levels->level != level || levels->pearson != pearson)) levels = levels->next;
    if (!levels) {
        if (!(levels = calloc(1, sizeof *levels))) return NULL;
        levels->level = level;
        levels->pearson = pearson;
        levels->next = all_levels;
        all_levels = levels;
    }
    levels->uses++;
    return levels;
}

void levels_give(Levels *levels) {
    if (!levels || --levels->uses) return;
    Levels **place = &all_levels;
    while (*place != levels) place = &(*place)->next;
    *place = levels->next;
    free(levels);
}

/* Bonferroni's correction: the best of several tests was chosen. */
static int64_t compute(const Levels *levels, int64_t degrees, int64_t tests) {
    double level = levels->level / (double)tests;
    if (!levels->pearson) return critical_gain(level, degrees);
    double threshold = chi_square_threshold(level, degrees);
    int64_t bits;
    memcpy(&bits, &threshold, sizeof bits);
    return bits;
}

/* For at least one degree of freedom and one test. */
static int64_t look_up(Levels *levels, Far *far, int64_t degrees, int64_t tests) {
    int64_t *entry = NULL;
    if (tests == 1 && degrees < NEAR_DEGREES)
        entry = &levels->near[degrees];
    else if (tests < CUT_TESTS && degrees < CUT_DEGREES)
        entry = &levels->cuts[tests][degrees];
    if (entry) {
        int64_t kept = __atomic_load_n(entry, __ATOMIC_RELAXED);
        if (kept) return ~kept;
        int64_t value = compute(levels, degrees, tests);
        __atomic_store_n(entry, ~value, __ATOMIC_RELAXED);
        return value;
    }
    Far *slot = &far[(uint64_t)(degrees * 31 + tests) % FAR_SLOTS];
    if (slot->degrees != degrees || slot->tests != tests) *slot = (Far){degrees, tests, compute(levels, degrees, tests)};
    return slot->value;
}

int64_t levels_gain(Levels *levels, Far *far, int64_t degrees, int64_t tests) {
    return look_up(levels, far, degrees, tests);
}

double levels_pearson(Levels *levels, Far *far, int64_t degrees, int64_t tests) {
    int64_t bits = look_up(levels, far, degrees, tests);
    double threshold;
    memcpy(&threshold, &bits, sizeof threshold);
    return threshold;
}
