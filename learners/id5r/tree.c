/* Learning, forgetting and answering. The steps are those of learners/utgoff/id5r.py; what differs keeps the
 * tree the same and saves work:
 *
 * - a rival of the test is scored again only when it can have become the better one (scores.c);
 * - a restructured node is looked at again only when it is visited, and small subtrees are not transposed but
 *   folded into sets and split again as far as they are visited. `tree_settle` does all that is left.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "missing.h"

static int64_t step_up(int64_t x) { return x_log_x(x + 1) - x_log_x(x); }

/* ---- life */

Tree *tree_new(const Settings *settings) {
    Tree *tree = calloc(1, sizeof *tree);
    if (!tree) return NULL;
    tree->settings = *settings;
    if (store_init(&tree->store)) {
        tree_free(tree);
        return NULL;
    }
    make_x_log_x();
    make_log_table();
    if (settings->gated && !(tree->levels = levels_take(settings->level, settings->pearson))) {
        tree_free(tree);
        return NULL;
    }
    tree->next_id = 1;
    tree->time = -1;
    tree->newest = -INFINITY;
    store_order(&tree->store, settings->window > 0 || settings->max_bytes > 0 || settings->ordered ||
                                  settings->window_time > 0);
    return tree;
}

void tree_free(Tree *tree) {
    if (!tree) return;
    node_free_all(tree, tree->root);
    tree_drop_spares(tree);
    levels_give(tree->levels);
    store_free(&tree->store);
    free(tree->value_capacity);
    free(tree->offsets);
    free(tree->known);
    free(tree->order);
    free(tree->class_rank);
    free(tree->used);
    free(tree->retired);
    free(tree->row);
    free(tree->aside);
    free(tree->cells);
    for (int32_t a = 0; tree->scales && a < tree->attributes; a++) free(tree->scales[a].cuts);
    free(tree->scales);
    free(tree->best_cut);
    free(tree->next_best);
    free(tree->scored);
    free(tree->below_cut);
    free(tree->votes);
    free(tree->budget.codes);
    free(tree->budget.splits);
    free(tree);
}

int64_t tree_bytes(const Tree *tree) {
    return tree->bytes + store_bytes(&tree->store) + (int64_t)sizeof *tree + tree->nodes * tree->settings.outline_bytes +
           (int64_t)tree->attributes * 80 + (int64_t)tree->numbers * 8 * tree->settings.bins;
}

/* Give every attribute a scale; those that have become numbers have no cuts yet. */
static int make_scales(Tree *tree, int32_t attributes, const int32_t *numbers) {
    size_t room = (size_t)attributes + 1;
    Scale *scales = realloc(tree->scales, room * sizeof *scales);
    if (scales) tree->scales = scales;
    int32_t *best_cut = realloc(tree->best_cut, room * sizeof *best_cut);
    if (best_cut) tree->best_cut = best_cut;
    int64_t *next_best = realloc(tree->next_best, room * sizeof *next_best);
    if (next_best) tree->next_best = next_best;
    uint8_t *scored = realloc(tree->scored, room);
    if (scored) tree->scored = scored;
    if (!scales || !best_cut || !next_best || !scored) return -1;
    tree->numbers = 0;
    for (int32_t a = 0; a < attributes; a++) {
        if (a >= tree->attributes) scales[a] = (Scale){-1, 0, 0, 1, NULL, 0};
        scales[a].number = numbers[a];
        tree->numbers += numbers[a] >= 0;
    }
    return 0;
}

/* Make room for the attributes, values and classes that there are now. `numbers` has the place of each attribute
 * among those that are numbers, or -1; one that only ever lacked a value may become a number. */
int tree_reserve(Tree *tree, int32_t attributes, const int32_t *values, const int32_t *numbers, int32_t classes) {
    int again = attributes != tree->attributes || classes > tree->class_capacity, more_numbers = 0;
    int32_t *capacity = malloc(sizeof(int32_t) * (size_t)(attributes + 1));
    int32_t code_bytes = tree->store.code_bytes;
    if (!capacity) {
        tree->failed = 1;
        return -1;
    }
    for (int32_t a = 0; a < attributes; a++) {
        more_numbers |= numbers[a] >= 0 && (a >= tree->attributes || !is_number(tree, a));
        capacity[a] = a < tree->attributes ? tree->value_capacity[a] : values[a];
        if (values[a] > capacity[a]) {
            capacity[a] = numbers[a] >= 0 ? values[a] : values[a] + values[a] / 4 + 1;
            if (capacity[a] > UINT16_MAX) capacity[a] = UINT16_MAX; /* a code has at most two bytes */
            again = 1;
        }
        if (capacity[a] > 255) code_bytes = 2; /* the highest code stands for a value never learned */
    }
    if (again || more_numbers) {
        int32_t room = tree->class_capacity, count = 0;
        for (int32_t a = 0; a < attributes; a++) count += numbers[a] >= 0;
        if (classes > room) room = room ? classes + classes / 4 + 1 : (classes < 2 ? 2 : classes);
        int wider = attributes != tree->attributes || more_numbers;
        if (wider || code_bytes != tree->store.code_bytes) {
            if (store_widen(&tree->store, attributes, code_bytes, count)) tree->failed = 1;
            free(tree->row);
            free(tree->aside);
            free(tree->used);
            free(tree->cells);
            tree->row = tree->aside = tree->used = NULL;
            tree->cells = NULL;
        }
        if (more_numbers && tree->root) {
            /* Nothing is known about it so far; but what was a value of its own is none now. */
            node_free_all(tree, tree->root);
            tree->root = NULL;
        }
        if (!tree->failed && make_scales(tree, attributes, numbers)) tree->failed = 1;
        if (!tree->failed) tree_layout(tree, capacity, attributes, room);
        uint32_t *below = realloc(tree->below_cut, sizeof *below * (size_t)(room + 1));
        if (below) tree->below_cut = below;
        int64_t *votes = realloc(tree->votes, 3 * sizeof *votes * (size_t)(room + 1));
        if (votes) tree->votes = votes;
        if (!below || !votes) tree->failed = 1;
        tree->classes = classes;
        if (more_numbers && !tree->failed) tree_relist(tree);
        if (wider) tree->changed = 1;
    }
    free(capacity);
    int32_t *known = realloc(tree->known, sizeof *known * (size_t)(attributes + 1));
    if (known) tree->known = known;
    if (known && attributes) memcpy(known, values, sizeof *known * (size_t)attributes);
    if (!known || (tree->settings.max_bytes && budget_widen(tree, attributes))) tree->failed = 1;
    if (!tree->row) tree->row = calloc(1, tree->store.stride);
    if (!tree->aside) tree->aside = calloc(1, tree->store.stride);
    if (!tree->used) tree->used = calloc(1, (size_t)attributes + 1);
    if (!tree->cells) tree->cells = calloc((size_t)attributes + 1, sizeof *tree->cells);
    if (!tree->row || !tree->aside || !tree->used || !tree->cells) tree->failed = 1;
    tree->classes = classes;
    return tree->failed ? -1 : 0;
}

void tree_set_order(Tree *tree, const int32_t *order, const int32_t *class_rank) {
    int32_t *orders = realloc(tree->order, sizeof(int32_t) * (size_t)(tree->attributes + 1));
    if (orders) tree->order = orders;
    int32_t *ranks = realloc(tree->class_rank, sizeof(int32_t) * (size_t)(tree->classes + 1));
    if (ranks) tree->class_rank = ranks;
    if (!orders || !ranks) {
        tree->failed = 1;
        return;
    }
    memcpy(tree->order, order, sizeof(int32_t) * (size_t)tree->attributes);
    memcpy(tree->class_rank, class_rank, sizeof(int32_t) * (size_t)tree->classes);
}

/* Say of every attribute whether it is retired: no instance has a value of it, and it is never tested. */
void tree_set_retired(Tree *tree, const uint8_t *retired) {
    uint8_t *mask = realloc(tree->retired, (size_t)tree->attributes + 1);
    if (!mask) {
        tree->failed = 1;
        return;
    }
    tree->retired = mask;
    tree->retired_count = tree->attributes;
    tree->retired_values = 0;
    for (int32_t a = 0; a < tree->attributes; a++) {
        mask[a] = retired[a] != 0;
        tree->retired_values += mask[a] && !is_number(tree, a);
    }
}

/* Find out where the values of the row at hand are counted: once for all nodes it passes. */
void tree_find_cells(Tree *tree) {
    size_t step = (size_t)tree->class_capacity;
    for (int32_t a = 0; a < tree->attributes; a++)
        assert(code_at(&tree->store, tree->row, a) < tree->value_capacity[a]);
    for (int32_t a = 0; a < tree->attributes; a++)
        tree->cells[a] = (size_t)(tree->offsets[a] + code_at(&tree->store, tree->row, a)) * step;
}

/* Take up the row at hand, as the store keeps it. A code that is out of range, such as that of a value never
 * learned, is one that no instance has. */
void tree_row(Tree *tree, const uint32_t *codes) {
    int32_t width = tree->attributes;
    if (tree->store.code_bytes == 1) {
        for (int32_t a = 0; a < width; a++) tree->row[a] = codes[a] < UINT8_MAX ? (uint8_t)codes[a] : UINT8_MAX;
    } else {
        uint16_t *row = (uint16_t *)tree->row;
        for (int32_t a = 0; a < width; a++) row[a] = codes[a] < UINT16_MAX ? (uint16_t)codes[a] : UINT16_MAX;
    }
}

/* The same for a row that may hold numbers, whose codes are whole numbers of 64 bits in their order. */
void tree_wide_row(Tree *tree, const uint64_t *codes) {
    const Store *store = &tree->store;
    uint64_t most = store->code_bytes == 1 ? UINT8_MAX : UINT16_MAX;
    for (int32_t a = 0; a < tree->attributes; a++) {
        const Scale *scale = &tree->scales[a];
        if (scale->number >= 0) {
            numbers_of(store, tree->row)[scale->number] = codes[a];
            set_code(store, tree->row, a, bin_of(scale, codes[a]));
        } else {
            set_code(store, tree->row, a, (int32_t)(codes[a] < most ? codes[a] : most));
        }
    }
}

/* ---- going down */

static void at_the_root(Tree *tree) {
    if (tree->attributes) memset(tree->used, 0, (size_t)tree->attributes);
    if (tree->retired_count) memcpy(tree->used, tree->retired, (size_t)tree->retired_count);
    tree->left = tree->attributes - tree->numbers - tree->retired_values;
}

/* A number may be tested again below, at another cut. */
static void below(Tree *tree, Test test) {
    if (test.cut >= 0) return;
    tree->used[test.attribute] = 1;
    tree->left--;
}

static void above(Tree *tree, Test test) {
    if (test.cut >= 0) return;
    tree->used[test.attribute] = 0;
    tree->left++;
}

static void reshape(Tree *tree, Node *node) {
    node->reshaped = 1;
    if (node->form != SPLIT) node->explained = 0; /* a set of one description may have become a chain */
    tree->changed = 1;
}

/* Whether a set without counts may have to be split. */
static int may_split(Tree *tree, Node *node) {
    if (node->present < 2 || (tree->left == 0 && !tree->numbers)) return 0;
    if (tree->settings.gated) {
        if (tree->settings.pearson) return 1;
        int64_t disorder = x_log_x(node->n);
        for (int32_t c = 0; c < tree->classes; c++) disorder -= x_log_x(node->classes[c]);
        return disorder > least_gain(tree, node);
    }
    return !node_is_uniform(tree, node);
}

static void split(Tree *tree, Node *node, Test test);
static int establish(Tree *tree, Node *node);

/* Give a decision node another test. */
static void retest(Tree *tree, Node *node, Test test) {
    if (!node_shift(tree, node, test)) node_pull_up(tree, node, test);
    node_unjudge(tree, node);
}

static int are_same(Test one, Test other) { return one.attribute == other.attribute && one.cut == other.cut; }

static int is_on_shelf(const Node *node, Test test) { return node->shelf && are_same(node->shelf->test, test); }

static void bring_back(Tree *tree, Node *node);

/* Give a decision node another test, which may have been there before, and may give way again. */
static void exchange(Tree *tree, Node *node, Test test) {
    if (is_on_shelf(node, test)) {
        bring_back(tree, node);
        return;
    }
    node_clear_shelf(tree, node);
    if (test.attribute != node->test.attribute && shelf_replace(tree, node, test)) return;
    Shelf *shelf = shelf_copy(tree, node);
    retest(tree, node, test);
    node->shelf = shelf;
}

/* Give a stale node its best test; what is below may be stale then. Of one that is only unsure, what is known of every
 * score is a bound still. */
static void settle(Tree *tree, Node *node) {
    if (node->stale == UNSURE && node->form != LISTED) {
        node->stale = 0;
        establish(tree, node);
        return;
    }
    reshape(tree, node);
    if (node->form == LISTED) {
        node->stale = 0;
        if (!may_split(tree, node) || node_tabulate(tree, node)) return;
    }
    node_recount_unscored(tree, node);
    Test best = look(tree, node, EVERYTHING);
    node->stale = 0;
    if (node->form == SPLIT) {
        tree->ops.repairs++;
        if (best.attribute < 0)
            node_collapse(tree, node);
        else
            retest(tree, node, best);
    } else if (best.attribute >= 0) {
        split(tree, node, best);
    }
}

/* Settle what is left to do below a node: only along paths that are marked. */
static void settle_all(Tree *tree, Node *node) {
    tree->walks.settled++;
    if (node->reshaped == CLEAN || node->reshaped == SETTLED) return;
    if (node->stale) settle(tree, node);
    if (node->unjudged && node->form == SPLIT) look(tree, node, EVERYTHING);
    node->unjudged = 0;
    if (tree->failed) return;
    if (node->form == SPLIT) {
        Test test = node->test;
        below(tree, test);
        for (int32_t v = 0; v < branch_count(tree, test); v++)
            if (node->branches[v]) settle_all(tree, node->branches[v]);
        above(tree, test);
    }
    node->reshaped = node->reshaped == UNJUDGED ? CLEAN : SETTLED;
}

void tree_settle(Tree *tree) {
    if (!tree->root) return;
    at_the_root(tree);
    settle_all(tree, tree->root);
}

/* Give a node whose counts have changed its best test; return whether it still is a decision node. */
static int establish(Tree *tree, Node *node) {
    Test best = look(tree, node, WHAT_MAY_WIN);
    if (are_same(best, node->test)) return best.attribute >= 0;
    reshape(tree, node);
    if (best.attribute < 0) {
        node_close(tree, node);
        return 0;
    }
    look(tree, node, THE_REST); /* for the record: how clearly it was chosen */
    if (node->form == SPLIT) {
        tree->ops.pull_ups++;
        exchange(tree, node, best);
    } else {
        split(tree, node, best);
    }
    return 1;
}

/* ---- counting the row at hand */

static int value_is_here(const Tree *tree, const uint32_t *cell) {
    for (int32_t c = 0; c < tree->classes; c++)
        if (cell[c]) return 1;
    return 0;
}

/* Whether a bin with nothing in it counts as one with something: missing numbers belong to that of the median. */
static int twin_is_here(const Tree *tree, const Node *node, int32_t attribute) {
    const Scale *scale = &tree->scales[attribute];
    size_t first = (size_t)tree->offsets[attribute] * (size_t)tree->class_capacity;
    size_t median = first + (size_t)scale->median * (size_t)tree->class_capacity;
    if (scale->number < 0) return 0;
    if (tree->cells[attribute] == first) return value_is_here(tree, node->counts + median);
    return tree->cells[attribute] == median && value_is_here(tree, node->counts + first);
}

/* Add the row to a node's counts; return whether some attribute has got a second value, and may be tested now. More
 * values than that only make it harder for a test to be significant, which is looked at for the test alone. */
static int count_in(Tree *tree, Node *node, int32_t label) {
    const size_t *cells = tree->cells;
    uint32_t *counts = node->counts;
    int32_t width = tree->attributes;
    int more = 0;
    for (int32_t a = 0; a < width; a++) {
        uint32_t *cell = counts + cells[a];
        if (!cell[label] && !value_is_here(tree, cell) && !twin_is_here(tree, node, a)) {
            if (++node->values_here[a] == 2) more = 1;
            /* Two cuts of it that divided alike do so no longer. */
            if (a == node->test.attribute) node->S_rest = INT64_MIN / 2;
        }
        cell[label]++;
    }
    tree->ops.additions += (uint64_t)tree->left;
    return more;
}

/* Take the row out of a node's counts. What is known of each score falls by exactly what the row was worth, or
 * for a number, by what it can have been worth at the most at any cut, so that a bound stays a bound. */
static void count_out(Tree *tree, Node *node, int32_t label) {
    for (int32_t a = 0; a < tree->attributes; a++) {
        uint32_t *cell = node->counts + tree->cells[a];
        int64_t total = 0;
        for (int32_t c = 0; c < tree->classes; c++) total += cell[c];
        assert(cell[label] > 0);
        if (is_number(tree, a)) {
            int64_t worth = step_up(node->n) - step_up(cell[label] - 1);
            node->S[a] -= worth;
            if (a == node->test.attribute) node->S_rest -= worth;
        } else if (!tree->used[a]) {
            node->S[a] -= step_up(total - 1) - step_up(cell[label] - 1);
        }
        cell[label]--;
        if (total == 1 && !twin_is_here(tree, node, a)) node->values_here[a]--;
    }
    tree->ops.additions += (uint64_t)tree->left;
}

int class_in(Tree *tree, Node *node, int32_t label) {
    node->disorder += step_up(node->n) - step_up(node->classes[label]);
    node->n++;
    if (node->classes[label]++) return 0;
    node->present++;
    return 1;
}

void class_out(Tree *tree, Node *node, int32_t label) {
    assert(node->n > 0 && node->classes[label] > 0);
    node->n--;
    if (--node->classes[label] == 0) node->present--;
    node->disorder -= step_up(node->n) - step_up(node->classes[label]);
}

/* ---- learning */

static void join_set(Tree *tree, Node *node, uint32_t instance, int32_t label, int is_new) {
    int32_t answer = node->n ? majority(tree, node) : -1;
    int was_pure = node->present < 2;
    /* One that is there already may lie in the set or below: then there is no telling what is counted where. */
    if (!is_new) node_fold(tree, node);
    if (is_new) node_store(tree, node, instance);
    if (node->form == COUNTED) {
        int unlike = class_in(tree, node, label);
        unlike |= count_in(tree, node, label);
        tree->store.times[instance]++;
        if (unlike || needs_look(tree, node)) establish(tree, node);
    } else {
        tree->store.times[instance]++;
        node->n++;
        if (!node->classes[label]++) node->present++;
        /* An instance that is there already changes nothing of a set that is not split: of one description,
         * or not significant. */
        if (may_split(tree, node)) {
            node->stale = 1;
            reshape(tree, node);
        } else if (was_pure && node->present > 1) {
            reshape(tree, node);
        }
    }
    if (majority(tree, node) != answer) reshape(tree, node);
}

/* The nodes passed on the way down. Few enough for the stack, as almost always, or elsewhere. */
typedef struct {
    Node *few[64];
    Node **nodes;
    int32_t count, capacity;
} Way;

static void way_begin(Way *way) {
    way->nodes = way->few;
    way->count = 0;
    way->capacity = 64;
}

static void way_add(Tree *tree, Way *way, Node *node) {
    if (way->count == way->capacity) {
        size_t capacity = 2 * (size_t)way->capacity;
        Node **more = malloc(capacity * sizeof *more);
        if (!more) {
            tree->failed = 1;
            return;
        }
        memcpy(more, way->nodes, sizeof *more * (size_t)way->count);
        if (way->nodes != way->few) free(way->nodes);
        way->nodes = more;
        way->capacity = (int32_t)capacity;
    }
    way->nodes[way->count++] = node;
}

/* What is above a change looks different, too. */
static void way_end(Tree *tree, Way *way) {
    if (tree->changed)
        for (int32_t i = 0; i < way->count; i++) way->nodes[i]->reshaped = 1;
    if (way->nodes != way->few) free(way->nodes);
}

/* Let an instance go down from a node as `insert` does, but leave every look at a test for when somebody asks: before that
 * there may be others that go down, or another restructuring. */
static void let_fall(Tree *tree, Node **place, uint32_t instance, int32_t label, int is_new) {
    while (!tree->failed) {
        if (!*place && !(*place = node_new(tree))) return;
        Node *node = *place;
        node->reshaped = 1;
        if (node->form != SPLIT) {
            node->explained = 0;
            if (is_new)
                node_store(tree, node, instance);
            else
                node_fold(tree, node);
            tree->store.times[instance]++;
        }
        int unlike = class_in(tree, node, label);
        if (node->form == LISTED) {
            if (node->present > 1) node->stale = STALE;
            return;
        }
        if (node->form == SPLIT) {
            const Node *branch = node->branches[branch_of(tree, tree->row, node->test)];
            node->S_test += step_up(branch ? branch->n : 0) - step_up(branch ? branch->classes[label] : 0);
        }
        unlike |= count_in(tree, node, label);
        if (!node->stale && (unlike || needs_look(tree, node))) node->stale = UNSURE;
        if (node->form != SPLIT) return;
        shelf_note(tree, node, instance);
        place = &node->branches[branch_of(tree, tree->row, node->test)];
    }
}

/* Learn the row at hand from a node on; what was tested above it is known. */
static void insert(Tree *tree, Node *node, uint32_t instance, int32_t label, int is_new) {
    Way way;
    way_begin(&way);
    while (!tree->failed) {
        if (node->stale) {
            reshape(tree, node);
            let_fall(tree, &node, instance, label, is_new);
            break;
        }
        if (node->form != SPLIT) {
            join_set(tree, node, instance, label, is_new);
            break;
        }
        Node *branch = node->branches[branch_of(tree, tree->row, node->test)];
        node->S_test += step_up(branch ? branch->n : 0) - step_up(branch ? branch->classes[label] : 0);
        int unlike = class_in(tree, node, label);
        unlike |= count_in(tree, node, label);
        if (((unlike && tree->settings.gated) || needs_look(tree, node)) && !establish(tree, node)) {
            /* No attribute is significant any more: the set has the row in its counts already. */
            if (!is_new) node_fold(tree, node);
            if (is_new) node_store(tree, node, instance);
            tree->store.times[instance]++;
            break;
        }
        if (tree->failed) break; /* then it may have no branches */
        shelf_note(tree, node, instance);
        Node **place = &node->branches[branch_of(tree, tree->row, node->test)];
        if (!*place) {
            if (!(*place = node_new(tree))) break;
            reshape(tree, node);
        }
        way_add(tree, &way, node);
        below(tree, node->test);
        node = *place;
    }
    for (int32_t i = way.count; i-- > 0;) above(tree, way.nodes[i]->test);
    way_end(tree, &way);
}

/* Let instances that have waited go down from a node, and free the list of them. Those that came several times are
 * there as often, or below already. */
static void let_down(Tree *tree, Node *node, uint32_t *waiting, uint32_t count) {
    Store *store = &tree->store;
    uint8_t *row = tree->row;
    for (uint32_t k = 0; k < count; k++) {
        assert(store->times[waiting[k]] > 0);
        store->times[waiting[k]]--; /* each is counted again */
    }
    for (uint32_t k = 0; k < count && !tree->failed; k++) {
        uint32_t i = waiting[k];
        tree->row = row_of(store, i);
        tree_find_cells(tree);
        let_fall(tree, &node->branches[branch_of(tree, tree->row, node->test)], i, store->labels[i], store->times[i] == 0);
    }
    tree->row = row;
    tree_find_cells(tree);
    free(waiting);
}

/* Open a closed node again: what has waited in its set goes down where it belongs. */
static void reopen(Tree *tree, Node *node) {
    uint32_t *waiting = node->set, count = node->set_count;
    node->form = SPLIT;
    node->test = node->kept;
    node->kept = (Test){-1, -1};
    node->set = NULL;
    node->set_count = node->set_capacity = node->alike = 0;
    node_unjudge(tree, node);
    tree->ops.expansions++;
    let_down(tree, node, waiting, count);
}

/* Give a node the test and the branches on its shelf. */
static void bring_back(Tree *tree, Node *node) {
    uint32_t count, *waiting = shelf_exchange(tree, node, &count);
    node_unjudge(tree, node);
    tree->ops.transpositions++;
    tree->brought_back++;
    let_down(tree, node, waiting, count);
}

/* Let the instances of a set with counts go down by a test. */
static void split(Tree *tree, Node *node, Test test) {
    if (node->branches && are_same(node->kept, test)) {
        reopen(tree, node);
        return;
    }
    node_fold(tree, node);
    node_distribute(tree, node, test);
}

static void forget_instance(Tree *tree, uint32_t instance);

/* Make way for the row at hand: the same description with another class is out of date (section 6). */
static void forget_rivals(Tree *tree, int32_t label) {
    for (int32_t c = 0; c < tree->classes; c++) {
        if (c == label) continue;
        uint32_t rival;
        while ((rival = store_find(&tree->store, tree->row, (uint16_t)c)) != NO_INSTANCE && !tree->failed) {
            if (store_skip(&tree->store, rival)) tree->failed = 1;
            forget_instance(tree, rival);
        }
    }
}

static int64_t retained(const Tree *tree) { return tree->root ? tree->root->n : 0; }

static uint64_t time_of(const Tree *tree, const uint8_t *row) {
    return tree->time < 0 ? 0 : numbers_of(&tree->store, row)[tree->scales[tree->time].number];
}

/* Whether the row at hand has no time, or one before the window: then it is not learned. As long as no two instances agree
 * about the time, the later arrival is believed: a first record from the far future does not keep all others out. What is
 * far ahead of a time that is confirmed was let in on purpose (learners/clock.py). */
static int is_out_of_time(Tree *tree) {
    uint64_t time = time_of(tree, tree->row);
    if (!time) return 1;
    double at = number_of(time);
    if (fabs(at - tree->newest) > tree->settings.max_time_jump && (!tree->confirmed || at > tree->newest)) {
        while (at < tree->newest && retained(tree) && !tree_forget_oldest(tree)) {
        }
        tree->newest = at;
        tree->confirmed = 0;
        return 0;
    }
    if (at < tree->newest - tree->settings.window_time) return 1;
    if (fabs(at - tree->newest) <= tree->settings.max_time_jump) tree->confirmed = 1;
    if (at > tree->newest) tree->newest = at;
    return 0;
}

/* Let go of what is before the window, in order of arrival: whatever came before something newer waits for it. */
static void forget_by_time(Tree *tree) {
    for (;;) {
        uint32_t oldest = store_front(&tree->store);
        if (oldest == NO_INSTANCE) return;
        uint64_t time = time_of(tree, row_of(&tree->store, oldest));
        if (number_of(time) >= tree->newest - tree->settings.window_time || tree_forget_oldest(tree)) return;
    }
}

void tree_learn(Tree *tree, int32_t label) {
    assert(label >= 0 && label < tree->classes);
    if (tree->failed) return;
    if (tree->settings.max_bytes) budget_note(tree, label);
    if (tree->settings.window_time > 0 && is_out_of_time(tree)) return;
    tree_find_cells(tree);
    if (tree->settings.replace) forget_rivals(tree, label);
    uint32_t instance = store_find(&tree->store, tree->row, (uint16_t)label);
    int is_new = instance == NO_INSTANCE;
    if (is_new && (instance = store_add(&tree->store, tree->row, (uint16_t)label)) == NO_INSTANCE) {
        tree->failed = 1;
        return;
    }
    at_the_root(tree);
    if (!tree->root && !(tree->root = node_new(tree))) return;
    insert(tree, tree->root, instance, label, is_new);
    tree->ops.stored++;
    if (store_arrived(&tree->store, instance)) tree->failed = 1;
    tree->since_cuts++;
    if (tree->settings.window)
        while (retained(tree) > tree->settings.window && !tree_forget_oldest(tree)) {
        }
    if (tree->settings.window_time > 0) forget_by_time(tree);
    if (tree->numbers) tree_recut_if_due(tree);
    if (tree->settings.max_bytes) budget_keep(tree);
    assert_sound(tree);
}

/* ---- forgetting */

static void leave_set(Tree *tree, Node *node, uint32_t instance, int32_t label, int counted_out) {
    node_fold(tree, node);
    if (tree->failed) return; /* then the instance may not be there */
    int32_t answer = majority(tree, node);
    int was_pure = node->present < 2;
    if (node->form == COUNTED && !counted_out) count_out(tree, node, label);
    if (!counted_out) class_out(tree, node, label);
    if (--tree->store.times[instance] == 0) {
        node_unlink(tree, node, instance);
        store_drop(&tree->store, instance);
    }
    if (node->form == COUNTED) {
        if (node->present < 2) {
            node_untabulate(tree, node);
            node->form = LISTED;
        } else {
            watch(tree, node);
            if (needs_look(tree, node)) establish(tree, node);
        }
    }
    if (node->present < 2) node->stale = 0;
    if (tree->settings.max_bytes && tree->settings.gated && node->form == LISTED && may_split(tree, node)) {
        /* With a class fewer, less is needed to be significant; every set that may be split has a table (budget.c). */
        node->stale = STALE;
        reshape(tree, node);
    }
    if (was_pure != (node->present < 2) || majority(tree, node) != answer) reshape(tree, node);
}

/* Forget one instance: the row at hand is its row. */
static void forget_instance(Tree *tree, uint32_t instance) {
    int32_t label = tree->store.labels[instance];
    at_the_root(tree);
    tree->ops.forgotten++;
    tree->aged = 1;
    Way way;
    way_begin(&way);
    Node *node = tree->root;
    while (!tree->failed) {
        if (node->stale && node->form != LISTED) settle(tree, node);
        if (tree->failed) break;
        if (node->form != SPLIT) {
            leave_set(tree, node, instance, label, 0);
            break;
        }
        Node *branch = node->branches[branch_of(tree, tree->row, node->test)];
        assert(branch && branch->classes[label] > 0);
        node->S_test -= step_up(branch->n - 1) - step_up(branch->classes[label] - 1);
        class_out(tree, node, label);
        count_out(tree, node, label);
        int decides = 1;
        if (node->present < 2) {
            node_collapse(tree, node);
            reshape(tree, node);
            decides = 0;
        } else {
            watch(tree, node);
            if (needs_look(tree, node)) decides = establish(tree, node);
        }
        if (tree->failed) break;
        if (!decides) {
            leave_set(tree, node, instance, label, 1);
            break;
        }
        node_clear_shelf(tree, node);
        way_add(tree, &way, node);
        below(tree, node->test);
        node = node->branches[branch_of(tree, tree->row, node->test)];
    }
    if (!tree->failed && node->n == 0) {
        if (way.count) {
            Node *parent = way.nodes[way.count - 1];
            parent->branches[branch_of(tree, tree->row, parent->test)] = NULL;
        } else {
            tree->root = NULL;
        }
        node_free(tree, node);
        tree->changed = 1;
    }
    way_end(tree, &way);
}

int tree_holds(Tree *tree, int32_t label) {
    return store_find(&tree->store, tree->row, (uint16_t)label) != NO_INSTANCE;
}

/* How many instances like the row at hand there are. */
uint32_t tree_copies(const Tree *tree, int32_t label) {
    uint32_t instance = store_find(&tree->store, tree->row, (uint16_t)label);
    return instance == NO_INSTANCE ? 0 : tree->store.times[instance];
}

/* Whether all instances like the row at hand are among the last so many to arrive. */
int tree_arrived_lately(Tree *tree, int32_t label, int64_t count) {
    const Store *store = &tree->store;
    uint32_t *seen = calloc((size_t)store->used + 1, sizeof *seen);
    uint32_t instance = store_find(store, tree->row, (uint16_t)label);
    if (!seen) tree->failed = 1;
    if (seen) store_tail(store, count, seen);
    int lately = seen && instance != NO_INSTANCE && seen[instance] >= store->times[instance];
    free(seen);
    return lately;
}

/* Forget the oldest instance like the row at hand; -1 where there is none. */
int tree_forget(Tree *tree, int32_t label) {
    uint32_t instance = store_find(&tree->store, tree->row, (uint16_t)label);
    if (instance == NO_INSTANCE) return -1;
    if (store_skip(&tree->store, instance)) tree->failed = 1;
    tree_find_cells(tree);
    forget_instance(tree, instance);
    return 0;
}

int tree_forget_oldest(Tree *tree) {
    uint32_t instance = store_oldest(&tree->store);
    if (instance == NO_INSTANCE) return -1;
    memcpy(tree->aside, tree->row, tree->store.stride);
    memcpy(tree->row, row_of(&tree->store, instance), tree->store.stride);
    tree_find_cells(tree);
    forget_instance(tree, instance);
    memcpy(tree->row, tree->aside, tree->store.stride);
    tree_find_cells(tree);
    return 0;
}

/* Let all but the last instances go at once, and make the tree of what is left anew. */
void tree_keep_last(Tree *tree, int64_t keep) {
    int64_t left = retained(tree);
    if (left <= keep) return;
    for (; left > keep; left--) {
        uint32_t instance = store_oldest(&tree->store);
        if (instance == NO_INSTANCE) break;
        tree->ops.forgotten++;
        if (--tree->store.times[instance] == 0) store_drop(&tree->store, instance);
    }
    tree->aged = 1;
    tree->budget.due = 0; /* it is another tree */
    if (tree->since_cuts > keep) tree->since_cuts = keep;
    tree_relist(tree);
}

/* Learn the last instances of another tree, which has the same attributes. */
void tree_take_last(Tree *tree, const Tree *from, int64_t count) {
    const Store *theirs = &from->store;
    uint32_t *later = calloc((size_t)theirs->used + 1, sizeof *later); /* arrivals from the one at hand on */
    if (!later) {
        tree->failed = 1;
        return;
    }
    uint64_t length = theirs->ring_length, at = store_tail(theirs, count, later);
    for (; at < length && !tree->failed; at++) {
        uint32_t instance = theirs->ring[(theirs->ring_start + at) % theirs->ring_capacity];
        const uint8_t *row = row_of(theirs, instance);
        if (later[instance]-- > theirs->times[instance]) continue; /* it was forgotten out of turn */
        for (int32_t a = 0; a < tree->attributes; a++) {
            const Scale *scale = &tree->scales[a];
            if (scale->number >= 0) {
                uint64_t number = numbers_of(theirs, row)[scale->number];
                numbers_of(&tree->store, tree->row)[scale->number] = number;
                set_code(&tree->store, tree->row, a, bin_of(scale, number));
            } else {
                set_code(&tree->store, tree->row, a, code_at(theirs, row, a));
            }
        }
        tree_learn(tree, theirs->labels[instance]);
    }
    free(later);
}

/* ---- answering */

/* A set of one description and several classes stands for a chain of tests with one branch each, in order.
 * Return whether the row at hand goes down all of it. */
static int follows_chain(const Tree *tree, const Node *node, int32_t *how) {
    const uint8_t *first = row_of(&tree->store, node->set[0]);
    for (int32_t i = 0; i < tree->attributes; i++) {
        int32_t a = tree->order[i];
        if (tree->used[a] || is_number(tree, a)) continue;
        int32_t mine = code_at(&tree->store, tree->row, a);
        if (mine != code_at(&tree->store, first, a)) {
            *how = mine ? ANSWER_UNSEEN : ANSWER_MISSING;
            return 0;
        }
    }
    return 1;
}

Answer tree_answer(Tree *tree) {
    Answer answer = {tree->root, ANSWER_PLAIN};
    at_the_root(tree);
    while (answer.node && !tree->failed) {
        Node *node = answer.node;
        if (node->stale) settle(tree, node);
        if (tree->failed) break;
        if (node->form != SPLIT) {
            if (!tree->settings.gated && node->present > 1 && tree->left) follows_chain(tree, node, &answer.how);
            break;
        }
        int32_t value = branch_of(tree, tree->row, node->test);
        Node *branch = value < branch_count(tree, node->test) ? node->branches[value] : NULL;
        if (!branch) {
            answer.how = value || node->test.cut >= 0 ? ANSWER_UNSEEN : ANSWER_MISSING;
            break;
        }
        below(tree, node->test);
        answer.node = branch;
    }
    return answer;
}

/* Whether the path to an answer has been explained. Where it ends within a set of one description, it is made for each
 * row. */
int is_explained(const Answer *answer) {
    if (!answer->node) return 1;
    return answer->node->explained && (answer->how == ANSWER_PLAIN || answer->node->form == SPLIT);
}

/* Answer each row, then learn it. Stops before a row whose answer has not been explained, or after one that
 * has changed the tree, if asked to (1: changed, 2: unexplained). Returns the row to go on with. */
int64_t tree_run(Tree *tree, const void *codes, int wide, const int32_t *labels, int64_t start, int64_t end,
                 int stop, int32_t *answers, int32_t *how, uint64_t *nodes, uint32_t *counts, int64_t *scores, Ops *spent,
                 int *why) {
    *why = RAN_OUT;
    for (int64_t i = start; i < end && !tree->failed; i++) {
        tree->changed = 0;
        if (wide)
            tree_wide_row(tree, (const uint64_t *)codes + i * tree->attributes);
        else
            tree_row(tree, (const uint32_t *)codes + i * tree->attributes);
        if (labels[i] >= 0) store_expect(&tree->store, tree->row, (uint16_t)labels[i]);
        Answer answer = tree_answer(tree);
        if (tree->failed) break;
        Node *node = answer.node;
        answers[i] = !node                         ? -1
                     : answer.how == ANSWER_MISSING ? missing_answer(tree, node, scores + i * tree->classes)
                                                    : majority(tree, node);
        how[i] = answer.how;
        nodes[i] = node ? node->id : 0;
        if (counts && node) memcpy(counts + i * tree->classes, node->classes, (size_t)tree->classes * 4);
        if ((stop & 2) && !is_explained(&answer)) {
            *why = STOPPED_UNEXPLAINED;
            return i;
        }
        spent[i] = tree->ops; /* what had been spent before it */
        if (labels[i] < 0) continue;
        if (tree->settings.hat && node && answers[i] == labels[i] && answer.how != ANSWER_UNSEEN) {
            if (tree->settings.max_bytes) budget_note(tree, labels[i]);
            continue;
        }
        tree_learn(tree, labels[i]);
        if ((stop & 1) && tree->changed) {
            *why = STOPPED_CHANGED;
            return i + 1;
        }
    }
    return end;
}
