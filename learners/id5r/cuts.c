/* Numbers: their cuts, and when they are made anew. learners/numbers.py has the rule in words; both are tested to
 * be the same. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

#define YOUNG 1024        /* up to so many instances, cuts are made anew */
#define YOUNG_SHARE 2     /* whenever this part of them is new; */
#define SHARE 2           /* with more, they are looked at when this part is */
#define OVERFULL 4        /* a bin with so many times its share calls for new cuts */

/* The bin of a number: one more than there are cuts below it. Beyond the cuts there is something to read, so that a search
 * has as many steps whatever it finds (`pad`). */
int32_t bin_of(const Scale *scale, uint64_t number) {
    if (!number) return 0;
    uint32_t low = 0;
    for (uint32_t half = scale->reach; half; half /= 2) low += scale->cuts[low + half - 1] < number ? half : 0;
    return (int32_t)low + 1;
}

/* How far a search among so many cuts goes at first. */
static uint32_t reach_of(int32_t count) {
    uint32_t reach = count > 0;
    while (reach && 2 * reach <= (uint32_t)count) reach *= 2;
    return reach;
}

/* Fill what a search may read beyond the cuts, for which there is room, with what is above every number. */
static void pad(uint64_t *cuts, int32_t count) {
    for (uint32_t i = (uint32_t)count; i + 1 < 2 * reach_of(count); i++) cuts[i] = UINT64_MAX;
}

/* ---- finding cuts */

static void sort_few(uint64_t *numbers, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        uint64_t number = numbers[i];
        int64_t j = i;
        for (; j > 0 && numbers[j - 1] > number; j--) numbers[j] = numbers[j - 1];
        numbers[j] = number;
    }
}

static void sift_down(uint64_t *heap, int64_t at, int64_t count) {
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && heap[child + 1] > heap[child]) child++;
        if (heap[at] >= heap[child]) return;
        uint64_t swapped = heap[at];
        heap[at] = heap[child];
        heap[child] = swapped;
        at = child;
    }
}

/* Heapsort for what divides badly: nobody's numbers can make sorting slow. */
static void sort_by_heap(uint64_t *numbers, int64_t count) {
    for (int64_t i = count / 2; i-- > 0;) sift_down(numbers, i, count);
    for (int64_t end = count; end-- > 1;) {
        uint64_t swapped = numbers[0];
        numbers[0] = numbers[end];
        numbers[end] = swapped;
        sift_down(numbers, 0, end);
    }
}

static void sort(uint64_t *numbers, int64_t count, int32_t patience) {
    while (count > 24) {
        if (patience-- == 0) {
            sort_by_heap(numbers, count);
            return;
        }
        uint64_t a = numbers[0], b = numbers[count / 2], c = numbers[count - 1];
        uint64_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        int64_t i = 0, j = count - 1;
        while (i <= j) {
            while (numbers[i] < pivot) i++;
            while (numbers[j] > pivot) j--;
            if (i > j) break;
            uint64_t swapped = numbers[i];
            numbers[i++] = numbers[j];
            numbers[j--] = swapped;
        }
        sort(numbers, j + 1, patience);
        numbers += i;
        count -= i;
    }
    sort_few(numbers, count);
}

static void sort_all(uint64_t *numbers, int64_t count) {
    int32_t patience = 4;
    for (int64_t n = count; n > 1; n /= 2) patience += 2;
    sort(numbers, count, patience);
}

/* The number between two, which the first is at most and the second is not. The bits are those of doubles with
 * the sign turned round (learners/codes.py). */
double number_of(uint64_t number) {
    uint64_t bits = number >> 63 ? number & ~(UINT64_C(1) << 63) : ~number;
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static uint64_t from_double(double value) {
    uint64_t bits;
    value += 0.0; /* there is one zero */
    memcpy(&bits, &value, 8);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static uint64_t between(uint64_t low, uint64_t high) {
    double a = number_of(low), b = number_of(high);
    double largest = 1.7976931348623157e308;
    if (a < -largest) return from_double(-largest); /* infinities have bins of their own */
    if (b > largest) return low;
    double middle = a / 2 + b / 2;
    return middle >= a && middle < b ? from_double(middle) : low;
}

/* Find cuts that divide sorted numbers into bins of about the same size; equal numbers stay together. Each bin
 * is closed as soon as it has its share of what is left. Return how many cuts there are. */
static int32_t cuts_of_sorted(const uint64_t *numbers, int64_t count, int32_t bins, uint64_t *cuts) {
    int32_t found = 0;
    int64_t distinct = count > 0;
    for (int64_t i = 1; i < count && distinct <= bins; i++) distinct += numbers[i] != numbers[i - 1];
    if (distinct <= bins) {
        for (int64_t i = 1; i < count; i++)
            if (numbers[i] != numbers[i - 1]) cuts[found++] = between(numbers[i - 1], numbers[i]);
        return found;
    }
    int64_t done = 0;
    while (found < bins - 1) {
        int64_t end = done + (count - done + bins - found - 1) / (bins - found);
        while (end < count && numbers[end] == numbers[end - 1]) end++;
        if (end >= count) break;
        cuts[found++] = between(numbers[end - 1], numbers[end]);
        done = end;
    }
    return found;
}

#define BUCKETS 1024
#define CROWDED 24

/* Put numbers into buckets of one width, in order; return whether that could be done. Sorting what is in each takes
 * little more, where the numbers are spread somehow. */
static int sort_into_buckets(uint64_t *numbers, int64_t count) {
    uint32_t ends[BUCKETS] = {0};
    uint64_t lowest = UINT64_MAX, highest = 0;
    if (count < 2 * CROWDED || count > UINT32_MAX) return 0;
    for (int64_t i = 0; i < count; i++) {
        lowest = numbers[i] < lowest ? numbers[i] : lowest;
        highest = numbers[i] > highest ? numbers[i] : highest;
    }
    double first = number_of(lowest), scale = (BUCKETS - 1) / (number_of(highest) - first);
    if (!(scale > 0 && scale < 1e300 && first > -1e300)) return 0; /* all equal, or without end */
    uint64_t *sorted = malloc((size_t)count * (sizeof *sorted + sizeof(uint16_t)));
    if (!sorted) return 0;
    uint16_t *bucket = (uint16_t *)(sorted + count);
    for (int64_t i = 0; i < count; i++) ends[bucket[i] = (uint16_t)((number_of(numbers[i]) - first) * scale)]++;
    for (uint32_t b = 0, end = 0; b < BUCKETS; b++) {
        uint32_t here = ends[b];
        ends[b] = end;
        end += here;
    }
    for (int64_t i = 0; i < count; i++) sorted[ends[bucket[i]]++] = numbers[i];
    memcpy(numbers, sorted, 8 * (size_t)count);
    free(sorted);
    for (uint32_t b = 0, begin = 0; b < BUCKETS; begin = ends[b++])
        if (ends[b] - begin > CROWDED) sort_all(numbers + begin, ends[b] - begin);
    sort_few(numbers, count);
    return 1;
}

int32_t find_cuts(uint64_t *numbers, int64_t count, int32_t bins, uint64_t *cuts) {
    if (!sort_into_buckets(numbers, count)) sort_all(numbers, count);
    return cuts_of_sorted(numbers, count, bins, cuts);
}

/* ---- making them anew */

int tree_set_cuts(Tree *tree, int32_t attribute, const uint64_t *cuts, int32_t count, int32_t median, int fixed) {
    Scale *scale = &tree->scales[attribute];
    uint64_t *room = realloc(scale->cuts, 8 * (size_t)(2 * count + 1));
    if (!room) {
        tree->failed = 1;
        return -1;
    }
    if (count) memcpy(room, cuts, 8 * (size_t)count);
    pad(room, count);
    scale->cuts = room;
    scale->count = count;
    scale->reach = reach_of(count);
    scale->median = median;
    scale->fixed = fixed;
    return 0;
}

/* Take all instances out of the tree and put them into one set, to be split anew as far as it is visited. */
void tree_relist(Tree *tree) {
    node_free_all(tree, tree->root);
    tree->root = NULL;
    tree->changed = 1;
    if (!tree->store.distinct || !(tree->root = node_new(tree))) return;
    for (uint32_t i = 0; i < tree->store.used; i++)
        if (tree->store.times[i]) node_store(tree, tree->root, i);
    tree->root->stale = tree->root->present > 1;
}

/* All known numbers of an attribute, as often as they are there. */
static int64_t known(const Tree *tree, int32_t attribute, uint64_t *numbers) {
    const Store *store = &tree->store;
    int32_t place = tree->scales[attribute].number;
    int64_t count = 0;
    for (uint32_t i = 0; i < store->used; i++) {
        uint64_t number = store->times[i] ? numbers_of(store, row_of(store, i))[place] : 0;
        if (number)
            for (uint32_t k = 0; k < store->times[i]; k++) numbers[count++] = number;
    }
    return count;
}

/* Whether a bin of an attribute holds far more than its share, and of different numbers. */
static int is_overfull(const Tree *tree, int32_t attribute) {
    const Store *store = &tree->store;
    const Scale *scale = &tree->scales[attribute];
    int64_t counts[MOST_BINS + 1] = {0}, all = 0;
    uint64_t lowest[MOST_BINS + 1], highest[MOST_BINS + 1] = {0};
    memset(lowest, 0xff, sizeof lowest);
    for (uint32_t i = 0; i < store->used; i++) {
        if (!store->times[i]) continue;
        uint64_t number = numbers_of(store, row_of(store, i))[scale->number];
        int32_t bin = code_at(store, row_of(store, i), attribute);
        if (!number || bin > MOST_BINS) continue;
        counts[bin] += store->times[i];
        all += store->times[i];
        if (number < lowest[bin]) lowest[bin] = number;
        if (number > highest[bin]) highest[bin] = number;
    }
    for (int32_t b = 1; b <= scale->count + 1 && b <= MOST_BINS; b++)
        if (counts[b] * (scale->count + 1) > OVERFULL * all && lowest[b] < highest[b]) return 1;
    return 0;
}

/* Make the cuts of one attribute anew; return whether they are others than before. */
static int recut(Tree *tree, int32_t attribute, uint64_t *numbers) {
    Scale *scale = &tree->scales[attribute];
    uint64_t cuts[MOST_BINS];
    int64_t count = known(tree, attribute, numbers);
    int32_t found = find_cuts(numbers, count, tree->settings.bins, cuts);
    Scale made = *scale;
    if (!scale->fixed) {
        pad(cuts, found);
        made.count = found;
        made.reach = reach_of(found);
        made.cuts = cuts;
    }
    int32_t median = count ? bin_of(&made, numbers[(count - 1) / 2]) : 1;
    if (made.count == scale->count && median == scale->median &&
        (scale->fixed || !found || !memcmp(scale->cuts, cuts, 8 * (size_t)found)))
        return 0;
    if (scale->fixed)
        scale->median = median;
    else
        tree_set_cuts(tree, attribute, cuts, found, median, 0);
    return 1;
}

/* Let every instance have the bins of the present cuts. */
static void recode(Tree *tree) {
    Store *store = &tree->store;
    for (uint32_t i = 0; i < store->used; i++) {
        uint8_t *row = row_of(store, i);
        for (int32_t a = 0; a < tree->attributes; a++)
            if (is_number(tree, a)) set_code(store, row, a, bin_of(&tree->scales[a], numbers_of(store, row)[tree->scales[a].number]));
    }
    if (store_rehash(store)) tree->failed = 1;
}

/* Make the cuts anew if it is time to: while there are few instances, whenever a part of them is new; later
 * on, whenever half of them are newer than the cuts and the older ones have begun to leave, or a bin holds far
 * more than its share. */
void tree_recut_if_due(Tree *tree) {
    int64_t retained = tree->root ? tree->root->n : 0;
    int young = retained <= YOUNG;
    if (!tree->numbers || tree->since_cuts * (young ? YOUNG_SHARE : SHARE) < retained || !retained) return;
    uint64_t *numbers = malloc(8 * (size_t)retained);
    if (!numbers) {
        tree->failed = 1;
        return;
    }
    int others = 0;
    for (int32_t a = 0; a < tree->attributes && !tree->failed; a++)
        if (is_number(tree, a) && (young || tree->aged || is_overfull(tree, a))) others |= recut(tree, a, numbers);
    free(numbers);
    tree->since_cuts = 0;
    tree->aged = 0;
    if (!others || tree->failed) return;
    recode(tree);
    tree_relist(tree);
    tree->recut = 1;
}
