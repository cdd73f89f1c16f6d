/* What check.c and check_table.c share. */
#ifndef ESPALIER_CHECK_H
#define ESPALIER_CHECK_H

#include <stdio.h>

#include "core.h"

/* A decision on the way to the node at hand. */
typedef struct {
    Test test;
    int32_t branch;
} Decision;

typedef struct {
    const Tree *tree;
    uint32_t *copies;  /* by instance: how often it is in the branches at hand; in those of a shelf, less often */
    uint32_t *visit;   /* by instance: the branches in which it was met last */
    uint32_t *arrived; /* by instance: how often it stands in the order of arrival */
    uint32_t *table;   /* room for the counts of a node */
    uint8_t *used;     /* by attribute: whether it was tested above as a nominal one */
    Decision *way;
    int32_t depth, deepest;
    uint32_t visits;
    uint64_t linked; /* entries in the sets of the tree itself */
    int64_t bytes, shelved;
    char *message;
    size_t room;
} Check;

#define MUST(what, ...)                                          \
    do {                                                         \
        if (!(what)) {                                           \
            snprintf(check->message, check->room, __VA_ARGS__);  \
            return -1;                                           \
        }                                                        \
    } while (0)

static inline size_t cells_of(const Tree *tree) { return (size_t)tree->rows_of_counts * (size_t)tree->class_capacity; }
int check_table(Check *check, const Node *node);

#endif
