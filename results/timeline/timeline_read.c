/* Reads a timeline back from HDF5, column by column; damaged files are refused before memory is asked for. */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_guard.h"
#include "base/hdf5/hdf5_read.h"
#include "results/timeline/timeline.h"

static enum dse_status read_attribute(hid_t file, const struct timeline_column *column, struct arena *arena,
                                      struct timeline *timeline, struct dse_error *err)
{
    void *value = (char *)timeline + column->offset;
    const char **text;
    size_t n;
    if (H5Aexists(file, column->name) <= 0)
        return dse_fail(err, DSE_BAD_INPUT, "there is no attribute %s", column->name);
    if (column->type == TIMELINE_TEXT) {
        DSE_TRY(hdf5_read_attribute(file, column->name, arena, &text, &n, err));
        if (!text || n != 1)
            return dse_fail(err, DSE_BAD_INPUT, "the attribute %s cannot be read", column->name);
        memcpy(value, text, sizeof *text);
        return DSE_OK;
    }
    bool whole = column->type == TIMELINE_WHOLE;
    return hdf5_read_number(file, column->name, whole ? H5T_INTEGER : H5T_FLOAT,
                            whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, value)
               ? DSE_OK
               : dse_fail(err, DSE_BAD_INPUT, "the attribute %s is no %s", column->name,
                          whole ? "whole number" : "real number");
}

/* Deflate makes at most 1032 bytes of one (zlib's technical details), so a longer dataset is damaged: nobody
 * should wait for the memory that it asks for. */
static bool can_hold(hid_t dataset, hsize_t n)
{
    return n / 1032 <= H5Dget_storage_size(dataset) / sizeof(int64_t);
}

/* The length of a 1-D dataset, open in *dataset. */
static enum dse_status open_vector(hid_t group, const char *name, hid_t *dataset, hsize_t *n,
                                   struct dse_error *err)
{
    *dataset = H5Lexists(group, name, H5P_DEFAULT) > 0 ? H5Dopen2(group, name, H5P_DEFAULT) : -1;
    if (*dataset < 0)
        return dse_fail(err, DSE_BAD_INPUT, "there is no dataset %s", name);
    hid_t space = H5Dget_space(*dataset);
    bool fine = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                H5Sget_simple_extent_dims(space, n, NULL) == 1;
    hdf5_close(space);
    bool held = fine && can_hold(*dataset, *n);
    if (held)
        return DSE_OK;
    H5Dclose(*dataset);
    *dataset = -1;
    return dse_fail(err, DSE_BAD_INPUT,
                    fine ? "the dataset %s is longer than what the file holds of it (damaged?)"
                         : "the dataset %s is not one-dimensional",
                    name);
}

/* n values of a column into `store`. */
static enum dse_status read_values(hid_t dataset, const struct timeline_column *column, size_t n, void *store,
                                   struct arena *arena, struct dse_error *err)
{
    hid_t stored = H5Dget_type(dataset);
    bool text = stored >= 0 && H5Tis_variable_str(stored) > 0;
    bool whole = stored >= 0 && H5Tget_class(stored) == H5T_INTEGER;
    hdf5_close(stored);
    if (column->type == TIMELINE_TEXT ? !text : !whole)
        return dse_fail(err, DSE_BAD_INPUT, "the dataset %s is not %s", column->name,
                        column->type == TIMELINE_TEXT ? "text" : "of whole numbers");
    bool good = !text && H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, store) >= 0;
    if (text) {
        const char **read;
        hid_t space = H5Dget_space(dataset);
        good = space >= 0 && hdf5_read_texts(dataset, space, n, arena, &read, NULL) == DSE_OK;
        if (good)
            memcpy(store, read, n * sizeof *read);
        hdf5_close(space);
    }
    return good ? DSE_OK
                : dse_fail(err, DSE_BAD_INPUT, "the dataset %s cannot be read (damaged?)", column->name);
}

static enum dse_status read_column(hid_t group, const struct timeline_table *table,
                                   const struct timeline_column *column, char *row, size_t n,
                                   struct arena *arena, struct dse_error *err)
{
    hid_t dataset;
    hsize_t length = 0;
    size_t size = column->type == TIMELINE_TEXT ? sizeof(char *) : sizeof(int64_t);
    DSE_TRY(open_vector(group, column->name, &dataset, &length, err));
    enum dse_status status;
    char *store = calloc(n + 1, size);
    if (length != n)
        status = dse_fail(err, DSE_BAD_INPUT, "the dataset %s has %llu values instead of %zu", column->name,
                          (unsigned long long)length, n);
    else if (!store)
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for a timeline");
    else
        status = n > 0 ? read_values(dataset, column, n, store, arena, err) : DSE_OK;
    for (size_t i = 0; status == DSE_OK && i < n; i++)
        memcpy(row + i * table->row_size + column->offset, store + i * size, size);
    free(store);
    H5Dclose(dataset);
    return status;
}

/* Of `buffer` the rows are those of `compute`. */
static enum dse_status read_table(hid_t file, const struct timeline_table *table, struct arena *arena,
                                  struct timeline *timeline, struct dse_error *err)
{
    char *base = (char *)timeline;
    hid_t dataset;
    hsize_t length = 0;
    hid_t group =
        H5Lexists(file, table->name, H5P_DEFAULT) > 0 ? H5Gopen2(file, table->name, H5P_DEFAULT) : -1;
    if (group < 0)
        return dse_fail(err, DSE_BAD_INPUT, "there is no group %s", table->name);
    enum dse_status status = open_vector(group, table->column[0].name, &dataset, &length, err);
    if (status == DSE_OK)
        H5Dclose(dataset);
    size_t n = (size_t)length, known;
    memcpy(&known, base + table->count_offset, sizeof known);
    char *row = status == DSE_OK ? arena_alloc(arena, n + 1, table->row_size) : NULL;
    if (status == DSE_OK && !row)
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for a timeline");
    if (status == DSE_OK && strcmp(table->name, "buffer") == 0 && known != n)
        status = dse_fail(err, DSE_BAD_INPUT, "buffer has %zu rows, compute %zu", n, known);
    for (size_t c = 0; status == DSE_OK && c < table->n_column; c++)
        status = read_column(group, table, &table->column[c], row, n, arena, err);
    memcpy(base + table->rows_offset, &row, sizeof row);
    memcpy(base + table->count_offset, &n, sizeof n);
    H5Gclose(group);
    return status;
}

/* Of which kind of timelines the root says that it is; TIMELINE_N_KIND: of none. */
static enum timeline_kind kind_of(hid_t file)
{
    struct arena arena;
    const char *text = "";
    enum timeline_kind kind = TIMELINE_FUSED;
    arena_init(&arena);
    if (hdf5_read_word(file, "format", &arena, &text, NULL) != DSE_OK)
        text = "";
    while (kind < TIMELINE_N_KIND && strcmp(text, timeline_form[kind].format) != 0)
        kind++;
    arena_free(&arena);
    return kind;
}

bool timeline_is_file(const char *path)
{
    hid_t file;
    if (hdf5_open_checked(path, "", &file, NULL) != DSE_OK)
        return false;
    bool found = kind_of(file) != TIMELINE_N_KIND;
    H5Fclose(file);
    return found;
}

enum dse_status timeline_hdf5_read(const char *path, struct arena *arena, struct timeline *timeline,
                                   struct dse_error *err)
{
    struct dse_error why = {0};
    enum dse_status status = DSE_OK;
    hid_t file;
    memset(timeline, 0, sizeof *timeline);
    DSE_TRY(hdf5_open_checked(path, "`dse eval --timeline` writes it again", &file, err));
    const enum timeline_kind kind = kind_of(file);
    if (kind == TIMELINE_N_KIND)
        status = dse_fail(&why, DSE_BAD_INPUT, "not a timeline of a schedule");
    else
        timeline->kind = kind;
    const struct timeline_form *form = &timeline_form[timeline->kind];
    for (size_t i = 0; status == DSE_OK && i < form->n_attribute; i++)
        status = read_attribute(file, &form->attribute[i], arena, timeline, &why);
    for (size_t t = 0; status == DSE_OK && t < form->n_table; t++)
        status = read_table(file, &form->table[t], arena, timeline, &why);
    H5Fclose(file);
    if (status == DSE_OK)
        status = timeline_check(timeline, &why);
    return status == DSE_OK ? DSE_OK : dse_fail_at(err, status, path, 0, "%s", why.text);
}
