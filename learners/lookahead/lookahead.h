/* LSID3 (Esmeir and Markovitch 2004, 2006) as work that can be stopped after any unit and gone on with.
 *
 * Sums of n log2 n are kept in whole numbers of 2^-20 bits: no order of adding changes a gain, so that a run
 * can be replayed bit for bit. Random numbers are a function of where they are used, not of when. */
#ifndef ESPALIER_ANYTIME_H
#define ESPALIER_ANYTIME_H

#include <stdint.h>

#define LEAF (-1)
#define WORD 64            /* so many records fit in a word, from where on counting is popcount */
#define MOST_COLUMNS 256   /* nominal values that a word's worth of records is looked at through */
#define MOST_CLASSES 16
#define UNIT_VALUES 256    /* so many values looked at cost a unit */

/* Records as codes. A nominal code is the place of a value among those present; a numeric one is a rank. */
typedef struct {
  int32_t rows, width, classes;
  const int32_t *label;
  const int32_t *code;    /* width columns of rows */
  const int32_t *levels;  /* how many codes a column has */
  const int32_t *domain;  /* how many values a nominal attribute can have; 0: it is numeric */
  const int64_t *xlogx;   /* of 0 to rows */
} Table;

/* A test that divides the records of a node. */
typedef struct {
  int32_t attribute, cut; /* numeric: ranks up to the cut go first; nominal: -1 */
  int32_t pure;           /* whether all its branches are of one class */
  int32_t branches;       /* those with records */
  int64_t gain;
} Test;

/* Records in order, to be divided in place: once as they come, and once by each numeric attribute. */
typedef struct {
  const Table *table;
  int32_t capacity, orders;
  int32_t *slot;          /* which order an attribute is read in */
  int32_t *order;         /* orders times capacity */
  int32_t *branch;        /* of a record, at the test that divides it */
  int32_t *scratch;
  int32_t *counts;        /* by code and class, and by class */
  Test *tests;
  int32_t count, room;
} Space;

/* A node whose subtree has still to be sampled. */
typedef struct {
  int32_t lo, hi, first, length; /* the records, and the attributes that are not constant above */
  uint64_t seed;
} Waiting;

/* One tree of SID3 in the making. Only its size counts. */
typedef struct {
  Space space;
  Waiting *stack;
  int32_t top, room;
  int32_t *arena;
  int32_t arena_room;
  int64_t size, bound;
  int active;
} Sample;

/* A node of the tree that LSID3 builds; its records are those from lo to hi in the first order. */
typedef struct {
  int32_t attribute, cut, lo, hi, parent, branch, tests;
} Built;

/* How far the judging of a node's tests has come. */
typedef struct {
  int32_t looked;             /* nodes looked at so far, that one included */
  int32_t test, part, repeat; /* the sample at hand; part -1: its test has not been begun */
  int32_t best;
  int64_t least, total, best_total;
  int64_t sampled;            /* what the sample at hand has cost; -1: it has not been begun */
} Position;

typedef struct {
  Table table;
  Space space;
  Sample sample;
  int32_t repeats;
  uint64_t seed;
  Built *nodes;
  int32_t length, room;
  int32_t *waiting; /* nodes to be decided, the next one last */
  int32_t top, waiting_room;
  int32_t *decisions; /* attribute and cut of every test so far */
  int32_t decided, decisions_room;
  int32_t told, told_length; /* decisions that are known from before */
  const int32_t *known;
  int32_t at;         /* the node being decided; -1: none */
  int32_t *active;    /* its attributes */
  int32_t active_count;
  Test *tests;
  int32_t count;
  int32_t *parts;     /* code, first and length of each branch of the test at hand */
  int32_t part_count;
  Position position;
  int64_t spent;
  int done, failed, words; /* words: whether nodes of at most a word are counted by popcount */
} Job;

uint64_t splitmix64(uint64_t seed, uint64_t place);

int space_init(Space *space, const Table *table, int32_t capacity);
void space_free(Space *space);
void space_fill(Space *space);
/* Find the tests of a node. Returns 1 where its records are of one class, -1 where memory ran out. */
int scan(Space *space, int32_t lo, int32_t hi, const int32_t *active, int32_t length, int32_t *kept,
         int32_t *kept_length);
/* Divide a node's records; parts are code, first, end of each branch. Returns how many there are. */
int32_t divide(Space *space, int32_t lo, int32_t hi, const Test *test, int32_t *parts);
int32_t choose(const Test *tests, int32_t count, uint64_t seed);
int32_t best_gain(const Test *tests, int32_t count);
int64_t leaves_of(const Table *table, const Test *test);

/* SID3 of at most a word of records; returns the number of leaves, or -1 where they do not fit. */
int64_t sample_word(const Space *space, int32_t lo, int32_t hi, const int32_t *active, int32_t length,
                    uint64_t seed, int64_t bound, int64_t *spent);

int sample_init(Sample *sample, const Table *table, int32_t capacity);
void sample_free(Sample *sample);
void sample_start(Sample *sample, const Space *from, int32_t lo, int32_t hi, int32_t code,
                  const int32_t *active, int32_t length, uint64_t seed, int64_t bound);
/* Work on one node. Returns what it cost, or -1 where memory ran out. */
int64_t sample_step(Sample *sample, int words);

int job_init(Job *job, int32_t repeats, uint64_t seed, int words);
void job_free(Job *job);
/* Work until so much is spent in all, or the tree is done. */
void job_run(Job *job, int64_t limit);
/* Go on at a position, the decisions before it being known. */
void job_resume(Job *job, const int32_t *known, int32_t length, const Position *position, int64_t spent);

#endif
