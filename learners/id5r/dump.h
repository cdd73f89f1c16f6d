/* To and from whole numbers. */
#ifndef ESPALIER_DUMP_H
#define ESPALIER_DUMP_H

#include "core.h"

typedef struct {
    int64_t *data;
    size_t length, capacity;
} Numbers;

int tree_dump(Tree *tree, int let_go, Numbers *numbers);
void tree_empty(Tree *tree);
int tree_load(Tree *tree, const int64_t *data, size_t length);

#endif
