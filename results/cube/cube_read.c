/* Walks the root's links in the order of their making: what stands before `status` are the axes. Then
 * whole datasets, or what lies under one cell. */
#include "results/cube/cube_read.h"

#include <errno.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_guard.h"
#include "base/hdf5/hdf5_read.h"
#include "results/cube/cube_hdf5.h"

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory while reading a cube");
}

/* What the walk over the root's links collects. */
struct schema_reader {
    hid_t file;
    struct arena *arena;
    struct result_axis axis[RESULT_AXIS_MAX];
    struct result_coordinate *coordinate[RESULT_AXIS_MAX]; /* (RESULT_AXIS_MAX) each */
    size_t n_axis;
};

static enum dse_status read_coordinate(const struct schema_reader *reader, hid_t dataset, const char *name,
                                       struct result_coordinate *c, size_t *n, struct dse_error *err)
{
    const char **text, **label;
    double *number;
    size_t n_label;
    memset(c, 0, sizeof *c);
    DSE_TRY(hdf5_read_dataset(dataset, reader->arena, &text, &number, n, err));
    DSE_TRY(hdf5_read_word(dataset, "units", reader->arena, &c->unit, err));
    DSE_TRY(hdf5_read_word(dataset, "long_name", reader->arena, &c->long_name, err));
    DSE_TRY(hdf5_read_attribute(dataset, "labels", reader->arena, &label, &n_label, err));
    c->name = arena_copy_text(reader->arena, name, strlen(name));
    c->text = text;
    c->number = number;
    c->label = n_label == *n ? label : NULL;
    return c->name ? DSE_OK : no_memory(err);
}

/* A dataset that stands before `status`: a scale begins an axis, anything else is linked to the last one. */
static enum dse_status take_dataset(struct schema_reader *reader, hid_t dataset, const char *name,
                                    struct dse_error *err)
{
    size_t n;
    if (H5DSis_scale(dataset) > 0) {
        if (reader->n_axis == RESULT_AXIS_MAX)
            return dse_fail(err, DSE_LIMIT, "more than %d axes", RESULT_AXIS_MAX);
        struct result_coordinate *c = arena_alloc(reader->arena, RESULT_AXIS_MAX, sizeof *c);
        if (!c)
            return no_memory(err);
        reader->coordinate[reader->n_axis] = c;
        struct result_axis *axis = &reader->axis[reader->n_axis++];
        axis->coordinate = c;
        axis->n_coordinate = 1;
        return read_coordinate(reader, dataset, name, c, &axis->n_value, err);
    }
    struct result_axis *axis = reader->n_axis ? &reader->axis[reader->n_axis - 1] : NULL;
    if (!axis || axis->n_coordinate == RESULT_AXIS_MAX)
        return dse_fail(err, DSE_BAD_INPUT, "dataset %s belongs to no axis", name);
    DSE_TRY(read_coordinate(reader, dataset, name,
                            reader->coordinate[reader->n_axis - 1] + axis->n_coordinate, &n, err));
    if (n != axis->n_value)
        return dse_fail(err, DSE_BAD_INPUT, "dataset %s has %zu values, its axis %zu", name, n,
                        axis->n_value);
    axis->n_coordinate++;
    return DSE_OK;
}

/* The root's links in the order of their making, up to `status`. */
static enum dse_status read_axes(struct schema_reader *reader, struct dse_error *err)
{
    for (hsize_t i = 0;; i++) {
        char name[256];
        ssize_t length = H5Lget_name_by_idx(reader->file, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, name,
                                            sizeof name, H5P_DEFAULT);
        if (length < 0 || (size_t)length >= sizeof name)
            return dse_fail(err, DSE_BAD_INPUT, "not a result file of dse (there is no dataset `status`)");
        if (strcmp(name, "status") == 0)
            return DSE_OK;
        hid_t dataset = H5Dopen2(reader->file, name, H5P_DEFAULT);
        if (dataset < 0)
            return dse_fail(err, DSE_BAD_INPUT, "not a result file of dse (%s is no dataset)", name);
        enum dse_status status = take_dataset(reader, dataset, name, err);
        H5Dclose(dataset);
        DSE_TRY(status);
    }
}

/* A list of names such as levels/level; none when the group is not there. */
static enum dse_status read_names(hid_t file, const char *group, const char *name, struct arena *arena,
                                  const char *const **text, size_t *n, struct dse_error *err)
{
    char path[64];
    const char **read;
    double *number;
    *text = NULL;
    *n = 0;
    if (H5Lexists(file, group, H5P_DEFAULT) <= 0)
        return DSE_OK;
    snprintf(path, sizeof path, "%s/%s", group, name);
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    if (dataset < 0)
        return dse_fail(err, DSE_BAD_INPUT, "dataset %s is missing", path);
    enum dse_status status = hdf5_read_dataset(dataset, arena, &read, &number, n, err);
    H5Dclose(dataset);
    if (status == DSE_OK && !read)
        return dse_fail(err, DSE_BAD_INPUT, "dataset %s is not text", path);
    *text = read;
    return status;
}

/* The numbers of a dataset over as many axes: METRIC_F64 or METRIC_U64; else METRIC_TEXT. */
static enum metric_type type_of(hid_t dataset, size_t rank)
{
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == (int)rank;
    hdf5_close(space);
    hdf5_close(type);
    if (!fits || (class != H5T_INTEGER && class != H5T_FLOAT))
        return METRIC_TEXT;
    return class == H5T_INTEGER ? METRIC_U64 : METRIC_F64;
}

/* A metric that not every result has, as its dataset describes it; `*out` stays NULL when it is no such thing
 * but something that a user has put into the file. */
static enum dse_status read_metric(hid_t dataset, const char *name, size_t rank, struct arena *arena,
                                   const struct metric **out, struct dse_error *err)
{
    struct metric metric = {.type = type_of(dataset, rank)};
    const char *better;
    *out = NULL;
    DSE_TRY(hdf5_read_word(dataset, "units", arena, &metric.unit, err));
    DSE_TRY(hdf5_read_word(dataset, "long_name", arena, &metric.sentence, err));
    DSE_TRY(hdf5_read_word(dataset, "better", arena, &better, err));
    if (metric.type == METRIC_TEXT || !metric.sentence[0])
        return DSE_OK;
    if (better[0])
        metric.better = strcmp(better, "less") == 0 ? METRIC_LESS : METRIC_MORE;
    struct metric *kept = arena_alloc(arena, 1, sizeof *kept);
    metric.name = arena_copy_text(arena, name, strlen(name));
    if (!kept || !metric.name)
        return no_memory(err);
    *kept = metric;
    *out = kept;
    return DSE_OK;
}

/* Whether files have a dataset of this name in the table whatever the engine and the measures, or use it for
 * themselves. */
static bool is_usual(enum result_table table, const char *name)
{
    const struct result_schema all = {.fronts = true, .leaks = true};
    struct result_column column[RESULT_COLUMN_MAX];
    for (size_t i = 0, n = schema_columns(&all, table, column); i < n; i++)
        if (strcmp(column[i].metric->name, name) == 0)
            return true;
    return strcmp(name, "status") == 0 || strcmp(name, "point_key") == 0 || strncmp(name, "level_", 6) == 0;
}

/* Datasets of a group behind `status`, in the order of their making, that not every result has; they are over
 * `rank` axes. */
static enum dse_status read_extra(hid_t file, const char *group, enum result_table table, size_t rank,
                                  struct arena *arena, struct result_schema *schema, struct dse_error *err)
{
    const struct metric *metric, **extra = arena_alloc(arena, RESULT_EXTRA_MAX, sizeof *extra);
    bool behind = false;
    if (!extra)
        return no_memory(err);
    schema->extra[table] = extra;
    if (strcmp(group, ".") != 0 && H5Lexists(file, group, H5P_DEFAULT) <= 0)
        return DSE_OK;
    for (hsize_t i = 0;; i++) {
        char name[256], path[300];
        H5O_info_t info;
        ssize_t length = H5Lget_name_by_idx(file, group, H5_INDEX_CRT_ORDER, H5_ITER_INC, i, name,
                                            sizeof name, H5P_DEFAULT);
        if (length < 0 || (size_t)length >= sizeof name)
            return DSE_OK;
        behind = behind || strcmp(name, "status") == 0;
        snprintf(path, sizeof path, "%s/%s", group, name);
        if (!behind || is_usual(table, name) || H5Oget_info_by_name(file, path, &info, H5P_DEFAULT) < 0 ||
            info.type != H5O_TYPE_DATASET)
            continue;
        hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
        if (dataset < 0)
            return dse_fail(err, DSE_BAD_INPUT, "dataset %s cannot be read (damaged?)", path);
        enum dse_status status = read_metric(dataset, name, rank, arena, &metric, err);
        H5Dclose(dataset);
        DSE_TRY(status);
        if (metric && schema->n_extra[table] == RESULT_EXTRA_MAX)
            return dse_fail(err, DSE_LIMIT, "more than %d metrics beside the usual ones", RESULT_EXTRA_MAX);
        if (metric)
            extra[schema->n_extra[table]++] = metric;
    }
}

static enum dse_status read_schema(hid_t file, struct arena *arena, struct result_schema *schema,
                                   struct dse_error *err)
{
    struct schema_reader reader = {.file = file, .arena = arena};
    const char *hash;
    memset(schema, 0, sizeof *schema);
    DSE_TRY(read_axes(&reader, err));
    DSE_TRY(hdf5_read_word(file, "name", arena, &schema->name, err));
    DSE_TRY(hdf5_read_word(file, "title", arena, &schema->title, err));
    DSE_TRY(hdf5_read_word(file, "specification", arena, &schema->specification, err));
    DSE_TRY(hdf5_read_word(file, "specification_hash", arena, &hash, err));
    schema->specification_hash = strtoull(hash, NULL, 16);
    DSE_TRY(hdf5_read_word(file, "measures", arena, &schema->measures, err));
    DSE_TRY(read_extra(file, ".", RESULT_POINTS, reader.n_axis, arena, schema, err));
    DSE_TRY(read_extra(file, "layers", RESULT_LAYERS, reader.n_axis + 1, arena, schema, err));
    schema->n_point = hdf5_read_count(file, "n_point");
    schema->fronts = H5Lexists(file, "front", H5P_DEFAULT) > 0;
    schema->schedules = H5Lexists(file, "exchanged_from", H5P_DEFAULT) > 0;
    schema->leaks = H5Lexists(file, "energy_leakage_j", H5P_DEFAULT) > 0;
    schema->areas =
        H5Lexists(file, "levels", H5P_DEFAULT) > 0 && H5Lexists(file, "levels/area_mm2", H5P_DEFAULT) > 0;
    DSE_TRY(read_names(file, "layers", "layer", arena, &schema->layer, &schema->n_layer, err));
    DSE_TRY(read_names(file, "levels", "level", arena, &schema->level, &schema->n_level, err));
    struct result_axis *axis = arena_alloc(arena, reader.n_axis + 1, sizeof *axis);
    if (!axis)
        return no_memory(err);
    memcpy(axis, reader.axis, reader.n_axis * sizeof *axis);
    schema->axis = axis;
    schema->n_axis = reader.n_axis;
    return schema_check(schema, err);
}

/* Put the file's name to an error. */
static enum dse_status blame(const char *path, enum dse_status status, const struct dse_error *why,
                             struct dse_error *err)
{
    return status == DSE_OK ? DSE_OK : dse_fail_at(err, status, path, 0, "%s", why->text);
}

/* What helps against all damage. */
static const char again[] = "`dse run SPEC -o ...` builds a result file again from OUT.csv";

enum dse_status cube_read_schema(const char *path, struct arena *arena, struct result_schema *schema,
                                 struct dse_error *err)
{
    hid_t file;
    struct dse_error why = {0};
    DSE_TRY(hdf5_open_checked(path, again, &file, err));
    enum dse_status status = read_schema(file, arena, schema, &why);
    H5Fclose(file);
    return blame(path, status, &why, err);
}

/* A whole dataset by path. */
static enum dse_status read_by_path(const char *path, const char *name, struct arena *arena,
                                    const char ***text, double **number, size_t *n, struct dse_error *err)
{
    hid_t file;
    struct dse_error why = {0};
    DSE_TRY(hdf5_open(path, &file, err));
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    enum dse_status status;
    if (dataset < 0) {
        status = dse_fail(&why, DSE_BAD_INPUT, "there is no dataset %s", name);
    } else {
        status = hdf5_read_dataset(dataset, arena, text, number, n, &why);
        H5Dclose(dataset);
    }
    H5Fclose(file);
    return blame(path, status, &why, err);
}

enum dse_status cube_read_number(const char *path, const char *dataset, struct arena *arena, double **value,
                                 size_t *n, struct dse_error *err)
{
    const char **text = NULL;
    DSE_TRY(read_by_path(path, dataset, arena, &text, value, n, err));
    return *value ? DSE_OK : dse_fail_at(err, DSE_BAD_INPUT, path, 0, "dataset %s is not numeric", dataset);
}

/* Read what lies under the leading positions `index`. */
static enum dse_status read_cell(hid_t dataset, const uint32_t *index, size_t n_axis, struct arena *arena,
                                 double **value, size_t *n, struct dse_error *err)
{
    hsize_t start[CUBE_RANK_MAX] = {0}, count[CUBE_RANK_MAX] = {0};
    enum dse_status status = DSE_OK;
    hid_t space = H5Dget_space(dataset), memory = -1;
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    *n = 1;
    if (rank < (int)n_axis || rank > CUBE_RANK_MAX || rank < 1 ||
        H5Sget_simple_extent_dims(space, count, NULL) < 0)
        status = dse_fail(err, DSE_BAD_INPUT, "a dataset does not have the shape of the axes");
    for (size_t i = 0; status == DSE_OK && i < (size_t)rank; i++) {
        if (i < n_axis) {
            start[i] = index[i];
            count[i] = 1;
        }
        if (__builtin_mul_overflow(*n, (size_t)count[i], n) || !hdf5_can_hold(dataset, *n))
            status =
                dse_fail(err, DSE_BAD_INPUT, "a dataset is longer than what the file holds of it (damaged?)");
    }
    if (status == DSE_OK) {
        memory = H5Screate_simple(rank, count, NULL);
        if (memory < 0 || H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0)
            status = dse_fail(err, DSE_BAD_INPUT, "a dataset does not have the shape of the axes");
        else
            status = hdf5_read_numbers(dataset, memory, space, *n, arena, value, err);
    }
    hdf5_close(memory);
    hdf5_close(space);
    return status;
}

enum dse_status cube_read_cell(const char *path, const char *dataset, const uint32_t *index, size_t n_axis,
                               struct arena *arena, double **value, size_t *n, struct dse_error *err)
{
    hid_t file;
    struct dse_error why = {0};
    if (n_axis == 0)
        return cube_read_number(path, dataset, arena, value, n, err);
    DSE_TRY(hdf5_open(path, &file, err));
    hid_t id = H5Dopen2(file, dataset, H5P_DEFAULT);
    enum dse_status status;
    if (id < 0) {
        status = dse_fail(&why, DSE_BAD_INPUT, "there is no dataset %s", dataset);
    } else {
        status = read_cell(id, index, n_axis, arena, value, n, &why);
        H5Dclose(id);
    }
    H5Fclose(file);
    return blame(path, status, &why, err);
}

enum dse_status cube_read_text(const char *path, const char *dataset, struct arena *arena,
                               const char *const **value, size_t *n, struct dse_error *err)
{
    const char **text = NULL;
    double *number = NULL;
    DSE_TRY(read_by_path(path, dataset, arena, &text, &number, n, err));
    *value = text;
    return text ? DSE_OK : dse_fail_at(err, DSE_BAD_INPUT, path, 0, "dataset %s is not text", dataset);
}

uint64_t cube_read_count(const char *path)
{
    hid_t file;
    if (hdf5_open(path, &file, NULL) != DSE_OK)
        return 0;
    uint64_t n = hdf5_read_count(file, "n_point_done");
    H5Fclose(file);
    return n;
}

const char *cube_read_attribute(const char *path, const char *name, struct arena *arena)
{
    hid_t file;
    const char **text = NULL;
    size_t n = 0;
    if (hdf5_open(path, &file, NULL) != DSE_OK)
        return NULL;
    enum dse_status status = hdf5_read_attribute(file, name, arena, &text, &n, NULL);
    H5Fclose(file);
    return status == DSE_OK && text && n == 1 ? text[0] : NULL;
}
