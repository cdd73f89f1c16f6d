/* LSID3: a test is as good as the smallest of some trees drawn below it. Stops after any unit of work. */
#include "lookahead.h"

#include <stdlib.h>
#include <string.h>

int job_init(Job *job, int32_t repeats, uint64_t seed, int words) {
  const Table *table = &job->table;
  int32_t most = 2;
  job->repeats = repeats;
  job->seed = seed;
  job->words = words;
  job->at = -1;
  for (int32_t a = 0; a < table->width; a++)
    if (table->levels[a] > most) most = table->levels[a];
  if (space_init(&job->space, table, table->rows)) return -1;
  if (repeats && sample_init(&job->sample, table, table->rows)) return -1;
  space_fill(&job->space);
  job->room = job->waiting_room = job->decisions_room = 64;
  job->nodes = malloc(sizeof(Built) * job->room);
  job->waiting = malloc(sizeof(int32_t) * job->waiting_room);
  job->decisions = malloc(sizeof(int32_t) * 2 * job->decisions_room);
  job->active = malloc(sizeof(int32_t) * 2 * (table->width + 1));
  job->parts = malloc(sizeof(int32_t) * 3 * most);
  if (!job->nodes || !job->waiting || !job->decisions || !job->active || !job->parts) return -1;
  job->nodes[0] = (Built){LEAF, -1, 0, table->rows, -1, -1, 0};
  job->length = 1;
  job->waiting[job->top++] = 0;
  return 0;
}

void job_free(Job *job) {
  space_free(&job->space);
  if (job->sample.stack || job->sample.space.slot) sample_free(&job->sample);
  free(job->nodes);
  free(job->waiting);
  free(job->decisions);
  free(job->active);
  free(job->tests);
  free(job->parts);
}

static int grow(void **array, int32_t *room, int32_t needed, size_t size) {
  if (needed <= *room) return 0;
  void *more = realloc(*array, size * 2 * needed);
  if (more == NULL) return -1;
  *array = more;
  *room = 2 * needed;
  return 0;
}

/* A node is done: it gets its test, and its branches wait for theirs. */
static int decide(Job *job, const Test *test) {
  int32_t at = job->at;
  int32_t count = divide(&job->space, job->nodes[at].lo, job->nodes[at].hi, test, job->parts);
  if (grow((void **)&job->nodes, &job->room, job->length + count, sizeof(Built)) ||
      grow((void **)&job->waiting, &job->waiting_room, job->top + count, sizeof(int32_t)) ||
      grow((void **)&job->decisions, &job->decisions_room, job->decided + 1, 2 * sizeof(int32_t)))
    return -1;
  job->nodes[at].attribute = test->attribute;
  job->nodes[at].cut = test->cut;
  job->decisions[2 * job->decided] = test->attribute;
  job->decisions[2 * job->decided + 1] = test->cut;
  job->decided++;
  for (int32_t p = 0; p < count; p++)
    job->nodes[job->length + p] =
        (Built){LEAF, -1, job->parts[3 * p + 1], job->parts[3 * p + 2], at, job->parts[3 * p], 0};
  for (int32_t p = count - 1; p >= 0; p--) job->waiting[job->top++] = job->length + p;
  job->length += count;
  job->at = -1;
  return 0;
}

/* Look at the next node that waits; returns what that cost. */
static int64_t next_node(Job *job) {
  const Table *table = &job->table;
  int32_t at = job->waiting[--job->top], length = 0;
  job->position.looked++;
  int32_t *all = job->active + table->width + 1;
  Built *node = &job->nodes[at];
  for (int32_t a = 0; a < table->width; a++) all[a] = a;
  int pure = scan(&job->space, node->lo, node->hi, all, table->width, job->active, &length);
  if (pure < 0) return -1;
  int64_t cost = 1 + (int64_t)(node->hi - node->lo) * table->width / UNIT_VALUES;
  job->active_count = length;
  for (int32_t i = 0; i < job->space.count; i++) node->tests += job->space.tests[i].cut >= 0;
  if (pure || job->space.count == 0) return cost;
  job->at = at;
  if (job->told < job->told_length) {
    Test test = {job->known[2 * job->told], job->known[2 * job->told + 1], 0, 0, 0};
    job->told++;
    return decide(job, &test) ? -1 : cost;
  }
  if (job->repeats == 0 || job->space.count == 1) {
    Test test = job->space.tests[best_gain(job->space.tests, job->space.count)];
    return decide(job, &test) ? -1 : cost;
  }
  Test *tests = realloc(job->tests, sizeof(Test) * job->space.count);
  if (tests == NULL) return -1;
  job->tests = tests;
  job->count = job->space.count;
  memcpy(tests, job->space.tests, sizeof(Test) * job->count);
  job->position = (Position){job->position.looked, 0, -1, 0, 0, 0, 0, INT64_MAX, -1};
  return cost;
}

/* Find the branches of the test at hand; where their records are stays as it is. */
static void part(Job *job) {
  const Built *node = &job->nodes[job->at];
  const Test *test = &job->tests[job->position.test];
  const int32_t *code = job->table.code + (int64_t)test->attribute * job->table.rows;
  int32_t levels = test->cut < 0 ? job->table.levels[test->attribute] : 2, count = 0;
  int32_t *size = job->space.scratch;
  memset(size, 0, sizeof(int32_t) * levels);
  for (int32_t i = node->lo; i < node->hi; i++) {
    int32_t row = job->space.order[i], branch = test->cut < 0 ? code[row] : code[row] > test->cut;
    job->space.branch[row] = branch;
    size[branch]++;
  }
  for (int32_t v = 0; v < levels; v++)
    if (size[v]) job->parts[count++] = v;
  job->part_count = count;
}

static void begin_sample(Job *job, int64_t bound) {
  const Built *node = &job->nodes[job->at];
  const Position *here = &job->position;
  uint64_t seed = splitmix64(job->seed, 1 + (uint64_t)job->at);
  seed = splitmix64(seed, 1 + (uint64_t)here->test);
  seed = splitmix64(seed, 1 + (uint64_t)job->parts[here->part]);
  seed = splitmix64(seed, 1 + (uint64_t)here->repeat);
  sample_start(&job->sample, &job->space, node->lo, node->hi, job->parts[here->part], job->active,
               job->active_count, seed, bound);
}

/* A test has been judged: fewer leaves are better, then more gain, then coming first. */
static void judge(Job *job) {
  Position *here = &job->position;
  int64_t total = here->total;
  if (total < here->best_total ||
      (total == here->best_total && job->tests[here->test].gain > job->tests[here->best].gain)) {
    here->best = here->test;
    here->best_total = total;
  }
  here->test++;
  here->part = -1;
}

/* Go on with the judging of tests; returns what the step cost. */
static int64_t judge_step(Job *job) {
  Position *here = &job->position;
  Sample *sample = &job->sample;
  if (sample->active) {
    int64_t cost = sample_step(sample, job->words);
    here->sampled += cost;
    if (sample->active) return cost;
    if (sample->size < here->least) here->least = sample->size;
    here->repeat++;
    here->sampled = -1;
    return cost;
  }
  if (here->part < 0) {
    if (here->test == job->count) {
      Test test = job->tests[here->best];
      return decide(job, &test) ? -1 : 1;
    }
    const Test *test = &job->tests[here->test];
    part(job);
    here->part = here->repeat = 0;
    here->least = INT64_MAX;
    here->total = leaves_of(&job->table, test) - test->branches;
    return 1 + (job->nodes[job->at].hi - job->nodes[job->at].lo) / UNIT_VALUES;
  }
  if (here->repeat == job->repeats) {
    here->total += here->least;
    here->part++;
    here->repeat = 0;
    here->least = INT64_MAX;
  }
  /* Branches that have not been sampled have at least a leaf each. */
  here->total += job->part_count - here->part;
  if (here->part == job->part_count || here->total > here->best_total) {
    judge(job);
    return 0;
  }
  here->total -= job->part_count - here->part;
  begin_sample(job, here->least);
  here->sampled = 0;
  return 0;
}

void job_run(Job *job, int64_t limit) {
  while (job->spent < limit && !job->done && !job->failed) {
    if (job->at < 0 && job->top == 0) {
      job->done = 1;
      return;
    }
    int64_t cost = job->at < 0 ? next_node(job) : judge_step(job);
    if (cost < 0) job->failed = 1;
    else job->spent += cost;
  }
}

void job_resume(Job *job, const int32_t *known, int32_t length, const Position *position, int64_t spent) {
  Position *here = &job->position;
  job->known = known;
  job->told_length = length;
  while (!job->failed && here->looked < position->looked && job->top)
    if (job->at >= 0 || next_node(job) < 0) job->failed = 1;
  if (here->looked != position->looked || job->told != length) job->failed = 1;
  if (job->failed) return;
  if (job->at >= 0) {
    if (position->test < 0 || position->test > job->count || position->best < 0 ||
        position->best >= job->count || (position->test == job->count && position->part >= 0) ||
        position->part < -1 || position->repeat < 0 || position->repeat > job->repeats ||
        position->least < 0 || position->total < 0 || position->best_total < 0) {
      job->failed = 1;
      return;
    }
    *here = *position;
    if (here->part >= 0) {
      part(job);
      if (here->part > job->part_count || (position->sampled >= 0 && here->part == job->part_count)) {
        job->failed = 1;
        return;
      }
    }
    if (here->part >= 0 && position->sampled >= 0) {
      begin_sample(job, here->least);
      here->sampled = 0;
      while (job->sample.active && here->sampled < position->sampled && !job->failed) {
        int64_t cost = sample_step(&job->sample, job->words);
        if (cost < 0) job->failed = 1;
        else here->sampled += cost;
      }
    }
  }
  job->spent = spent;
}
