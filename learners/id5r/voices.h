/* Who is believed: naive Bayes at the root, naive Bayes at the leaf, or the majority of the leaf, of the tree of all
 * that is retained or of that of the last few records; or the blend of all they know; and when the past is dropped.
 * tests/oracles/drift.py and tests/oracles/blend.py have the rules in plain Python. */
#ifndef ESPALIER_VOICES_H
#define ESPALIER_VOICES_H

#include "blend.h"
#include "core.h"

enum { ROOT_BAYES, LEAF_BAYES, MAJORITY, ANSWERERS };
#define BY_BLEND (2 * ANSWERERS) /* those of the main tree and those of the recent one come first */
enum { DRIFT_NONE, DRIFT_DDM, DRIFT_VERIFIED };
#define NO_WARNING (-1)

/* How often a tree's answerers, and the tree itself, were right; what is long ago counts less. */
typedef struct {
    double answerers[ANSWERERS];
    double tree;
} Record;

/* What a tree says about the row at hand. */
typedef struct {
    Answer where;
    int32_t answers[ANSWERERS];
    int32_t chosen; /* whose answer is taken */
    int32_t answer;
} Opinion;

/* What all of them say, and which answer is given. */
typedef struct {
    Opinion main, recent;
    int32_t by;        /* whose answer is given */
    int32_t answerer;  /* the answer of the answerer believed most, */
    int32_t blend;     /* that of the blend, */
    int32_t answer;    /* and the one that is given */
} Told;

/* The errors of the main tree since it was last told to begin anew. */
typedef struct {
    int64_t n, errors;
    double lowest_p, lowest_s;
    int64_t since_warning; /* records learned since the warning; NO_WARNING: there is none */
} Monitor;

typedef struct {
    Tree *main;
    Tree *recent;    /* of the last few records, or NULL */
    Tree *candidate; /* for whether the past is worth dropping, or NULL */
    int adaptive;    /* whether naive Bayes may answer, */
    int only_bayes;  /* and nobody else, from the root's counts */
    int drift;
    double decay;
    Record main_record, recent_record, candidate_record;
    Monitor monitor;
    int64_t candidate_age; /* records since the candidate began; 0: there is none */
    int64_t only_candidate, only_main; /* how many of them only the one answered rightly */
    uint64_t drops;
    Blend blend; /* where the answer is adaptive */
} Voices;

/* bayes.c */
int64_t log_of(int64_t x);
int32_t bayes(const Tree *tree, const Node *node, int64_t *scores, int64_t *parts, uint8_t *speaks);
void shares_of(const Tree *tree, const Node *node, int32_t answerer, double *shares);

/* voices.c */
void voices_reset_monitor(Monitor *monitor);
Told voices_answer(Voices *voices, double *shares);
void voices_row(Voices *voices, const void *codes, int wide);
void voices_learn(Voices *voices, int32_t label);
int voices_forget(Voices *voices, int32_t label);
int64_t voices_run(Voices *voices, const void *codes, int wide, const int32_t *labels, int64_t start, int64_t end,
                   int stop, int32_t *answers, int32_t *how, int8_t *by, uint64_t *nodes, uint32_t *counts,
                   double *shares, Ops *spent, int *why);

#endif
