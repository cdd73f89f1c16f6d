/* A JSON value that is passed over. It is checked as strictly as the general way checks it: what is accepted
 * here is JSON there. */
#include "fast.h"

#define MAX_NUMBER 1024 /* as in stream/records/json_decoder.py */

/* Return how many bytes the code point at a place beyond ASCII has, or 0 where it is not UTF-8. */
static size_t code_point(const uint8_t *at, size_t length) {
    uint8_t lead = at[0];
    size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || size > length) return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    if (lead == 0xe0 && at[1] < 0xa0) return 0; /* too long */
    if (lead == 0xed && at[1] > 0x9f) return 0; /* half a surrogate pair */
    if (lead == 0xf0 && at[1] < 0x90) return 0; /* too long */
    if (lead == 0xf4 && at[1] > 0x8f) return 0; /* beyond Unicode */
    return size;
}

/* Read the four hexadecimal digits of an escape \\uXXXX; -1: there are none. */
static int32_t escaped_unit(const char *at, size_t length) {
    if (length < 6 || at[0] != '\\' || at[1] != 'u') return -1;
    int32_t unit = 0;
    for (int i = 2; i < 6; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
        if (digit < 0) return -1;
        unit = 16 * unit + digit;
    }
    return unit;
}

/* Return how many bytes an escape has, or 0 where it is none, or half a surrogate pair. */
static size_t escape(const char *at, size_t length) {
    if (length < 2 || !at[1]) return 0;
    if (at[1] != 'u') return strchr("\"\\/bfnrt", at[1]) ? 2 : 0;
    int32_t unit = escaped_unit(at, length);
    if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff)) return 0;
    if (unit < 0xd800 || unit > 0xdbff) return 6;
    int32_t low = escaped_unit(at + 6, length - 6);
    return low >= 0xdc00 && low <= 0xdfff ? 12 : 0;
}

static int skip_text(Cursor *cursor) {
    cursor->at++; /* the quotation mark */
    while (cursor->at < cursor->end) {
        uint8_t c = (uint8_t)*cursor->at;
        if (c == '"') {
            cursor->at++;
            return 1;
        }
        if (c < 0x20) return 0;
        size_t size = 1;
        if (c == '\\') size = escape(cursor->at, left(cursor));
        if (c >= 0x80) size = code_point((const uint8_t *)cursor->at, left(cursor));
        if (!size) return 0;
        cursor->at += size;
    }
    return 0;
}

static size_t skip_digits(Cursor *cursor) {
    const char *start = cursor->at;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') cursor->at++;
    return (size_t)(cursor->at - start);
}

static int next_is(Cursor *cursor, char wanted) {
    if (cursor->at == cursor->end || *cursor->at != wanted) return 0;
    cursor->at++;
    return 1;
}

static int skip_number(Cursor *cursor) {
    const char *start = cursor->at;
    next_is(cursor, '-');
    const char *whole = cursor->at;
    size_t digits = skip_digits(cursor);
    if (!digits || (*whole == '0' && digits > 1)) return 0;
    if (next_is(cursor, '.') && !skip_digits(cursor)) return 0;
    if (next_is(cursor, 'e') || next_is(cursor, 'E')) {
        if (!next_is(cursor, '-')) next_is(cursor, '+');
        if (!skip_digits(cursor)) return 0;
    }
    return cursor->at - start <= MAX_NUMBER;
}

static int skip_word(Cursor *cursor, const char *word, size_t length) {
    if (left(cursor) < length || memcmp(cursor->at, word, length)) return 0;
    cursor->at += length;
    return 1;
}

static int skip_key(Cursor *cursor) {
    skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at != '"' || !skip_text(cursor)) return 0;
    skip_space(cursor);
    return next_is(cursor, ':');
}

/* Pass over a value; return whether it is JSON with brackets nested at most so deep. */
int skip_value(Cursor *cursor, uint32_t depth) {
    skip_space(cursor);
    if (cursor->at == cursor->end) return 0;
    char c = *cursor->at;
    if (c == '"') return skip_text(cursor);
    if (c == 't') return skip_word(cursor, "true", 4);
    if (c == 'f') return skip_word(cursor, "false", 5);
    if (c == 'n') return skip_word(cursor, "null", 4);
    if (c != '{' && c != '[') return skip_number(cursor);
    if (depth == 0) return 0;
    char end = c == '{' ? '}' : ']';
    cursor->at++;
    skip_space(cursor);
    if (next_is(cursor, end)) return 1;
    do {
        if (c == '{' && !skip_key(cursor)) return 0;
        if (!skip_value(cursor, depth - 1)) return 0;
        skip_space(cursor);
    } while (next_is(cursor, ','));
    return next_is(cursor, end);
}
