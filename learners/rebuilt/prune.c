/* Error-based pruning, as C4.5 has it and Weka does it: a subtree becomes a leaf, or its largest branch. */
#include "batch.h"

#include <math.h>
#include <stdlib.h>

/* How many errors more than those seen are to be expected of a leaf. */
double added_errors(double n, double errors, double confidence, double z) {
  if (n <= 0) return 0;
  if (errors < 1) {
    double none = n * (1 - pow(confidence, 1 / n));
    return errors <= 0 ? none : none + errors * (added_errors(n, 1, confidence, z) - none);
  }
  if (errors + 0.5 >= n) return n > errors ? n - errors : 0;
  double share = (errors + 0.5) / n;
  double rate = (share + z * z / (2 * n) + z * sqrt(share / n - share * share / n + z * z / (4 * n * n))) /
                (1 + z * z / n);
  return rate * n - errors;
}

static double wrong(const double *counts, int32_t classes, double total) {
  double most = 0;
  for (int32_t c = 0; c < classes; c++)
    if (counts[c] > most) most = counts[c];
  return total - most;
}

/* Subtrees that make no fewer errors in training than a leaf would become one. Children follow their parents. */
void collapse(Tree *tree) {
  double *errors = malloc(sizeof(double) * tree->length);
  if (errors == NULL) {
    tree->failed = 1;
    return;
  }
  for (int32_t i = tree->length - 1; i >= 0; i--) {
    Node *node = &tree->nodes[i];
    const double *counts = tree->counts + (int64_t)i * tree->classes;
    double leaf = wrong(counts, tree->classes, sum(counts, tree->classes)), below = 0;
    if (node->attribute == LEAF) {
      errors[i] = leaf;
      continue;
    }
    for (int32_t b = 0; b < node->branches; b++) below += errors[node->first + b];
    if (below >= leaf - 1e-3) *node = (Node){LEAF, 0, 0, 0};
    errors[i] = node->attribute == LEAF ? leaf : below;
  }
  free(errors);
}

typedef struct {
  const Table *table;
  Tree *tree;
  Work work;
  double confidence, z;
  double *scratch; /* by class */
  int raising;
  int failed;
} Pruner;

static double expected(const Pruner *pruner, const double *counts) {
  double total = sum(counts, pruner->tree->classes);
  if (total <= TINY) return 0;
  double errors = wrong(counts, pruner->tree->classes, total);
  return errors + added_errors(total, errors, pruner->confidence, pruner->z);
}

static double *counts_of(const Pruner *pruner, int32_t node) {
  return pruner->tree->counts + (int64_t)node * pruner->tree->classes;
}

static Set *parts_of(Pruner *pruner, int32_t node, const Set *set) {
  const Node *here = &pruner->tree->nodes[node];
  Set *parts = malloc(sizeof(Set) * here->branches);
  if (parts != NULL && part(pruner->table, &pruner->work, here, set, parts)) {
    free(parts);
    parts = NULL;
  }
  if (parts == NULL) pruner->failed = 1;
  return parts;
}

static void close_all(Set *parts, int32_t branches) {
  for (int32_t b = 0; b < branches; b++) set_close(&parts[b]);
  free(parts);
}

/* The errors to be expected of a subtree if it had these records; with `keep` it has them from now on. */
static double errors_with(Pruner *pruner, int32_t node, const Set *set, int keep) {
  Tree *tree = pruner->tree;
  double *counts = keep ? counts_of(pruner, node) : pruner->scratch;
  double errors = 0;
  if (keep || tree->nodes[node].attribute == LEAF) {
    count_classes(pruner->table, set, counts);
    errors = expected(pruner, counts);
  }
  if (tree->nodes[node].attribute == LEAF) return errors;
  int32_t first = tree->nodes[node].first, branches = tree->nodes[node].branches;
  Set *parts = parts_of(pruner, node, set);
  if (parts == NULL) return 0;
  errors = 0;
  for (int32_t b = 0; b < branches; b++)
    if (keep || parts[b].n) errors += errors_with(pruner, first + b, &parts[b], keep);
  close_all(parts, branches);
  return errors;
}

static int32_t largest_branch(const Pruner *pruner, int32_t node) {
  const Node *here = &pruner->tree->nodes[node];
  int32_t largest = 0;
  double most = -1;
  for (int32_t b = 0; b < here->branches; b++) {
    double total = sum(counts_of(pruner, here->first + b), pruner->tree->classes);
    if (total > most + TINY) most = total, largest = b;
  }
  return here->first + largest;
}

static double prune_node(Pruner *pruner, int32_t node, const Set *set) {
  Tree *tree = pruner->tree;
  while (!pruner->failed) {
    Node *here = &tree->nodes[node];
    double leaf = expected(pruner, counts_of(pruner, node)), below = 0;
    if (here->attribute == LEAF) return leaf;
    Set *parts = parts_of(pruner, node, set);
    if (parts == NULL) return leaf;
    for (int32_t b = 0; b < here->branches; b++) below += prune_node(pruner, here->first + b, &parts[b]);
    close_all(parts, here->branches);
    int32_t largest = largest_branch(pruner, node);
    double raised = pruner->raising ? errors_with(pruner, largest, set, 0) : HUGE_VAL;
    if (leaf <= below + 0.1 + TINY && leaf <= raised + 0.1 + TINY) {
      *here = (Node){LEAF, 0, 0, 0};
      return leaf;
    }
    if (raised > below + 0.1 + TINY) return below;
    *here = tree->nodes[largest];
    errors_with(pruner, node, set, 1);
  }
  return 0;
}

int prune(const Table *table, Tree *tree, double confidence, double z, int raising) {
  Pruner pruner = {.table = table, .tree = tree, .confidence = confidence, .z = z, .raising = raising};
  Set all;
  pruner.failed = work_open(&pruner.work, table);
  pruner.scratch = malloc(sizeof(double) * table->classes);
  if (pruner.failed || !pruner.scratch || set_open(&all, table->m)) pruner.failed = 1;
  else {
    for (int32_t i = 0; i < table->m; i++) all.rows[i] = i, all.weights[i] = 1;
    prune_node(&pruner, 0, &all);
    set_close(&all);
  }
  free(pruner.scratch);
  work_close(&pruner.work);
  return pruner.failed || tree->failed ? -1 : 0;
}
