/* The logarithm to base 2 in whole numbers, step by step as learners/merit.py computes it. A mathematics library may
 * round the last bit in another way than the next one does, and one unit breaks a tie between two tests differently. */
#include "core.h"

#define ONE (UINT64_C(1) << 63)
#define TERMS 8                                  /* of the series of ln(1 + r), for r below 1/256 */
#define LOG2_E UINT64_C(6653256548922161245) /* log2(e) in units of 2^-62 */

static uint64_t log_of_steps[256]; /* log2(1 + i/256) in units of 2^-62 */

static uint64_t times(uint64_t a, uint64_t b) { return (uint64_t)(((unsigned __int128)a * b) >> 63); }

/* log2 of a number from 1 to 2, in units of 2^-63, bit by bit: squared, it is above 2 where the next bit is 1. */
static uint64_t bit_by_bit(uint64_t y) {
    uint64_t log = 0;
    for (int bit = 0; bit < 62; bit++) {
        unsigned __int128 square = (unsigned __int128)y * y >> 63;
        int carry = square >> 64 != 0;
        y = (uint64_t)(carry ? square >> 1 : square);
        log = 2 * log + (uint64_t)carry;
    }
    return log;
}

void make_logs(void) {
    for (uint64_t i = 1; i < 256; i++) log_of_steps[i] = bit_by_bit((256 + i) << 55);
}

/* log2(x) of a whole number above 0, in units of 2^-62. */
unsigned __int128 exact_log(uint64_t x) {
    int exponent = 63 - __builtin_clzll(x);
    uint64_t m = x << (63 - exponent), i = (m >> 55) & 255, base = (256 + i) << 55;
    uint64_t r = (uint64_t)(((unsigned __int128)(m - base) << 63) / base), series = ONE / TERMS;
    for (uint64_t k = TERMS - 1; k > 0; k--) series = ONE / k - times(series, r);
    uint64_t rest = times(times(series, r), LOG2_E);
    return ((unsigned __int128)exponent << 62) + log_of_steps[i] + rest;
}
