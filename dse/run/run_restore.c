/* Cells in row-major order, read back as `dse rerun` reads them and put into lines as a run does. */
#include "dse/run/run_restore.h"

#include <string.h>

#include "results/cube/cube_read.h"
#include "results/record/csv_line.h"

/* Whether journals of both schemas have the same columns. */
static bool same_columns(const struct result_schema *one, const struct result_schema *two)
{
    struct text_buffer a, b;
    text_init(&a);
    text_init(&b);
    csv_point_header(&a, one);
    csv_layer_header(&a, one);
    csv_point_header(&b, two);
    csv_layer_header(&b, two);
    bool same = !a.failed && !b.failed && a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
    text_free(&a);
    text_free(&b);
    return same;
}

enum dse_status run_restore_open(struct run_restore *restore, const char *h5_path,
                                 const struct result_schema *schema, struct dse_error *err)
{
    *restore = (struct run_restore){.cell = UINT64_MAX};
    arena_init(&restore->file);
    arena_init(&restore->row);
    enum dse_status status = cube_read_schema(h5_path, &restore->file, &restore->schema, err);
    if (status == DSE_NO_MEMORY)
        return status;
    if (status != DSE_OK || restore->schema.specification_hash != schema->specification_hash ||
        schema_n_cell(&restore->schema) != schema_n_cell(schema) || !same_columns(&restore->schema, schema))
        return DSE_OK;
    restore->n_cell = schema_n_cell(schema);
    status = stored_rows_open(h5_path, &restore->schema, &restore->rows, err);
    return status == DSE_NO_MEMORY ? status : DSE_OK;
}

void run_restore_free(struct run_restore *restore)
{
    stored_rows_close(restore->rows);
    restore->rows = NULL;
    arena_free(&restore->row);
    arena_free(&restore->file);
}

enum dse_status run_restore_next(struct run_restore *restore, const struct cell_set *seen, bool *more,
                                 struct dse_error *err)
{
    *more = restore->rows != NULL;
    while (*more) {
        restore->cell = restore->cell == UINT64_MAX ? 0 : restore->cell + 1;
        if (restore->cell >= restore->n_cell) {
            *more = false;
            break;
        }
        if (cell_set_has(seen, restore->cell))
            continue;
        uint64_t left = restore->cell;
        for (size_t a = restore->schema.n_axis; a-- > 0;) {
            restore->index[a] = (uint32_t)(left % restore->schema.axis[a].n_value);
            left /= restore->schema.axis[a].n_value;
        }
        arena_reset(&restore->row);
        DSE_TRY(stored_rows_read(restore->rows, restore->index, &restore->row, &restore->point, err));
        if (restore->point.there)
            return DSE_OK;
    }
    return DSE_OK;
}

enum dse_status run_restore_lines(struct run_restore *restore, struct journal_lines *lines,
                                  struct dse_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < restore->schema.n_layer; i++)
        if (restore->point.layer_status[i][0]) /* else the point has no such layer */
            restore->point.layer[n++] = restore->point.layer[i];
    return journal_format(&restore->schema, &restore->point.point, restore->point.layer, n, lines, err);
}
