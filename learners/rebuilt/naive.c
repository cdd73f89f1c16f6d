/* The naive tree (Su and Zhang 2006): at every node the attribute of the highest independent information gain.
 *
 * With p_c the classes at the node and P(x|c) those of the whole data, equations 1 and 5 come to
 *     IIG = sum over c of p_c sum over x of P(x|c) log P(x|c)  -  sum over x of p_x log p_x,
 *     p_x = sum over c of p_c P(x|c):
 * the inner sum of the first part is known beforehand, and no record is looked at. And since for any Q
 *     IIG = sum over c of p_c D(P(.|c) || Q)  -  D(p || Q),
 * the first part with Q the shares of all data, known beforehand too, is a bound: most attributes need no more.
 */
#include "batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a path says about an attribute: it is no candidate any more, or its codes are in (above, upto]. */
typedef struct {
  int32_t attribute, above, upto;
  int dropped;
} Word;

typedef struct Words {
  struct Words *up, *next;
  int32_t n;
  Word words[];
} Words;

typedef struct {
  int32_t node, depth;
  Words *words;
  Set set;
} Pending;

typedef struct {
  double score;
  int32_t attribute;
  int32_t exact; /* or only a bound */
} Rated;

typedef struct {
  const Table *table;
  const Rules *rules;
  int renormalise;
  Work work;
  Cells cells;
  int32_t *above, *upto;
  uint8_t *state;     /* of each attribute: FREE, BOUND or DROPPED */
  Rated *heap;
  int32_t *touched, *stored, seen;
  int32_t *present;   /* the classes at the node */
  double *share, *inside;
  Words *arena;
  Pending *stack;
  int64_t waiting, room;
} Grower;

enum { FREE, BOUND, DROPPED };

static Words *words_new(Grower *grower, Words *up, int32_t n) {
  Words *words = malloc(sizeof(Words) + sizeof(Word) * n);
  if (words == NULL) return NULL;
  words->up = up;
  words->n = 0;
  words->next = grower->arena;
  grower->arena = words;
  return words;
}

static int push(Grower *grower, Pending pending) {
  if (grower->waiting == grower->room) {
    int64_t room = grower->room * 2 + 64;
    Pending *stack = realloc(grower->stack, sizeof(Pending) * room);
    if (stack == NULL) return -1;
    grower->stack = stack;
    grower->room = room;
  }
  grower->stack[grower->waiting++] = pending;
  return 0;
}

/* ---- scores */

static double rounded(double score) { return nearbyint(score * 1e12) / 1e12; }

/* A class that is on the path is in the interval too: its share of it is above 0. */
static double score_bound(const Grower *grower, int32_t attribute, int32_t present) {
  const Cells *cells = &grower->cells;
  int32_t classes = grower->table->classes;
  int64_t low = cells->start[attribute], high = cells->start[attribute + 1] - 1;
  while (low < high && cells->last[low] <= grower->above[attribute]) low++;
  while (low < high && cells->last[high - 1] >= grower->upto[attribute]) high--;
  double score = 0;
  for (int32_t i = 0; i < present; i++) grower->inside[i] = 0;
  for (int64_t k = low; k <= high; k++)
    for (int32_t i = 0; i < present; i++) grower->inside[i] += cells->given[k * classes + grower->present[i]];
  for (int64_t k = low; k <= high; k++) {
    double mixed = 0;
    for (int32_t i = 0; i < present; i++) {
      double given = cells->given[k * classes + grower->present[i]];
      if (given <= 0) continue;
      given /= grower->inside[i];
      score += grower->share[i] * given * log2(given);
      mixed += grower->share[i] * given;
    }
    if (mixed > 0) score -= mixed * log2(mixed);
  }
  return rounded(score);
}

static double score_free(const Grower *grower, int32_t attribute, int32_t present) {
  const Cells *cells = &grower->cells;
  int32_t classes = grower->table->classes;
  double score = 0;
  for (int32_t i = 0; i < present; i++)
    score += grower->share[i] * cells->log_given[(int64_t)attribute * classes + grower->present[i]];
  for (int64_t k = cells->start[attribute]; k < cells->start[attribute + 1]; k++) {
    double mixed = 0;
    for (int32_t i = 0; i < present; i++)
      mixed += grower->share[i] * cells->given[k * classes + grower->present[i]];
    if (mixed > 0) score -= mixed * log2(mixed);
  }
  return rounded(score);
}

static double score_at_most(const Grower *grower, int32_t attribute, int32_t present) {
  const double *excess = grower->cells.excess + (int64_t)attribute * grower->table->classes;
  double score = 1e-9; /* more than what rounding can take away */
  for (int32_t i = 0; i < present; i++) score += grower->share[i] * excess[grower->present[i]];
  return score;
}

static int32_t classes_at(Grower *grower, const double *counts, double total) {
  int32_t present = 0;
  for (int32_t c = 0; c < grower->table->classes; c++)
    if (counts[c] > 0) {
      grower->present[present] = c;
      grower->share[present++] = counts[c] / total;
    }
  return present;
}

/* ---- candidates */

static int before(const Rated *one, const Rated *other) {
  return one->score > other->score || (one->score == other->score && one->attribute < other->attribute);
}

static void sift(Rated *heap, int32_t n, int32_t at) {
  for (;;) {
    int32_t best = at, left = 2 * at + 1;
    if (left < n && before(&heap[left], &heap[best])) best = left;
    if (left + 1 < n && before(&heap[left + 1], &heap[best])) best = left + 1;
    if (best == at) return;
    Rated swap = heap[at];
    heap[at] = heap[best];
    heap[best] = swap;
    at = best;
  }
}

/* Put the candidates with their scores on the heap. Sparse: an attribute with nothing stored in the set is
 * constant there, and stays so below. */
static int32_t rate_all(Grower *grower, const Set *set, int32_t present) {
  const Table *table = grower->table;
  int32_t candidates = 0, n = table->n;
  if (table->codes == NULL) {
    n = 0;
    for (int32_t i = 0; i < set->n; i++)
      for (int64_t k = table->row_start[set->rows[i]]; k < table->row_start[set->rows[i] + 1]; k++)
        if (grower->stored[table->row_cols[k]]++ == 0) grower->touched[n++] = table->row_cols[k];
  }
  for (int32_t t = 0; t < n; t++) {
    int32_t a = table->codes == NULL ? grower->touched[t] : t;
    if (grower->state[a] == DROPPED) continue;
    int bound = grower->state[a] == BOUND && grower->renormalise;
    double score = bound ? score_bound(grower, a, present) : score_at_most(grower, a, present);
    grower->heap[candidates++] = (Rated){score, a, bound};
  }
  grower->seen = n;
  for (int32_t at = candidates / 2 - 1; at >= 0; at--) sift(grower->heap, candidates, at);
  return candidates;
}

static Split try_one(Grower *grower, int32_t attribute, const Set *set, double total) {
  const Table *table = grower->table;
  if (table->codes == NULL) {
    int32_t stored = grower->stored[attribute];
    if (stored < grower->rules->min_records && stored < set->n) return (Split){0};
  }
  codes_of(table, &grower->work, attribute, set, grower->work.codes);
  return table->arity[attribute]
             ? split_nominal(table, &grower->work, grower->rules, attribute, grower->work.codes, set, total)
             : split_numeric(table, &grower->work, grower->rules, attribute, grower->work.codes, set, total);
}

/* ---- growing */

static void recall(Grower *grower, const Words *words) {
  memset(grower->state, FREE, grower->table->n);
  for (; words != NULL; words = words->up)
    for (int32_t i = 0; i < words->n; i++) {
      const Word *word = &words->words[i];
      int32_t a = word->attribute;
      if (word->dropped) grower->state[a] = DROPPED;
      else if (grower->state[a] == FREE) { /* the nearest to the node is the narrowest */
        grower->state[a] = BOUND;
        grower->above[a] = word->above;
        grower->upto[a] = word->upto;
      }
    }
}

static int grow_below(Grower *grower, Tree *tree, const Pending *here, int32_t best, int32_t cut, Words *dropped) {
  const Table *table = grower->table;
  int32_t branches = table->arity[best] ? table->arity[best] : 2, first = tree_add(tree, branches);
  if (first < 0) return -1;
  tree->nodes[here->node] = (Node){best, cut, first, branches};
  int32_t above = grower->state[best] == BOUND ? grower->above[best] : -1;
  int32_t upto = grower->state[best] == BOUND ? grower->upto[best] : table->levels[best] - 1;
  Set *parts = malloc(sizeof(Set) * branches);
  if (parts == NULL || part(table, &grower->work, &tree->nodes[here->node], &here->set, parts)) {
    free(parts);
    return -1;
  }
  int failed = 0;
  for (int32_t b = 0; b < branches; b++) {
    Words *words = dropped;
    if (parts[b].n && !failed && !table->arity[best]) {
      words = words_new(grower, dropped, 1);
      if (words == NULL) failed = -1;
      else words->words[words->n++] = (Word){best, b ? cut : above, b ? upto : cut, 0};
    }
    if (parts[b].n == 0 || failed || push(grower, (Pending){first + b, here->depth + 1, words, parts[b]})) {
      failed = parts[b].n ? -1 : failed;
      set_close(&parts[b]);
    }
  }
  free(parts);
  return failed;
}

static int grow_node(Grower *grower, Tree *tree, const Pending *here) {
  const Table *table = grower->table;
  double *counts = tree->counts + (int64_t)here->node * tree->classes;
  count_classes(table, &here->set, counts);
  double total = sum(counts, tree->classes);
  if (total < 2 * grower->rules->min_records - TINY || is_pure(counts, tree->classes, total)) return 0;
  if (here->depth >= DEEPEST) return 0;
  recall(grower, here->words);
  int32_t present = classes_at(grower, counts, total);
  int32_t candidates = rate_all(grower, &here->set, present), all = candidates, tried = 0;
  int32_t best = LEAF;
  Split split = {0};
  while (candidates) {
    int32_t attribute = grower->heap[0].attribute;
    if (!grower->heap[0].exact) {
      grower->heap[0] = (Rated){score_free(grower, attribute, present), attribute, 1};
      sift(grower->heap, candidates, 0);
      continue;
    }
    split = try_one(grower, attribute, &here->set, total);
    tree->looked += here->set.n;
    if (split.valid) {
      best = attribute;
      break;
    }
    /* The skipped are kept behind the heap. */
    tried++;
    Rated last = grower->heap[--candidates];
    grower->heap[candidates] = grower->heap[0];
    grower->heap[0] = last;
    sift(grower->heap, candidates, 0);
  }
  if (table->codes == NULL)
    for (int32_t t = 0; t < grower->seen; t++) grower->stored[grower->touched[t]] = 0;
  if (best == LEAF) return 0;
  Words *words = here->words;
  if (tried || table->arity[best]) {
    words = words_new(grower, here->words, tried + 1);
    if (words == NULL) return -1;
    for (int32_t k = 0; k < tried; k++)
      words->words[words->n++] = (Word){grower->heap[all - 1 - k].attribute, 0, 0, 1};
    if (table->arity[best]) words->words[words->n++] = (Word){best, 0, 0, 1};
  }
  return grow_below(grower, tree, here, best, cut_of(table, best, &split), words);
}

int grow_naive(const Table *table, const Rules *rules, int32_t bins, int equal_width, int renormalise, Tree *tree) {
  Grower grower = {.table = table, .rules = rules, .renormalise = renormalise};
  int64_t n = table->n > 0 ? table->n : 1;
  Set all;
  int failed = work_open(&grower.work, table) || cells_open(&grower.cells, table, bins, equal_width);
  grower.inside = malloc(sizeof(double) * table->classes);
  grower.above = malloc(sizeof(int32_t) * n);
  grower.upto = malloc(sizeof(int32_t) * n);
  grower.state = malloc(n);
  grower.heap = malloc(sizeof(Rated) * n);
  grower.touched = malloc(sizeof(int32_t) * n);
  grower.stored = calloc(n, sizeof(int32_t));
  grower.present = malloc(sizeof(int32_t) * table->classes);
  grower.share = malloc(sizeof(double) * table->classes);
  if (failed || !grower.inside || !grower.above || !grower.upto || !grower.state || !grower.heap ||
      !grower.touched || !grower.stored || !grower.present || !grower.share || set_open(&all, table->m))
    failed = -1;
  else {
    tree->looked += (int64_t)table->m * table->n;
    for (int32_t i = 0; i < table->m; i++) all.rows[i] = i, all.weights[i] = 1;
    failed = push(&grower, (Pending){0, 0, NULL, all});
    if (failed) set_close(&all);
  }
  while (!failed && grower.waiting) {
    Pending here = grower.stack[--grower.waiting];
    failed = grow_node(&grower, tree, &here);
    set_close(&here.set);
  }
  while (grower.waiting) set_close(&grower.stack[--grower.waiting].set);
  while (grower.arena != NULL) {
    Words *next = grower.arena->next;
    free(grower.arena);
    grower.arena = next;
  }
  free(grower.stack);
  free(grower.inside);
  free(grower.above);
  free(grower.upto);
  free(grower.state);
  free(grower.heap);
  free(grower.touched);
  free(grower.stored);
  free(grower.present);
  free(grower.share);
  cells_close(&grower.cells);
  work_close(&grower.work);
  return failed;
}
