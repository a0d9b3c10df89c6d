/* Opens all datasets once and reads the block of one cell from each into records. */
#include "results/cube/stored_rows.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hdf5/hdf5_file.h"
#include "base/text.h"

enum { LEVEL_METRIC_MOST = 8, RANK_MOST = RESULT_AXIS_MAX + 2, BLOCK_MOST = 1 << 28 };

/* Open datasets; -1: not in the file. */
struct stored_rows {
    const char *path; /* borrowed */
    const struct result_schema *schema;
    hid_t file, text_type;
    hid_t status, key, layer_status;
    struct result_column column[RESULT_TABLE_COUNT][RESULT_COLUMN_MAX];
    size_t n_column[RESULT_TABLE_COUNT];
    hid_t value[RESULT_TABLE_COUNT][RESULT_COLUMN_MAX];             /* by column */
    hid_t level[LEVEL_METRIC_MOST], layer_level[LEVEL_METRIC_MOST]; /* by level metric */
    hid_t evaluation, cost, seconds;                                /* of the traces */
};

static hid_t open_dataset(hid_t file, const char *group, const char *before, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s%s%s%s", group, group[0] ? "/" : "", before, name);
    if (group[0] && H5Lexists(file, group, H5P_DEFAULT) <= 0)
        return -1;
    return H5Lexists(file, path, H5P_DEFAULT) > 0 ? H5Dopen2(file, path, H5P_DEFAULT) : -1;
}

static void open_columns(struct stored_rows *rows, enum result_table table, const char *group)
{
    rows->n_column[table] = schema_columns(rows->schema, table, rows->column[table]);
    for (size_t i = 0; i < RESULT_COLUMN_MAX; i++)
        rows->value[table][i] = i < rows->n_column[table]
                                    ? open_dataset(rows->file, group, "", rows->column[table][i].metric->name)
                                    : -1;
}

static void open_levels(struct stored_rows *rows, hid_t *dataset, const char *group, const char *before)
{
    size_t n;
    const struct metric *metric = schema_level_metrics(rows->schema, &n);
    for (size_t i = 0; i < LEVEL_METRIC_MOST; i++)
        dataset[i] = i < n ? open_dataset(rows->file, group, before, metric[i].name) : -1;
}

static void open_all(struct stored_rows *rows)
{
    rows->text_type = hdf5_text_type();
    rows->status = open_dataset(rows->file, "", "", "status");
    rows->key = open_dataset(rows->file, "", "", "point_key");
    rows->layer_status = open_dataset(rows->file, "layers", "", "status");
    open_columns(rows, RESULT_POINTS, "");
    open_columns(rows, RESULT_LAYERS, "layers");
    open_levels(rows, rows->level, "levels", "");
    open_levels(rows, rows->layer_level, "layers", "level_");
    rows->evaluation = open_dataset(rows->file, "trace", "", "evaluation");
    rows->cost = open_dataset(rows->file, "trace", "", "cost");
    rows->seconds = open_dataset(rows->file, "trace", "", "seconds");
}

enum dse_status stored_rows_open(const char *h5_path, const struct result_schema *schema,
                                 struct stored_rows **out, struct dse_error *err)
{
    struct stored_rows *rows = calloc(1, sizeof *rows);
    *out = NULL;
    if (!rows)
        return dse_fail_at(err, DSE_NO_MEMORY, h5_path, 0, "out of memory for reading");
    rows->path = h5_path;
    rows->schema = schema;
    enum dse_status status = hdf5_open(h5_path, &rows->file, err);
    if (status != DSE_OK) {
        free(rows);
        return status;
    }
    open_all(rows);
    *out = rows;
    if (rows->status >= 0 && rows->text_type >= 0 && (schema->n_layer == 0 || rows->layer_status >= 0))
        return DSE_OK;
    stored_rows_close(rows);
    *out = NULL;
    return dse_fail_at(err, DSE_BAD_INPUT, h5_path, 0, "there is no dataset status, or none in layers");
}

static void close_all(hid_t *dataset, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (dataset[i] >= 0)
            H5Dclose(dataset[i]);
}

void stored_rows_close(struct stored_rows *rows)
{
    if (!rows)
        return;
    close_all(rows->value[RESULT_POINTS], RESULT_COLUMN_MAX);
    close_all(rows->value[RESULT_LAYERS], RESULT_COLUMN_MAX);
    close_all(rows->level, LEVEL_METRIC_MOST);
    close_all(rows->layer_level, LEVEL_METRIC_MOST);
    hid_t other[] = {rows->status,     rows->key,  rows->layer_status,
                     rows->evaluation, rows->cost, rows->seconds};
    close_all(other, sizeof other / sizeof *other);
    hdf5_close(rows->text_type);
    H5Fclose(rows->file);
    free(rows);
}

const struct result_column *stored_rows_column(const struct stored_rows *rows, enum result_table table,
                                               const char *name)
{
    for (size_t i = 0; i < rows->n_column[table]; i++)
        if (rows->value[table][i] >= 0 && strcmp(rows->column[table][i].metric->name, name) == 0)
            return &rows->column[table][i];
    return NULL;
}

/* The block of one cell in a dataset. */
struct block {
    hid_t space, memory; /* what to read, and where to */
    size_t n;            /* values */
    size_t last;         /* length of the last dimension */
};

static void block_close(const struct block *block)
{
    hdf5_close(block->memory);
    hdf5_close(block->space);
}

/* Select the cell; `extra` dimensions stand behind the axes. Returns 0 when the shape is another one. */
static int block_open(const struct stored_rows *rows, hid_t dataset, const uint32_t *index, int extra,
                      struct block *block)
{
    hsize_t start[RANK_MOST] = {0}, count[RANK_MOST] = {0};
    const int n_axis = (int)rows->schema->n_axis;
    *block = (struct block){H5Dget_space(dataset), -1, 1, 1};
    int rank = block->space >= 0 ? H5Sget_simple_extent_ndims(block->space) : -1;
    if (rank != n_axis + extra || rank > RANK_MOST)
        return 0;
    if (rank == 0) {
        block->memory = H5Screate(H5S_SCALAR);
        return block->memory >= 0;
    }
    if (H5Sget_simple_extent_dims(block->space, count, NULL) < 0)
        return 0;
    for (int i = 0; i < rank; i++) {
        if (i < n_axis) {
            if (index[i] >= count[i])
                return 0;
            start[i] = index[i];
            count[i] = 1;
        }
        if (count[i] > BLOCK_MOST / block->n)
            return 0;
        block->n *= count[i];
    }
    block->last = count[rank - 1];
    block->memory = H5Screate_simple(rank, count, NULL);
    return block->memory >= 0 && (block->n == 0 || H5Sselect_hyperslab(block->space, H5S_SELECT_SET, start,
                                                                       NULL, count, NULL) >= 0);
}

static int has_class(hid_t dataset, enum metric_type type)
{
    hid_t stored = H5Dget_type(dataset);
    H5T_class_t class = stored >= 0 ? H5Tget_class(stored) : H5T_NO_CLASS;
    int good = type == METRIC_TEXT  ? class == H5T_STRING && H5Tis_variable_str(stored) > 0
               : type == METRIC_F64 ? class == H5T_FLOAT
                                    : class == H5T_INTEGER;
    hdf5_close(stored);
    return good;
}

static enum dse_status read_texts(const struct stored_rows *rows, hid_t dataset, const struct block *block,
                                  struct arena *arena, const char **text, struct dse_error *err)
{
    char **raw = arena_alloc(arena, block->n + 1, sizeof *raw);
    DSE_TRY(arena_check(arena, "a point", err));
    if (H5Dread(dataset, rows->text_type, block->memory, block->space, H5P_DEFAULT, raw) < 0)
        return dse_fail_at(err, DSE_BAD_INPUT, rows->path, 0, "a text dataset cannot be read (damaged?)");
    return hdf5_keep_texts(rows->text_type, block->memory, raw, block->n, arena, text, err);
}

/* All values of one cell: `*value` is an array of double, uint64_t or const char *. `wanted` is how many
 * there must be (0: any). */
static enum dse_status read_block(const struct stored_rows *rows, hid_t dataset, const char *name,
                                  enum metric_type type, const uint32_t *index, int extra, size_t wanted,
                                  struct arena *arena, void **value, struct block *block,
                                  struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    hid_t memory_type = type == METRIC_F64 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_UINT64;
    *value = NULL;
    if (!block_open(rows, dataset, index, extra, block) || (wanted && block->n != wanted) ||
        !has_class(dataset, type))
        status =
            dse_fail_at(err, DSE_BAD_INPUT, rows->path, 0,
                        "dataset %s does not have the type, or the shape of the axes, that it should", name);
    if (status == DSE_OK) {
        *value = arena_alloc(arena, block->n + 1, sizeof(uint64_t));
        status = arena_check(arena, "a point", err);
    }
    if (status == DSE_OK && type == METRIC_TEXT)
        status = read_texts(rows, dataset, block, arena, *value, err);
    else if (status == DSE_OK && block->n > 0 &&
             H5Dread(dataset, memory_type, block->memory, block->space, H5P_DEFAULT, *value) < 0)
        status = dse_fail_at(err, DSE_BAD_INPUT, rows->path, 0, "dataset %s cannot be read (damaged?)", name);
    block_close(block);
    return status;
}

/* Value number `i` of a block into the member of a record. */
static void put_value(void *record, const struct result_column *column, const void *value, size_t i)
{
    void *place = (char *)record + column->offset;
    if (column->metric->type == METRIC_F64)
        *(double *)place = ((const double *)value)[i];
    else if (column->metric->type == METRIC_U64)
        *(uint64_t *)place = ((const uint64_t *)value)[i];
    else
        *(const char **)place = ((const char *const *)value)[i];
}

/* n_row rows of level values; none (NULL) when the file has no levels. */
static enum dse_status read_levels(const struct stored_rows *rows, const hid_t *dataset, const char *group,
                                   const uint32_t *index, size_t n_row, int extra, struct arena *arena,
                                   struct level_values **level, struct dse_error *err)
{
    size_t n_metric, n = n_row * rows->schema->n_level;
    const struct metric *metric = schema_level_metrics(rows->schema, &n_metric);
    *level = NULL;
    if (n == 0)
        return DSE_OK;
    *level = arena_alloc(arena, n, sizeof **level);
    DSE_TRY(arena_check(arena, "a point", err));
    for (size_t f = 0; f < n_metric; f++) {
        struct block block;
        void *value = NULL;
        if (dataset[f] >= 0)
            DSE_TRY(
                read_block(rows, dataset[f], group, METRIC_F64, index, extra, n, arena, &value, &block, err));
        for (size_t i = 0; i < n; i++)
            *(double *)((char *)&(*level)[i] + metric[f].offset) = value ? ((const double *)value)[i] : NAN;
    }
    return DSE_OK;
}

/* Traces as the table has them: "evaluation:cost evaluation:cost ...". */
static enum dse_status read_traces(const struct stored_rows *rows, const uint32_t *index, struct arena *arena,
                                   struct layer_record *layer, struct dse_error *err)
{
    void *evaluation, *cost, *seconds = NULL;
    struct block block, same;
    char number[40];
    if (rows->evaluation < 0 || rows->cost < 0)
        return DSE_OK;
    DSE_TRY(read_block(rows, rows->evaluation, "trace/evaluation", METRIC_U64, index, 2, 0, arena,
                       &evaluation, &block, err));
    DSE_TRY(
        read_block(rows, rows->cost, "trace/cost", METRIC_F64, index, 2, block.n, arena, &cost, &same, err));
    if (rows->seconds >= 0) /* earlier versions had none */
        DSE_TRY(read_block(rows, rows->seconds, "trace/seconds", METRIC_F64, index, 2, block.n, arena,
                           &seconds, &same, err));
    if (block.n != block.last * rows->schema->n_layer)
        return dse_fail_at(err, DSE_BAD_INPUT, rows->path, 0, "the traces are not of as many layers");
    for (size_t l = 0; l < rows->schema->n_layer; l++) {
        struct text_buffer line, times;
        text_init(&line);
        text_init(&times);
        for (size_t i = l * block.last; i < (l + 1) * block.last; i++) {
            uint64_t at = ((const uint64_t *)evaluation)[i];
            double value = ((const double *)cost)[i];
            if (at == METRIC_U64_MISSING && isnan(value))
                continue;
            text_append(&line, "%s%llu:%s", line.length ? " " : "", (unsigned long long)at,
                        text_double(value, number, sizeof number));
            if (seconds && !isnan(((const double *)seconds)[i]))
                text_append(&times, "%s%s", times.length ? " " : "",
                            text_double(((const double *)seconds)[i], number, sizeof number));
        }
        layer[l].trace = text_keep(&line, arena);
        layer[l].trace_seconds = text_keep(&times, arena);
    }
    return arena_check(arena, "a point", err);
}

static enum dse_status read_layers(const struct stored_rows *rows, const uint32_t *index, struct arena *arena,
                                   struct stored_point *out, struct dse_error *err)
{
    const size_t n = rows->schema->n_layer;
    const struct result_column *column = rows->column[RESULT_LAYERS];
    struct level_values *level;
    struct block block;
    void *value;
    out->layer = arena_alloc(arena, n + 1, sizeof *out->layer);
    DSE_TRY(arena_check(arena, "a point", err));
    if (n == 0)
        return DSE_OK;
    DSE_TRY(read_block(rows, rows->layer_status, "layers/status", METRIC_TEXT, index, 1, n, arena, &value,
                       &block, err));
    out->layer_status = value;
    for (size_t l = 0; l < n; l++) {
        layer_record_init(&out->layer[l]);
        out->layer[l].layer = rows->schema->layer[l];
        (void)result_status_find(out->layer_status[l], &out->layer[l].outcome);
    }
    for (size_t f = 0; f < rows->n_column[RESULT_LAYERS]; f++) {
        hid_t dataset = rows->value[RESULT_LAYERS][f];
        if (dataset < 0)
            continue;
        DSE_TRY(read_block(rows, dataset, column[f].metric->name, column[f].metric->type, index, 1, n, arena,
                           &value, &block, err));
        for (size_t l = 0; l < n; l++)
            put_value(&out->layer[l], &column[f], value, l);
    }
    DSE_TRY(read_levels(rows, rows->layer_level, "layers/level_*", index, n, 2, arena, &level, err));
    for (size_t l = 0; l < n; l++)
        out->layer[l].level = level ? level + l * rows->schema->n_level : NULL;
    return read_traces(rows, index, arena, out->layer, err);
}

enum dse_status stored_rows_read(struct stored_rows *rows, const uint32_t *index, struct arena *arena,
                                 struct stored_point *out, struct dse_error *err)
{
    const struct result_column *column = rows->column[RESULT_POINTS];
    struct level_values *level;
    struct block block;
    void *value;
    memset(out, 0, sizeof *out);
    point_record_init(&out->point);
    out->point.index = index;
    DSE_TRY(read_block(rows, rows->status, "status", METRIC_TEXT, index, 0, 1, arena, &value, &block, err));
    out->status = ((const char *const *)value)[0];
    out->there = out->status[0] != '\0';
    (void)result_status_find(out->status, &out->point.outcome);
    if (!out->there)
        return DSE_OK;
    for (size_t f = 0; f < rows->n_column[RESULT_POINTS]; f++) {
        hid_t dataset = rows->value[RESULT_POINTS][f];
        if (dataset < 0)
            continue;
        DSE_TRY(read_block(rows, dataset, column[f].metric->name, column[f].metric->type, index, 0, 1, arena,
                           &value, &block, err));
        put_value(&out->point, &column[f], value, 0);
    }
    if (rows->key >= 0) {
        DSE_TRY(
            read_block(rows, rows->key, "point_key", METRIC_TEXT, index, 0, 1, arena, &value, &block, err));
        out->point.key = strtoull(((const char *const *)value)[0], NULL, 16);
    }
    DSE_TRY(read_levels(rows, rows->level, "levels", index, 1, 1, arena, &level, err));
    out->point.level = level;
    return read_layers(rows, index, arena, out, err);
}
