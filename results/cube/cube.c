/* Puts the file together: attributes, inputs, then each row of the journal into all groups, under a
 * temporary name that is renamed when everything is on the disk. */
#include "results/cube/cube.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_output.h"
#include "base/text.h"
#include "results/cube/cube_layers.h"
#include "results/cube/cube_origin.h"
#include "results/cube/cube_rows.h"
#include "results/cube/cube_table.h"
#include "results/journal/sync_folder.h"

static int put_u64(hid_t object, const char *name, uint64_t value)
{
    return hdf5_put_attribute(object, name, H5T_NATIVE_UINT64, &value, 0);
}

static int write_attributes(hid_t file, const struct result_schema *schema,
                            const struct provenance *provenance, uint64_t n_done)
{
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, schema->specification_hash);
    const char *const pair[][2] = {
        {"Conventions", "dse-1.0"}, /* docs/results.md; units are not all of UDUNITS, so CF is not claimed */
        {"title", schema->title ? schema->title : ""},
        {"name", schema->name ? schema->name : ""},
        {"specification", schema->specification ? schema->specification : ""},
        {"specification_hash", hash},
        {"measures", schema->measures ? schema->measures : ""},
        {"dse_version", provenance->dse_version},
        {"git_revision", provenance->git_revision},
        {"compiler", provenance->compiler},
        {"build_variant", provenance->build_variant},
        {"build_flags", provenance->build_flags},
        {"libraries", provenance->libraries},
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
    if (put_u64(file, "n_point_done", n_done) < 0 ||
        put_u64(file, "shard", schema->n_shard ? schema->shard : 1) < 0 ||
        put_u64(file, "n_shard", schema->n_shard ? schema->n_shard : 1) < 0 ||
        put_u64(file, "n_point_shard", schema->n_point_shard ? schema->n_point_shard : schema->n_point) < 0)
        return -1;
    return schema->n_set ? hdf5_put_texts(file, "set", schema->set, schema->n_set) : 0;
}

/* The files that the specification took in, with their content, labelled with their names. */
static int write_inputs(hid_t file, const struct result_schema *schema)
{
    static const char *const name[] = {"input", "role", "path", "content"};
    static const char *const sentence[] = {"Input of the specification, as it names it",
                                           "What the input is: architecture or network",
                                           "Where the input was found", "The input itself"};
    const size_t n = schema->n_input;
    struct cube_group group = {.id = -1, .extra = {-1, -1}};
    if (n == 0)
        return 0;
    const char **text = malloc(n * sizeof *text);
    int result = text ? cube_group_begin(&group, file, "inputs", NULL) : -1;
    for (size_t k = 0; k < sizeof name / sizeof *name && result >= 0; k++) {
        for (size_t i = 0; i < n; i++) {
            const struct result_input *input = &schema->input[i];
            const char *part[] = {input->name, input->role, input->path, input->content};
            text[i] = part[k] ? part[k] : "";
        }
        result = k == 0 ? cube_group_extra(&group, 0, name[k], sentence[k], text, n)
                        : cube_group_texts(&group, name[k], sentence[k], text);
    }
    result |= group.id >= 0 ? cube_group_end(&group) : 0;
    free(text);
    return result;
}

/* The root datasets and the group `levels`. */
struct points {
    struct cube_group root, levels;
    struct cube_table table;
};

static const struct metric status_metric = {.name = "status",
                                            .unit = "",
                                            .sentence =
                                                "How the point ended: ok, infeasible, timeout or failed",
                                            .type = METRIC_TEXT};
static const struct metric key_metric = {.name = "point_key",
                                         .unit = "",
                                         .sentence = "Hash of everything that determines the result",
                                         .type = METRIC_TEXT};

static enum dse_status open_root(struct points *points, const struct result_schema *schema,
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
static enum dse_status open_levels(struct points *points, hid_t file, const struct result_schema *schema,
                                   struct dse_error *err)
{
    size_t n;
    const struct metric *field = schema_level_metrics(schema, &n);
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

/* Close also after a failure. */
static enum dse_status open_points(struct points *points, hid_t file, const struct result_schema *schema,
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

static enum dse_status close_points(struct points *points, bool write, struct dse_error *err)
{
    enum dse_status status = cube_table_close(&points->table, write, err);
    int result = cube_group_end(&points->levels);
    result |= cube_group_end(&points->root);
    if (status == DSE_OK && result < 0)
        status = dse_fail(err, DSE_IO, "the points cannot be written");
    return status;
}

/* The row at hand into all groups. */
static enum dse_status take_row(struct points *points, struct cube_layers *layers, struct cube_rows *rows,
                                struct dse_error *err)
{
    DSE_TRY(cube_table_take(&points->table, &rows->split, rows->at.cell, 0, err));
    return cube_layers_take(layers, rows, err);
}

/* An error about a field of the row at hand gets its place; one of the scan has its own. */
static enum dse_status blame_row(const struct cube_rows *rows, enum dse_status status, struct dse_error *err)
{
    struct dse_error why;
    if (status != DSE_BAD_INPUT || !err || err->file[0])
        return status;
    why = *err;
    return dse_fail_at(err, status, journal_scan_csv_path(rows->scan),
                       rows->at.line <= INT32_MAX ? (int)rows->at.line : 0, "%s", why.text);
}

static enum dse_status write_rows(hid_t file, const struct result_schema *schema, const char *near,
                                  struct cube_rows *rows, struct dse_error *err)
{
    struct points points;
    struct cube_layers layers;
    struct dse_error ignored;
    bool more = true;
    memset(&layers, 0, sizeof layers);
    layers.group = (struct cube_group){.id = -1, .extra = {-1, -1}};
    enum dse_status status = open_points(&points, file, schema, err);
    if (status == DSE_OK)
        status = cube_layers_open(&layers, file, schema, near, err);
    while (status == DSE_OK) {
        status = cube_rows_next(rows, &more, err);
        if (status != DSE_OK || !more)
            break;
        status = take_row(&points, &layers, rows, err);
        status = blame_row(rows, status, err);
    }
    bool write = status == DSE_OK;
    enum dse_status one = close_points(&points, write, write ? err : &ignored);
    write &= one == DSE_OK;
    enum dse_status two = cube_layers_close(&layers, file, write, write ? err : &ignored);
    return status != DSE_OK ? status : one != DSE_OK ? one : two;
}

static enum dse_status write_file(hid_t file, const struct result_schema *schema,
                                  const struct provenance *provenance, const char *near,
                                  struct cube_rows *rows, struct dse_error *err)
{
    if (write_attributes(file, schema, provenance, rows->n) < 0)
        return dse_fail(err, DSE_IO, "the root attributes cannot be written");
    DSE_TRY(write_rows(file, schema, near, rows, err));
    return write_inputs(file, schema) < 0 ? dse_fail(err, DSE_IO, "the inputs cannot be written") : DSE_OK;
}

/* Give an error of the HDF5 side its file and HDF5's own words. */
static void add_reason(struct dse_error *err, const char *h5_path, const struct hdf5_errors *errors)
{
    size_t used = strlen(err->text);
    text_copy(err->file, sizeof err->file, h5_path);
    if (errors->text[0])
        snprintf(err->text + used, sizeof err->text - used, ": %s", errors->text);
}

/* The whole file under its temporary name, on the disk. */
static enum dse_status build(const char *temporary, const struct result_schema *schema,
                             const struct provenance *provenance, uint64_t origin, struct cube_rows *rows,
                             struct dse_error *err)
{
    struct hdf5_output output;
    struct hdf5_errors errors;
    struct dse_error why = {0};
    DSE_TRY(hdf5_output_open(&output, temporary, err));
    output.origin = origin;
    hdf5_errors_catch(&errors);
    enum dse_status status = write_file(output.file, schema, provenance, temporary, rows, err);
    if (status != DSE_OK && err && !err->file[0])
        add_reason(err, temporary, &errors);
    /* A write that failed is the reason for all that came after it. */
    enum dse_status closed = hdf5_output_close(&output, &why);
    hdf5_errors_silence();
    if (closed != DSE_OK && (status == DSE_OK || status == DSE_IO)) {
        if (err)
            *err = why;
        status = closed;
    }
    return status;
}

/* `index`: NULL when the rows must be looked for; `digest` is of those that need not. */
static enum dse_status build_renamed(const char *h5_path, const struct result_schema *schema,
                                     const struct provenance *provenance, struct cube_index *index,
                                     uint64_t digest, struct dse_error *err)
{
    char temporary[4096];
    struct cube_rows rows;
    struct dse_error own;
    err = err ? err : &own; /* blame_row and build look at it */
    int written = snprintf(temporary, sizeof temporary, "%s.tmp", h5_path);
    if (written < 0 || (size_t)written >= sizeof temporary)
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    if (index)
        DSE_TRY(cube_rows_open_sorted(&rows, h5_path, schema, index, err));
    else
        DSE_TRY(cube_rows_open(&rows, h5_path, schema, CUBE_ROWS_ENTRY_MAX, temporary, err));
    err->file[0] = '\0';
    struct journal_scan_place place;
    journal_scan_where(rows.scan, &place);
    uint64_t origin = cube_origin(schema, provenance, index ? digest : place.digest);
    enum dse_status status = build(temporary, schema, provenance, origin, &rows, err);
    cube_rows_close(&rows);
    if (status == DSE_OK && rename(temporary, h5_path) != 0)
        status = dse_fail_at(err, DSE_IO, h5_path, 0, "cannot be written: %s", strerror(errno));
    if (status != DSE_OK)
        unlink(temporary);
    else
        status = sync_folder(h5_path, err);
    return status;
}

enum dse_status cube_build(const char *h5_path, const struct result_schema *schema,
                           const struct provenance *provenance, struct dse_error *err)
{
    return build_renamed(h5_path, schema, provenance, NULL, 0, err);
}

enum dse_status cube_build_sorted(const char *h5_path, const struct result_schema *schema,
                                  const struct provenance *provenance, struct cube_index *index,
                                  uint64_t digest, struct dse_error *err)
{
    return build_renamed(h5_path, schema, provenance, index, digest, err);
}
