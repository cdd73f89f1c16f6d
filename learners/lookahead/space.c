/* The records of a node: which tests divide them, and dividing them. */
#include "lookahead.h"

#include <stdlib.h>
#include <string.h>

#define GAMMA 0x9E3779B97F4A7C15ULL

/* The random number at a place of the sequence that belongs to a seed (Steele, Lea and Flood 2014). */
uint64_t splitmix64(uint64_t seed, uint64_t place) {
  uint64_t z = seed + place * GAMMA;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

static uint64_t below(uint64_t random, uint64_t end) {
  return (uint64_t)(((unsigned __int128)random * end) >> 64);
}

int space_init(Space *space, const Table *table, int32_t capacity) {
  int32_t most = 1;
  memset(space, 0, sizeof *space);
  space->table = table;
  space->capacity = capacity > 0 ? capacity : 1;
  space->orders = 1;
  space->slot = malloc(sizeof(int32_t) * (table->width + 1));
  if (space->slot == NULL) return -1;
  for (int32_t a = 0; a < table->width; a++) {
    space->slot[a] = table->domain[a] ? 0 : space->orders++;
    if (table->levels[a] > most) most = table->levels[a];
  }
  space->order = malloc(sizeof(int32_t) * (size_t)space->orders * space->capacity);
  space->branch = malloc(sizeof(int32_t) * (table->rows + 1));
  space->scratch = malloc(sizeof(int32_t) * (space->capacity + most + 2));
  space->counts = malloc(sizeof(int32_t) * ((size_t)most + 4) * (table->classes + 1));
  space->room = 64;
  space->tests = malloc(sizeof(Test) * space->room);
  return space->order && space->branch && space->scratch && space->counts && space->tests ? 0 : -1;
}

void space_free(Space *space) {
  free(space->slot);
  free(space->order);
  free(space->branch);
  free(space->scratch);
  free(space->counts);
  free(space->tests);
  memset(space, 0, sizeof *space);
}

/* Put all records in their orders; those of equal rank as they come. */
void space_fill(Space *space) {
  const Table *table = space->table;
  for (int32_t row = 0; row < table->rows; row++) space->order[row] = row;
  for (int32_t a = 0; a < table->width; a++) {
    if (table->domain[a]) continue;
    int32_t levels = table->levels[a];
    const int32_t *code = table->code + (int64_t)a * table->rows;
    int32_t *order = space->order + (int64_t)space->slot[a] * space->capacity, *start = space->scratch;
    memset(start, 0, sizeof(int32_t) * (levels + 1));
    for (int32_t row = 0; row < table->rows; row++) start[code[row] + 1]++;
    for (int32_t level = 0; level < levels; level++) start[level + 1] += start[level];
    for (int32_t row = 0; row < table->rows; row++) order[start[code[row]]++] = row;
  }
}

static int add_test(Space *space, Test test) {
  if (space->count == space->room) {
    Test *more = realloc(space->tests, sizeof(Test) * space->room * 2);
    if (more == NULL) return -1;
    space->tests = more;
    space->room *= 2;
  }
  space->tests[space->count++] = test;
  return 0;
}

/* What a set of records lacks to be of one class, times how many they are. */
static int64_t disorder(const Table *table, const int32_t *counts, int32_t n, int32_t *pure) {
  int64_t sum = table->xlogx[n];
  for (int32_t c = 0; c < table->classes; c++) {
    sum -= table->xlogx[counts[c]];
    if (counts[c] == n) *pure = 1;
  }
  return *pure ? 0 : sum;
}

/* Rounding leaves no gain where there is none. */
static int64_t rounded(const Table *table, int64_t gain, int32_t branches) {
  return gain <= (int64_t)(branches + 1) * (table->classes + 1) ? 0 : gain;
}

static int scan_nominal(Space *space, int32_t lo, int32_t hi, int32_t a, int64_t whole, int *constant) {
  const Table *table = space->table;
  int32_t classes = table->classes, levels = table->levels[a], present = 0, all = 1, *counts = space->counts;
  const int32_t *code = table->code + (int64_t)a * table->rows;
  int64_t gain = whole;
  memset(counts, 0, sizeof(int32_t) * (size_t)levels * classes);
  for (int32_t i = lo; i < hi; i++) {
    int32_t row = space->order[i];
    counts[code[row] * classes + table->label[row]]++;
  }
  for (int32_t v = 0; v < levels; v++) {
    int32_t n = 0, pure = 0;
    for (int32_t c = 0; c < classes; c++) n += counts[v * classes + c];
    if (!n) continue;
    present++;
    gain -= disorder(table, counts + v * classes, n, &pure);
    if (!pure) all = 0;
  }
  *constant = present < 2;
  return *constant ? 0 : add_test(space, (Test){a, -1, all, present, rounded(table, gain, present)});
}

/* One test for each boundary: between neighbouring ranks whose records are not all of one class. */
static int scan_numeric(Space *space, int32_t lo, int32_t hi, int32_t a, const int32_t *total, int64_t whole,
                        int *constant) {
  const Table *table = space->table;
  int32_t classes = table->classes, *left = space->counts, *right = left + classes;
  const int32_t *code = table->code + (int64_t)a * table->rows;
  const int32_t *order = space->order + (int64_t)space->slot[a] * space->capacity;
  *constant = code[order[lo]] == code[order[hi - 1]];
  if (*constant) return 0;
  memset(left, 0, sizeof(int32_t) * classes);
  for (int32_t i = lo, before = -2; i < hi;) {
    int32_t rank = code[order[i]], end = i, same = table->label[order[i]];
    while (end < hi && code[order[end]] == rank) {
      if (table->label[order[end]] != same) same = -1;
      end++;
    }
    /* before: the one class of the rank before this one, -1 where there were several, -2 at the first */
    if (before != -2 && (before == -1 || same == -1 || before != same)) {
      int32_t pure_left = 0, pure_right = 0;
      for (int32_t c = 0; c < classes; c++) right[c] = total[c] - left[c];
      int64_t gain = whole - disorder(table, left, i - lo, &pure_left);
      gain -= disorder(table, right, hi - i, &pure_right);
      Test test = {a, code[order[i - 1]], pure_left && pure_right, 2, rounded(table, gain, 2)};
      if (add_test(space, test)) return -1;
    }
    for (; i < end; i++) left[table->label[order[i]]]++;
    before = same;
  }
  return 0;
}

int scan(Space *space, int32_t lo, int32_t hi, const int32_t *active, int32_t length, int32_t *kept,
         int32_t *kept_length) {
  const Table *table = space->table;
  int32_t most = 1, pure = 0;
  for (int32_t i = 0; i < length; i++)
    if (table->levels[active[i]] > most) most = table->levels[active[i]];
  int32_t *total = space->counts + (size_t)(most > 2 ? most : 2) * table->classes;
  space->count = 0;
  *kept_length = 0;
  memset(total, 0, sizeof(int32_t) * table->classes);
  for (int32_t i = lo; i < hi; i++) total[table->label[space->order[i]]]++;
  int64_t whole = disorder(table, total, hi - lo, &pure);
  if (pure) return 1;
  for (int32_t i = 0; i < length; i++) {
    int constant = 0;
    int wrong = table->domain[active[i]] ? scan_nominal(space, lo, hi, active[i], whole, &constant)
                                         : scan_numeric(space, lo, hi, active[i], total, whole, &constant);
    if (wrong) return -1;
    if (!constant) kept[(*kept_length)++] = active[i];
  }
  return 0;
}

int32_t divide(Space *space, int32_t lo, int32_t hi, const Test *test, int32_t *parts) {
  const Table *table = space->table;
  const int32_t *code = table->code + (int64_t)test->attribute * table->rows;
  int32_t levels = test->cut < 0 ? table->levels[test->attribute] : 2, count = 0;
  int32_t *start = space->scratch + space->capacity;
  memset(start, 0, sizeof(int32_t) * levels);
  for (int32_t i = lo; i < hi; i++) {
    int32_t row = space->order[i];
    space->branch[row] = test->cut < 0 ? code[row] : code[row] > test->cut;
    start[space->branch[row]]++;
  }
  for (int32_t v = 0, at = lo; v < levels; v++) {
    if (!start[v]) continue;
    parts[3 * count] = v;
    parts[3 * count + 1] = at;
    at += start[v];
    parts[3 * count + 2] = at;
    count++;
  }
  for (int32_t k = 0; k < space->orders; k++) {
    int32_t *order = space->order + (int64_t)k * space->capacity;
    for (int32_t p = 0; p < count; p++) start[parts[3 * p]] = parts[3 * p + 1] - lo;
    for (int32_t i = lo; i < hi; i++) space->scratch[start[space->branch[order[i]]]++] = order[i];
    memcpy(order + lo, space->scratch, sizeof(int32_t) * (hi - lo));
  }
  return count;
}

/* SID3's choice: among tests that end everything any; else by gain, with a little for those of none. */
int32_t choose(const Test *tests, int32_t count, uint64_t seed) {
  uint64_t pure = 0, total = 0;
  int64_t most = 0;
  uint64_t random = splitmix64(seed, 1);
  for (int32_t i = 0; i < count; i++) {
    pure += tests[i].pure != 0;
    total += (uint64_t)tests[i].gain;
    if (tests[i].gain > most) most = tests[i].gain;
  }
  if (pure) {
    uint64_t place = below(random, pure);
    for (int32_t i = 0; i < count; i++)
      if (tests[i].pure && place-- == 0) return i;
  }
  if (most == 0) return (int32_t)below(random, (uint64_t)count);
  uint64_t place = below(random, total * 1000 + (uint64_t)count * (uint64_t)most);
  for (int32_t i = 0; i < count; i++) {
    uint64_t weight = (uint64_t)tests[i].gain * 1000 + (uint64_t)most;
    if (place < weight) return i;
    place -= weight;
  }
  return count - 1;
}

/* ID3's choice: the most gain, the first of equal ones. */
int32_t best_gain(const Test *tests, int32_t count) {
  int32_t best = 0;
  for (int32_t i = 1; i < count; i++)
    if (tests[i].gain > tests[best].gain) best = i;
  return best;
}

/* How many leaves a test makes whose branches are all pure: values without records count. */
int64_t leaves_of(const Table *table, const Test *test) {
  return test->cut < 0 ? table->domain[test->attribute] : 2;
}
