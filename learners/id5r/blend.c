/* A logistic model of what the sources say. Each says, in bits, how far every class is behind the one that it speaks for
 * most; the sum, weighted by how much each is believed, is what speaks for a class. At the beginning attributes are
 * believed alike, which is naive Bayes; then each record's error moves every weight a little (AdaGrad, with a memory
 * that fades). Besides, a number speaks for a class the more the higher it is, or the lower: that is learned from
 * nothing, and finds borders that run across several numbers.
 *
 * No state depends on the size of the arrays: one that has never spoken is as one that there is no room for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blend.h"
#include "voices.h"

#define MOST_BITS 8.0    /* nobody speaks more strongly against a class */
#define RATE 0.1         /* how fast trust is learned, */
#define SLOPE_RATE 0.15  /* and slopes */
#define FADES 0.999      /* what a step still counts, one record later */
#define FIRST_STEPS 4.0  /* the first steps are not as large as they would be */
#define LEAF_BELIEVED 0.05
#define ALL_BELIEVED 1.5 /* attributes together are believed so much times the root of how many there are */

/* 2 to the power of something that is not above 0. With nothing but sums and products, the same on every machine. */
static double power_of_two(double x) {
    if (x < -1000) return 0;
    double whole = floor(x), rest = (x - whole - 0.5) * 0.69314718055994531, term = 1.4142135623730951, sum = term;
    for (int i = 1; i < 14; i++) {
        term *= rest / i;
        sum += term;
    }
    return ldexp(sum, (int)whole);
}

/* ---- room */

static void *more(void *block, size_t count, size_t size, int *failed) {
    void *room = realloc(block, (count + 1) * size);
    if (!room) *failed = 1;
    return room ? room : block;
}

static void clear(Learned *some, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) some[i] = (Learned){0, 0};
}

/* Let there be room for all attributes and classes of a tree; -1 where there is none. */
int blend_make_room(Blend *blend, const Tree *tree) {
    int32_t attributes = tree->attributes, classes = tree->classes, failed = 0;
    if (attributes <= blend->attributes && classes <= blend->classes && blend->trust) return 0;
    if (attributes < blend->attributes) attributes = blend->attributes;
    if (classes < blend->classes) classes = blend->classes;
    size_t sources = (size_t)(PRIOR_SAYS + 1 + attributes), positions = (size_t)(1 + attributes);
    size_t before = blend->trust ? (size_t)blend_sources(blend) : 0;
    Learned *slopes = calloc(positions * (size_t)classes + 1, sizeof *slopes);
    if (!slopes) return -1;
    for (int32_t i = 0; blend->slopes && i <= blend->attributes; i++)
        memcpy(slopes + (size_t)i * (size_t)classes, blend->slopes + (size_t)i * (size_t)blend->classes,
               sizeof *slopes * (size_t)blend->classes);
    free(blend->slopes);
    blend->slopes = slopes;
    blend->trust = more(blend->trust, sources, sizeof *blend->trust, &failed);
    blend->says = more(blend->says, sources * (size_t)classes, sizeof *blend->says, &failed);
    blend->speaks = more(blend->speaks, sources, 1, &failed);
    blend->positions = more(blend->positions, positions, sizeof *blend->positions, &failed);
    blend->possible = more(blend->possible, (size_t)classes, 1, &failed);
    blend->shares = more(blend->shares, (size_t)classes, sizeof *blend->shares, &failed);
    blend->parts = more(blend->parts, positions * (size_t)classes, sizeof *blend->parts, &failed);
    if (failed) return -1;
    clear(blend->trust, before, sources);
    blend->attributes = attributes;
    blend->classes = classes;
    return 0;
}

void blend_free(Blend *blend) {
    free(blend->trust);
    free(blend->slopes);
    free(blend->says);
    free(blend->speaks);
    free(blend->positions);
    free(blend->possible);
    free(blend->shares);
    free(blend->parts);
}

/* ---- hearing */

static double *row_of_source(const Blend *blend, int32_t source) {
    return blend->says + (size_t)source * (size_t)blend->classes;
}

/* Begin with the row at hand of the main tree. */
void blend_begin(Blend *blend, const Tree *main) {
    memset(blend->speaks, 0, PRIOR_SAYS);
    memset(blend->possible, 0, (size_t)blend->classes);
    blend->positions[0] = 1;
    for (int32_t a = 0; a < main->attributes; a++) {
        int32_t code = is_number(main, a) ? code_at(&main->store, main->row, a) : 0;
        blend->positions[a + 1] = code ? (double)(2 * code - 1) / (double)(main->scales[a].count + 1) - 1 : 0;
    }
}

/* What a source says: scores in fixed point, INT64_MIN where a class is out of the question. */
static void hear(Blend *blend, const Tree *tree, int32_t source, const int64_t *scores, const int64_t *before) {
    double *row = row_of_source(blend, source);
    int64_t best = INT64_MIN;
    for (int32_t c = 0; c < tree->classes; c++) {
        if (scores[c] == INT64_MIN) continue;
        int64_t score = scores[c] - (before ? before[c] : 0);
        if (score > best) best = score;
    }
    for (int32_t c = 0; c < tree->classes; c++) {
        int64_t behind = scores[c] == INT64_MIN ? INT64_MAX : best - (scores[c] - (before ? before[c] : 0));
        double bits = (double)behind / (double)(1 << FRACTION_BITS);
        row[c] = bits < MOST_BITS ? -bits : -MOST_BITS;
    }
    blend->speaks[source] = 1;
}

void blend_hear_scores(Blend *blend, const Tree *tree, int32_t source, const int64_t *scores) {
    hear(blend, tree, source, scores, NULL);
    for (int32_t c = 0; c < tree->classes; c++) blend->possible[c] |= scores[c] != INT64_MIN;
}

/* What the attributes say at the root, of which `parts` has the sums. */
void blend_hear_parts(Blend *blend, const Tree *main) {
    uint8_t *speak = blend_attributes_speak(blend);
    int64_t *parts = blend->parts;
    int32_t count = 0;
    blend_hear_scores(blend, main, PRIOR_SAYS, parts);
    for (int32_t a = 0; a < main->attributes; a++, parts += main->classes)
        if (speak[a]) {
            hear(blend, main, PRIOR_SAYS + 1 + a, parts + main->classes, parts);
            count++;
        }
    for (int32_t a = main->attributes; a < blend->attributes; a++) speak[a] = 0;
    blend->believed = count ? ALL_BELIEVED / sqrt((double)count) : 1;
    if (blend->believed > 1) blend->believed = 1;
}

/* What the classes at a leaf say, where one instance more is spread as those of the whole tree are. */
void blend_hear_leaf(Blend *blend, const Tree *tree, int32_t source, const Node *leaf) {
    int64_t *scores = tree->votes;
    for (int32_t c = 0; c < tree->classes; c++) {
        int64_t all = tree->root->classes[c];
        scores[c] = all ? log_of((int64_t)leaf->classes[c] * tree->root->n + all) : INT64_MIN;
    }
    hear(blend, tree, source, scores, NULL);
}

/* ---- answering and learning */

static double belief(const Blend *blend, int32_t source) {
    return (source < PRIOR_SAYS ? LEAF_BELIEVED : blend->believed) + blend->trust[source].value;
}

/* Find out how probable each class is; return the most probable one. */
int32_t blend_answer(Blend *blend, const Tree *main) {
    int32_t classes = main->classes, best = -1;
    double *shares = blend->shares, sum = 0;
    memset(shares, 0, sizeof *shares * (size_t)classes);
    for (int32_t source = 0; source < blend_sources(blend); source++) {
        if (!blend->speaks[source]) continue;
        const double *row = row_of_source(blend, source);
        double believed = belief(blend, source);
        for (int32_t c = 0; c < classes; c++) shares[c] += believed * row[c];
    }
    for (int32_t i = 0; i <= main->attributes; i++) {
        double position = blend->positions[i];
        const Learned *slopes = blend->slopes + (size_t)i * (size_t)blend->classes;
        if (position != 0)
            for (int32_t c = 0; c < classes; c++) shares[c] += position * slopes[c].value;
    }
    for (int32_t c = 0; c < classes; c++)
        if (blend->possible[c] && (best < 0 || shares[c] > shares[best] ||
                                   (shares[c] == shares[best] && main->class_rank[c] < main->class_rank[best])))
            best = c;
    if (best < 0) return -1;
    double highest = shares[best];
    for (int32_t c = 0; c < classes; c++) {
        shares[c] = blend->possible[c] ? power_of_two(shares[c] - highest) : 0;
        sum += shares[c];
    }
    for (int32_t c = 0; c < classes; c++) shares[c] /= sum;
    return best;
}

static inline void move(Learned *learned, double gradient, double rate) {
    learned->squares = FADES * learned->squares + gradient * gradient;
    learned->value += rate * gradient / sqrt(FIRST_STEPS + learned->squares);
}

/* Learn from the error of the answer at hand. */
void blend_learn(Blend *blend, const Tree *main, int32_t label) {
    int32_t classes = main->classes;
    if (!blend->possible[label]) return;
    for (int32_t source = 0; source < blend_sources(blend); source++) {
        if (!blend->speaks[source]) continue;
        const double *row = row_of_source(blend, source);
        double expected = 0;
        for (int32_t c = 0; c < classes; c++) expected += blend->shares[c] * row[c];
        move(&blend->trust[source], row[label] - expected, RATE);
    }
    for (int32_t i = 0; i <= main->attributes; i++) {
        double position = blend->positions[i];
        Learned *slopes = blend->slopes + (size_t)i * (size_t)blend->classes;
        if (position == 0) continue;
        for (int32_t c = 0; c < classes; c++)
            if (blend->possible[c])
                move(&slopes[c], position * ((c == label ? 1.0 : 0.0) - blend->shares[c]), SLOPE_RATE);
    }
}
