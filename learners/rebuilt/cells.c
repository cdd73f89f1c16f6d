/* P(x | c) over the whole training data: all that the naive tree needs of an attribute to rate it at any node. */
#include "batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int32_t *codes;  /* those that occur, in order, */
  double *records; /* and how many records have them */
  int32_t n;
} Present;

static void look_up_present(const Table *table, int32_t attribute, double *by_code, uint64_t *keys, Present *present) {
  present->n = 0;
  if (table->codes != NULL) {
    const int32_t *column = table->codes + (int64_t)attribute * table->m;
    int32_t levels = table->levels[attribute];
    memset(by_code, 0, sizeof(double) * levels);
    for (int32_t i = 0; i < table->m; i++)
      if (column[i] != MISSING) by_code[column[i]]++;
    for (int32_t code = 0; code < levels; code++)
      if (by_code[code] > 0) {
        present->codes[present->n] = code;
        present->records[present->n++] = by_code[code];
      }
    return;
  }
  int64_t start = table->col_start[attribute], stored = table->col_start[attribute + 1] - start, n = 0;
  for (int64_t k = 0; k < stored; k++) keys[n++] = (uint64_t)table->col_codes[start + k] << 32 | 1;
  if (stored < table->m) keys[n++] = (uint64_t)table->zero << 32 | (uint32_t)(table->m - stored);
  sort_keys(keys, n);
  for (int64_t k = 0; k < n; k++) {
    int32_t code = (int32_t)(keys[k] >> 32);
    if (!present->n || present->codes[present->n - 1] != code) {
      present->codes[present->n] = code;
      present->records[present->n++] = 0;
    }
    present->records[present->n - 1] += (uint32_t)keys[k];
  }
}

/* Bins of equal frequency. A bin takes whole values, and of two places to end the one nearer to its share. */
static int32_t by_frequency(const Present *present, int32_t bins, double total, int32_t *last) {
  double share = total / bins, rest = total, counter = 0, earlier = 0;
  int32_t made = 0, place = -1;
  for (int32_t k = 0; k < present->n - 1 && made < bins - 1; k++) {
    counter += present->records[k];
    rest -= present->records[k];
    if (counter < share) {
      place = present->codes[k];
      earlier = counter;
      continue;
    }
    if (place >= 0 && share - earlier < counter - share) {
      last[made++] = place;
      counter -= earlier;
      earlier = counter;
      place = present->codes[k];
    } else {
      last[made++] = present->codes[k];
      counter = earlier = 0;
      place = -1;
    }
    share = (rest + counter) / (bins - made);
  }
  return made;
}

/* Bins of equal width; infinities are in the first and the last. */
static int32_t by_width(const Present *present, const double *values, int32_t bins, int32_t *last) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int32_t k = 0; k < present->n; k++) {
    double value = values[present->codes[k]];
    if (!isfinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  int32_t made = 0, before = -1;
  for (int32_t k = 0; k < present->n; k++) {
    double value = values[present->codes[k]], width = (high - low) / bins, at = 0;
    if (value == HUGE_VAL) at = bins - 1;
    else if (isfinite(value) && width > 0) at = fmin(floor((value - low) / width), bins - 1);
    if (k && (int32_t)at != before) last[made++] = present->codes[k - 1];
    before = (int32_t)at;
  }
  return made;
}

static int32_t cell_in(const Cells *cells, int32_t attribute, int32_t code) {
  int64_t low = cells->start[attribute], high = cells->start[attribute + 1] - 1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (cells->last[middle] < code) low = middle + 1;
    else high = middle;
  }
  return (int32_t)(low - cells->start[attribute]);
}

static void count_cells(const Table *table, Cells *cells, int32_t attribute, int32_t *cell_of, const double *in_class) {
  int64_t first = cells->start[attribute];
  if (table->codes != NULL) {
    const int32_t *column = table->codes + (int64_t)attribute * table->m;
    for (int32_t code = 0, cell = 0; code < table->levels[attribute]; code++) {
      cell_of[code] = cell;
      if (code == cells->last[first + cell]) cell++;
    }
    for (int32_t i = 0; i < table->m; i++)
      if (column[i] != MISSING)
        cells->given[(first + cell_of[column[i]]) * table->classes + table->labels[i]]++;
    return;
  }
  int64_t zero = first + cell_in(cells, attribute, table->zero);
  for (int32_t c = 0; c < table->classes; c++) cells->given[zero * table->classes + c] = in_class[c];
  for (int64_t k = table->col_start[attribute]; k < table->col_start[attribute + 1]; k++) {
    double *given = cells->given + table->labels[table->col_rows[k]];
    given[zero * table->classes]--;
    given[(first + cell_in(cells, attribute, table->col_codes[k])) * table->classes]++;
  }
}

static int make_bins(const Table *table, Cells *cells, int32_t bins, int equal_width) {
  int64_t room = 1024, levels = table->most_levels > 0 ? table->most_levels : 1, most = levels;
  if (table->codes == NULL && table->m + 1 < most) most = table->m + 1;
  double *by_code = malloc(sizeof(double) * (table->codes != NULL ? levels : 1));
  uint64_t *keys = malloc(sizeof(uint64_t) * ((int64_t)table->m + 1));
  int32_t *last = malloc(sizeof(int32_t) * (most + 1));
  Present present = {malloc(sizeof(int32_t) * (most + 1)), malloc(sizeof(double) * (most + 1)), 0};
  cells->last = malloc(sizeof(int32_t) * room);
  int failed = !by_code || !keys || !last || !present.codes || !present.records || !cells->last;
  for (int32_t a = 0; a < table->n && !failed; a++) {
    int32_t made = 0;
    if (table->arity[a]) {
      for (; made < table->arity[a] - 1; made++) last[made] = made;
    } else {
      look_up_present(table, a, by_code, keys, &present);
      double total = 0;
      for (int32_t k = 0; k < present.n; k++) total += present.records[k];
      if (present.n > 1)
        made = equal_width ? by_width(&present, table->values + table->value_start[a], bins, last)
                           : by_frequency(&present, bins, total, last);
    }
    last[made++] = table->levels[a] > 0 ? table->levels[a] - 1 : 0;
    cells->start[a] = cells->cells;
    if (cells->cells + made > room) {
      room = 2 * (cells->cells + made);
      int32_t *larger = realloc(cells->last, sizeof(int32_t) * room);
      if (larger == NULL) {
        failed = 1;
        break;
      }
      cells->last = larger;
    }
    memcpy(cells->last + cells->cells, last, sizeof(int32_t) * made);
    cells->cells += made;
  }
  cells->start[table->n] = cells->cells;
  free(by_code);
  free(keys);
  free(last);
  free(present.codes);
  free(present.records);
  return failed ? -1 : 0;
}

/* From counts to shares, and to what is known of an attribute before any node is looked at. */
static void settle(const Table *table, Cells *cells, int32_t attribute, const double *in_class) {
  int32_t classes = table->classes;
  double *inner = cells->log_given + (int64_t)attribute * classes;
  double *excess = cells->excess + (int64_t)attribute * classes;
  for (int64_t k = cells->start[attribute]; k < cells->start[attribute + 1]; k++) {
    double *given = cells->given + k * classes, all = 0;
    for (int32_t c = 0; c < classes; c++) all += given[c];
    if (all <= 0) continue;
    double log_all = log2(all / table->m);
    for (int32_t c = 0; c < classes; c++) {
      if (given[c] <= 0) continue;
      given[c] /= in_class[c];
      double log_given = log2(given[c]);
      inner[c] += given[c] * log_given;
      excess[c] += given[c] * (log_given - log_all);
    }
  }
}

int cells_open(Cells *cells, const Table *table, int32_t bins, int equal_width) {
  memset(cells, 0, sizeof *cells);
  cells->start = malloc(sizeof(int64_t) * ((int64_t)table->n + 1));
  double *in_class = calloc(table->classes, sizeof(double));
  int32_t *cell_of = malloc(sizeof(int32_t) * (table->most_levels + 1));
  int failed = !cells->start || !in_class || !cell_of || make_bins(table, cells, bins, equal_width);
  if (!failed) {
    cells->given = calloc(cells->cells * table->classes + 1, sizeof(double));
    cells->log_given = calloc((int64_t)table->n * table->classes + 1, sizeof(double));
    cells->excess = calloc((int64_t)table->n * table->classes + 1, sizeof(double));
    failed = !cells->given || !cells->log_given || !cells->excess;
  }
  if (!failed) {
    for (int32_t i = 0; i < table->m; i++) in_class[table->labels[i]]++;
    for (int32_t a = 0; a < table->n; a++) {
      count_cells(table, cells, a, cell_of, in_class);
      settle(table, cells, a, in_class);
    }
  }
  free(in_class);
  free(cell_of);
  return failed ? -1 : 0;
}

void cells_close(Cells *cells) {
  free(cells->start);
  free(cells->last);
  free(cells->given);
  free(cells->log_given);
  free(cells->excess);
}
