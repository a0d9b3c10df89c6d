/* Opens the datasets of the group `layers` and puts every layer line into them; traces go on to
 * cube_trace.c. */
#include "results/cube/cube_layers.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { LAYER = 1, LEVEL = 2 }; /* bits of the group's own dimensions */

static const struct metric status_metric = {.name = "status",
                                            .unit = "",
                                            .sentence =
                                                "How the layer ended: ok, infeasible, timeout or failed",
                                            .type = METRIC_TEXT};

static enum dse_status open_group(struct cube_layers *layers, hid_t file, struct dse_error *err)
{
    const struct result_schema *schema = layers->schema;
    struct cube_group *group = &layers->group;
    if (cube_group_begin(group, file, "layers", schema) < 0 ||
        cube_group_extra(group, 0, "layer", "Layer", schema->layer, schema->n_layer) < 0 ||
        (schema->n_level > 0 &&
         cube_group_extra(group, 1, "level", "Storage level", schema->level, schema->n_level) < 0))
        return dse_fail(err, DSE_IO, "the group of the layers cannot be written");
    return DSE_OK;
}

static enum dse_status open_datasets(struct cube_layers *layers, struct dse_error *err)
{
    struct result_column column[RESULT_COLUMN_MAX];
    size_t n_level_metric, n = schema_columns(layers->schema, RESULT_LAYERS, column);
    const struct metric *level = schema_level_metrics(layers->schema, &n_level_metric);
    struct cube_table *table = &layers->table;
    DSE_TRY(cube_table_add(table, &layers->group, "status", NULL, LAYER, &status_metric, err));
    for (size_t i = 0; i < n; i++) {
        const struct metric *metric = column[i].metric;
        if (strcmp(metric->name, "mapping") == 0)
            layers->mapping = table->n_column;
        /* The trace and its seconds become group `trace`; here every layer has its mapping. */
        if (strncmp(metric->name, "trace", 5) != 0 && strcmp(metric->name, "same_as") != 0)
            DSE_TRY(cube_table_add(table, &layers->group, metric->name, NULL, LAYER, metric, err));
    }
    for (size_t k = 0; k < n_level_metric && layers->schema->n_level > 0; k++) {
        char name[64];
        snprintf(name, sizeof name, "level_%s", level[k].name);
        DSE_TRY(cube_table_add_levels(table, &layers->group, name, LAYER | LEVEL, layers->schema, &level[k],
                                      err));
    }
    return DSE_OK;
}

enum dse_status cube_layers_open(struct cube_layers *layers, hid_t file, const struct result_schema *schema,
                                 const char *near, struct dse_error *err)
{
    struct text_buffer header;
    memset(layers, 0, sizeof *layers);
    layers->schema = schema;
    layers->group = (struct cube_group){.id = -1, .extra = {-1, -1}};
    cube_trace_init(&layers->trace, schema, near);
    if (schema->n_layer == 0)
        return DSE_OK;
    text_init(&header);
    csv_layer_header(&header, schema);
    enum dse_status status = cube_table_init(&layers->table, &header, schema->n_layer, err);
    text_free(&header);
    DSE_TRY(status);
    layers->at_name = cube_table_find(&layers->table, "layer");
    layers->at_trace = cube_table_find(&layers->table, "trace");
    layers->at_seconds = cube_table_find(&layers->table, "trace_seconds");
    layers->at_same = cube_table_find(&layers->table, "same_as");
    DSE_TRY(open_group(layers, file, err));
    return open_datasets(layers, err);
}

/* The number of a layer by its name; n_layer when it has none. */
static size_t find_layer(struct cube_layers *layers, const char *name)
{
    const size_t n = layers->schema->n_layer;
    for (size_t i = 0; i < n; i++) {
        size_t at = (layers->next + i) % n;
        if (strcmp(layers->schema->layer[at], name) == 0) {
            layers->next = at + 1;
            return at;
        }
    }
    return n;
}

/* The mapping that a layer shares with one before it. */
static enum dse_status take_shared(struct cube_layers *layers, size_t layer, const char *name,
                                   struct dse_error *err)
{
    size_t first = 0, n = layers->schema->n_layer;
    const char **text = cube_column_cell(&layers->table.column[layers->mapping], layers->cell);
    if (!text)
        return dse_fail(err, DSE_IO, "the mappings cannot be written");
    while (first < n && strcmp(layers->schema->layer[first], name) != 0)
        first++;
    if (first == n || first == layer || !text[first] || !text[first][0])
        return dse_fail(err, DSE_BAD_INPUT, "same_as is '%s', which is no layer before it with a mapping",
                        name);
    text[layer] = text[first];
    return DSE_OK;
}

static enum dse_status take_layer(void *user, const struct csv_row *line, struct dse_error *err)
{
    struct cube_layers *layers = user;
    if (line->n != layers->table.header.n)
        return dse_fail(err, DSE_BAD_INPUT, "%zu fields, %zu were expected", line->n, layers->table.header.n);
    const char *name = line->field[layers->at_name];
    size_t layer = find_layer(layers, name);
    if (layer == layers->schema->n_layer)
        return dse_fail(err, DSE_BAD_INPUT, "layer %s is in no network of the specification", name);
    DSE_TRY(cube_table_take(&layers->table, line, layers->cell, layer, err));
    if (line->field[layers->at_same][0])
        DSE_TRY(take_shared(layers, layer, line->field[layers->at_same], err));
    return cube_trace_take(&layers->trace, layers->cell, layer, line->field[layers->at_trace],
                           line->field[layers->at_seconds], err);
}

enum dse_status cube_layers_take(struct cube_layers *layers, struct cube_rows *rows, struct dse_error *err)
{
    if (layers->schema->n_layer == 0 || rows->at.layer_length == 0)
        return DSE_OK;
    layers->cell = rows->at.cell;
    layers->next = 0;
    DSE_TRY(cube_table_clear_texts(&layers->table, layers->cell, err));
    return cube_rows_layers(rows, take_layer, layers, err);
}

enum dse_status cube_layers_close(struct cube_layers *layers, hid_t file, bool write, struct dse_error *err)
{
    enum dse_status status = cube_table_close(&layers->table, write, err);
    if (cube_group_end(&layers->group) < 0 && status == DSE_OK)
        status = dse_fail(err, DSE_IO, "the layers cannot be written");
    if (status == DSE_OK && write)
        status = cube_trace_write(&layers->trace, file, err);
    cube_trace_free(&layers->trace);
    return status;
}
