/* Predictions where the tested value is missing. */
#ifndef ESPALIER_MISSING_H
#define ESPALIER_MISSING_H

#include "core.h"

int32_t missing_answer(Tree *tree, const Node *node, int64_t *scores);

#endif
