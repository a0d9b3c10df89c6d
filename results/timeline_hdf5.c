#include <errno.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/cube_hdf5.h"
#include "results/timeline.h"

enum { PATH_LONGEST = 4096, NAME_LONGEST = 64 };

/* What the attribute `format` of the root says. */
static const char format_name[] = "dse timeline 1";

/* ---- writing ---- */

/* Links and attributes in the order of their making, no times, no lock: the file is ours until it is renamed. */
static hid_t create_file(const char *path)
{
    const unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    hid_t file = -1, create = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
    if (create >= 0 && access >= 0 && H5Pset_link_creation_order(create, order) >= 0 &&
        H5Pset_attr_creation_order(create, order) >= 0 && H5Pset_obj_track_times(create, false) >= 0 &&
        H5Pset_file_locking(access, false, true) >= 0)
        file = H5Fcreate(path, H5F_ACC_TRUNC, create, access);
    if (create >= 0)
        H5Pclose(create);
    if (access >= 0)
        H5Pclose(access);
    return file;
}

static hid_t create_group(hid_t parent, const char *name)
{
    hid_t group = -1, list = H5Pcreate(H5P_GROUP_CREATE);
    if (list >= 0 && H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0)
        group = H5Gcreate2(parent, name, H5P_DEFAULT, list, H5P_DEFAULT);
    if (list >= 0)
        H5Pclose(list);
    return group;
}

static int put_scalar(hid_t object, const char *name, hid_t type, const void *value)
{
    int result = -1;
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t at = space >= 0 ? H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
    if (at >= 0) {
        result = H5Awrite(at, type, value);
        if (H5Aclose(at) < 0)
            result = -1;
    }
    if (space >= 0)
        H5Sclose(space);
    return result;
}

static int put_attributes(hid_t file, const struct timeline *timeline)
{
    size_t n;
    const struct timeline_column *column = timeline_attributes(&n);
    int result = cube_attribute_text(file, "format", format_name);
    for (size_t i = 0; result >= 0 && i < n; i++) {
        const void *value = (const char *)timeline + column[i].offset;
        if (column[i].type == TIMELINE_TEXT)
            result = cube_attribute_text(file, column[i].name, *(const char *const *)value);
        else
            result =
                put_scalar(file, column[i].name,
                           column[i].type == TIMELINE_WHOLE ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, value);
    }
    return result;
}

/* A 1-D dataset of n values, open; < 0 on failure. */
static hid_t put_vector(hid_t group, const char *name, hid_t type, const void *value, hsize_t n)
{
    hid_t dataset = -1, list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &n, NULL);
    if (list >= 0 && space >= 0 && H5Pset_obj_track_times(list, false) >= 0 &&
        H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0)
        dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (dataset >= 0 && n > 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0) {
        H5Dclose(dataset);
        dataset = -1;
    }
    if (list >= 0)
        H5Pclose(list);
    if (space >= 0)
        H5Sclose(space);
    return dataset;
}

/* The values of a column, one behind the other; `store` has room for n of 8 bytes. */
static void gather(const struct timeline_table *table, const struct timeline_column *column, const char *row,
                   size_t n, void *store)
{
    size_t size = column->type == TIMELINE_TEXT ? sizeof(char *) : sizeof(int64_t);
    for (size_t i = 0; i < n; i++)
        memcpy((char *)store + i * size, row + i * table->row_size + column->offset, size);
}

static int put_column(hid_t group, const struct timeline_table *table, const struct timeline_column *column,
                      const char *row, size_t n, hid_t scale, void *store)
{
    hid_t type = column->type == TIMELINE_TEXT ? cube_text_type() : H5Tcopy(H5T_NATIVE_INT64);
    gather(table, column, row, n, store);
    hid_t dataset = type >= 0 ? put_vector(group, column->name, type, store, n) : -1;
    int result = dataset < 0 ? -1 : H5DSattach_scale(dataset, scale, 0);
    if (result >= 0 && column->unit[0])
        result = cube_attribute_text(dataset, "units", column->unit);
    if (result >= 0)
        result = cube_attribute_text(dataset, "long_name", column->sentence);
    if (dataset >= 0)
        H5Dclose(dataset);
    if (type >= 0)
        H5Tclose(type);
    return result;
}

static int put_table(hid_t file, const struct timeline_table *table, const struct timeline *timeline)
{
    const char *base = (const char *)timeline, *row;
    size_t n;
    memcpy(&row, base + table->rows_offset, sizeof row);
    memcpy(&n, base + table->count_offset, sizeof n);
    int64_t *store = calloc(n + 1, sizeof *store);
    hid_t group = store ? create_group(file, table->name) : -1, scale = -1;
    for (size_t i = 0; store && i < n; i++)
        store[i] = (int64_t)i;
    if (group >= 0)
        scale = put_vector(group, table->index, H5T_NATIVE_INT64, store, n);
    int result = scale < 0 ? -1 : H5DSset_scale(scale, table->index);
    if (result >= 0)
        result = cube_attribute_text(scale, "long_name", table->index_sentence);
    for (size_t c = 0; result >= 0 && c < table->n_column; c++)
        result = put_column(group, table, &table->column[c], row, n, scale, store);
    if (scale >= 0)
        H5Dclose(scale);
    if (group >= 0)
        H5Gclose(group);
    free(store);
    return result;
}

enum dse_status timeline_hdf5_write(const struct timeline *timeline, const char *path, struct dse_error *err)
{
    char temporary[PATH_LONGEST];
    struct cube_errors errors = {""};
    int length = snprintf(temporary, sizeof temporary, "%s.tmp", path), result = 0;
    if (length < 0 || (size_t)length >= sizeof temporary)
        return dse_fail(err, DSE_BAD_USAGE, "the path of the timeline is too long");
    errno = 0;
    cube_errors_catch(&errors);
    hid_t file = create_file(temporary);
    if (file >= 0) {
        result = put_attributes(file, timeline);
        for (size_t t = 0; result >= 0 && t < TIMELINE_N_TABLE; t++)
            result = put_table(file, &timeline_table[t], timeline);
        if (H5Fclose(file) < 0)
            result = -1;
    }
    cube_errors_silence();
    if (file >= 0 && result >= 0 && rename(temporary, path) == 0)
        return DSE_OK;
    const char *why = errno ? strerror(errno) : errors.text;
    if (file >= 0)
        unlink(temporary);
    return dse_fail_at(err, DSE_IO, path, 0, "cannot be written: %s", why);
}

/* ---- reading ---- */

static hid_t open_file(const char *path)
{
    hid_t file = -1, list = H5Pcreate(H5P_FILE_ACCESS);
    cube_errors_silence();
    if (list >= 0 && H5Pset_file_locking(list, false, true) >= 0)
        file = H5Fopen(path, H5F_ACC_RDONLY, list);
    if (list >= 0)
        H5Pclose(list);
    return file;
}

/* Texts as HDF5 read them, moved into the arena and given back. */
static enum dse_status keep_texts(hid_t type, hid_t space, char **raw, size_t n, struct arena *arena,
                                  const char **text, struct dse_error *err)
{
    bool fine = true;
    for (size_t i = 0; fine && i < n; i++) {
        text[i] = raw[i] ? arena_copy_text(arena, raw[i], strlen(raw[i])) : "";
        fine = text[i] != NULL;
    }
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, raw);
    return fine ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory for a timeline");
}

static enum dse_status read_text_attribute(hid_t at, const char *name, struct arena *arena, const char **text,
                                           struct dse_error *err)
{
    char *raw = NULL;
    enum dse_status status = dse_fail(err, DSE_BAD_INPUT, "the attribute %s cannot be read", name);
    hid_t type = cube_text_type(), space = H5Aget_space(at), stored = H5Aget_type(at);
    if (type >= 0 && space >= 0 && stored >= 0 && H5Tis_variable_str(stored) > 0 &&
        H5Sget_simple_extent_npoints(space) == 1 && H5Aread(at, type, &raw) >= 0)
        status = keep_texts(type, space, &raw, 1, arena, text, err);
    if (stored >= 0)
        H5Tclose(stored);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return status;
}

/* A number's attribute: one whole number or one real one, as `type` says. */
static bool read_number_attribute(hid_t at, enum timeline_type type, void *value)
{
    hid_t space = H5Aget_space(at), stored = H5Aget_type(at);
    bool fine = space >= 0 && stored >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Tget_class(stored) == (type == TIMELINE_WHOLE ? H5T_INTEGER : H5T_FLOAT) &&
                H5Aread(at, type == TIMELINE_WHOLE ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, value) >= 0;
    if (stored >= 0)
        H5Tclose(stored);
    if (space >= 0)
        H5Sclose(space);
    return fine;
}

static enum dse_status read_attribute(hid_t file, const struct timeline_column *column, struct arena *arena,
                                      struct timeline *timeline, struct dse_error *err)
{
    void *value = (char *)timeline + column->offset;
    enum dse_status status = DSE_OK;
    hid_t at = H5Aexists(file, column->name) > 0 ? H5Aopen(file, column->name, H5P_DEFAULT) : -1;
    if (at < 0)
        return dse_fail(err, DSE_BAD_INPUT, "there is no attribute %s", column->name);
    if (column->type == TIMELINE_TEXT)
        status = read_text_attribute(at, column->name, arena, value, err);
    else if (!read_number_attribute(at, column->type, value))
        status = dse_fail(err, DSE_BAD_INPUT, "the attribute %s is no %s", column->name,
                          column->type == TIMELINE_WHOLE ? "whole number" : "real number");
    H5Aclose(at);
    return status;
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
    if (space >= 0)
        H5Sclose(space);
    if (fine)
        return DSE_OK;
    H5Dclose(*dataset);
    *dataset = -1;
    return dse_fail(err, DSE_BAD_INPUT, "the dataset %s is not one-dimensional", name);
}

/* n values of a column into `store`. */
static enum dse_status read_values(hid_t dataset, const struct timeline_column *column, size_t n, void *store,
                                   struct arena *arena, struct dse_error *err)
{
    hid_t stored = H5Dget_type(dataset);
    bool text = stored >= 0 && H5Tis_variable_str(stored) > 0;
    bool whole = stored >= 0 && H5Tget_class(stored) == H5T_INTEGER;
    if (stored >= 0)
        H5Tclose(stored);
    if (column->type == TIMELINE_TEXT ? !text : !whole)
        return dse_fail(err, DSE_BAD_INPUT, "the dataset %s is not %s", column->name,
                        column->type == TIMELINE_TEXT ? "text" : "of whole numbers");
    if (!text)
        return H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, store) >= 0
                   ? DSE_OK
                   : dse_fail(err, DSE_BAD_INPUT, "the dataset %s cannot be read (damaged?)", column->name);
    char **raw = calloc(n + 1, sizeof *raw);
    hid_t type = cube_text_type(), space = H5Dget_space(dataset);
    enum dse_status status =
        dse_fail(err, DSE_BAD_INPUT, "the dataset %s cannot be read (damaged?)", column->name);
    if (raw && type >= 0 && space >= 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) >= 0)
        status = keep_texts(type, space, raw, n, arena, store, err);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    free(raw);
    return status;
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

/* Whether the root says that it is a timeline. */
static bool is_timeline(hid_t file)
{
    struct arena arena;
    const char *text = "";
    arena_init(&arena);
    hid_t at = H5Aexists(file, "format") > 0 ? H5Aopen(file, "format", H5P_DEFAULT) : -1;
    bool found = at >= 0 && read_text_attribute(at, "format", &arena, &text, NULL) == DSE_OK &&
                 strcmp(text, format_name) == 0;
    if (at >= 0)
        H5Aclose(at);
    arena_free(&arena);
    return found;
}

bool timeline_is_file(const char *path)
{
    hid_t file = access(path, R_OK) == 0 ? open_file(path) : -1;
    bool found = file >= 0 && is_timeline(file);
    if (file >= 0)
        H5Fclose(file);
    return found;
}

enum dse_status timeline_hdf5_read(const char *path, struct arena *arena, struct timeline *timeline,
                                   struct dse_error *err)
{
    struct dse_error why = {0};
    enum dse_status status = DSE_OK;
    size_t n;
    const struct timeline_column *column = timeline_attributes(&n);
    memset(timeline, 0, sizeof *timeline);
    if (access(path, R_OK) != 0)
        return dse_fail_at(err, DSE_IO, path, 0, "cannot be read: %s", strerror(errno));
    hid_t file = open_file(path);
    if (file < 0)
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0, "not an HDF5 file");
    if (!is_timeline(file))
        status = dse_fail(&why, DSE_BAD_INPUT, "not a timeline of a schedule");
    for (size_t i = 0; status == DSE_OK && i < n; i++)
        status = read_attribute(file, &column[i], arena, timeline, &why);
    for (size_t t = 0; status == DSE_OK && t < TIMELINE_N_TABLE; t++)
        status = read_table(file, &timeline_table[t], arena, timeline, &why);
    H5Fclose(file);
    if (status == DSE_OK)
        status = timeline_check(timeline, &why);
    return status == DSE_OK ? DSE_OK : dse_fail_at(err, status, path, 0, "%s", why.text);
}
