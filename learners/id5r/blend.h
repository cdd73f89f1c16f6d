/* What all sources of evidence say together. tests/oracles/blend.py has the rule in plain Python. */
#ifndef ESPALIER_BLEND_H
#define ESPALIER_BLEND_H

#include "core.h"

/* The sources. After these comes how common each class is, and then every attribute, at the root of the main tree. */
enum { LEAF_BAYES_SAYS, LEAF_SAYS, RECENT_BAYES_SAYS, RECENT_LEAF_BAYES_SAYS, RECENT_LEAF_SAYS, PRIOR_SAYS };

/* Something that is learned from errors: the more it was moved lately, the less it moves. */
typedef struct {
    double value, squares;
} Learned;

typedef struct {
    int32_t attributes, classes; /* room */
    Learned *trust;              /* by source: how much more it is believed than at the beginning */
    Learned *slopes;             /* by position and class: what speaks for a class the higher a number is */
    double *says;                /* by source and class: bits, 0 for the class that it speaks for most */
    uint8_t *speaks;             /* by source: whether it says anything about the row at hand */
    double *positions;           /* 1, and for each attribute where its number is among all: from -1 to 1 */
    uint8_t *possible;           /* by class: whether there are any instances of it */
    double *shares;              /* by class: how probable it is */
    double believed;             /* how much an attribute is believed at the beginning */
    int64_t *parts;              /* room for what naive Bayes comes to, attribute by attribute */
    double only_answerers, only_blend; /* how often only the one or only the other was right lately */
} Blend;

int blend_make_room(Blend *blend, const Tree *tree);
void blend_free(Blend *blend);
void blend_begin(Blend *blend, const Tree *main);
void blend_hear_parts(Blend *blend, const Tree *main);
void blend_hear_scores(Blend *blend, const Tree *tree, int32_t source, const int64_t *scores);
void blend_hear_leaf(Blend *blend, const Tree *tree, int32_t source, const Node *leaf);
int32_t blend_answer(Blend *blend, const Tree *main);
void blend_learn(Blend *blend, const Tree *main, int32_t label);
static inline int64_t *blend_parts(Blend *blend) { return blend->parts; }
static inline uint8_t *blend_attributes_speak(Blend *blend) { return blend->speaks + PRIOR_SAYS + 1; }
static inline int32_t blend_sources(const Blend *blend) { return PRIOR_SAYS + 1 + blend->attributes; }

#endif
