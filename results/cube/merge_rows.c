/* One reader per shard, the lowest cell next; where two shards have the same point the lines must agree
 * but for times, or the better row stays. */
#include "results/cube/merge_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "results/record/csv_line.h"
#include "results/record/csv_widen.h"

enum { POINT, LAYERS };

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for the shards");
}

enum dse_status merge_rows_init(struct merge_rows *rows, size_t n, struct dse_error *err)
{
    *rows = (struct merge_rows){.n = n};
    text_init(&rows->line[0]);
    text_init(&rows->line[1]);
    rows->shard = calloc(n, sizeof *rows->shard);
    rows->cell = calloc(n, sizeof *rows->cell);
    return rows->shard && rows->cell ? DSE_OK : no_memory(err);
}

void merge_rows_free(struct merge_rows *rows)
{
    for (size_t i = 0; rows->shard && i < rows->n; i++) {
        struct merge_shard *shard = &rows->shard[i];
        if (shard->open)
            cube_rows_close(&shard->rows);
        if (shard->csv)
            fclose(shard->csv);
        if (shard->layers)
            fclose(shard->layers);
    }
    free(rows->shard);
    free(rows->cell);
    text_free(&rows->line[0]);
    text_free(&rows->line[1]);
}

static enum dse_status step(struct merge_rows *rows, size_t i, struct dse_error *err)
{
    bool more;
    DSE_TRY(cube_rows_step(&rows->shard[i].rows, &more, err));
    rows->cell[i] = more ? rows->shard[i].rows.at.cell : UINT64_MAX;
    return DSE_OK;
}

enum dse_status merge_rows_add(struct merge_rows *rows, size_t i, const char *path,
                               const struct result_schema *schema, const char *near, struct dse_error *err)
{
    struct merge_shard *shard = &rows->shard[i];
    DSE_TRY(cube_rows_open_searched(&shard->rows, path, schema, CUBE_ROWS_ENTRY_MAX / rows->n, near, err));
    shard->open = true;
    const char *csv_path = journal_scan_csv_path(shard->rows.scan);
    shard->csv = fopen(csv_path, "rbe");
    if (!shard->csv)
        return dse_fail_at(err, DSE_IO, csv_path, 0, "cannot be read: %s", strerror(errno));
    const char *layer_path = journal_scan_layer_path(shard->rows.scan);
    shard->layers = fopen(layer_path, "rbe");
    if (!shard->layers && errno != ENOENT)
        return dse_fail_at(err, DSE_IO, layer_path, 0, "cannot be read: %s", strerror(errno));
    return step(rows, i, err);
}

/* Append `length` bytes of a table of the shard, from `offset`, to `to`; its lines must still check. */
static enum dse_status read_bytes(struct merge_shard *shard, int table, uint64_t offset, uint64_t length,
                                  struct text_buffer *to, struct dse_error *err)
{
    FILE *file = table == POINT ? shard->csv : shard->layers;
    const char *path =
        table == POINT ? journal_scan_csv_path(shard->rows.scan) : journal_scan_layer_path(shard->rows.scan);
    char piece[8192];
    size_t begin = to->length;
    errno = 0;
    if (length == 0)
        return DSE_OK;
    if (!file || (shard->at[table] != offset && fseeko(file, (off_t)offset, SEEK_SET) != 0))
        return dse_fail_at(err, DSE_IO, path, 0, "cannot go to byte %" PRIu64, offset);
    for (uint64_t left = length; left > 0;) {
        size_t n = left < sizeof piece ? (size_t)left : sizeof piece;
        if (fread(piece, 1, n, file) != n)
            return dse_fail_at(err, DSE_IO, path, 0, "cannot be read: %s",
                               errno ? strerror(errno) : "it became shorter");
        text_append_bytes(to, piece, n);
        left -= n;
    }
    shard->at[table] = offset + length;
    if (to->failed)
        return no_memory(err);
    for (const char *at = to->data + begin, *last = to->data + to->length; at < last;) {
        const char *end = memchr(at, '\n', (size_t)(last - at));
        if (!end || !csv_seal_holds(at, (size_t)(end - at)))
            return dse_fail_at(err, DSE_BAD_INPUT, path, 0, "a line changed while it was read");
        at = end + 1;
    }
    return DSE_OK;
}

/* A table's part of the current row of a shard, with today's columns. */
static enum dse_status read_row(struct merge_shard *shard, int table, struct text_buffer *to,
                                struct dse_error *err)
{
    const struct cube_entry *at = &shard->rows.at;
    const struct csv_widen *widen =
        journal_scan_widen(shard->rows.scan, table == POINT ? RESULT_POINTS : RESULT_LAYERS);
    struct text_buffer old;
    text_clear(to);
    text_init(&old);
    struct text_buffer *read = widen ? &old : to;
    enum dse_status status = table == POINT
                                 ? read_bytes(shard, POINT, at->offset, at->length, read, err)
                                 : read_bytes(shard, LAYERS, at->layer_offset, at->layer_length, read, err);
    if (status == DSE_OK && widen)
        status = csv_widen_lines(widen, old.data, old.length, to, err);
    text_free(&old);
    return status;
}

/* Whether two lines agree but for wall times and the checksum over them. `header` names the columns. */
static bool same_fields(const struct csv_row *header, const struct csv_row *a, const struct csv_row *b)
{
    if (a->n != header->n || b->n != header->n)
        return false;
    for (size_t i = 0; i + 1 < header->n; i++)
        if (strcmp(a->field[i], b->field[i]) != 0 && !result_column_is_time(header->field[i]))
            return false;
    return true;
}

/* The same for all lines of two texts. */
static enum dse_status same_lines(const struct csv_row *names, const struct text_buffer *one,
                                  const struct text_buffer *two, bool *same, struct dse_error *err)
{
    struct csv_row a, b;
    enum dse_status status = DSE_OK;
    size_t i = 0, k = 0;
    csv_row_init(&a);
    csv_row_init(&b);
    *same = true;
    while (status == DSE_OK && *same && i < one->length && k < two->length) {
        size_t n = strcspn(one->data + i, "\n"), m = strcspn(two->data + k, "\n");
        status = csv_split(one->data + i, n, &a, err);
        if (status == DSE_OK)
            status = csv_split(two->data + k, m, &b, err);
        *same = status == DSE_OK && same_fields(names, &a, &b);
        i += n + 1;
        k += m + 1;
    }
    *same &= (i >= one->length) == (k >= two->length);
    csv_row_free(&a);
    csv_row_free(&b);
    return status;
}

/* What a row is worth beside one of the same point that differs. */
enum worth { WORTH_FAILED, WORTH_TIMEOUT, WORTH_TIMED, WORTH_SURE }; /* TIMED: a limit of seconds ended it */

static enum dse_status worth_of(const struct csv_row *names, const struct text_buffer *line,
                                enum worth *worth, struct dse_error *err)
{
    struct csv_row row;
    csv_row_init(&row);
    enum dse_status status = csv_split(line->data, line->length - 1, &row, err);
    *worth = WORTH_SURE;
    for (size_t i = 0; status == DSE_OK && i < names->n && i < row.n; i++) {
        bool is_status = strcmp(names->field[i], "status") == 0;
        if (is_status && strcmp(row.field[i], "failed") == 0)
            *worth = WORTH_FAILED;
        else if (is_status && strcmp(row.field[i], "timeout") == 0)
            *worth = WORTH_TIMEOUT;
        else if (*worth == WORTH_SURE && strcmp(names->field[i], "stop") == 0 &&
                 strcmp(row.field[i], "max_seconds") == 0)
            *worth = WORTH_TIMED;
    }
    csv_row_free(&row);
    return status;
}

/* Which of two rows that differ stays: the one that is worth more, else the first. When neither failed nor
 * met a limit of seconds, one of them is wrong. The line of `a` is in rows->line[0], of `b` in
 * rows->line[1]. */
static enum dse_status choose(struct merge_rows *rows, const struct merge_shard *a,
                              const struct merge_shard *b, bool *second, struct dse_error *err)
{
    enum worth one, two;
    uint64_t line = b->rows.at.line;
    const struct csv_row *names = journal_scan_header(a->rows.scan);
    DSE_TRY(worth_of(names, &rows->line[0], &one, err));
    DSE_TRY(worth_of(names, &rows->line[1], &two, err));
    *second = two > one;
    if (one < WORTH_SURE || two < WORTH_SURE)
        return DSE_OK;
    return dse_fail_at(
        err, DSE_BAD_INPUT, journal_scan_csv_path(b->rows.scan), line <= INT32_MAX ? (int)line : 0,
        "the same point as %s:%" PRIu64 " with another result; delete the wrong one of the two lines, "
        "or compute one of the files anew (--fresh)",
        journal_scan_csv_path(a->rows.scan), a->rows.at.line);
}

/* Rows of one cell in two shards must agree, or one of them must be no loss: `*same`, else `*second`: that of
 * `b` stays. */
static enum dse_status compare(struct merge_rows *rows, struct merge_shard *a, struct merge_shard *b,
                               bool *same, bool *second, struct dse_error *err)
{
    struct text_buffer header;
    struct csv_row layer_names;
    *same = true;
    *second = false;
    text_init(&header);
    csv_row_init(&layer_names);
    csv_layer_header(&header, a->rows.schema);
    enum dse_status status =
        header.failed ? no_memory(err) : csv_split(header.data, header.length - 1, &layer_names, err);
    for (int table = LAYERS; table >= POINT && status == DSE_OK; table--) {
        const struct csv_row *names = table == POINT ? journal_scan_header(a->rows.scan) : &layer_names;
        bool agree = true;
        status = read_row(a, table, &rows->line[0], err);
        if (status == DSE_OK)
            status = read_row(b, table, &rows->line[1], err);
        if (status == DSE_OK && *same)
            status = same_lines(names, &rows->line[0], &rows->line[1], &agree, err);
        *same = *same && agree;
    }
    if (status == DSE_OK && !*same)
        status = choose(rows, a, b, second, err);
    text_free(&header);
    csv_row_free(&layer_names);
    return status;
}

enum dse_status merge_rows_next(struct merge_rows *rows, struct merge_files *files, uint64_t *cell,
                                uint64_t *n_twin, uint64_t *n_chosen, struct dse_error *err)
{
    bool same, second;
    size_t lowest = 0;
    for (size_t i = 1; i < rows->n; i++)
        if (rows->cell[i] < rows->cell[lowest])
            lowest = i;
    *cell = rows->cell[lowest];
    if (*cell == UINT64_MAX)
        return DSE_OK;
    for (size_t i = lowest + 1; i < rows->n; i++) {
        if (rows->cell[i] != *cell)
            continue;
        DSE_TRY(compare(rows, &rows->shard[lowest], &rows->shard[i], &same, &second, err));
        DSE_TRY(step(rows, second ? lowest : i, err));
        lowest = second ? i : lowest;
        ++*(same ? n_twin : n_chosen);
    }
    struct merge_shard *shard = &rows->shard[lowest];
    DSE_TRY(read_row(shard, LAYERS, &rows->line[1], err));
    DSE_TRY(read_row(shard, POINT, &rows->line[0], err));
    DSE_TRY(merge_files_add(files, &shard->rows.at, &rows->line[0], &rows->line[1], err));
    return step(rows, lowest, err);
}
