/* The instances. Identical ones are kept once; every leaf has a set of them. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* Where every attribute is a number, codes say nothing that the numbers do not, and change when cuts do. */
static int numbers_only(const Store *store) { return store->numbers && store->numbers == store->width; }

static uint64_t hash_of(const Store *store, const uint8_t *row, uint16_t label) {
    uint64_t h = 0x9E3779B97F4A7C15ull * (label + 1u);
    for (size_t i = numbers_only(store) ? store->code_stride : 0; i < store->stride; i += 8) {
        uint64_t word;
        memcpy(&word, row + i, 8);
        h = (h ^ word) * 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    return h;
}

int store_init(Store *store) {
    store->code_bytes = 1;
    store->stride = store->code_stride = 8;
    store->free_head = NO_INSTANCE;
    store->hash_mask = 63;
    store->hash = malloc(64 * sizeof *store->hash);
    store->tags = malloc(64);
    if (!store->hash || !store->tags) return -1;
    memset(store->hash, 0xff, 64 * sizeof *store->hash);
    return 0;
}

void store_free(Store *store) {
    free(store->rows);
    free(store->times);
    free(store->place);
    free(store->labels);
    free(store->hash);
    free(store->tags);
    free(store->ring);
    free(store->skip);
}

/* Let go of all instances; the room for them stays. */
void store_clear(Store *store) {
    store->used = store->distinct = 0;
    store->free_head = NO_INSTANCE;
    store->ring_start = store->ring_length = 0;
    memset(store->hash, 0xff, (store->hash_mask + 1) * sizeof *store->hash);
    if (store->skip) memset(store->skip, 0, store->capacity * sizeof *store->skip);
}

/* What one takes, its entry in the set of its leaf included. */
static int64_t each_takes(const Store *store) { return (int64_t)store->stride + 4 * 3 + 2 + (store->skip ? 4 : 0); }

int64_t store_bytes(const Store *store) {
    return each_takes(store) * store->capacity + 5 * (int64_t)(store->hash_mask + 1) + 4 * (int64_t)store->ring_capacity;
}

static int resize(void **array, size_t size, size_t count) {
    void *bigger = realloc(*array, size * count);
    if (!bigger) return -1;
    *array = bigger;
    return 0;
}

static int grow(Store *store) {
    /* By a quarter rather than twofold: what is reserved but not used counts as memory held. */
    uint64_t wanted = store->capacity + (uint64_t)store->capacity / 4 + 64;
    if (wanted >= NO_INSTANCE) return -1;
    uint32_t capacity = (uint32_t)wanted;
    if (resize((void **)&store->rows, store->stride, capacity) ||
        resize((void **)&store->times, 4, capacity) || resize((void **)&store->place, 4, capacity) ||
        resize((void **)&store->labels, 2, capacity))
        return -1;
    if (store->skip) {
        if (resize((void **)&store->skip, 4, capacity)) return -1;
        memset(store->skip + store->capacity, 0, 4 * (size_t)(capacity - store->capacity));
    }
    store->capacity = capacity;
    return 0;
}

static uint8_t tag_of(uint64_t hash) { return (uint8_t)(hash >> 56); }

static void place(Store *store, uint32_t instance) {
    uint64_t hash = hash_of(store, row_of(store, instance), store->labels[instance]);
    uint64_t p = hash & store->hash_mask;
    while (store->hash[p] != NO_INSTANCE) p = (p + 1) & store->hash_mask;
    store->hash[p] = instance;
    store->tags[p] = tag_of(hash);
}

static int rehash(Store *store, uint64_t mask) {
    uint32_t *hash = malloc((mask + 1) * sizeof *hash);
    uint8_t *tags = malloc(mask + 1);
    if (!hash || !tags) {
        free(hash);
        free(tags);
        return -1;
    }
    memset(hash, 0xff, (mask + 1) * sizeof *hash);
    free(store->hash);
    free(store->tags);
    store->hash = hash;
    store->tags = tags;
    store->hash_mask = mask;
    for (uint32_t i = 0; i < store->used; i++)
        if (store->times[i]) place(store, i);
    return 0;
}

/* Make room for more attributes, which no instance so far has (code 0), for larger codes, or for more
 * numbers. */
int store_widen(Store *store, int32_t width, int32_t code_bytes, int32_t numbers) {
    size_t code_stride = ((size_t)width * code_bytes + 7) / 8 * 8;
    if (code_stride == 0) code_stride = 8;
    size_t stride = code_stride + 8 * (size_t)numbers;
    int by_numbers = numbers_only(store);
    if (stride != store->stride || code_stride != store->code_stride || code_bytes != store->code_bytes) {
        uint8_t *rows = calloc(store->capacity ? store->capacity : 1, stride);
        if (!rows) return -1;
        for (uint32_t i = 0; i < store->used; i++) {
            const uint8_t *from = row_of(store, i);
            uint8_t *to = rows + (size_t)i * stride;
            for (int32_t a = 0; a < store->width; a++) {
                if (code_bytes == 1)
                    to[a] = (uint8_t)code_at(store, from, a);
                else
                    ((uint16_t *)to)[a] = (uint16_t)code_at(store, from, a);
            }
            if (store->numbers)
                memcpy(to + code_stride, from + store->code_stride, 8 * (size_t)store->numbers);
        }
        free(store->rows);
        store->rows = rows;
        store->stride = stride;
        store->code_stride = code_stride;
        store->code_bytes = code_bytes;
        store->width = width;
        store->numbers = numbers;
        return rehash(store, store->hash_mask);
    }
    store->width = width;
    return numbers_only(store) == by_numbers ? 0 : rehash(store, store->hash_mask);
}

/* Find every instance its place again, after their codes have changed. */
int store_rehash(Store *store) { return numbers_only(store) ? 0 : rehash(store, store->hash_mask); }

uint32_t store_find(const Store *store, const uint8_t *row, uint16_t label) {
    uint64_t hash = hash_of(store, row, label), p = hash & store->hash_mask;
    for (;; p = (p + 1) & store->hash_mask) {
        uint32_t i = store->hash[p];
        if (i == NO_INSTANCE) return i;
        if (store->tags[p] == tag_of(hash) && store->labels[i] == label && !memcmp(row_of(store, i), row, store->stride)) return i;
    }
}

/* Have the place fetched where an instance will be looked for soon. */
void store_expect(const Store *store, const uint8_t *row, uint16_t label) {
    uint64_t p = hash_of(store, row, label) & store->hash_mask;
    __builtin_prefetch(&store->hash[p]);
    __builtin_prefetch(&store->tags[p]);
}

/* Keep an instance that is not there yet; NO_INSTANCE where there is no memory. */
uint32_t store_add(Store *store, const uint8_t *row, uint16_t label) {
    if ((uint64_t)(store->distinct + 1) * 3 > (store->hash_mask + 1) * 2)
        if (rehash(store, store->hash_mask * 2 + 1)) return NO_INSTANCE;
    uint32_t i = store->free_head;
    if (i != NO_INSTANCE) {
        store->free_head = store->place[i];
    } else {
        if (store->used == store->capacity && grow(store)) return NO_INSTANCE;
        i = store->used++;
    }
    memcpy(store->rows + (size_t)i * store->stride, row, store->stride);
    store->labels[i] = label;
    store->times[i] = 0;
    store->place[i] = NO_INSTANCE;
    if (store->skip) store->skip[i] = 0;
    place(store, i);
    store->distinct++;
    return i;
}

static void give_back(Store *store, uint32_t instance) {
    store->place[instance] = store->free_head;
    store->free_head = instance;
}

/* Let go of an instance that is not linked anywhere any more. */
void store_drop(Store *store, uint32_t instance) {
    uint64_t mask = store->hash_mask;
    uint64_t p = hash_of(store, row_of(store, instance), store->labels[instance]) & mask;
    while (store->hash[p] != instance) {
        assert(store->hash[p] != NO_INSTANCE);
        p = (p + 1) & mask;
    }
    /* Close the gap, so that what was pushed past it is still found. */
    for (uint64_t q = (p + 1) & mask; store->hash[q] != NO_INSTANCE; q = (q + 1) & mask) {
        uint32_t j = store->hash[q];
        uint64_t home = hash_of(store, row_of(store, j), store->labels[j]) & mask;
        if (((q - home) & mask) >= ((q - p) & mask)) {
            store->hash[p] = j;
            store->tags[p] = store->tags[q];
            p = q;
        }
    }
    store->hash[p] = NO_INSTANCE;
    store->times[instance] = 0;
    store->distinct--;
    /* A place that still stands in the ring is not given out again before it has come up there. */
    if (!store->skip || !store->skip[instance]) give_back(store, instance);
}

void store_order(Store *store, int keeps) { store->keeps_order = keeps; }

/* Note that an instance has arrived (again). */
int store_arrived(Store *store, uint32_t instance) {
    if (!store->keeps_order) return 0;
    if (store->ring_length == store->ring_capacity) {
        uint64_t capacity = store->ring_capacity + store->ring_capacity / 4 + 64;
        uint32_t *ring = malloc(capacity * sizeof *ring);
        if (!ring) return -1;
        for (uint64_t i = 0; i < store->ring_length; i++)
            ring[i] = store->ring[(store->ring_start + i) % store->ring_capacity];
        free(store->ring);
        store->ring = ring;
        store->ring_start = 0;
        store->ring_capacity = capacity;
    }
    uint64_t end = store->ring_start + store->ring_length++;
    store->ring[end % store->ring_capacity] = instance;
    return 0;
}

static void advance(Store *store) {
    store->ring_start = (store->ring_start + 1) % store->ring_capacity;
    store->ring_length--;
}

/* The oldest instance, which stays where it is; NO_INSTANCE where there is none. */
uint32_t store_front(Store *store) {
    while (store->ring_length) {
        uint32_t i = store->ring[store->ring_start];
        if (!store->skip || !store->skip[i]) return i;
        advance(store);
        if (--store->skip[i] == 0 && !store->times[i]) give_back(store, i);
    }
    return NO_INSTANCE;
}

/* Take the oldest instance off the ring; NO_INSTANCE where there is none. */
uint32_t store_oldest(Store *store) {
    uint32_t i = store_front(store);
    if (i != NO_INSTANCE) advance(store);
    return i;
}

/* Find the last so many arrivals that count: those of an instance that was forgotten out of turn are its oldest. Return
 * where in the ring they begin; `seen` gets how often each instance stands there from then on. */
uint64_t store_tail(const Store *store, int64_t count, uint32_t *seen) {
    uint64_t at = store->ring_length;
    while (at && count > 0) {
        uint32_t i = store->ring[(store->ring_start + --at) % store->ring_capacity];
        count -= seen[i]++ < store->times[i];
    }
    return at;
}

/* Note that the oldest arrival of an instance no longer counts. */
int store_skip(Store *store, uint32_t instance) {
    if (!store->keeps_order) return 0;
    if (!store->skip) {
        store->skip = calloc(store->capacity, sizeof *store->skip);
        if (!store->skip) return -1;
    }
    store->skip[instance]++;
    return 0;
}

/* Take what was forgotten out of turn out of the order of arrival. */
void store_compact_order(Store *store) {
    uint64_t kept = 0;
    for (uint64_t r = 0; store->skip && r < store->ring_length; r++) {
        uint32_t i = store->ring[(store->ring_start + r) % store->ring_capacity];
        if (store->skip[i]) {
            if (--store->skip[i] == 0 && !store->times[i]) give_back(store, i);
            continue;
        }
        store->ring[(store->ring_start + kept++) % store->ring_capacity] = i;
    }
    if (store->skip) store->ring_length = kept;
}

/* Number the instances again without gaps, and give back the room that is left; `numbers` gets the new number of each.
 * Return -1 where there is no memory. */
int store_compact(Store *store, uint32_t *numbers) {
    uint32_t count = 0;
    uint64_t mask = 63;
    store_compact_order(store);
    uint64_t length = store->ring_length + store->ring_length / 4 + 64;
    uint32_t *ring = store->keeps_order ? malloc(length * sizeof *ring) : NULL;
    if (store->keeps_order && !ring) return -1;
    for (uint32_t i = 0; i < store->used; i++) {
        numbers[i] = count;
        if (!store->times[i]) continue;
        if (i != count) memcpy(row_of(store, count), row_of(store, i), store->stride);
        store->times[count] = store->times[i];
        store->place[count] = store->place[i];
        store->labels[count++] = store->labels[i];
    }
    if (store->skip) memset(store->skip, 0, store->capacity * sizeof *store->skip);
    if (ring) {
        for (uint64_t r = 0; r < store->ring_length; r++)
            ring[r] = numbers[store->ring[(store->ring_start + r) % store->ring_capacity]];
        free(store->ring);
        store->ring = ring;
        store->ring_start = 0;
        store->ring_capacity = length;
    }
    store->used = count;
    store->free_head = NO_INSTANCE;
    uint32_t capacity = count + count / 4 + 64;
    if (resize((void **)&store->rows, store->stride, capacity) || resize((void **)&store->times, 4, capacity) ||
        resize((void **)&store->place, 4, capacity) || resize((void **)&store->labels, 2, capacity) ||
        (store->skip && resize((void **)&store->skip, 4, capacity)))
        return -1;
    store->capacity = capacity;
    while ((uint64_t)(count + 1) * 3 > (mask + 1) * 2) mask = 2 * mask + 1;
    return rehash(store, mask);
}
