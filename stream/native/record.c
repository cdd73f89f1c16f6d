/* One record taken apart: {"name": "text" | number | true | false | null, ...}, without escapes. */
#include <stdlib.h>

#include "fast.h"

#define MAX_DIGITS 18 /* as many fit into 64 bits */
#define MAX_LENGTH INT32_MAX

/* ---- the fields */

int reader_init(Reader *reader, uint64_t seed, uint64_t other_seed) {
    if (names_init(&reader->names, seed, other_seed)) return -1;
    return reader_add_field(reader) || reader_add_field(reader); /* LABEL, ID */
}

void reader_free(Reader *reader) {
    names_free(&reader->names);
    free(reader->fields);
    free(reader->skipped);
}

static inline Field *field_at(Reader *reader, uint32_t number) {
    return number < FIRST_SKIPPED ? &reader->fields[number] : &reader->skipped[number - FIRST_SKIPPED];
}

/* Return an array of fields with room for one more. */
static int make_room(Field **fields, uint32_t count, uint32_t *capacity) {
    if (count < *capacity) return 0;
    uint32_t more = 2 * *capacity + 16;
    Field *moved = realloc(*fields, more * sizeof *moved);
    if (!moved) return -1;
    *fields = moved;
    *capacity = more;
    return 0;
}

/* Add a field, which has no name yet. */
int reader_add_field(Reader *reader) {
    if (make_room(&reader->fields, reader->count, &reader->capacity)) return -1;
    reader->fields[reader->count++] = (Field){.length = UNLISTED, .follows = LABEL};
    return 0;
}

/* Give a field its name. Another one of this name has none from now on; when it is skipped, so is this one. */
int reader_list_field(Reader *reader, uint32_t field, const char *name, size_t length) {
    Text text = text_at(&reader->names, name, length);
    Name *listed = names_find(&reader->names, FIELDS, &text);
    Field *mine = field_at(reader, field);
    if (listed->owner != NOBODY) {
        Field *other = field_at(reader, (uint32_t)listed->as_string);
        other->length = UNLISTED;
        mine->skips |= other->skips;
    }
    listed = names_put(&reader->names, FIELDS, name, length, (int32_t)field, NO_CODE);
    if (!listed) return -1;
    mine->name = listed->at;
    mine->length = (uint32_t)length;
    return 0;
}

/* Do not look at the value of a field from now on, or not where it is nested. */
int reader_skip(Reader *reader, const char *name, size_t length, uint32_t when) {
    Text text = text_at(&reader->names, name, length);
    Name *listed = names_find(&reader->names, FIELDS, &text);
    if (listed->owner != NOBODY) {
        field_at(reader, (uint32_t)listed->as_string)->skips |= when;
        return 0;
    }
    if (make_room(&reader->skipped, reader->skipped_count, &reader->skipped_capacity)) return -1;
    uint32_t number = reader->skipped_count++;
    reader->skipped[number] = (Field){.length = UNLISTED, .follows = LABEL, .skips = when};
    return reader_list_field(reader, FIRST_SKIPPED + number, name, length);
}

/* ---- tokens */

static inline int take(Cursor *cursor, char wanted) {
    skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at != wanted) return 0;
    cursor->at++;
    return 1;
}

static int take_word(Cursor *cursor, const char *word, size_t length) {
    if (left(cursor) < length || memcmp(cursor->at, word, length)) return 0;
    cursor->at += length;
    return 1;
}

#define EACH(byte) (0x0101010101010101ull * (byte))

/* Mark the highest bit of each byte below a limit, which is at most 128. A byte above the lowest one marked
 * may be marked by mistake; the lowest never is. */
static inline uint64_t below(uint64_t word, uint8_t limit) {
    return (word - EACH(limit)) & ~word & EACH(0x80);
}

/* Mark what ends a text or is none of ours in it: quotation marks, backslashes, control characters. */
static inline uint64_t stops_in(uint64_t word) {
    return below(word ^ EACH('"'), 1) | below(word ^ EACH('\\'), 1) | below(word, 0x20);
}

/* Take the rest of a string without escapes, the opening quotation mark being taken. Bytes beyond ASCII are
 * not looked at: what equals a name that is known is as good UTF-8 as that. */
static inline int take_text(const Names *names, Cursor *cursor, Text *text) {
    const char *at = cursor->at;
    uint64_t hash = names->seed[0], word = word_at(at, left(cursor)), stops = stops_in(word);
    text->head = word;
    for (; !stops; stops = stops_in(word)) { /* the zeros beyond the end are stops */
        hash = hash_step(names, hash, word);
        at += 8;
        word = word_at(at, (size_t)(cursor->end - at));
    }
    size_t rest = (size_t)__builtin_ctzll(stops) / 8;
    if (rest >= (size_t)(cursor->end - at) || at[rest] != '"') return 0;
    text->at = cursor->at;
    text->length = (size_t)(at - text->at) + rest;
    text->hash = hash;
    text->rest = lowest(word, rest);
    if (text->length < 8) text->head = text->rest;
    cursor->at = at + rest + 1;
    return 1;
}

/* Take an integer written the one way there is: its digits are then its text. */
static int take_integer(Cursor *cursor, size_t *length) {
    const char *start = cursor->at, *at = start;
    if (*at == '-') at++;
    const char *digits = at;
    while (at < cursor->end && *at >= '0' && *at <= '9') at++;
    size_t count = (size_t)(at - digits);
    if (count == 0 || count > MAX_DIGITS) return 0;
    if (*digits == '0' && (count > 1 || digits > start)) return 0;
    *length = (size_t)(at - start);
    cursor->at = at;
    return 1;
}

/* Take a number that a double holds exactly as it is written, or that is one division or product away from it:
 * then it is rounded as it should be. Return its code, or 0 where it is none of these. */
static uint64_t take_number(Cursor *cursor) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *at = cursor->at, *end = cursor->end;
    int negative = at < end && *at == '-';
    at += negative;
    const char *digits = at;
    uint64_t whole = 0;
    int32_t power = 0, count = 0;
    while (at < end && *at >= '0' && *at <= '9' && count < MAX_DIGITS) {
        whole = 10 * whole + (uint64_t)(*at++ - '0');
        count++;
    }
    if (count == 0 || (*digits == '0' && count > 1)) return 0;
    if (at < end && *at == '.') {
        const char *point = at++;
        while (at < end && *at >= '0' && *at <= '9' && count < MAX_DIGITS) {
            whole = 10 * whole + (uint64_t)(*at++ - '0');
            count++;
        }
        power = -(int32_t)(at - point - 1);
        if (power == 0) return 0;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        int down = at < end && *at == '-';
        at += at < end && (*at == '-' || *at == '+');
        int32_t exponent = 0;
        const char *first = at;
        while (at < end && *at >= '0' && *at <= '9' && exponent < 1000) exponent = 10 * exponent + (*at++ - '0');
        if (at == first) return 0;
        power += down ? -exponent : exponent;
    }
    if (at < end && *at >= '0' && *at <= '9') return 0; /* too long for here */
    if (whole > (UINT64_C(1) << 53) || power < -22 || power > 22) return 0;
    double number = power < 0 ? (double)whole / powers[-power] : (double)whole * powers[power];
    if (negative) number = -number;
    number += 0.0; /* there is one zero */
    uint64_t bits;
    memcpy(&bits, &number, 8);
    cursor->at = at;
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* ---- fields */

/* Take a name; return its field, or NOBODY where it is not known. */
static inline uint32_t take_name(Reader *reader, Cursor *cursor, uint32_t *guess) {
    if (!take(cursor, '"')) return NOBODY;
    const Field *likely = field_at(reader, *guess);
    if (left(cursor) > likely->length &&
        same(reader->names.texts + likely->name, cursor->at, (size_t)likely->length + 1)) {
        cursor->at += (size_t)likely->length + 1;
        return *guess;
    }
    Text text;
    if (!take_text(&reader->names, cursor, &text)) return NOBODY;
    const Name *name = names_find(&reader->names, FIELDS, &text);
    if (name->owner == NOBODY) return NOBODY;
    return *guess = (uint32_t)name->as_string;
}

/* Take the value of the label or of an attribute: its code and its type. Null has neither: both are zero. */
static inline int take_value(const Names *names, Cursor *cursor, uint32_t field, int32_t *code,
                             uint32_t *type) {
    Text text;
    if (cursor->at == cursor->end) return 0;
    if (*cursor->at == '"') {
        cursor->at++;
        if (!take_text(names, cursor, &text)) return 0;
        *type = STRING;
        const Name *name = names_find(names, field, &text);
        *code = name->owner == NOBODY ? NO_CODE : name->as_string;
        return *code != NO_CODE;
    }
    const char *start = cursor->at;
    size_t length;
    if (take_word(cursor, "null", 4)) {
        *type = 0;
        *code = 0;
        return 1;
    }
    if (take_word(cursor, "true", 4) || take_word(cursor, "false", 5)) {
        *type = BOOLEAN;
        length = (size_t)(cursor->at - start);
    } else {
        if (!take_integer(cursor, &length)) return 0;
        *type = NUMBER;
    }
    text = text_at(names, start, length);
    const Name *name = names_find(names, field, &text);
    *code = name->owner == NOBODY ? NO_CODE : name->as_plain;
    return *code != NO_CODE;
}

/* Take an id, which may be any text in ASCII or integer: it is handed on as it stands. */
static int take_id(Cursor *cursor, Record *record) {
    const char *start = cursor->at;
    size_t length;
    if (take_word(cursor, "null", 4)) return 1;
    if (take_word(cursor, "\"", 1)) {
        for (; cursor->at < cursor->end; cursor->at++) {
            uint8_t c = (uint8_t)*cursor->at;
            if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\') break;
        }
        if (!take_word(cursor, "\"", 1)) return 0;
    } else if (cursor->at == cursor->end || !take_integer(cursor, &length)) {
        return 0;
    }
    record->id = start;
    record->id_length = (size_t)(cursor->at - start);
    return 1;
}

/* Take a name, its value, and what is between; return whether they are understood. */
static inline int take_field(Reader *reader, Cursor *cursor, uint32_t **guess, Record *record, void *row,
                             int32_t *label) {
    uint32_t number = take_name(reader, cursor, *guess);
    if (number == NOBODY || !take(cursor, ':')) return 0;
    Field *field = field_at(reader, number);
    if (field->met == reader->record) return 0; /* it is there twice */
    field->met = reader->record;
    *guess = &field->follows;
    skip_space(cursor);
    if (number == ID) return take_id(cursor, record);
    if (field->skips && number != LABEL) {
        int nested = cursor->at < cursor->end && (*cursor->at == '{' || *cursor->at == '[');
        if (field->skips & (nested ? SKIP_NESTED : SKIP_PLAIN)) return skip_value(cursor, reader->max_depth - 1);
    }
    if (number >= FIRST_SKIPPED) return 0; /* it holds another kind of value than before */
    size_t place = number - FIRST_ATTRIBUTE;
    if (number != LABEL && field->numeric && cursor->at < cursor->end && (*cursor->at == '-' || *cursor->at <= '9') && *cursor->at != '"')
        return (field->takes & NUMBER) && (((uint64_t *)row)[place] = take_number(cursor)) != 0;
    int32_t code;
    uint32_t type;
    if (!take_value(&reader->names, cursor, number, &code, &type)) return 0;
    if (number == LABEL) {
        if (type == 0) return 1;
        *label = code;
        return (field->takes & type) != 0;
    }
    if (reader->wide)
        ((uint64_t *)row)[place] = (uint64_t)code;
    else
        ((uint32_t *)row)[place] = (uint32_t)code;
    return code == 0 || (field->takes & type); /* a missing value is of any type */
}

static int read_record(Reader *reader, Record *record, void *row, int32_t *label) {
    Cursor cursor = {record->at, record->at + record->length};
    uint32_t *guess = &reader->first;
    reader->record++;
    if (!take(&cursor, '{')) return 0;
    if (!take(&cursor, '}')) {
        do
            if (!take_field(reader, &cursor, &guess, record, row, label)) return 0;
        while (take(&cursor, ','));
        if (!take(&cursor, '}')) return 0;
    }
    skip_space(&cursor);
    if (cursor.at != cursor.end) return 0;
    if (reader->refuse_null && *label != NO_CODE)
        for (uint32_t a = 0; a < reader->count - FIRST_ATTRIBUTE; a++)
            if (!reader->fields[FIRST_ATTRIBUTE + a].retired &&
                (reader->wide ? ((uint64_t *)row)[a] == 0 : ((uint32_t *)row)[a] == 0))
                return 0;
    return 1;
}

/* Read a batch into rows of codes, one for each attribute. A record that is not understood has the row, label
 * and id of an empty one. */
void read_records(Reader *reader, Record *records, size_t count, void *codes, int32_t *labels,
                  uint8_t *understood) {
    size_t size = (reader->count - FIRST_ATTRIBUTE) * (reader->wide ? sizeof(uint64_t) : sizeof(uint32_t));
    char *row = codes;
    for (size_t i = 0; i < count; i++, row += size) {
        memset(row, 0, size);
        records[i].id = NULL;
        labels[i] = NO_CODE;
        understood[i] = records[i].at && records[i].length <= MAX_LENGTH &&
                        read_record(reader, &records[i], row, &labels[i]);
        if (understood[i]) continue;
        memset(row, 0, size);
        records[i].id = NULL;
        labels[i] = NO_CODE;
    }
}
