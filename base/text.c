/* The growing buffer, the edit distance behind "did you mean", whole numbers and safe copies; doubles are
 * in text_number.c. */
#include "base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void text_init(struct text_buffer *text)
{
    memset(text, 0, sizeof *text);
}

/* Room for `more` bytes and a terminator; 0 when out of memory. */
static int reserve(struct text_buffer *text, size_t more)
{
    if (text->failed)
        return 0;
    if (more < text->capacity - text->length)
        return 1;
    if (more > SIZE_MAX / 4 || text->length > SIZE_MAX / 4) {
        text->failed = 1;
        return 0;
    }
    size_t capacity = 2 * text->capacity;
    if (capacity < text->length + more + 1)
        capacity = text->length + more + 1;
    if (capacity < 64)
        capacity = 64;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = 1;
        return 0;
    }
    text->data = data;
    text->capacity = capacity;
    return 1;
}

void text_append(struct text_buffer *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        text->failed = 1;
    else if (reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void text_append_bytes(struct text_buffer *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    if (length > 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_append_string(struct text_buffer *text, const char *string)
{
    text_append_bytes(text, string, strlen(string));
}

void text_append_u64(struct text_buffer *text, uint64_t value)
{
    char number[TEXT_U64_MAX];
    text_append_bytes(text, number, text_u64_bytes(value, number));
}

char *text_room(struct text_buffer *text, size_t n)
{
    return reserve(text, n) ? text->data + text->length : NULL;
}

void text_wrote(struct text_buffer *text, const char *end)
{
    text->length = (size_t)(end - text->data);
    text->data[text->length] = '\0';
}

enum dse_status text_check(const struct text_buffer *text, const char *what, struct dse_error *err)
{
    return text->failed ? dse_fail(err, DSE_NO_MEMORY, "out of memory for %s", what) : DSE_OK;
}

char *text_keep(struct text_buffer *text, struct arena *arena)
{
    char *kept = arena_copy_text(arena, text->data ? text->data : "", text->failed ? SIZE_MAX : text->length);
    text_free(text);
    return kept;
}

void text_clear(struct text_buffer *text)
{
    text->length = 0;
    text->failed = 0;
    if (text->data)
        text->data[0] = '\0';
}

void text_free(struct text_buffer *text)
{
    free(text->data);
    text_init(text);
}

enum { NEAREST_MAX = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edit distance with swapped neighbours counted once (optimal string alignment); both shorter than
 * NEAREST_MAX. */
static size_t edit_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t rows[3][NEAREST_MAX + 1];
    size_t *before = rows[0];
    size_t *last = rows[1];
    size_t *row = rows[2];
    for (size_t j = 0; j <= n_b; j++) {
        before[j] = j;
        last[j] = j;
    }
    for (size_t i = 1; i <= n_a; i++) {
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            int same = same_letter(a[i - 1], b[j - 1]);
            size_t best = last[j - 1] + (same ? 0 : 1);
            best = least(best, least(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                best = least(best, before[j - 2] + 1);
            row[j] = best;
        }
        size_t *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[n_b];
}

size_t text_mark(const char *bytes, size_t length)
{
    return length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

const char *text_nearest(const char *word, const char *const *candidate, size_t n_candidate)
{
    size_t n_word = strlen(word);
    const char *nearest = NULL;
    size_t nearest_distance = SIZE_MAX;
    if (n_word == 0 || n_word >= NEAREST_MAX)
        return NULL;
    for (size_t i = 0; i < n_candidate; i++) {
        size_t n = strlen(candidate[i]);
        if (n >= NEAREST_MAX)
            continue;
        size_t distance = edit_distance(word, n_word, candidate[i], n);
        size_t allowed = ((n > n_word ? n : n_word) + 1) / 3;
        if (distance <= allowed && distance < nearest_distance) {
            nearest = candidate[i];
            nearest_distance = distance;
        }
    }
    for (size_t i = 0; i < n_candidate && nearest_distance > 1; i++)
        if (strncasecmp(word, candidate[i], n_word) == 0 && candidate[i][n_word] == '_')
            return candidate[i];
    return nearest;
}

char *text_thousands(uint64_t value, char *buffer, size_t size)
{
    char reversed[32];
    size_t n = 0;
    for (unsigned digit = 0; digit == 0 || value > 0; digit++) {
        if (digit > 0 && digit % 3 == 0)
            reversed[n++] = ',';
        reversed[n++] = (char)('0' + value % 10);
        value /= 10;
    }
    size_t at = 0;
    for (; at + 1 < size && at < n; at++)
        buffer[at] = reversed[n - 1 - at];
    if (size > 0)
        buffer[at] = '\0';
    return buffer;
}

int text_parse_u64(const char *text, uint64_t *value)
{
    uint64_t sum = 0;
    if (*text == '\0')
        return 0;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return 0;
        uint64_t digit = (uint64_t)(*text - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return 0;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return 1;
}

int text_parse_i64(const char *text, int64_t *value)
{
    uint64_t size = 0;
    int negative = *text == '-';
    if (!text_parse_u64(text + negative, &size))
        return 0;
    if (negative && size == (uint64_t)INT64_MAX + 1) {
        *value = INT64_MIN;
        return 1;
    }
    if (size > (uint64_t)INT64_MAX)
        return 0;
    *value = negative ? -(int64_t)size : (int64_t)size;
    return 1;
}

int text_copy(char *to, size_t size, const char *from)
{
    size_t length = strlen(from);
    int fits = length < size;
    if (size == 0)
        return 0;
    if (!fits)
        length = size - 1;
    memmove(to, from, length);
    to[length] = '\0';
    return fits;
}

char *text_excerpt(const char *text, char *buffer, size_t size)
{
    if (size == 0)
        return buffer;
    if (!text_copy(buffer, size, text) && size > 4) {
        size_t end = size - 4;
        while (end > 0 && ((unsigned char)buffer[end] & 0xC0U) == 0x80U) /* do not split a UTF-8 letter */
            end--;
        memcpy(buffer + end, "...", 4);
    }
    for (char *c = buffer; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
    return buffer;
}

int text_is_name(const char *text)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char other[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.+/-";
    return strspn(text, first) > 0 && text[strspn(text, other)] == '\0' && strcasecmp(text, "null") != 0;
}
