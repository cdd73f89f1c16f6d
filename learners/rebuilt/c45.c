/* C4.5's way to grow: of the tests with at least the mean gain the one with the best gain ratio. */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  int32_t node, depth;
  Set set;
} Pending;

typedef struct {
  const Table *table;
  const Rules *rules;
  Work work;
  Split *splits;     /* of each attribute at the node at hand */
  int32_t *counted;  /* sparse: how many values of each attribute are stored in the set */
  int64_t *begin;
  int32_t *touched;
  uint64_t *entries;
  Pending *stack;
  int64_t waiting, room;
} Grower;

static int push(Grower *grower, int32_t node, int32_t depth, Set set) {
  if (grower->waiting == grower->room) {
    int64_t room = grower->room * 2 + 64;
    Pending *stack = realloc(grower->stack, sizeof(Pending) * room);
    if (stack == NULL) return -1;
    grower->stack = stack;
    grower->room = room;
  }
  grower->stack[grower->waiting++] = (Pending){node, depth, set};
  return 0;
}

static void try_all(Grower *grower, const Set *set, double total) {
  const Table *table = grower->table;
  int32_t *codes = grower->work.codes;
  for (int32_t a = 0; a < table->n; a++) {
    codes_of(table, &grower->work, a, set, codes);
    grower->splits[a] = table->arity[a]
                            ? split_nominal(table, &grower->work, grower->rules, a, codes, set, total)
                            : split_numeric(table, &grower->work, grower->rules, a, codes, set, total);
  }
}

/* Sparse: one pass over what is stored of the records gives every attribute its values. */
static void try_stored(Grower *grower, const Set *set, const double *counts) {
  const Table *table = grower->table;
  int32_t touched = 0;
  for (int32_t a = 0; a < table->n; a++) grower->splits[a].valid = 0;
  for (int32_t i = 0; i < set->n; i++)
    for (int64_t k = table->row_start[set->rows[i]]; k < table->row_start[set->rows[i] + 1]; k++)
      if (grower->counted[table->row_cols[k]]++ == 0) grower->touched[touched++] = table->row_cols[k];
  int64_t place = 0;
  for (int32_t t = 0; t < touched; t++) {
    grower->begin[grower->touched[t]] = place;
    place += grower->counted[grower->touched[t]];
    grower->counted[grower->touched[t]] = 0;
  }
  for (int32_t i = 0; i < set->n; i++) {
    uint32_t label = (uint32_t)table->labels[set->rows[i]];
    for (int64_t k = table->row_start[set->rows[i]]; k < table->row_start[set->rows[i] + 1]; k++) {
      int32_t a = table->row_cols[k];
      grower->entries[grower->begin[a] + grower->counted[a]++] = (uint64_t)table->row_codes[k] << 32 | label;
    }
  }
  for (int32_t t = 0; t < touched; t++) {
    int32_t a = grower->touched[t], stored = grower->counted[a];
    uint64_t *entries = grower->entries + grower->begin[a];
    grower->counted[a] = 0;
    if (stored < grower->rules->min_records && stored < set->n) continue;
    sort_keys(entries, stored);
    grower->splits[a] = split_stored(table, &grower->work, grower->rules, entries, stored, counts, set->n);
  }
}

/* An attribute with a value for nearly every record says nothing about what gain is usual. */
static int is_usual(const Table *table, int32_t attribute, int all_have_many) {
  return all_have_many || !table->arity[attribute] || table->arity[attribute] < 0.3 * table->m;
}

static int32_t best_of(const Grower *grower, int all_have_many) {
  double mean = 0, best = 0;
  int32_t usual = 0, chosen = LEAF;
  for (int32_t a = 0; a < grower->table->n; a++)
    if (grower->splits[a].valid && is_usual(grower->table, a, all_have_many)) {
      mean += grower->splits[a].gain;
      usual++;
    }
  if (usual) mean /= usual;
  for (int32_t a = 0; a < grower->table->n; a++) {
    const Split *split = &grower->splits[a];
    if (split->valid && split->gain >= mean - 1e-3 && split->ratio > best + TINY) {
      best = split->ratio;
      chosen = a;
    }
  }
  return chosen;
}

static int grow_node(Grower *grower, Tree *tree, Pending *here, int all_have_many) {
  const Table *table = grower->table;
  double *counts = tree->counts + (int64_t)here->node * tree->classes;
  count_classes(table, &here->set, counts);
  double total = sum(counts, tree->classes);
  if (total < 2 * grower->rules->min_records - TINY || is_pure(counts, tree->classes, total)) return 0;
  if (here->depth >= DEEPEST) return 0;
  tree->looked += (int64_t)here->set.n * (table->n + 1);
  if (table->codes != NULL) try_all(grower, &here->set, total);
  else try_stored(grower, &here->set, counts);
  int32_t best = best_of(grower, all_have_many);
  if (best == LEAF) return 0;
  int32_t branches = table->arity[best] ? table->arity[best] : 2;
  int32_t first = tree_add(tree, branches);
  if (first < 0) return -1;
  tree->nodes[here->node] = (Node){best, cut_of(table, best, &grower->splits[best]), first, branches};
  Set *parts = malloc(sizeof(Set) * branches);
  if (parts == NULL) return -1;
  int failed = part(table, &grower->work, &tree->nodes[here->node], &here->set, parts);
  for (int32_t b = 0; b < branches && !failed; b++) {
    if (parts[b].n == 0) set_close(&parts[b]);
    else if (push(grower, first + b, here->depth + 1, parts[b])) {
      for (; b < branches; b++) set_close(&parts[b]);
      failed = -1;
    }
  }
  free(parts);
  return failed;
}

int grow_c45(const Table *table, const Rules *rules, Tree *tree) {
  Grower grower = {.table = table, .rules = rules};
  int64_t n = table->n > 0 ? table->n : 1;
  int failed = work_open(&grower.work, table), all_have_many = 1;
  grower.splits = calloc(n, sizeof(Split));
  if (table->codes == NULL) {
    grower.counted = calloc(n, sizeof(int32_t));
    grower.begin = malloc(sizeof(int64_t) * n);
    grower.touched = malloc(sizeof(int32_t) * n);
    grower.entries = malloc(sizeof(uint64_t) * (table->row_start[table->m] + 1));
    if (!grower.counted || !grower.begin || !grower.touched || !grower.entries) failed = -1;
  }
  for (int32_t a = 0; a < table->n; a++)
    if (!table->arity[a] || table->arity[a] < 0.3 * table->m) all_have_many = 0;
  Set all;
  if (grower.splits == NULL || failed || set_open(&all, table->m)) failed = -1;
  else {
    for (int32_t i = 0; i < table->m; i++) all.rows[i] = i, all.weights[i] = 1;
    failed = push(&grower, 0, 0, all);
    if (failed) set_close(&all);
  }
  while (!failed && grower.waiting) {
    Pending here = grower.stack[--grower.waiting];
    failed = grow_node(&grower, tree, &here, all_have_many);
    set_close(&here.set);
  }
  while (grower.waiting) set_close(&grower.stack[--grower.waiting].set);
  free(grower.stack);
  free(grower.splits);
  free(grower.counted);
  free(grower.begin);
  free(grower.touched);
  free(grower.entries);
  work_close(&grower.work);
  return failed;
}
