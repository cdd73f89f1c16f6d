/* What may come in from outside. */
#ifndef ESPALIER_BOUNDARY_H
#define ESPALIER_BOUNDARY_H

#include "core.h"

#define MOST_INSTANCES ((int64_t)UINT32_MAX - 1)

enum { BAD_CODE, BAD_NUMBER, BAD_LABEL, TOO_MANY };

typedef struct {
    int32_t why;
    int64_t row;
    int32_t attribute;    /* -1: none */
    uint64_t found, room; /* the code, class or number of instances, and what it has to be below */
} Refusal;

int is_number_code(uint64_t code);
int tree_refuses(const Tree *tree, const void *codes, int wide, const int32_t *labels, int64_t start, int64_t end,
                 Refusal *refusal);

#endif
