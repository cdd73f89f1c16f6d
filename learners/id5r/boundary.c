/* The boundary: rows and labels that come from outside are checked here, once, before anything is changed. Inside nothing
 * is checked again. */
#include "boundary.h"

/* The codes of the smallest and the largest number, which are infinite. Beyond them there is nothing that is a number. */
#define LEAST_NUMBER UINT64_C(0x000FFFFFFFFFFFFF)
#define MOST_NUMBER UINT64_C(0xFFF0000000000000)

/* Whether 64 bits are the code of a number, or say that it is missing. */
int is_number_code(uint64_t code) { return !code || (code >= LEAST_NUMBER && code <= MOST_NUMBER); }

static int is_fine(const Tree *tree, int32_t attribute, uint64_t code) {
    return is_number(tree, attribute) ? is_number_code(code) : code < (uint64_t)tree->known[attribute];
}

/* Whether some code of a row cannot be learned. Without a branch that depends on the codes: almost all are fine. */
static int is_bad_narrow(const Tree *tree, const uint32_t *codes) {
    const int32_t *known = tree->known;
    uint32_t bad = 0;
    for (int32_t a = 0; a < tree->attributes; a++) bad |= codes[a] >= (uint32_t)known[a];
    return bad != 0;
}

static int is_bad_wide(const Tree *tree, const uint64_t *codes) {
    int bad = 0;
    for (int32_t a = 0; a < tree->attributes; a++) bad |= !is_fine(tree, a, codes[a]);
    return bad;
}

/* The first attribute whose code cannot be learned. */
static int32_t find_bad(const Tree *tree, const void *codes, int wide) {
    for (int32_t a = 0; a < tree->attributes; a++)
        if (!is_fine(tree, a, wide ? ((const uint64_t *)codes)[a] : ((const uint32_t *)codes)[a])) return a;
    return -1;
}

static void find_reason(const Tree *tree, const void *row, int wide, int32_t label, Refusal *refusal) {
    if (label >= tree->classes) {
        *refusal = (Refusal){BAD_LABEL, refusal->row, -1, (uint64_t)label, (uint64_t)tree->classes};
        return;
    }
    int32_t a = find_bad(tree, row, wide);
    uint64_t code = wide ? ((const uint64_t *)row)[a] : ((const uint32_t *)row)[a];
    *refusal = (Refusal){is_number(tree, a) ? BAD_NUMBER : BAD_CODE, refusal->row, a, code, (uint64_t)tree->known[a]};
}

/* Whether some rows cannot be learned; then `refusal` says why. A row without a label is only answered, and may hold codes
 * that nobody has: these are values never learned. Counts have 32 bits, so there is an end to how many can be retained. */
int tree_refuses(const Tree *tree, const void *codes, int wide, const int32_t *labels, int64_t start, int64_t end,
                 Refusal *refusal) {
    int64_t retained = tree->root ? tree->root->n : 0;
    if (retained + (end - start) > MOST_INSTANCES) {
        *refusal = (Refusal){TOO_MANY, start, -1, (uint64_t)retained, (uint64_t)MOST_INSTANCES};
        return 1;
    }
    size_t size = (size_t)tree->attributes * (wide ? 8 : 4);
    const char *row = (const char *)codes + (size_t)start * size;
    for (int64_t i = start; i < end; i++, row += size) {
        if (labels[i] < 0) continue;
        int bad = labels[i] >= tree->classes;
        bad |= wide ? is_bad_wide(tree, (const uint64_t *)row) : is_bad_narrow(tree, (const uint32_t *)row);
        if (!bad) continue;
        refusal->row = i;
        find_reason(tree, row, wide, labels[i], refusal);
        return 1;
    }
    return 0;
}
