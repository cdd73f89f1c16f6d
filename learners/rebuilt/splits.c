/* What C4.5 thinks of a test: its gain and gain ratio, and for a numeric attribute the best cut. */
#include "batch.h"

#include <math.h>
#include <string.h>

double xlogx(const Work *work, double x) {
  if (x <= 0) return 0;
  if (x <= work->m) {
    int32_t whole = (int32_t)x;
    if (x == whole) return work->xlogx[whole];
  }
  return x * log2(x);
}

Split split_nominal(const Table *table, Work *work, const Rules *rules, int32_t attribute, const int32_t *codes,
                    const Set *set, double total) {
  Split split = {0};
  int32_t values = table->arity[attribute], classes = table->classes;
  double *cells = work->cells, *bags = work->bags, known = 0;
  memset(cells, 0, sizeof(double) * values * classes);
  for (int32_t v = 0; v < values; v++) bags[v] = 0;
  for (int32_t i = 0; i < set->n; i++) {
    if (codes[i] == MISSING) continue;
    cells[(int64_t)codes[i] * classes + table->labels[set->rows[i]]] += set->weights[i];
    bags[codes[i]] += set->weights[i];
    known += set->weights[i];
  }
  int32_t large = 0;
  for (int32_t v = 0; v < values; v++) large += bags[v] >= rules->min_records - TINY && bags[v] > 0;
  if (large >= 2) {
    double gained = xlogx(work, known), information = xlogx(work, total) - xlogx(work, total - known);
    for (int32_t c = 0; c < classes; c++) {
      double in_class = 0;
      for (int32_t v = 0; v < values; v++) in_class += cells[(int64_t)v * classes + c];
      gained -= xlogx(work, in_class);
    }
    for (int32_t v = 0; v < values; v++) {
      if (bags[v] <= 0) continue;
      gained -= xlogx(work, bags[v]);
      information -= xlogx(work, bags[v]);
      for (int32_t c = 0; c < classes; c++) gained += xlogx(work, cells[(int64_t)v * classes + c]);
    }
    split.valid = 1;
    split.gain = gained / total;
    split.ratio = information > TINY ? split.gain / (information / total) : 0;
  }
  memset(cells, 0, sizeof(double) * values * classes);
  return split;
}

/* ---- numeric: records are moved from right to left, value by value */

typedef struct {
  double total, known, tl, tr, sl, sr, old, least;
  double best, best_tl;
  int32_t looked, from, to;
} Scan;

static void start(const Table *table, Work *work, const Rules *rules, Scan *scan, double total) {
  memset(scan, 0, sizeof *scan);
  scan->total = total;
  for (int32_t c = 0; c < table->classes; c++) {
    work->left[c] = 0;
    scan->known += work->right[c];
    scan->sr += xlogx(work, work->right[c]);
  }
  scan->tr = scan->known;
  scan->old = xlogx(work, scan->known) - scan->sr;
  scan->least = rules->min_records;
  if (rules->min_share) {
    double share = 0.1 * scan->known / table->classes;
    if (share > 25) share = 25;
    if (share > scan->least) scan->least = share;
  }
  scan->best = -1;
}

static inline void move(Work *work, Scan *scan, int32_t label, double weight) {
  double *left = work->left + label, *right = work->right + label;
  scan->sl -= xlogx(work, *left);
  scan->sr -= xlogx(work, *right);
  *left += weight;
  *right -= weight;
  scan->sl += xlogx(work, *left);
  scan->sr += xlogx(work, *right);
  scan->tl += weight;
  scan->tr -= weight;
}

static inline void look(Work *work, Scan *scan, int32_t from, int32_t to) {
  if (scan->tl < scan->least - TINY || scan->tr < scan->least - TINY) return;
  double left = xlogx(work, scan->tl) - scan->sl, right = xlogx(work, scan->tr) - scan->sr;
  double gain = (scan->old - left - right) / scan->total;
  scan->looked++;
  if (gain > scan->best + TINY) {
    scan->best = gain;
    scan->best_tl = scan->tl;
    scan->from = from;
    scan->to = to;
  }
}

static Split finish(Work *work, const Rules *rules, const Scan *scan) {
  Split split = {0};
  if (!scan->looked) return split;
  split.gain = scan->best;
  if (rules->mdl) {
    split.gain -= log2(scan->looked) / scan->total;
    if (split.gain <= TINY) return split;
  }
  double right = scan->known - scan->best_tl;
  double information = xlogx(work, scan->total) - xlogx(work, scan->best_tl) - xlogx(work, right) -
                       xlogx(work, scan->total - scan->known);
  split.ratio = information > TINY ? split.gain / (information / scan->total) : 0;
  split.from = scan->from;
  split.to = scan->to;
  split.valid = 1;
  return split;
}

/* The cut is the largest value anywhere in the column that is not above the middle, so that it is a real one. */
int32_t cut_of(const Table *table, int32_t attribute, const Split *split) {
  if (table->arity[attribute]) return 0;
  const double *values = table->values + table->value_start[attribute];
  double middle = values[split->from] / 2 + values[split->to] / 2;
  int32_t cut = split->from;
  if (table->codes != NULL) {
    int32_t high = split->to - 1;
    while (cut < high) {
      int32_t half = cut + (high - cut + 1) / 2;
      if (values[half] <= middle) cut = half;
      else high = half - 1;
    }
    return cut;
  }
  int64_t start = table->col_start[attribute], end = table->col_start[attribute + 1];
  for (int64_t k = start; k <= end; k++) {
    int32_t code = k < end ? table->col_codes[k] : end - start < table->m ? table->zero : cut;
    if (code > cut && code < split->to && values[code] <= middle) cut = code;
  }
  return cut;
}

static void scan_cells(const Table *table, Work *work, Scan *scan, int32_t levels) {
  int32_t classes = table->classes, before = -1;
  for (int32_t code = 0; code < levels; code++) {
    if (!work->seen[code]) continue;
    work->seen[code] = 0;
    if (before >= 0) look(work, scan, before, code);
    before = code;
    double *cell = work->cells + (int64_t)code * classes;
    for (int32_t c = 0; c < classes; c++)
      if (cell[c] != 0) {
        move(work, scan, c, cell[c]);
        cell[c] = 0;
      }
  }
}

Split split_numeric(const Table *table, Work *work, const Rules *rules, int32_t attribute, const int32_t *codes,
                    const Set *set, double total) {
  int32_t classes = table->classes, levels = table->levels[attribute], known = 0;
  int counting = (int64_t)levels * classes <= 4 * (int64_t)set->n && (int64_t)levels * classes <= work->cell_room;
  Scan scan;
  for (int32_t c = 0; c < classes; c++) work->right[c] = 0;
  for (int32_t i = 0; i < set->n; i++) {
    if (codes[i] == MISSING) continue;
    int32_t label = table->labels[set->rows[i]];
    work->right[label] += set->weights[i];
    if (counting) {
      work->cells[(int64_t)codes[i] * classes + label] += set->weights[i];
      work->seen[codes[i]] = 1;
    } else {
      work->keys[known++] = (uint64_t)codes[i] << 32 | (uint32_t)i;
    }
  }
  start(table, work, rules, &scan, total);
  if (counting) {
    scan_cells(table, work, &scan, levels);
  } else {
    sort_keys(work->keys, known);
    for (int32_t k = 0; k < known; k++) {
      int32_t code = (int32_t)(work->keys[k] >> 32), i = (int32_t)(uint32_t)work->keys[k];
      if (k && code != (int32_t)(work->keys[k - 1] >> 32))
        look(work, &scan, (int32_t)(work->keys[k - 1] >> 32), code);
      move(work, &scan, table->labels[set->rows[i]], set->weights[i]);
    }
  }
  return finish(work, rules, &scan);
}

/* The same for a sparse column, whose records weigh 1 each: those that are not stored have the code of zero.
 *
 * entries: code << 32 | class, in order. class_counts and records: of the whole set.
 */
Split split_stored(const Table *table, Work *work, const Rules *rules, const uint64_t *entries, int32_t stored,
                   const double *class_counts, int32_t records) {
  int32_t classes = table->classes, before = -1;
  int zeros_moved = records <= stored;
  Scan scan;
  memcpy(work->right, class_counts, sizeof(double) * classes);
  memcpy(work->bags, class_counts, sizeof(double) * classes);
  for (int32_t k = 0; k < stored; k++) work->bags[(uint32_t)entries[k]] -= 1;
  start(table, work, rules, &scan, records);
  for (int32_t k = 0; k <= stored; k++) {
    int32_t code = k < stored ? (int32_t)(entries[k] >> 32) : INT32_MAX;
    if (!zeros_moved && code > table->zero) {
      if (before >= 0) look(work, &scan, before, table->zero);
      for (int32_t c = 0; c < classes; c++)
        if (work->bags[c] > 0) move(work, &scan, c, work->bags[c]);
      before = table->zero;
      zeros_moved = 1;
    }
    if (k == stored) break;
    if (before >= 0 && code != before) look(work, &scan, before, code);
    move(work, &scan, (int32_t)(uint32_t)entries[k], 1);
    before = code;
  }
  return finish(work, rules, &scan);
}
