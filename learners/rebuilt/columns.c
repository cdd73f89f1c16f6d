/* The values of a column for a set of records, and how a test parts them. */
#include "batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int work_open(Work *work, const Table *table) {
  int64_t levels = table->most_levels > 0 ? table->most_levels : 1;
  int32_t m = table->m > 0 ? table->m : 1;
  memset(work, 0, sizeof *work);
  work->m = table->m;
  work->left = malloc(sizeof(double) * table->classes);
  work->right = malloc(sizeof(double) * table->classes);
  /* Cells are counted only where there are few of them for each record. */
  work->cell_room = 4 * (int64_t)m + (int64_t)table->classes * 4;
  for (int32_t a = 0; a < table->n; a++) {
    int64_t cells = (int64_t)table->arity[a] * table->classes;
    if (cells > work->cell_room) work->cell_room = cells;
  }
  work->cells = calloc(work->cell_room, sizeof(double));
  work->seen = calloc(levels, sizeof(int32_t));
  work->keys = malloc(sizeof(uint64_t) * m);
  work->spare = malloc(sizeof(uint64_t) * m);
  work->codes = malloc(sizeof(int32_t) * m);
  work->bags = malloc(sizeof(double) * (levels + table->classes + 2));
  work->xlogx = malloc(sizeof(double) * (m + 1));
  if (table->codes == NULL) {
    work->at_row = malloc(sizeof(int32_t) * m);
    if (work->at_row == NULL) return -1;
    for (int32_t i = 0; i < m; i++) work->at_row[i] = table->zero;
  }
  if (!work->left || !work->right || !work->cells || !work->seen || !work->keys || !work->spare || !work->codes ||
      !work->bags || !work->xlogx)
    return -1;
  work->xlogx[0] = 0;
  for (int32_t i = 1; i <= m; i++) work->xlogx[i] = i * log2(i);
  return 0;
}

void work_close(Work *work) {
  free(work->left);
  free(work->right);
  free(work->cells);
  free(work->seen);
  free(work->keys);
  free(work->spare);
  free(work->codes);
  free(work->bags);
  free(work->at_row);
  free(work->xlogx);
}

static int32_t stored_code(const Table *table, int32_t attribute, int32_t row) {
  int64_t low = table->row_start[row], high = table->row_start[row + 1];
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (table->row_cols[middle] < attribute) low = middle + 1;
    else high = middle;
  }
  return low < table->row_start[row + 1] && table->row_cols[low] == attribute ? table->row_codes[low] : table->zero;
}

void codes_of(const Table *table, Work *work, int32_t attribute, const Set *set, int32_t *codes) {
  if (table->codes != NULL) {
    const int32_t *column = table->codes + (int64_t)attribute * table->m;
    for (int32_t i = 0; i < set->n; i++) codes[i] = column[set->rows[i]];
    return;
  }
  int64_t start = table->col_start[attribute], end = table->col_start[attribute + 1];
  if ((int64_t)set->n * 8 < end - start) {
    for (int32_t i = 0; i < set->n; i++) codes[i] = stored_code(table, attribute, set->rows[i]);
    return;
  }
  for (int64_t k = start; k < end; k++) work->at_row[table->col_rows[k]] = table->col_codes[k];
  for (int32_t i = 0; i < set->n; i++) codes[i] = work->at_row[set->rows[i]];
  for (int64_t k = start; k < end; k++) work->at_row[table->col_rows[k]] = table->zero;
}

int set_open(Set *set, int32_t n) {
  set->n = n;
  set->rows = malloc(sizeof(int32_t) * (n > 0 ? n : 1));
  set->weights = malloc(sizeof(double) * (n > 0 ? n : 1));
  if (set->rows && set->weights) return 0;
  set_close(set);
  return -1;
}

void set_close(Set *set) {
  free(set->rows);
  free(set->weights);
  set->rows = NULL;
  set->weights = NULL;
}

/* Part a set by the test of a node. A record without the value goes to every branch with a share of its weight. */
int part(const Table *table, Work *work, const Node *node, const Set *set, Set *parts) {
  int32_t branches = node->branches, unknown = 0;
  int numeric = table->arity[node->attribute] == 0;
  int32_t *codes = work->codes;
  codes_of(table, work, node->attribute, set, codes);
  double *bags = work->bags, known = 0;
  int32_t *sizes = malloc(sizeof(int32_t) * branches);
  if (sizes == NULL) return -1;
  for (int32_t b = 0; b < branches; b++) bags[b] = 0, sizes[b] = 0;
  for (int32_t i = 0; i < set->n; i++) {
    if (codes[i] == MISSING) {
      unknown++;
      continue;
    }
    if (numeric) codes[i] = codes[i] > node->cut;
    bags[codes[i]] += set->weights[i];
    sizes[codes[i]]++;
    known += set->weights[i];
  }
  int32_t opened = 0;
  for (; opened < branches; opened++)
    if (set_open(&parts[opened], sizes[opened] + unknown)) break;
  if (opened < branches) {
    while (opened) set_close(&parts[--opened]);
    free(sizes);
    return -1;
  }
  for (int32_t b = 0; b < branches; b++) {
    parts[b].n = 0;
    bags[b] = known > 0 ? bags[b] / known : 1.0 / branches;
  }
  for (int32_t i = 0; i < set->n; i++) {
    if (codes[i] != MISSING) {
      Set *to = &parts[codes[i]];
      to->rows[to->n] = set->rows[i];
      to->weights[to->n++] = set->weights[i];
      continue;
    }
    for (int32_t b = 0; b < branches; b++) {
      double weight = set->weights[i] * bags[b];
      if (weight <= TINY) continue;
      parts[b].rows[parts[b].n] = set->rows[i];
      parts[b].weights[parts[b].n++] = weight;
    }
  }
  free(sizes);
  return 0;
}

void count_classes(const Table *table, const Set *set, double *counts) {
  for (int32_t c = 0; c < table->classes; c++) counts[c] = 0;
  for (int32_t i = 0; i < set->n; i++) counts[table->labels[set->rows[i]]] += set->weights[i];
}

double sum(const double *counts, int32_t classes) {
  double total = 0;
  for (int32_t c = 0; c < classes; c++) total += counts[c];
  return total;
}

int is_pure(const double *counts, int32_t classes, double total) {
  for (int32_t c = 0; c < classes; c++)
    if (counts[c] > TINY && counts[c] < total - TINY) return 0;
  return 1;
}

/* Quicksort down to short runs, which are put in order one by one. */
void sort_keys(uint64_t *keys, int64_t n) {
  while (n > 24) {
    uint64_t a = keys[0], b = keys[n / 2], c = keys[n - 1];
    uint64_t pivot = a < b ? (b < c ? b : (a < c ? c : a)) : (a < c ? a : (b < c ? c : b));
    int64_t i = -1, j = n;
    for (;;) {
      do i++;
      while (keys[i] < pivot);
      do j--;
      while (keys[j] > pivot);
      if (i >= j) break;
      uint64_t swap = keys[i];
      keys[i] = keys[j];
      keys[j] = swap;
    }
    if (j + 1 < n - j - 1) {
      sort_keys(keys, j + 1);
      keys += j + 1;
      n -= j + 1;
    } else {
      sort_keys(keys + j + 1, n - j - 1);
      n = j + 1;
    }
  }
  for (int64_t i = 1; i < n; i++) {
    uint64_t key = keys[i];
    int64_t j = i - 1;
    for (; j >= 0 && keys[j] > key; j--) keys[j + 1] = keys[j];
    keys[j + 1] = key;
  }
}

/* ---- the tree */

int tree_open(Tree *tree, int32_t classes) {
  memset(tree, 0, sizeof *tree);
  tree->classes = classes;
  return tree_add(tree, 1) < 0 ? -1 : 0;
}

void tree_close(Tree *tree) {
  free(tree->nodes);
  free(tree->counts);
  tree->nodes = NULL;
  tree->counts = NULL;
}

/* Add leaves that are neighbours; return the first, -1 where there is no room. */
int32_t tree_add(Tree *tree, int32_t count) {
  int64_t needed = (int64_t)tree->length + count;
  if (needed > INT32_MAX / 2) return -1;
  if (needed > tree->room) {
    int64_t room = needed * 2 + 16;
    Node *nodes = realloc(tree->nodes, sizeof(Node) * room);
    if (nodes == NULL) return -1;
    tree->nodes = nodes;
    double *counts = realloc(tree->counts, sizeof(double) * room * tree->classes);
    if (counts == NULL) return -1;
    tree->counts = counts;
    tree->room = (int32_t)room;
  }
  int32_t first = tree->length;
  for (int32_t i = first; i < needed; i++) {
    tree->nodes[i] = (Node){LEAF, 0, 0, 0};
    memset(tree->counts + (int64_t)i * tree->classes, 0, sizeof(double) * tree->classes);
  }
  tree->length = (int32_t)needed;
  return first;
}
