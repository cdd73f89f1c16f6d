/* The rule for each record, in this order: answer, score, learn, watch the errors of the main tree. */
#include <math.h>
#include <string.h>

#include "voices.h"

#define CLEARLY 1e-9
#define FEW 30          /* errors of fewer records say nothing */
#define WARNING 2.0
#define DRIFT 3.0
#define TRIAL 2000      /* a candidate that has not won by then is given up */
#define TRIAL_LEAST 10

void voices_reset_monitor(Monitor *monitor) {
    *monitor = (Monitor){0, 0, INFINITY, INFINITY, NO_WARNING};
}

/* ---- answering */

/* The answerer that was right most often, the first among equals. */
static int32_t best_answerer(const Record *record) {
    int32_t best = ROOT_BAYES;
    for (int32_t i = 1; i < ANSWERERS; i++)
        if (record->answerers[i] > record->answerers[best]) best = i;
    return best;
}

/* Which sources of the blend a tree is. */
typedef struct {
    int32_t bayes, leaf_bayes, leaf;
} Sources;
static const Sources MAIN = {PRIOR_SAYS, LEAF_BAYES_SAYS, LEAF_SAYS};
static const Sources RECENT = {RECENT_BAYES_SAYS, RECENT_LEAF_BAYES_SAYS, RECENT_LEAF_SAYS};

/* What naive Bayes answers at a node; the blend, if there is one, hears why. Of the main tree's root it hears every
 * attribute by itself. */
static int32_t bayes_heard(Tree *tree, const Node *node, Blend *blend, int32_t source) {
    if (!blend) return bayes(tree, node, tree->votes, NULL, NULL);
    int in_parts = source == PRIOR_SAYS;
    int32_t answer = bayes(tree, node, tree->votes, in_parts ? blend_parts(blend) : NULL,
                           in_parts ? blend_attributes_speak(blend) : NULL);
    if (in_parts)
        blend_hear_parts(blend, tree);
    else
        blend_hear_scores(blend, tree, source, tree->votes);
    return answer;
}

/* What a tree says about its row at hand. */
static Opinion opinion(const Voices *voices, Tree *tree, const Record *record, Blend *blend, Sources sources) {
    Opinion told = {tree_answer(tree), {-1, -1, -1}, MAJORITY, -1};
    Node *node = told.where.node;
    if (!node || tree->failed) return told;
    told.answers[MAJORITY] = told.answer = majority(tree, node);
    if (!voices->adaptive) return told;
    told.answers[ROOT_BAYES] = bayes_heard(tree, tree->root, blend, sources.bayes);
    if (voices->only_bayes) {
        told.chosen = ROOT_BAYES;
        told.answer = told.answers[ROOT_BAYES];
        return told;
    }
    if (node == tree->root && !blend)
        told.answers[LEAF_BAYES] = told.answers[ROOT_BAYES];
    else
        told.answers[LEAF_BAYES] = bayes_heard(tree, node, blend, sources.leaf_bayes);
    if (blend) blend_hear_leaf(blend, tree, sources.leaf, node);
    told.chosen = best_answerer(record);
    told.answer = told.answers[told.chosen];
    return told;
}

/* Whether the tree of the last few records is believed. */
static int believes_recent(const Voices *voices) {
    return voices->recent && voices->recent_record.tree > voices->main_record.tree + CLEARLY;
}

/* Whether one was right where the other was not so much more often that it is no chance. */
static int is_clear(double wins, double losses) {
    return wins + losses >= TRIAL_LEAST && wins - losses > 3.0 * sqrt(wins + losses);
}

/* The blend for the row at hand, or NULL where there is none. */
static Blend *begin_blend(Voices *voices) {
    Tree *main = voices->main;
    if (!voices->adaptive || voices->only_bayes || !main->root) return NULL;
    if (blend_make_room(&voices->blend, main)) {
        main->failed = 1;
        return NULL;
    }
    blend_begin(&voices->blend, main);
    return &voices->blend;
}

/* The answer to the row at hand, and all that was said about it. The blend answers, unless the answerer that is believed
 * most has been right clearly more often. */
Told voices_answer(Voices *voices, double *shares) {
    const Tree *tree = voices->main;
    Blend *blend = begin_blend(voices);
    Told told = {.blend = -1};
    told.main = opinion(voices, voices->main, &voices->main_record, blend, MAIN);
    if (voices->recent) told.recent = opinion(voices, voices->recent, &voices->recent_record, blend, RECENT);
    const Opinion *believed = &told.main;
    told.by = told.main.chosen;
    if (believes_recent(voices) && told.recent.where.node) {
        believed = &told.recent;
        tree = voices->recent;
        told.by = ANSWERERS + told.recent.chosen;
    }
    told.answer = told.answerer = believed->answer;
    if (blend) told.blend = blend_answer(blend, voices->main);
    if (told.blend >= 0 && !is_clear(blend->only_answerers, blend->only_blend)) {
        told.by = BY_BLEND;
        told.answer = told.blend;
        if (shares) memcpy(shares, blend->shares, sizeof *shares * (size_t)voices->main->classes);
    } else if (shares && believed->where.node) {
        shares_of(tree, believed->where.node, believed->chosen, shares);
    }
    return told;
}

/* ---- learning */

static void judge(const Voices *voices, Record *record, const Opinion *told, int32_t label) {
    for (int32_t i = 0; i < ANSWERERS; i++)
        record->answerers[i] = voices->decay * record->answerers[i] + (told->answers[i] == label ? 1 : 0);
    record->tree = voices->decay * record->tree + (told->answer == label ? 1 : 0);
}

static void drop_before(Voices *voices, int64_t keep) {
    tree_keep_last(voices->main, keep);
    voices->main->dropped = 1;
    voices->drops++;
    voices_reset_monitor(&voices->monitor);
}

/* Let a candidate begin with what was learned since the warning. */
static void begin_trial(Voices *voices) {
    int64_t keep = voices->monitor.since_warning == NO_WARNING ? 1 : voices->monitor.since_warning;
    tree_take_last(voices->candidate, voices->main, keep);
    voices->candidate_record = voices->main_record;
    voices->candidate_age = 1;
    voices->only_candidate = voices->only_main = 0;
    voices_reset_monitor(&voices->monitor);
}

static void end_trial(Voices *voices) {
    voices->candidate_age = 0;
    tree_keep_last(voices->candidate, 0);
}

static void try_candidate(Voices *voices, const Opinion *main, const Opinion *candidate, int32_t label) {
    voices->only_candidate += candidate->answer == label && main->answer != label;
    voices->only_main += main->answer == label && candidate->answer != label;
    if (is_clear((double)voices->only_candidate, (double)voices->only_main)) {
        int64_t keep = voices->candidate->root ? voices->candidate->root->n : 1;
        end_trial(voices);
        drop_before(voices, keep);
    } else if (is_clear((double)voices->only_main, (double)voices->only_candidate) || ++voices->candidate_age > TRIAL) {
        end_trial(voices);
        voices_reset_monitor(&voices->monitor);
    }
}

/* The rule of DDM with a smoothed share of errors: after a perfect start the plain one drops everything at the first
 * error. */
static void watch_errors(Voices *voices, int is_error) {
    Monitor *monitor = &voices->monitor;
    monitor->n++;
    monitor->errors += is_error;
    if (monitor->n < FEW) return;
    double p = (double)(monitor->errors + 1) / (double)(monitor->n + 2);
    double s = sqrt(p * (1 - p) / (double)monitor->n);
    if (p + s <= monitor->lowest_p + monitor->lowest_s) {
        monitor->lowest_p = p;
        monitor->lowest_s = s;
    }
    if (p + s > monitor->lowest_p + DRIFT * monitor->lowest_s) {
        if (voices->drift == DRIFT_VERIFIED)
            begin_trial(voices);
        else
            drop_before(voices, monitor->since_warning == NO_WARNING ? 1 : monitor->since_warning);
    } else if (p + s > monitor->lowest_p + WARNING * monitor->lowest_s) {
        if (monitor->since_warning == NO_WARNING) monitor->since_warning = 1;
    } else {
        monitor->since_warning = NO_WARNING;
    }
}

static void judge_blend(Voices *voices, const Told *told, int32_t label) {
    Blend *blend = &voices->blend;
    int answerer_right = told->answerer == label, blend_right = told->blend == label;
    blend->only_answerers = voices->decay * blend->only_answerers + (answerer_right && !blend_right);
    blend->only_blend = voices->decay * blend->only_blend + (blend_right && !answerer_right);
    blend_learn(blend, voices->main, label);
}

static void learn(Voices *voices, const Told *told, int32_t label) {
    const Opinion *main = &told->main;
    Opinion candidate = {.answer = -1};
    int on_trial = voices->candidate_age > 0;
    if (on_trial) candidate = opinion(voices, voices->candidate, &voices->candidate_record, NULL, MAIN);
    judge(voices, &voices->main_record, main, label);
    if (voices->recent) judge(voices, &voices->recent_record, &told->recent, label);
    if (on_trial) judge(voices, &voices->candidate_record, &candidate, label);
    if (told->blend >= 0) judge_blend(voices, told, label);
    int is_known =
        voices->main->settings.hat && told->answer == label && main->where.node && main->where.how != ANSWER_UNSEEN;
    if (!is_known) {
        tree_learn(voices->main, label);
        if (voices->recent) tree_learn(voices->recent, label);
        if (on_trial) tree_learn(voices->candidate, label);
        if (voices->monitor.since_warning != NO_WARNING) voices->monitor.since_warning++;
    } else if (voices->main->settings.max_bytes) {
        budget_note(voices->main, label);
    }
    if (voices->drift == DRIFT_NONE) return;
    if (on_trial)
        try_candidate(voices, main, &candidate, label);
    else
        watch_errors(voices, main->answer != label);
    if (voices->main->dropped) tree_recut_if_due(voices->main);
}

/* Answer the row at hand, judge the answerers by its label, and learn it. */
void voices_learn(Voices *voices, int32_t label) {
    Told told = voices_answer(voices, NULL);
    learn(voices, &told, label);
}

/* Forget one instance like the row at hand, wherever it is; -1 where the main tree has none. */
int voices_forget(Voices *voices, int32_t label) {
    Tree *main = voices->main, *beside[] = {voices->recent, voices->candidate_age ? voices->candidate : NULL};
    Monitor *monitor = &voices->monitor;
    uint32_t copies = tree_copies(main, label);
    int since = monitor->since_warning != NO_WARNING && tree_arrived_lately(main, label, monitor->since_warning);
    int missing = tree_forget(main, label);
    if (missing) return missing;
    if (since) monitor->since_warning--;
    /* The oldest like it is forgotten. A tree of the last records has that one only if it has all of them. After a drop, or
     * under a limit, it may have older copies than the main tree, and loses its oldest. Equal instances differ in nothing
     * but their place in the order of arrival, which a snapshot keeps for each tree: which copy leaves follows from the
     * records, whatever the batches and restarts. */
    for (int i = 0; i < 2; i++)
        if (beside[i] && tree_copies(beside[i], label) >= copies) tree_forget(beside[i], label);
    return 0;
}

void voices_row(Voices *voices, const void *codes, int wide) {
    Tree *trees[] = {voices->main, voices->recent, voices->candidate};
    for (int i = 0; i < 3; i++)
        if (trees[i]) {
            if (wide)
                tree_wide_row(trees[i], codes);
            else
                tree_row(trees[i], codes);
        }
}

/* What `tree_run` does, for all voices. A value that is missing or was never seen makes it stop as well. */
int64_t voices_run(Voices *voices, const void *codes, int wide, const int32_t *labels, int64_t start, int64_t end,
                   int stop, int32_t *answers, int32_t *how, int8_t *by, uint64_t *nodes, uint32_t *counts,
                   double *shares, Ops *spent, int *why) {
    Tree *tree = voices->main;
    int32_t classes = tree->classes;
    *why = RAN_OUT;
    for (int64_t i = start; i < end && !tree->failed; i++) {
        tree->changed = 0;
        voices_row(voices, (const char *)codes + i * tree->attributes * (wide ? 8 : 4), wide);
        Told told = voices_answer(voices, shares ? shares + i * classes : NULL);
        Answer where = told.main.where;
        Node *node = where.node;
        answers[i] = told.answer;
        by[i] = (int8_t)told.by;
        how[i] = where.how;
        nodes[i] = node ? node->id : 0;
        if (counts && node) memcpy(counts + i * classes, node->classes, (size_t)classes * 4);
        if ((stop & 2) && !is_explained(&where)) {
            *why = STOPPED_UNEXPLAINED;
            return i;
        }
        spent[i] = tree->ops; /* what had been spent before it */
        if (labels[i] < 0) continue;
        learn(voices, &told, labels[i]);
        if ((stop & 1) && tree->changed) {
            *why = STOPPED_CHANGED;
            return i + 1;
        }
    }
    return end;
}
