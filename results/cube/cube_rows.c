/* A first pass over the journal sorts places by cell; then rows are read in that order, and layers at
 * their places. */
#include "results/cube/cube_rows.h"

#include <inttypes.h>
#include <string.h>

/* Lines beyond what an error can hold count as not known. */
static int line_number(uint64_t line)
{
    return line <= INT32_MAX ? (int)line : 0;
}

/* The order of all rows; the layers are checked on the way. */
static enum dse_status index_rows(struct cube_rows *rows, struct dse_error *err)
{
    struct journal_row row;
    bool more = true;
    for (;;) {
        DSE_TRY(journal_scan_next(rows->scan, &row, &more, err));
        if (!more)
            return cube_index_finish(&rows->index, err);
        if (row.cell == JOURNAL_NO_CELL || (rows->searched && row.exchanged))
            continue;
        const struct cube_entry entry = {row.cell,       row.line,         row.offset,       row.length,
                                         row.layer_line, row.layer_offset, row.layer_length, row.exchanged};
        DSE_TRY(cube_index_add(&rows->index, &entry, err));
    }
}

static enum dse_status open_rows(struct cube_rows *rows, const char *out, const struct result_schema *schema,
                                 bool sorted, struct dse_error *err)
{
    rows->schema = schema;
    csv_row_init(&rows->split);
    csv_row_init(&rows->layer);
    enum dse_status status = schema_check(schema, err);
    if (status == DSE_OK)
        status = journal_scan_open(out, schema, &rows->scan, err);
    if (status == DSE_OK && !sorted)
        status = index_rows(rows, err);
    rows->n = rows->index.n_all - rows->index.n_exchanged;
    if (status != DSE_OK)
        cube_rows_close(rows);
    return status;
}

enum dse_status cube_rows_open(struct cube_rows *rows, const char *out, const struct result_schema *schema,
                               size_t n_entry, const char *near, struct dse_error *err)
{
    memset(rows, 0, sizeof *rows);
    cube_index_init(&rows->index, n_entry, near);
    return open_rows(rows, out, schema, false, err);
}

enum dse_status cube_rows_open_searched(struct cube_rows *rows, const char *out,
                                        const struct result_schema *schema, size_t n_entry, const char *near,
                                        struct dse_error *err)
{
    memset(rows, 0, sizeof *rows);
    rows->searched = true;
    cube_index_init(&rows->index, n_entry, near);
    return open_rows(rows, out, schema, false, err);
}

enum dse_status cube_rows_open_sorted(struct cube_rows *rows, const char *out,
                                      const struct result_schema *schema, struct cube_index *index,
                                      struct dse_error *err)
{
    memset(rows, 0, sizeof *rows);
    rows->index = *index;
    *index = (struct cube_index){0};
    return open_rows(rows, out, schema, true, err);
}

void cube_rows_close(struct cube_rows *rows)
{
    journal_scan_close(rows->scan);
    rows->scan = NULL;
    cube_index_free(&rows->index);
    csv_row_free(&rows->split);
    csv_row_free(&rows->layer);
}

/* The position on each axis. */
static void spread_cell(struct cube_rows *rows)
{
    uint64_t left = rows->at.cell;
    for (size_t a = rows->schema->n_axis; a-- > 0;) {
        rows->cell[a] = (uint32_t)(left % rows->schema->axis[a].n_value);
        left /= rows->schema->axis[a].n_value;
    }
}

/* Read one entry ahead. */
static enum dse_status look_ahead(struct cube_rows *rows, struct dse_error *err)
{
    const struct cube_entry *entry;
    DSE_TRY(cube_index_next(&rows->index, &entry, err));
    rows->is_ahead = entry != NULL;
    if (entry)
        rows->ahead = *entry;
    return DSE_OK;
}

enum dse_status cube_rows_step(struct cube_rows *rows, bool *more, struct dse_error *err)
{
    if (!rows->begun)
        DSE_TRY(look_ahead(rows, err));
    rows->begun = true;
    *more = rows->is_ahead;
    if (!*more)
        return DSE_OK;
    rows->at = rows->ahead;
    DSE_TRY(look_ahead(rows, err));
    while (rows->is_ahead && rows->ahead.cell == rows->at.cell) {
        if (!rows->ahead.exchanged || rows->at.exchanged)
            return dse_fail_at(err, DSE_BAD_INPUT, journal_scan_csv_path(rows->scan),
                               line_number(rows->ahead.line),
                               "the same cell of the sweep as line %" PRIu64
                               ": results of two specifications; use --fresh to start anew or choose another "
                               "output with -o",
                               rows->at.line);
        rows->at = rows->ahead;
        DSE_TRY(look_ahead(rows, err));
    }
    spread_cell(rows);
    return DSE_OK;
}

enum dse_status cube_rows_next(struct cube_rows *rows, bool *more, struct dse_error *err)
{
    DSE_TRY(cube_rows_step(rows, more, err));
    return *more ? journal_scan_point_at(rows->scan, rows->at.offset, rows->at.length, rows->at.line,
                                         &rows->split, err)
                 : DSE_OK;
}

enum dse_status cube_rows_layers(struct cube_rows *rows, journal_layer_visit *visit, void *user,
                                 struct dse_error *err)
{
    if (rows->at.layer_length == 0)
        return DSE_OK;
    return journal_scan_layers_at(rows->scan, rows->at.layer_offset, rows->at.layer_length,
                                  rows->at.layer_line, &rows->layer, visit, user, err);
}
