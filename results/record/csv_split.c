/* Splitting a line into its fields (RFC 4180): one pass in a copy of the line, as a million lines are read on
 * resume. */
#include <stdlib.h>
#include <string.h>

#include "results/record/csv_line.h"

void csv_row_init(struct csv_row *row)
{
    *row = (struct csv_row){0};
    text_init(&row->store);
}

void csv_row_free(struct csv_row *row)
{
    free(row->field);
    text_free(&row->store);
    csv_row_init(row);
}

static bool add_field(struct csv_row *row, const char *text)
{
    if (row->n == row->capacity) {
        size_t capacity = row->capacity ? 2 * row->capacity : 64;
        const char **field = realloc(row->field, capacity * sizeof *field);
        if (!field)
            return false;
        row->field = field;
        row->capacity = capacity;
    }
    row->field[row->n++] = text;
    return true;
}

/* A quoted field without its quotes from behind its first one: moved to `*to`. Returns where it ends, or
 * NULL: it never does. */
static char *unquote(char *at, const char *end, char **to)
{
    for (;;) {
        char *quote = memchr(at, '"', (size_t)(end - at));
        if (!quote)
            return NULL;
        size_t n = (size_t)(quote - at);
        memmove(*to, at, n);
        *to += n;
        at = quote + 1;
        if (at == end || *at != '"')
            return at == end || *at == ',' ? at : NULL;
        *(*to)++ = '"';
        at++;
    }
}

/* A bare field, moved to `*to`. Returns where it ends, or NULL: there is a quote in it. */
static char *bare(char *at, char *end, char **to, bool quotes)
{
    char *comma = memchr(at, ',', (size_t)(end - at));
    char *stop = comma ? comma : end;
    size_t n = (size_t)(stop - at);
    if (quotes && memchr(at, '"', n))
        return NULL;
    if (*to != at)
        memmove(*to, at, n);
    *to += n;
    return stop;
}

enum dse_status csv_split(const char *line, size_t length, struct csv_row *row, struct dse_error *err)
{
    text_clear(&row->store);
    row->n = 0;
    /* A zero byte would end a field early; no line of ours has one. */
    if (memchr(line, 0, length))
        return dse_fail(err, DSE_BAD_INPUT, "a zero byte in the line");
    text_append_bytes(&row->store, line, length);
    if (row->store.failed)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory while reading a line");
    bool quotes = memchr(line, '"', length) != NULL;
    char *at = row->store.data, *to = at, *end = at + length;
    for (bool more = true; more;) {
        if (!add_field(row, to))
            return dse_fail(err, DSE_NO_MEMORY, "out of memory while reading a line");
        at = at < end && *at == '"' ? unquote(at + 1, end, &to) : bare(at, end, &to, quotes);
        if (!at)
            return dse_fail(err, DSE_BAD_INPUT, "broken quoting in field %zu", row->n);
        more = at < end;
        *to++ = '\0'; /* `to` is never ahead of `at`, which is at the comma or the end */
        at++;
    }
    return DSE_OK;
}
