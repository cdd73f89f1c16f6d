/* SID3: ID3 with its tests drawn at random, the more gain the likelier. Only the size of the tree counts. */
#include "lookahead.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WITH_POPCOUNT __attribute__((target_clones("popcnt", "default")))
#else
#define WITH_POPCOUNT
#endif

int sample_init(Sample *sample, const Table *table, int32_t capacity) {
  memset(sample, 0, sizeof *sample);
  if (space_init(&sample->space, table, capacity)) return -1;
  sample->room = 64;
  sample->stack = malloc(sizeof(Waiting) * sample->room);
  sample->arena_room = 4 * (table->width + 1);
  sample->arena = malloc(sizeof(int32_t) * sample->arena_room);
  return sample->stack && sample->arena ? 0 : -1;
}

void sample_free(Sample *sample) {
  space_free(&sample->space);
  free(sample->stack);
  free(sample->arena);
  memset(sample, 0, sizeof *sample);
}

void sample_start(Sample *sample, const Space *from, int32_t lo, int32_t hi, int32_t code,
                  const int32_t *active, int32_t length, uint64_t seed, int64_t bound) {
  Space *space = &sample->space;
  int32_t count = 0;
  for (int32_t k = 0; k < space->orders; k++) {
    const int32_t *given = from->order + (int64_t)k * from->capacity;
    int32_t *order = space->order + (int64_t)k * space->capacity;
    count = 0;
    for (int32_t i = lo; i < hi; i++)
      if (from->branch[given[i]] == code) order[count++] = given[i];
  }
  memcpy(sample->arena, active, sizeof(int32_t) * length);
  sample->stack[0] = (Waiting){0, count, 0, length, seed};
  sample->top = 1;
  sample->size = 0;
  sample->bound = bound;
  sample->active = 1;
}

static int reserve(Sample *sample, int32_t nodes, int32_t attributes) {
  if (sample->top + nodes > sample->room) {
    int32_t room = 2 * (sample->top + nodes);
    Waiting *more = realloc(sample->stack, sizeof(Waiting) * room);
    if (more == NULL) return -1;
    sample->stack = more;
    sample->room = room;
  }
  if (attributes > sample->arena_room) {
    int32_t *more = realloc(sample->arena, sizeof(int32_t) * 2 * attributes);
    if (more == NULL) return -1;
    sample->arena = more;
    sample->arena_room = 2 * attributes;
  }
  return 0;
}

int64_t sample_step(Sample *sample, int words) {
  Space *space = &sample->space;
  const Table *table = space->table;
  /* What waits has at least a leaf each. */
  if (sample->top == 0 || sample->size + sample->top >= sample->bound) {
    if (sample->top) sample->size = sample->bound;
    sample->active = 0;
    return 0;
  }
  Waiting node = sample->stack[--sample->top];
  int32_t n = node.hi - node.lo, end = node.first + node.length;
  int64_t cost = 1 + (int64_t)n * node.length / UNIT_VALUES;
  if (words && n <= WORD) {
    int64_t bound = sample->bound - sample->size - sample->top, spent = 0;
    int64_t size = sample_word(space, node.lo, node.hi, sample->arena + node.first, node.length, node.seed,
                               bound, &spent);
    if (size >= 0) {
      sample->size += size;
      return cost + spent;
    }
  }
  /* The attributes of siblings that still wait are before the end of ours. */
  if (reserve(sample, 0, end + node.length)) return -1;
  int32_t kept = 0;
  int pure = scan(space, node.lo, node.hi, sample->arena + node.first, node.length, sample->arena + end, &kept);
  if (pure < 0) return -1;
  if (pure || space->count == 0) {
    sample->size++;
    return cost;
  }
  Test test = space->tests[choose(space->tests, space->count, node.seed)];
  if (test.pure) {
    sample->size += leaves_of(table, &test);
    return cost;
  }
  sample->size += leaves_of(table, &test) - test.branches;
  int32_t levels = test.cut < 0 ? table->levels[test.attribute] : 2;
  int32_t *parts = malloc(sizeof(int32_t) * 3 * levels);
  if (parts == NULL || reserve(sample, test.branches, 0)) {
    free(parts);
    return -1;
  }
  int32_t count = divide(space, node.lo, node.hi, &test, parts);
  for (int32_t p = count - 1; p >= 0; p--) {
    uint64_t seed = splitmix64(node.seed, 2 + (uint64_t)parts[3 * p]);
    sample->stack[sample->top++] = (Waiting){parts[3 * p + 1], parts[3 * p + 2], end, kept, seed};
  }
  free(parts);
  return cost;
}

/* ---- at most a word of records: each value and each class is a set of bits */

typedef struct {
  uint64_t set, active, seed;
} Bits;

typedef struct {
  const Table *table;
  uint64_t column[MOST_COLUMNS], class_of[MOST_CLASSES];
  int32_t first[WORD], levels[WORD], attribute[WORD];
} Word;

static inline int64_t disorder_of(const Word *word, uint64_t set, int32_t n, int32_t *pure) {
  const int64_t *xlogx = word->table->xlogx;
  int64_t sum = xlogx[n];
  for (int32_t c = 0; c < word->table->classes; c++) {
    int32_t count = __builtin_popcountll(set & word->class_of[c]);
    if (count == n) {
      *pure = 1;
      return 0;
    }
    sum -= xlogx[count];
  }
  return sum;
}

static inline int64_t disorder_of_two(const int64_t *xlogx, int32_t n, int32_t ones) {
  return ones == 0 || ones == n ? 0 : xlogx[n] - xlogx[ones] - xlogx[n - ones];
}

WITH_POPCOUNT
static int64_t sample_bits(const Word *word, uint64_t all, uint64_t active, uint64_t seed, int64_t bound,
                           int64_t *spent) {
  const Table *table = word->table;
  const int64_t *xlogx = table->xlogx;
  int two = table->classes == 2;
  Bits stack[2 * WORD];
  Test tests[WORD];
  int32_t top = 0, place[WORD];
  int64_t size = 0;
  stack[top++] = (Bits){all, active, seed};
  while (top) {
    if (size + top >= bound) return bound;
    Bits node = stack[--top];
    int32_t n = __builtin_popcountll(node.set), pure = 0, count = 0;
    (*spent)++;
    uint64_t ones = two ? node.set & word->class_of[1] : 0;
    int32_t positive = two ? __builtin_popcountll(ones) : 0;
    int64_t whole = two ? disorder_of_two(xlogx, n, positive) : disorder_of(word, node.set, n, &pure);
    if (pure || (two && (positive == 0 || positive == n))) {
      size++;
      continue;
    }
    for (uint64_t rest = node.active; rest; rest &= rest - 1) {
      int32_t a = __builtin_ctzll(rest);
      const uint64_t *column = word->column + word->first[a];
      int32_t branches = 0, every = 1;
      int64_t gain = whole;
      if (two && word->levels[a] == 2) {
        uint64_t set = node.set & column[1];
        int32_t m = __builtin_popcountll(set);
        if (m == 0 || m == n) {
          node.active &= ~(1ULL << a);
          continue;
        }
        int32_t k = __builtin_popcountll(set & ones);
        branches = 2;
        every = (k == 0 || k == m) && (positive == k || positive - k == n - m);
        gain -= disorder_of_two(xlogx, m, k) + disorder_of_two(xlogx, n - m, positive - k);
      } else {
        for (int32_t v = 0; v < word->levels[a]; v++) {
          uint64_t set = node.set & column[v];
          int32_t m = __builtin_popcountll(set), one = 0;
          if (!m) continue;
          branches++;
          gain -= disorder_of(word, set, m, &one);
          if (!one) every = 0;
        }
        if (branches < 2) {
          node.active &= ~(1ULL << a);
          continue;
        }
      }
      if (gain <= (int64_t)(branches + 1) * (table->classes + 1)) gain = 0;
      place[count] = a;
      tests[count++] = (Test){word->attribute[a], -1, every, branches, gain};
    }
    if (count == 0) {
      size++;
      continue;
    }
    int32_t chosen = choose(tests, count, node.seed), a = place[chosen];
    size += leaves_of(table, &tests[chosen]);
    if (tests[chosen].pure) continue;
    size -= tests[chosen].branches;
    for (int32_t v = word->levels[a] - 1; v >= 0; v--) {
      uint64_t set = node.set & word->column[word->first[a] + v];
      if (set) stack[top++] = (Bits){set, node.active, splitmix64(node.seed, 2 + (uint64_t)v)};
    }
  }
  return size;
}

int64_t sample_word(const Space *space, int32_t lo, int32_t hi, const int32_t *active, int32_t length,
                    uint64_t seed, int64_t bound, int64_t *spent) {
  const Table *table = space->table;
  int32_t columns = 0;
  if (length > WORD || table->classes > MOST_CLASSES) return -1;
  for (int32_t i = 0; i < length; i++) {
    if (!table->domain[active[i]]) return -1;
    columns += table->levels[active[i]];
  }
  if (columns > MOST_COLUMNS) return -1;
  Word word;
  word.table = table;
  memset(word.column, 0, sizeof(uint64_t) * columns);
  memset(word.class_of, 0, sizeof(uint64_t) * table->classes);
  columns = 0;
  for (int32_t i = 0; i < length; i++) {
    const int32_t *code = table->code + (int64_t)active[i] * table->rows;
    word.first[i] = columns;
    word.levels[i] = table->levels[active[i]];
    word.attribute[i] = active[i];
    for (int32_t k = lo; k < hi; k++) word.column[columns + code[space->order[k]]] |= 1ULL << (k - lo);
    columns += word.levels[i];
  }
  for (int32_t k = lo; k < hi; k++) word.class_of[table->label[space->order[k]]] |= 1ULL << (k - lo);
  uint64_t all = hi - lo == WORD ? ~0ULL : (1ULL << (hi - lo)) - 1;
  return sample_bits(&word, all, length == WORD ? ~0ULL : (1ULL << length) - 1, seed, bound, spent);
}
