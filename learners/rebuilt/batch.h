/* Batch trees in C: the table, sets of records, the tree, and what is shared between the ways to grow it.
 *
 * columns.c  values of a column for a set of records, and how a test parts them
 * splits.c   what C4.5 thinks of a test
 * c45.c      grows by gain ratio
 * cells.c    P(x|c) for the naive tree
 * naive.c    grows by independent information gain
 * prune.c    error-based pruning with subtree raising
 *
 * A value is a code: of a nominal column its number, of a numeric one its rank among the values of the
 * column. -1 is a missing value. Only differences in order matter while a tree grows.
 */
#ifndef ESPALIER_BATCH_H
#define ESPALIER_BATCH_H

#include <stdint.h>
#include <stddef.h>

#define MISSING (-1)
#define LEAF (-1)
#define DEEPEST 10000 /* no path is longer: what follows it may recurse */
#define TINY 1e-6     /* two scores that differ by less are a tie, as in Weka */

typedef struct {
  int32_t m, n, classes;
  const int32_t *labels;
  const int32_t *arity;       /* how many values a nominal column has; 0: numeric */
  const int32_t *levels;      /* how many codes a column has */
  const double *values;       /* the values behind numeric codes, */
  const int64_t *value_start; /* and where those of a column begin */
  const int32_t *codes;       /* dense: column after column; NULL: sparse, and all numeric */
  const int64_t *col_start;   /* sparse, by column and by row; */
  const int32_t *col_rows, *col_codes;
  const int64_t *row_start;
  const int32_t *row_cols, *row_codes;
  int32_t zero;               /* the code of what is not stored */
  int32_t most_levels;
} Table;

typedef struct {
  int32_t n;
  int32_t *rows;
  double *weights;
} Set;

typedef struct {
  int32_t attribute;       /* LEAF: an answer */
  int32_t cut;             /* numeric: codes up to this go to the first branch */
  int32_t first, branches; /* the children are neighbours */
} Node;

typedef struct {
  Node *nodes;
  double *counts; /* of each class at each node */
  int32_t length, room, classes;
  int64_t looked; /* how many values of records were looked at to grow it */
  int failed;     /* there was not enough memory */
} Tree;

typedef struct {
  double gain, ratio;
  int32_t from, to; /* numeric: the cut is somewhere between these codes, which follow each other in the set */
  int valid;
} Split;

typedef struct {
  double min_records; /* at least two branches have so many */
  int min_share;      /* numeric: both have a tenth of the mean class as well, up to 25 */
  int mdl;            /* numeric: the gain pays for the choice of the cut */
} Rules;

typedef struct {
  double *left, *right; /* by class */
  double *cells;        /* by code and class */
  int64_t cell_room;
  int32_t *seen;        /* by code */
  uint64_t *keys, *spare;
  int32_t *codes;
  double *bags;         /* by branch or class */
  int32_t *at_row;      /* sparse: codes by row */
  double *xlogx;        /* of whole numbers up to m */
  int32_t m;
} Work;

/* columns.c */
int work_open(Work *work, const Table *table);
void work_close(Work *work);
void codes_of(const Table *table, Work *work, int32_t attribute, const Set *set, int32_t *codes);
int set_open(Set *set, int32_t n);
void set_close(Set *set);
int part(const Table *table, Work *work, const Node *node, const Set *set, Set *parts);
void count_classes(const Table *table, const Set *set, double *counts);
void sort_keys(uint64_t *keys, int64_t n);

/* splits.c */
double xlogx(const Work *work, double x);
Split split_nominal(const Table *, Work *, const Rules *, int32_t attribute, const int32_t *codes, const Set *,
                    double total);
Split split_numeric(const Table *, Work *, const Rules *, int32_t attribute, const int32_t *codes, const Set *,
                    double total);
Split split_stored(const Table *, Work *, const Rules *, const uint64_t *entries, int32_t stored,
                   const double *class_counts, int32_t records);

int32_t cut_of(const Table *, int32_t attribute, const Split *);

/* tree */
int tree_open(Tree *tree, int32_t classes);
void tree_close(Tree *tree);
int32_t tree_add(Tree *tree, int32_t count);
int is_pure(const double *counts, int32_t classes, double total);
double sum(const double *counts, int32_t classes);

/* c45.c */
int grow_c45(const Table *table, const Rules *rules, Tree *tree);

/* cells.c */
typedef struct {
  int64_t *start;     /* the cells of each attribute */
  int32_t *last;      /* the last code in each cell */
  int64_t cells;
  double *given;      /* P(cell | class), cell after cell */
  double *log_given;  /* for each attribute and class the sum over its cells of P log P, */
  double *excess;     /* and of P log (P / P(cell)): with a node's classes, a bound on the gain there */
} Cells;
int cells_open(Cells *cells, const Table *table, int32_t bins, int equal_width);
void cells_close(Cells *cells);

/* naive.c */
int grow_naive(const Table *table, const Rules *rules, int32_t bins, int equal_width, int renormalise, Tree *tree);

/* prune.c */
double added_errors(double n, double errors, double confidence, double z);
void collapse(Tree *tree);
int prune(const Table *table, Tree *tree, double confidence, double z, int raising);

#endif
