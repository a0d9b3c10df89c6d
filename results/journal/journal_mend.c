/* One pass finds out what is to be mended, a second one writes PATH.new, which is renamed. */
#include "results/journal/journal_mend.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "results/journal/journal_read.h"
#include "results/journal/sync_folder.h"
#include "results/record/axis_places.h"
#include "results/record/csv_widen.h"

enum { MEND_PATH_MAX = 4096 };

struct mend {
    const struct result_schema *schema;
    enum result_table table;
    struct text_buffer header; /* as it should be, with its line break */
    struct csv_row names, row;
    bool returns, known; /* lines end in CR LF; a row of this table has been seen */
    bool first_is_row, first_is_header, marked;
};

/* The line without what does not belong to it. */
static const char *plain_line(const struct line_reader *reader, size_t *length)
{
    const char *line = reader->line;
    *length = reader->length;
    if (reader->number == 1) {
        const size_t mark = text_mark(line, *length);
        line += mark;
        *length -= mark;
    }
    if (*length > 0 && line[*length - 1] == '\r' && !csv_seal_holds(line, *length))
        --*length;
    return line;
}

/* Whether a line whose seal holds is a row of the table. */
static enum dse_status is_row(struct mend *mend, const char *line, size_t length, bool *is,
                              struct dse_error *err)
{
    struct axis_places *places;
    uint32_t index[RESULT_AXIS_MAX];
    uint64_t cell;
    DSE_TRY(csv_split(line, length, &mend->row, err));
    *is = mend->row.n == mend->names.n;
    if (!*is || mend->table != RESULT_POINTS)
        return DSE_OK;
    DSE_TRY(axis_places_new(mend->schema, &places, err));
    *is = axis_places_find(places, &mend->row, index, &cell);
    axis_places_free(places);
    return DSE_OK;
}

/* The header of an earlier version is right for its rows. */
static enum dse_status take_header(struct mend *mend, const char *line, size_t length, struct dse_error *err)
{
    struct csv_widen widen = {0};
    mend->first_is_header = length + 1 == mend->header.length && memcmp(line, mend->header.data, length) == 0;
    if (mend->first_is_header || csv_split(line, length, &mend->row, NULL) != DSE_OK)
        return DSE_OK;
    DSE_TRY(csv_widen_init(&widen, &mend->row, &mend->names, err));
    mend->first_is_header = widen.needed;
    csv_widen_free(&widen);
    if (!mend->first_is_header)
        return DSE_OK;
    text_clear(&mend->header);
    text_append_bytes(&mend->header, line, length);
    text_append_bytes(&mend->header, "\n", 1);
    DSE_TRY(text_check(&mend->header, "the header", err));
    return csv_split(line, length, &mend->names, err);
}

static enum dse_status look(struct mend *mend, struct line_reader *reader, struct dse_error *err)
{
    bool more = true, is;
    for (;;) {
        DSE_TRY(line_reader_next(reader, &more, err));
        if (!more)
            return DSE_OK;
        size_t length;
        const char *line = plain_line(reader, &length);
        bool first = reader->number == 1, sealed = csv_seal_holds(line, length);
        mend->marked |= line != reader->line;
        mend->returns |= line + length != reader->line + reader->length && (first || sealed);
        if (first)
            DSE_TRY(take_header(mend, line, length, err));
        if (!sealed || mend->known)
            continue;
        DSE_TRY(is_row(mend, line, length, &is, err));
        mend->known = is;
        mend->first_is_row |= first && is;
    }
}

/* PATH.new becomes PATH. */
static enum dse_status write_anew(const struct mend *mend, struct line_reader *reader, const char *path,
                                  struct dse_error *err)
{
    char name[MEND_PATH_MAX];
    int n = snprintf(name, sizeof name, "%s.new", path);
    if (n < 0 || (size_t)n >= sizeof name)
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    int fd = file_create(name);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
    bool more = true, fine = file != NULL;
    enum dse_status status = DSE_OK;
    fine = fine && fwrite(mend->header.data, 1, mend->header.length, file) == mend->header.length;
    while (fine && (status = line_reader_next(reader, &more, err)) == DSE_OK && more) {
        size_t length;
        const char *line = plain_line(reader, &length);
        if (reader->number > 1 || mend->first_is_row)
            fine = fwrite(line, 1, length, file) == length && fputc('\n', file) == '\n';
    }
    if (fine && status == DSE_OK && reader->torn)
        fine = fwrite(reader->line, 1, reader->length, file) == reader->length;
    fine = fine && fflush(file) == 0 && (fsync(fd) == 0 || errno == EINVAL);
    int reason = errno;
    if (file)
        fclose(file);
    if (fine && status == DSE_OK && rename(name, path) == 0)
        return sync_folder(path, err);
    if (status == DSE_OK)
        status =
            dse_fail_at(err, DSE_IO, path, 0, "cannot be written anew: %s", strerror(fine ? errno : reason));
    unlink(name);
    return status;
}

static enum dse_status mend_file(struct mend *mend, const char *path, bool *changed, struct dse_error *err)
{
    struct line_reader reader;
    DSE_TRY(text_check(&mend->header, "the header", err));
    DSE_TRY(csv_split(mend->header.data, mend->header.length - 1, &mend->names, err));
    DSE_TRY(line_reader_open(&reader, path, err));
    enum dse_status status = look(mend, &reader, err);
    line_reader_close(&reader);
    *changed = mend->first_is_header ? mend->marked || mend->returns : mend->known;
    if (status != DSE_OK || !*changed)
        return status;
    DSE_TRY(line_reader_open(&reader, path, err));
    status = write_anew(mend, &reader, path, err);
    line_reader_close(&reader);
    return status;
}

enum dse_status journal_mend(const char *path, const struct result_schema *schema, enum result_table table,
                             bool *changed, struct dse_error *err)
{
    struct mend mend = {.schema = schema, .table = table};
    text_init(&mend.header);
    csv_row_init(&mend.names);
    csv_row_init(&mend.row);
    if (table == RESULT_POINTS)
        csv_point_header(&mend.header, schema);
    else
        csv_layer_header(&mend.header, schema);
    enum dse_status status = mend_file(&mend, path, changed, err);
    text_free(&mend.header);
    csv_row_free(&mend.names);
    csv_row_free(&mend.row);
    return status;
}
