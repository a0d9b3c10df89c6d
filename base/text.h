/* Text helpers: a growing buffer, "did you mean", numbers with separators, shortest round-trip doubles. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

/* A growing, always terminated text. On out-of-memory `failed` is set, later appends do nothing, and `data`
 * stays valid. */
struct text_buffer {
    char *data; /* owned; NULL only before the first append */
    size_t length;
    size_t capacity;
    int failed;
};

void text_init(struct text_buffer *text);
void text_append(struct text_buffer *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_append_bytes(struct text_buffer *text, const char *bytes, size_t length);
/* `string` as it is, and a number in decimal: what printf would write, in a tenth of the time. */
void text_append_string(struct text_buffer *text, const char *string);
void text_append_u64(struct text_buffer *text, uint64_t value);

/* Room for `n` bytes to be written behind the text, or NULL when out of memory (`failed` is then set);
 * text_wrote says how far. */
char *text_room(struct text_buffer *text, size_t n);
void text_wrote(struct text_buffer *text, const char *end);

/* DSE_OK when all that was appended is there; else DSE_NO_MEMORY, with `what` the text is ("a report"). */
DSE_MUST_CHECK enum dse_status text_check(const struct text_buffer *text, const char *what,
                                          struct dse_error *err);

/* The text as a copy in `arena`; the buffer is freed. A text that failed makes the arena fail, so looking at
 * that is enough; NULL then. */
char *text_keep(struct text_buffer *text, struct arena *arena);
void text_clear(struct text_buffer *text);
void text_free(struct text_buffer *text);

/* The candidate that is one slip away from `word`; else the first that goes on with "_" behind it ("edp" is
 * "edp_js" but for the unit, "mobilenet" is "mobilenet_v1"); else the nearest by edit distance, or NULL when
 * none is close (more than about a third of the letters wrong). Of several the first. Case-insensitive. */
const char *text_nearest(const char *word, const char *const *candidate, size_t n_candidate);

/* "133,888": decimal with thousands separators. Returns `buffer`. */
char *text_thousands(uint64_t value, char *buffer, size_t size);

/* The bytes of a UTF-8 byte order mark that some editors write in front of a text: 3, or 0. */
size_t text_mark(const char *bytes, size_t length);

/* Letters on a screen: UTF-8 continuation bytes take none. */
size_t text_letters(const char *text);

/* Bytes of the UTF-8 letter at `text`; 0 when it is none (RFC 3629: no overlong forms, no surrogates, at most
 * U+10FFFF). The end of the text is a letter of one byte. */
size_t text_letter_bytes(const char *text);

/* The ending of a plural: "" for 1, else "s". */
const char *text_plural(unsigned long long n);

/* A number with an SI prefix and three digits: text_si(4.56e-3, "J") -> "4.56 mJ". Returns `buffer`. */
char *text_si(double value, const char *unit, char *buffer, size_t size);

/* "12 B", "1.5 KiB", "23.4 MiB". Returns `buffer`. */
char *text_bytes(double value, char *buffer, size_t size);

/* The shortest decimal that reads back to the same double ("0.1", "1e-09", "nan", "inf"). Returns
 * `buffer`. */
char *text_double(double value, char *buffer, size_t size);

/* text_double of value x 10^shift, where the decimal point of the shortest decimal is moved: no rounding. */
char *text_double_shifted(double value, int shift, char *buffer, size_t size);

/* The same without a terminator into to[TEXT_DOUBLE_MAX]; returns the length. */
enum { TEXT_DOUBLE_MAX = 48, TEXT_U64_MAX = 20, TEXT_HEX_LENGTH = 16 };
size_t text_double_bytes(double value, int shift, char *to);

/* Decimal into to[TEXT_U64_MAX], 16 lower-case hex digits into to[TEXT_HEX_LENGTH]; no terminator; returns
 * the length. */
size_t text_u64_bytes(uint64_t value, char *to);
size_t text_hex_bytes(uint64_t value, char *to);

/* A user's text made fit for a message: control characters become '?', what is too long ends in "...".
 * Returns `buffer`. */
char *text_excerpt(const char *text, char *buffer, size_t size);

/* Whether `text` may name a thing in files, columns and paths and stand in YAML without quotes: a letter or
 * _, then letters, digits, _ . + / and -; not "null". */
int text_is_name(const char *text);

/* Strict whole-text parses: 1 on success; 0 on junk, sign where not allowed, overflow, nan or inf. */
int text_parse_u64(const char *text, uint64_t *value);
int text_parse_i64(const char *text, int64_t *value);
int text_parse_double(const char *text, double *value);

/* Copy `from` into `to` (size bytes), always terminated; returns 0 when it had to be cut, else 1. */
int text_copy(char *to, size_t size, const char *from);

#endif
