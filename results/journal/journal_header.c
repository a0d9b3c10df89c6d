/* Compares the header with that of the schema, takes one of an earlier version, and names the first column
 * that differs otherwise. */
#include "results/journal/journal_header.h"

#include <string.h>

/* Take the header of an earlier version, else name the first column that differs. */
static enum dse_status header_differs(const struct line_reader *reader, const struct text_buffer *expected,
                                      struct csv_widen *widen, struct dse_error *err)
{
    struct csv_row is, wanted;
    enum dse_status status = DSE_OK;
    csv_row_init(&is);
    csv_row_init(&wanted);
    if (text_mark(reader->line, reader->length) > 0 ||
        (reader->length > 0 && reader->line[reader->length - 1] == '\r')) {
        status = dse_fail_at(err, DSE_BAD_INPUT, reader->path, 1,
                             "has a byte order mark or Windows line ends, as some editors write them; use "
                             "--repair to mend it");
    } else if (!journal_header_is_one(reader) ||
               csv_split(reader->line, reader->length, &is, NULL) != DSE_OK ||
               csv_split(expected->data, expected->length - 1, &wanted, NULL) != DSE_OK) {
        status = dse_fail_at(err, DSE_BAD_INPUT, reader->path, 1,
                             "not a journal of dse; choose another output with -o, or, when its first line "
                             "is damaged, use --repair");
    } else if ((status = csv_widen_init(widen, &is, &wanted, err)) == DSE_OK && !widen->needed) {
        size_t i = 0;
        while (i < is.n && i < wanted.n && strcmp(is.field[i], wanted.field[i]) == 0)
            i++;
        status = dse_fail_at(
            err, DSE_BAD_INPUT, reader->path, 1,
            "written by another specification or version: column %zu is '%s', here it would be "
            "'%s'; use --fresh to start anew or choose another output with -o (or --repair, when the line is "
            "damaged)",
            i + 1, i < is.n ? is.field[i] : "missing", i < wanted.n ? wanted.field[i] : "missing");
    }
    csv_row_free(&is);
    csv_row_free(&wanted);
    return status;
}

bool journal_header_is_one(const struct line_reader *reader)
{
    struct csv_row is;
    csv_row_init(&is);
    bool one = csv_split(reader->line, reader->length, &is, NULL) == DSE_OK &&
               csv_column_find(&is, "status") < is.n && strcmp(is.field[is.n - 1], "checksum") == 0;
    csv_row_free(&is);
    return one;
}

enum dse_status journal_header_read(struct line_reader *reader, const struct text_buffer *expected,
                                    bool *empty, struct csv_widen *widen, struct dse_error *err)
{
    bool more;
    *empty = false;
    DSE_TRY(text_check(expected, "the header", err));
    DSE_TRY(line_reader_next(reader, &more, err));
    if (!more) {
        size_t length = reader->torn ? reader->length : 0;
        while (length > 0 && reader->line[length - 1] == '\0')
            length--;
        *empty = true;
        if (length > expected->length || (length > 0 && memcmp(reader->line, expected->data, length) != 0))
            return dse_fail_at(err, DSE_BAD_INPUT, reader->path, 1,
                               "not a journal of dse; choose another output with -o");
        return DSE_OK;
    }
    if (reader->length + 1 != expected->length || memcmp(reader->line, expected->data, reader->length) != 0)
        return header_differs(reader, expected, widen, err);
    return DSE_OK;
}
