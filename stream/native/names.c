/* The texts that are known, and what they stand for: an open hash table over all owners. */
#include <stdlib.h>

#include "fast.h"

#define FIRST_PLACES 64
#define FIRST_TEXTS 1024

static Name *free_places(size_t count) {
    Name *places = malloc(count * sizeof *places);
    if (places)
        for (size_t i = 0; i < count; i++) places[i].owner = NOBODY;
    return places;
}

/* The seeds must be secret where the data are a stranger's, who could choose names that collide. */
int names_init(Names *names, uint64_t seed, uint64_t other_seed) {
    names->seed[0] = seed;
    names->seed[1] = other_seed | 1;
    names->places = free_places(FIRST_PLACES);
    names->mask = FIRST_PLACES - 1;
    names->texts = malloc(FIRST_TEXTS);
    names->texts_capacity = FIRST_TEXTS;
    return names->places && names->texts ? 0 : -1;
}

void names_free(Names *names) {
    free(names->places);
    free(names->texts);
}

static int more_places(Names *names) {
    size_t count = names->mask + 1;
    Name *old = names->places, *places = free_places(2 * count);
    if (!places) return -1;
    names->places = places;
    names->mask = 2 * count - 1;
    for (size_t i = 0; i < count; i++) {
        if (old[i].owner == NOBODY) continue;
        Text text = text_at(names, names->texts + old[i].at, old[i].length);
        *names_find(names, old[i].owner, &text) = old[i];
    }
    free(old);
    return 0;
}

/* Keep a text and the quotation mark that ends it in a record. */
static int keep(Names *names, const char *text, size_t length, size_t *at) {
    size_t needed = names->texts_used + length + 1;
    if (needed > names->texts_capacity) {
        char *texts = realloc(names->texts, 2 * needed);
        if (!texts) return -1;
        names->texts = texts;
        names->texts_capacity = 2 * needed;
    }
    *at = names->texts_used;
    memcpy(names->texts + *at, text, length);
    names->texts[*at + length] = '"';
    names->texts_used = needed;
    return 0;
}

/* Let a text stand for something, whatever it stood for before. Return its place until the next call; NULL
 * where there is no memory. */
Name *names_put(Names *names, uint32_t owner, const char *text, size_t length, int32_t as_string,
                int32_t as_plain) {
    if (2 * (names->used + 1) > names->mask && more_places(names)) return NULL;
    Text known = text_at(names, text, length);
    Name *name = names_find(names, owner, &known);
    if (name->owner == NOBODY) {
        if (keep(names, text, length, &name->at)) return NULL;
        name->head = known.head;
        name->length = (uint32_t)length;
        name->owner = owner;
        names->used++;
    }
    name->as_string = as_string;
    name->as_plain = as_plain;
    return name;
}
