/* From JSON bytes straight to codes, for the record that comes millions of times.
 *
 * names.c   the texts that are known, and what they stand for
 * record.c  one record taken apart
 * skip.c    a value that is not learned from, whatever it holds
 * rows.pyx  whole batches; keeps the names in step with `Codes`
 *
 * Nothing here knows Python, and nothing here decides what is wrong with a record: whatever is new, odd or
 * wrong is "not understood" and goes the general way (stream/records/json_decoder.py).
 */
#ifndef ESPALIER_FAST_H
#define ESPALIER_FAST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NO_CODE (-1)
#define NOBODY UINT32_MAX
#define UNLISTED UINT32_MAX

/* Fields of a record, by number. The label and the id come first, so that an attribute of the same name,
 * which no record can have, is never met. */
enum { LABEL, ID, FIRST_ATTRIBUTE };
/* The owner of the names of fields among the names; values belong to their field, classes to LABEL. */
#define FIELDS (NOBODY - 1)

/* The JSON types a field takes. */
enum { STRING = 1, BOOLEAN = 2, NUMBER = 4 };

/* When the value of a field is not looked at. */
enum { SKIP_PLAIN = 1, SKIP_NESTED = 2 };
/* Fields that are no attributes are numbered from here on. */
#define FIRST_SKIPPED (UINT32_C(1) << 30)

/* How much of a record has been read. */
typedef struct {
    const char *at, *end;
} Cursor;

/* A piece of a record, ready to be looked up. */
typedef struct {
    const char *at;
    size_t length;
    uint64_t head; /* the first eight bytes, the first one lowest; zeros where it is shorter */
    uint64_t hash; /* of all whole eights of bytes */
    uint64_t rest; /* the bytes after them */
} Text;

typedef struct {
    uint64_t head;
    size_t at; /* in the texts, where a quotation mark follows */
    uint32_t length;
    uint32_t owner;    /* NOBODY: the place is free */
    int32_t as_string; /* what it stands for where it is written as a string; NO_CODE: not understood */
    int32_t as_plain;  /* where it is written as a number or a boolean */
} Name;

typedef struct {
    Name *places;
    size_t mask, used;
    char *texts;
    size_t texts_used, texts_capacity;
    uint64_t seed[2];
} Names;

typedef struct {
    size_t name; /* in the texts */
    uint32_t length;  /* UNLISTED: no record can have it */
    uint32_t follows; /* the field that came after this one last time: most likely it does again */
    uint64_t met;     /* the last record that had it */
    uint32_t takes;   /* JSON types */
    uint32_t numeric; /* a number is its own code, of 64 bits, in the order of numbers */
    uint32_t skips;   /* when its value is not looked at */
    uint32_t retired; /* it is missing in every record, and no record is refused for that */
} Field;

typedef struct {
    Names names;
    Field *fields;
    uint32_t count, capacity;
    Field *skipped; /* fields that are no attributes */
    uint32_t skipped_count, skipped_capacity;
    uint32_t max_depth; /* how deep brackets may be nested, the record's own among them */
    uint32_t first;       /* the field that came first last time */
    uint32_t refuse_null; /* a record to be learned must have a value for every attribute */
    uint32_t wide;        /* codes have 64 bits, since some are numbers; otherwise 32 */
    uint64_t record;      /* how many records have been read */
} Reader;

/* One record of a batch: where it is (NULL: nothing to read), and where its id is (NULL: it has none). */
typedef struct {
    const char *at;
    size_t length;
    const char *id;
    size_t id_length;
} Record;

static inline size_t left(const Cursor *cursor) { return (size_t)(cursor->end - cursor->at); }

static inline void skip_space(Cursor *cursor) {
    while (cursor->at < cursor->end) {
        char c = *cursor->at;
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return;
        cursor->at++;
    }
}

/* ---- words: eight bytes at once */

static inline uint64_t eight_at(const char *at) {
    uint64_t word;
    memcpy(&word, at, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint64_t four_at(const char *at) {
    uint32_t word;
    memcpy(&word, at, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

static inline uint64_t one_at(const char *at) { return (uint8_t)*at; }

/* Return up to eight bytes as a number, the first one lowest; zeros beyond the end, where nothing is read. */
static inline uint64_t word_at(const char *at, size_t length) {
    if (length >= 8) return eight_at(at);
    /* Pieces that overlap agree where they do. */
    if (length >= 4) return four_at(at) | four_at(at + length - 4) << (8 * (length - 4));
    if (length == 0) return 0;
    size_t last = length - 1;
    return one_at(at) | one_at(at + length / 2) << (8 * (length / 2)) | one_at(at + last) << (8 * last);
}

/* Return the lowest bytes of a word; fewer than eight. */
static inline uint64_t lowest(uint64_t word, size_t bytes) {
    return word & (((uint64_t)1 << (8 * bytes)) - 1);
}

/* ---- hashing: a step for each eight bytes, and an end for what is left, even if nothing is */

static inline uint64_t fold(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_step(const Names *names, uint64_t hash, uint64_t word) {
    return fold(hash ^ word, names->seed[1]);
}

static inline uint64_t hash_end(const Names *names, const Text *text, uint32_t owner) {
    return fold(text->hash ^ text->rest, names->seed[1] ^ ((uint64_t)owner << 32) ^ text->length);
}

static inline Text text_at(const Names *names, const char *at, size_t length) {
    Text text = {at, length, word_at(at, length), names->seed[0], 0};
    for (; length >= 8; at += 8, length -= 8) text.hash = hash_step(names, text.hash, eight_at(at));
    text.rest = word_at(at, length);
    return text;
}

/* ---- looking up */

static inline int same(const char *a, const char *b, size_t length) {
    if (length < 8) return word_at(a, length) == word_at(b, length);
    size_t last = length - 8; /* the last eight bytes may overlap those before */
    for (size_t i = 0; i < last; i += 8)
        if (eight_at(a + i) != eight_at(b + i)) return 0;
    return eight_at(a + last) == eight_at(b + last);
}

/* Return the place of a name, or the free place where it would be. */
static inline Name *names_find(const Names *names, uint32_t owner, const Text *text) {
    size_t place = hash_end(names, text, owner) & names->mask;
    for (;; place = (place + 1) & names->mask) {
        Name *name = &names->places[place];
        if (name->owner == NOBODY) return name;
        if (name->head == text->head && name->length == text->length && name->owner == owner &&
            (text->length <= 8 || same(names->texts + name->at + 8, text->at + 8, text->length - 8)))
            return name;
    }
}

/* names.c */
int names_init(Names *names, uint64_t seed, uint64_t other_seed);
void names_free(Names *names);
Name *names_put(Names *names, uint32_t owner, const char *text, size_t length, int32_t as_string,
                int32_t as_plain);

/* record.c */
int reader_init(Reader *reader, uint64_t seed, uint64_t other_seed);
void reader_free(Reader *reader);
int reader_add_field(Reader *reader);
int reader_list_field(Reader *reader, uint32_t field, const char *name, size_t length);
int reader_skip(Reader *reader, const char *name, size_t length, uint32_t when);
void read_records(Reader *reader, Record *records, size_t count, void *codes, int32_t *labels,
                  uint8_t *understood);

/* skip.c */
int skip_value(Cursor *cursor, uint32_t depth);

#endif
