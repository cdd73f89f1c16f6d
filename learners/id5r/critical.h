/* What is significant: quantiles of the chi-square distribution, kept in tables that all trees of one level share. */
#ifndef ESPALIER_CRITICAL_H
#define ESPALIER_CRITICAL_H

#include <stdint.h>

#define NEAR_DEGREES 4096 /* degrees of freedom that a table has room for, where one test is looked at, */
#define CUT_DEGREES 64    /* and where the best of several is */
#define CUT_TESTS 128
#define FAR_SLOTS 64

typedef struct Levels Levels;

/* Kept by each tree for what no table has room for. */
typedef struct {
    int64_t degrees, tests, value;
} Far;

double chi_square_threshold(double level, int64_t degrees);
int64_t critical_gain(double level, int64_t degrees);
Levels *levels_take(double level, int pearson);
void levels_give(Levels *levels);
int64_t levels_gain(Levels *levels, Far *far, int64_t degrees, int64_t tests);
double levels_pearson(Levels *levels, Far *far, int64_t degrees, int64_t tests);

#endif
