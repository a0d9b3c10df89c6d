/* The fields of a line (RFC 4180), read by libcsv in strict mode. Lines are cut out and checked before. */
#include <stdlib.h>
#include <string.h>

#include "results/record/csv_line.h"

enum { FIELD_BLOCK = 4096 };

static void start_parser(struct csv_parser *parser)
{
    (void)csv_init(parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL); /* fails for NULL only */
    csv_set_blk_size(parser, FIELD_BLOCK);
}

void csv_row_init(struct csv_row *row)
{
    *row = (struct csv_row){0};
    text_init(&row->store);
    start_parser(&row->parser);
}

void csv_row_free(struct csv_row *row)
{
    free(row->field);
    text_free(&row->store);
    csv_free(&row->parser);
    csv_row_init(row);
}

/* `text` has no terminator; NULL where there is none. csv_split made room for all fields in the store. */
static void take_field(void *text, size_t length, void *user)
{
    struct csv_row *row = user;
    if (row->n == row->capacity) {
        size_t capacity = row->capacity ? 2 * row->capacity : 64;
        const char **field = realloc(row->field, capacity * sizeof *field);
        row->store.failed = row->store.failed || !field;
        if (!field)
            return;
        row->field = field;
        row->capacity = capacity;
    }
    char *to = row->store.data + row->store.length;
    if (length > 0)
        memcpy(to, text, length);
    to[length] = '\0';
    row->store.length += length + 1;
    row->field[row->n++] = to;
}

/* A line break outside of quotes, or the end of the line (-1). */
static void take_end(int byte, void *user)
{
    struct csv_row *row = user;
    row->broken = row->broken || byte >= 0;
}

enum dse_status csv_split(const char *line, size_t length, struct csv_row *row, struct dse_error *err)
{
    struct csv_parser *parser = &row->parser;
    text_clear(&row->store);
    row->n = 0;
    row->broken = false;
    /* A zero byte would end a field early; no line of ours has one. */
    if (memchr(line, 0, length))
        return dse_fail(err, DSE_BAD_INPUT, "a zero byte in the line");
    if (!text_room(&row->store, length + 1)) /* all fields, and a terminator for each comma and the end */
        return dse_fail(err, DSE_NO_MEMORY, "out of memory while reading a line");
    bool whole = csv_parse(parser, line, length, take_field, take_end, row) == length &&
                 csv_fini(parser, take_field, take_end, row) == 0;
    bool broken = !whole && csv_error(parser) == CSV_EPARSE;
    if (!whole) { /* it stands in the middle of a field */
        csv_free(parser);
        start_parser(parser);
    }
    if (row->broken)
        return dse_fail(err, DSE_BAD_INPUT, "a line break outside of quotes");
    if (broken)
        return dse_fail(err, DSE_BAD_INPUT, "broken quoting in field %zu", row->n + 1);
    if (whole && row->n == 0) /* libcsv takes blanks alone for no row */
        take_field(NULL, 0, row);
    if (!whole || row->store.failed)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory while reading a line");
    return DSE_OK;
}

const char *csv_next_line(const char **at, const char *end, int *line, size_t *length)
{
    while (*at < end) {
        const char *begin = *at, *stop = memchr(begin, '\n', (size_t)(end - begin));
        size_t n = (size_t)((stop ? stop : end) - begin), blank = 0;
        *at = stop ? stop + 1 : end;
        ++*line;
        while (blank < n && (begin[blank] == ' ' || begin[blank] == '\t' || begin[blank] == '\r'))
            blank++;
        if (blank == n || begin[blank] == '#')
            continue;
        while (begin[n - 1] == '\r')
            n--;
        *length = n;
        return begin;
    }
    return NULL;
}
