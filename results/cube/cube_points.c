/* Opens status, metrics and level columns, and puts the line of a point into them. */
#include "results/cube/cube_points.h"

#include <string.h>

static const struct metric status_metric = {.name = "status",
                                            .unit = "",
                                            .sentence =
                                                "How the point ended: ok, infeasible, timeout or failed",
                                            .type = METRIC_TEXT};
static const struct metric key_metric = {.name = "point_key",
                                         .unit = "",
                                         .sentence = "Hash of everything that determines the result",
                                         .type = METRIC_TEXT};

static enum dse_status open_root(struct cube_points *points, const struct result_schema *schema,
                                 struct dse_error *err)
{
    struct result_column column[RESULT_COLUMN_MAX];
    size_t n = schema_columns(schema, RESULT_POINTS, column);
    struct cube_table *table = &points->table;
    DSE_TRY(cube_table_add(table, &points->root, "status", NULL, 0, &status_metric, err));
    for (size_t i = 0; i < n; i++) {
        const struct metric *metric = column[i].metric;
        DSE_TRY(cube_table_add(table, &points->root, metric->name, NULL, 0, metric, err));
    }
    return cube_table_add(table, &points->root, "point_key", NULL, 0, &key_metric, err);
}

/* After the root's datasets, so that the root's links are axes, status, metrics, groups in this order. */
static enum dse_status open_levels(struct cube_points *points, hid_t file, const struct result_schema *schema,
                                   struct dse_error *err)
{
    size_t n;
    const struct metric *field = level_metric_all(&n);
    if (schema->n_level == 0)
        return DSE_OK;
    if (cube_group_begin(&points->levels, file, "levels", schema) < 0 ||
        cube_group_extra(&points->levels, 0, "level", "Storage level", schema->level, schema->n_level) < 0)
        return dse_fail(err, DSE_IO, "the group of the storage levels cannot be written");
    for (size_t k = 0; k < n; k++)
        DSE_TRY(
            cube_table_add_levels(&points->table, &points->levels, field[k].name, 1, schema, &field[k], err));
    return DSE_OK;
}

enum dse_status cube_points_open(struct cube_points *points, hid_t file, const struct result_schema *schema,
                                 struct dse_error *err)
{
    struct text_buffer header;
    memset(points, 0, sizeof *points);
    points->root = points->levels = (struct cube_group){.id = -1, .extra = {-1, -1}};
    text_init(&header);
    csv_point_header(&header, schema);
    enum dse_status status = cube_table_init(&points->table, &header, 1, err);
    text_free(&header);
    DSE_TRY(status);
    if (cube_group_begin(&points->root, file, NULL, schema) < 0)
        return dse_fail(err, DSE_IO, "the axes cannot be written");
    DSE_TRY(open_root(points, schema, err));
    return open_levels(points, file, schema, err);
}

enum dse_status cube_points_take(struct cube_points *points, const struct cube_rows *rows,
                                 struct dse_error *err)
{
    return cube_table_take(&points->table, &rows->split, rows->at.cell, 0, err);
}

enum dse_status cube_points_close(struct cube_points *points, bool write, struct dse_error *err)
{
    enum dse_status status = cube_table_close(&points->table, write, err);
    int result = cube_group_end(&points->levels);
    result |= cube_group_end(&points->root);
    if (status == DSE_OK && result < 0)
        status = dse_fail(err, DSE_IO, "the points cannot be written");
    return status;
}
