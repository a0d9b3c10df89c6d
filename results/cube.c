#include "results/cube.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "results/cube_hdf5.h"
#include "results/cube_layers.h"
#include "results/cube_rows.h"
#include "results/hdf5_file.h"

static const struct result_field status_field = {
    "status", "", "How the point ended: ok, infeasible, timeout or failed", FIELD_TEXT, false, 0, 0};
static const struct result_field key_field = {
    "point_key", "", "Hash of everything that determines the result", FIELD_TEXT, false, 0, 0};

/* The datasets of the root group, open while points are written. */
struct point_datasets {
    hid_t text_type;
    hid_t status, key;
    const struct result_field *field;
    size_t n_field;
    hid_t *dataset; /* (n_field); -1: not in this file */
    hid_t level[8]; /* (level fields) in group `levels` */
    size_t n_level_field;
};

static int create_points(struct point_datasets *set, const struct cube_group *root,
                         const struct result_schema *schema)
{
    set->status = cube_dataset(root, "status", 0, &status_field);
    int result = set->status < 0 ? -1 : 0;
    for (size_t i = 0; i < set->n_field; i++) {
        set->dataset[i] = -1;
        if (!schema_has_field(schema, &set->field[i]))
            continue;
        set->dataset[i] = cube_dataset(root, set->field[i].name, 0, &set->field[i]);
        if (set->dataset[i] < 0)
            result = -1;
    }
    set->key = cube_dataset(root, "point_key", 0, &key_field);
    return set->key < 0 ? -1 : result;
}

/* After the root's datasets, so that the root's links are axes, status, metrics, groups in this order. */
static int create_levels(struct point_datasets *set, struct cube_group *levels, hid_t file,
                         const struct result_schema *schema)
{
    const struct result_field *field = level_field_all(&set->n_level_field);
    int result = cube_group_begin(levels, file, "levels", schema);
    result |= cube_group_extra(levels, 0, "level", "Storage level", schema->level, schema->n_level);
    for (size_t k = 0; k < set->n_level_field && result >= 0; k++) {
        set->level[k] = cube_dataset(levels, field[k].name, 1, &field[k]);
        result = set->level[k] < 0 ? -1 : 0;
    }
    return result;
}

static int close_points(const struct point_datasets *set)
{
    int result = 0;
    for (size_t i = 0; i < set->n_field; i++)
        result |= set->dataset[i] >= 0 && H5Dclose(set->dataset[i]) < 0;
    for (size_t k = 0; k < set->n_level_field; k++)
        result |= set->level[k] >= 0 && H5Dclose(set->level[k]) < 0;
    result |= set->status >= 0 && H5Dclose(set->status) < 0;
    result |= set->key >= 0 && H5Dclose(set->key) < 0;
    result |= set->text_type >= 0 && H5Tclose(set->text_type) < 0;
    return result ? -1 : 0;
}

/* One point into the root group and the group `levels`. */
static int write_point(const struct point_datasets *set, const struct cube_group *root,
                       const struct cube_group *levels, const struct result_schema *schema,
                       const struct point_record *point)
{
    char key[17];
    const char *text = result_status_text(point->outcome);
    int result = cube_write_cell(root, set->status, 0, set->text_type, point->index, &text);
    for (size_t i = 0; i < set->n_field && result >= 0; i++) {
        if (!schema_has_field(schema, &set->field[i]))
            continue;
        hid_t type = set->field[i].type == FIELD_F64   ? H5T_NATIVE_DOUBLE
                     : set->field[i].type == FIELD_U64 ? H5T_NATIVE_UINT64
                                                       : set->text_type;
        const void *place = (const char *)point + set->field[i].offset;
        result = cube_write_cell(root, set->dataset[i], 0, type, point->index, place);
    }
    snprintf(key, sizeof key, "%016" PRIx64, point->key);
    text = key;
    if (result >= 0)
        result = cube_write_cell(root, set->key, 0, set->text_type, point->index, &text);
    for (size_t k = 0; levels && k < set->n_level_field && result >= 0; k++) {
        double value[RESULT_LEVEL_MAX];
        size_t n_level_field;
        const struct result_field *field = level_field_all(&n_level_field);
        for (size_t l = 0; l < schema->n_level; l++)
            value[l] = *(const double *)((const char *)&point->level[l] + field[k].offset);
        result = cube_write_cell(levels, set->level[k], 1, H5T_NATIVE_DOUBLE, point->index, value);
    }
    return result;
}

static enum dse_status write_points(hid_t file, const struct result_schema *schema, struct cube_rows *rows,
                                    struct dse_error *err)
{
    struct point_datasets set = {
        .text_type = hdf5_text_type(), .status = -1, .key = -1, .level = {-1, -1, -1, -1, -1, -1, -1, -1}};
    struct cube_group root, levels = {.id = -1};
    enum dse_status status = DSE_OK;
    set.field = point_field_all(&set.n_field);
    set.dataset = malloc(set.n_field * sizeof *set.dataset);
    if (!set.dataset) {
        H5Tclose(set.text_type);
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the cube");
    }
    const struct cube_group *with_levels = schema->n_level > 0 ? &levels : NULL;
    int result = cube_group_begin(&root, file, NULL, schema);
    result |= create_points(&set, &root, schema);
    if (with_levels)
        result |= create_levels(&set, &levels, file, schema);
    for (size_t i = 0; i < rows->n && result >= 0 && status == DSE_OK; i++) {
        struct point_record point;
        status = cube_rows_point(rows, i, &point, err);
        if (status == DSE_OK)
            result = write_point(&set, &root, with_levels, schema, &point);
    }
    result |= close_points(&set);
    if (with_levels)
        result |= cube_group_end(&levels);
    result |= cube_group_end(&root);
    free(set.dataset);
    if (status == DSE_OK && result < 0)
        status = dse_fail(err, DSE_IO, "the points cannot be written");
    return status;
}

static int put_u64(hid_t object, const char *name, uint64_t value)
{
    return hdf5_put_attribute(object, name, H5T_NATIVE_UINT64, &value, 0);
}

static int write_attributes(hid_t file, const struct result_schema *schema,
                            const struct provenance *provenance, uint64_t n_done)
{
    char hash[17], measures[64] = "";
    for (size_t i = 0; result_measure_text(i); i++) {
        const char *word = result_measure_text(i);
        size_t used = strlen(measures);
        if (schema->measures & result_measure_find(word, strlen(word)))
            snprintf(measures + used, sizeof measures - used, "%s%s", used ? " " : "", word);
    }
    snprintf(hash, sizeof hash, "%016" PRIx64, schema->specification_hash);
    const char *const pair[][2] = {
        {"Conventions", "dse-1.0"}, /* docs/results.md; units are not all of UDUNITS, so CF is not claimed */
        {"title", schema->title ? schema->title : ""},
        {"name", schema->name ? schema->name : ""},
        {"specification", schema->specification ? schema->specification : ""},
        {"specification_hash", hash},
        {"measures", measures},
        {"dse_version", provenance->dse_version},
        {"git_revision", provenance->git_revision},
        {"compiler", provenance->compiler},
        {"hdf5_version", provenance->hdf5_version},
        {"host", provenance->host},
        {"start_time", provenance->start_time},
        {"end_time", provenance->end_time},
        {"command", provenance->command},
    };
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        if (hdf5_put_text(file, pair[i][0], pair[i][1]) < 0)
            return -1;
    }
    if (put_u64(file, "n_thread", provenance->n_thread) < 0 || put_u64(file, "n_point", schema->n_point) < 0)
        return -1;
    return put_u64(file, "n_point_done", n_done);
}

static enum dse_status write_file(const char *path, const struct result_schema *schema,
                                  const struct provenance *provenance, struct cube_rows *rows,
                                  struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    hid_t file = hdf5_create(path);
    if (file < 0)
        return dse_fail_at(err, DSE_IO, path, 0, "cannot be created%s%s", errno ? ": " : "",
                           errno ? strerror(errno) : "");
    if (write_attributes(file, schema, provenance, rows->n) < 0)
        status = dse_fail(err, DSE_IO, "the root attributes cannot be written");
    if (status == DSE_OK)
        status = write_points(file, schema, rows, err);
    if (status == DSE_OK && schema->n_layer > 0)
        status = cube_write_layers(file, schema, rows, err);
    if (status == DSE_OK && H5Fflush(file, H5F_SCOPE_GLOBAL) < 0)
        status = dse_fail(err, DSE_IO, "the file cannot be written");
    if (H5Fclose(file) < 0 && status == DSE_OK)
        status = dse_fail(err, DSE_IO, "the file cannot be written");
    return status;
}

/* Give an error of the HDF5 side its file and HDF5's own words. */
static void add_reason(struct dse_error *err, const char *h5_path, const struct hdf5_errors *errors)
{
    size_t used = strlen(err->text);
    text_copy(err->file, sizeof err->file, h5_path);
    if (errors->text[0])
        snprintf(err->text + used, sizeof err->text - used, ": %s", errors->text);
}

enum dse_status cube_build(const char *h5_path, const struct result_schema *schema,
                           const struct provenance *provenance, struct dse_error *err)
{
    char temporary[4096];
    struct cube_rows rows;
    struct hdf5_errors errors = {""};
    int written = snprintf(temporary, sizeof temporary, "%s.tmp", h5_path);
    if (written < 0 || (size_t)written >= sizeof temporary)
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    DSE_TRY(cube_rows_open(&rows, h5_path, schema, err));
    errno = 0;
    hdf5_errors_catch(&errors);
    enum dse_status status = write_file(temporary, schema, provenance, &rows, err);
    hdf5_errors_silence();
    cube_rows_close(&rows);
    if (status == DSE_OK && rename(temporary, h5_path) != 0)
        status = dse_fail_at(err, DSE_IO, h5_path, 0, "cannot be written: %s", strerror(errno));
    if (status != DSE_OK) {
        unlink(temporary);
        if (err && !err->file[0])
            add_reason(err, h5_path, &errors);
    }
    return status;
}
