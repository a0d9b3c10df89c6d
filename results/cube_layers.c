#include "results/cube_layers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "results/cube_hdf5.h"
#include "results/hdf5_file.h"

enum { LAYER = 1, SECOND = 2 }; /* bits of a group's own dimensions: layer, then level or iteration */

static const struct result_field status_field = {
    "status", "", "How the layer ended: ok, infeasible, timeout or failed", FIELD_TEXT, false, 0, 0};
static const struct result_field cost_field = {
    "cost", "", "Best cost so far, in the SI unit of the objective", FIELD_F64, false, 0, 0};
static const struct result_field evaluation_field = {
    "evaluation", "1", "Evaluations when the best was found", FIELD_U64, false, 0, 0};

/* What is needed while layers are written. Arrays hold one cell. */
struct layer_writer {
    const struct result_schema *schema;
    struct cube_group layers, trace;
    hid_t text_type;
    const struct result_field *field, *level_field;
    size_t n_field, n_level_field;
    hid_t status, dataset[64], level[8], cost, evaluation;
    size_t n_iteration; /* 0: no traces */
    union {             /* (n_layer x max(1, n_level, n_iteration)) */
        double *f64;
        uint64_t *u64;
        const char **text;
        void *any;
    } cell;
    uint64_t *trace_evaluation; /* (n_layer x n_iteration) */
};

/* A trace is not a dataset of its own here: it becomes group `trace`. */
static bool is_dataset(const struct layer_writer *writer, const struct result_field *field)
{
    return strcmp(field->name, "trace") != 0 && schema_has_field(writer->schema, field);
}

static size_t layer_position(const struct result_schema *schema, const char *name)
{
    size_t i = 0;
    while (i < schema->n_layer && strcmp(schema->layer[i], name) != 0)
        i++;
    return i;
}

static size_t trace_length(const char *trace)
{
    size_t n = 0;
    for (; *trace; trace++)
        n += *trace == ':';
    return n;
}

/* The longest trace of all rows; also checks that every layer is one of the schema's. */
static enum dse_status longest_trace(struct layer_writer *writer, struct cube_rows *rows, struct arena *arena,
                                     struct dse_error *err)
{
    for (size_t i = 0; i < rows->n; i++) {
        struct layer_record *layer;
        size_t n;
        arena_reset(arena);
        DSE_TRY(cube_rows_layers(rows, i, arena, &layer, &n, err));
        for (size_t k = 0; k < n; k++) {
            size_t length = trace_length(layer[k].trace);
            if (length > writer->n_iteration)
                writer->n_iteration = length;
            if (layer_position(writer->schema, layer[k].layer) == writer->schema->n_layer)
                return dse_fail_at(err, DSE_BAD_INPUT, rows->layer_path, 0,
                                   "layer %s is in no network of the specification", layer[k].layer);
        }
    }
    return DSE_OK;
}

static int create_layers(struct layer_writer *writer, hid_t file)
{
    const struct result_schema *schema = writer->schema;
    struct cube_group *group = &writer->layers;
    int result = cube_group_begin(group, file, "layers", schema);
    if (result < 0 || cube_group_extra(group, 0, "layer", "Layer", schema->layer, schema->n_layer) < 0)
        return -1;
    if (schema->n_level > 0 &&
        cube_group_extra(group, 1, "level", "Storage level", schema->level, schema->n_level) < 0)
        return -1;
    writer->status = cube_dataset(group, "status", LAYER, &status_field);
    result = writer->status < 0 ? -1 : 0;
    for (size_t i = 0; i < writer->n_field && result >= 0; i++) {
        if (!is_dataset(writer, &writer->field[i]))
            continue;
        writer->dataset[i] = cube_dataset(group, writer->field[i].name, LAYER, &writer->field[i]);
        result = writer->dataset[i] < 0 ? -1 : 0;
    }
    for (size_t k = 0; k < writer->n_level_field && schema->n_level > 0 && result >= 0; k++) {
        char name[64];
        snprintf(name, sizeof name, "level_%s", writer->level_field[k].name);
        writer->level[k] = cube_dataset(group, name, LAYER | SECOND, &writer->level_field[k]);
        result = writer->level[k] < 0 ? -1 : 0;
    }
    return result;
}

static int create_trace(struct layer_writer *writer, hid_t file)
{
    struct cube_group *group = &writer->trace;
    if (writer->n_iteration == 0)
        return 0;
    if (cube_group_begin(group, file, "trace", writer->schema) < 0 ||
        cube_group_extra(group, 0, "layer", "Layer", writer->schema->layer, writer->schema->n_layer) < 0 ||
        cube_group_extra(group, 1, "iteration", "Improvement of the best, counted", NULL,
                         writer->n_iteration) < 0)
        return -1;
    writer->evaluation = cube_dataset(group, "evaluation", LAYER | SECOND, &evaluation_field);
    writer->cost = cube_dataset(group, "cost", LAYER | SECOND, &cost_field);
    return writer->evaluation < 0 || writer->cost < 0 ? -1 : 0;
}

static int close_writer(struct layer_writer *writer)
{
    int result = 0;
    for (size_t i = 0; i < writer->n_field; i++)
        result |= writer->dataset[i] >= 0 && H5Dclose(writer->dataset[i]) < 0;
    for (size_t k = 0; k < writer->n_level_field; k++)
        result |= writer->level[k] >= 0 && H5Dclose(writer->level[k]) < 0;
    const hid_t other[] = {writer->status, writer->cost, writer->evaluation};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        result |= other[i] >= 0 && H5Dclose(other[i]) < 0;
    result |= cube_group_end(&writer->layers) < 0;
    result |= cube_group_end(&writer->trace) < 0;
    result |= writer->text_type >= 0 && H5Tclose(writer->text_type) < 0;
    free(writer->cell.any);
    free(writer->trace_evaluation);
    return result ? -1 : 0;
}

/* One field of all layers of a cell. */
static int write_field(struct layer_writer *writer, size_t i, const uint32_t *index,
                       const struct layer_record *layer, size_t n)
{
    const struct result_field *field = &writer->field[i];
    const size_t n_layer = writer->schema->n_layer;
    for (size_t l = 0; l < n_layer; l++) {
        if (field->type == FIELD_F64)
            writer->cell.f64[l] = NAN;
        else if (field->type == FIELD_U64)
            writer->cell.u64[l] = RESULT_U64_MISSING;
        else
            writer->cell.text[l] = "";
    }
    for (size_t k = 0; k < n; k++) {
        size_t l = layer_position(writer->schema, layer[k].layer);
        const void *place = (const char *)&layer[k] + field->offset;
        if (field->type == FIELD_F64)
            writer->cell.f64[l] = *(const double *)place;
        else if (field->type == FIELD_U64)
            writer->cell.u64[l] = *(const uint64_t *)place;
        else
            writer->cell.text[l] = *(const char *const *)place;
    }
    hid_t type = field->type == FIELD_F64   ? H5T_NATIVE_DOUBLE
                 : field->type == FIELD_U64 ? H5T_NATIVE_UINT64
                                            : writer->text_type;
    return cube_write_cell(&writer->layers, writer->dataset[i], LAYER, type, index, writer->cell.any);
}

static int write_status(struct layer_writer *writer, const uint32_t *index, const struct layer_record *layer,
                        size_t n)
{
    for (size_t l = 0; l < writer->schema->n_layer; l++)
        writer->cell.text[l] = "";
    for (size_t k = 0; k < n; k++)
        writer->cell.text[layer_position(writer->schema, layer[k].layer)] =
            result_status_text(layer[k].outcome);
    return cube_write_cell(&writer->layers, writer->status, LAYER, writer->text_type, index,
                           writer->cell.any);
}

static int write_levels(struct layer_writer *writer, size_t f, const uint32_t *index,
                        const struct layer_record *layer, size_t n)
{
    const size_t n_level = writer->schema->n_level;
    for (size_t i = 0; i < writer->schema->n_layer * n_level; i++)
        writer->cell.f64[i] = NAN;
    for (size_t k = 0; k < n; k++) {
        double *to = writer->cell.f64 + layer_position(writer->schema, layer[k].layer) * n_level;
        for (size_t l = 0; l < n_level; l++)
            to[l] = *(const double *)((const char *)&layer[k].level[l] + writer->level_field[f].offset);
    }
    return cube_write_cell(&writer->layers, writer->level[f], LAYER | SECOND, H5T_NATIVE_DOUBLE, index,
                           writer->cell.any);
}

/* "evaluation:cost evaluation:cost ..." into one row of each array; returns 0 when it reads otherwise. */
static int parse_trace(const char *trace, double *cost, uint64_t *evaluation)
{
    for (size_t i = 0; *trace; i++) {
        char *end;
        evaluation[i] = strtoull(trace, &end, 10);
        if (end == trace || *end != ':')
            return 0;
        trace = end + 1;
        cost[i] = strtod(trace, &end);
        if (end == trace || (*end != ' ' && *end != '\0'))
            return 0;
        trace = *end ? end + 1 : end;
    }
    return 1;
}

static int write_trace(struct layer_writer *writer, const uint32_t *index, const struct layer_record *layer,
                       size_t n)
{
    const size_t n_iteration = writer->n_iteration;
    for (size_t i = 0; i < writer->schema->n_layer * n_iteration; i++) {
        writer->cell.f64[i] = NAN;
        writer->trace_evaluation[i] = RESULT_U64_MISSING;
    }
    for (size_t k = 0; k < n; k++) {
        size_t at = layer_position(writer->schema, layer[k].layer) * n_iteration;
        if (!parse_trace(layer[k].trace, writer->cell.f64 + at, writer->trace_evaluation + at))
            return -1;
    }
    if (cube_write_cell(&writer->trace, writer->cost, LAYER | SECOND, H5T_NATIVE_DOUBLE, index,
                        writer->cell.any) < 0)
        return -1;
    return cube_write_cell(&writer->trace, writer->evaluation, LAYER | SECOND, H5T_NATIVE_UINT64, index,
                           writer->trace_evaluation);
}

static int write_cell(struct layer_writer *writer, const uint32_t *index, const struct layer_record *layer,
                      size_t n)
{
    int result = write_status(writer, index, layer, n);
    for (size_t i = 0; i < writer->n_field && result >= 0; i++) {
        if (is_dataset(writer, &writer->field[i]))
            result = write_field(writer, i, index, layer, n);
    }
    for (size_t f = 0; f < writer->n_level_field && writer->schema->n_level > 0 && result >= 0; f++)
        result = write_levels(writer, f, index, layer, n);
    if (writer->n_iteration > 0 && result >= 0)
        result = write_trace(writer, index, layer, n);
    return result;
}

static enum dse_status write_all(struct layer_writer *writer, hid_t file, struct cube_rows *rows,
                                 struct arena *arena, struct dse_error *err)
{
    DSE_TRY(longest_trace(writer, rows, arena, err));
    size_t width =
        writer->schema->n_level > writer->n_iteration ? writer->schema->n_level : writer->n_iteration;
    writer->cell.any = calloc(writer->schema->n_layer * (width + 1), sizeof(double));
    writer->trace_evaluation = calloc(writer->schema->n_layer * (writer->n_iteration + 1), sizeof(uint64_t));
    if (!writer->cell.any || !writer->trace_evaluation)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the layers of a point");
    if (create_layers(writer, file) < 0 || create_trace(writer, file) < 0)
        return dse_fail(err, DSE_IO, "the layers cannot be written");
    for (size_t i = 0; i < rows->n; i++) {
        struct point_record point;
        struct layer_record *layer;
        size_t n;
        arena_reset(arena);
        DSE_TRY(cube_rows_point(rows, i, &point, err));
        DSE_TRY(cube_rows_layers(rows, i, arena, &layer, &n, err));
        if (n > 0 && write_cell(writer, point.index, layer, n) < 0)
            return dse_fail(err, DSE_IO, "the layers cannot be written");
    }
    return DSE_OK;
}

enum dse_status cube_write_layers(hid_t file, const struct result_schema *schema, struct cube_rows *rows,
                                  struct dse_error *err)
{
    struct layer_writer writer = {.schema = schema, .status = -1, .cost = -1, .evaluation = -1};
    struct arena arena;
    writer.field = layer_field_all(&writer.n_field);
    writer.level_field = level_field_all(&writer.n_level_field);
    writer.layers = writer.trace = (struct cube_group){.id = -1, .extra = {-1, -1}};
    for (size_t i = 0; i < sizeof writer.dataset / sizeof *writer.dataset; i++)
        writer.dataset[i] = -1;
    for (size_t i = 0; i < sizeof writer.level / sizeof *writer.level; i++)
        writer.level[i] = -1;
    writer.text_type = hdf5_text_type();
    arena_init(&arena);
    enum dse_status status = write_all(&writer, file, rows, &arena, err);
    arena_free(&arena);
    if (close_writer(&writer) < 0 && status == DSE_OK)
        status = dse_fail(err, DSE_IO, "the layers cannot be written");
    return status;
}
