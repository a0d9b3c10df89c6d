/* Writes a timeline as HDF5: one group per table, one dataset per column, after the tables of timeline.c. */
#include <errno.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_output.h"
#include "results/timeline/timeline.h"

enum { PATH_LONGEST = 4096, CHUNK = 16384 /* values; datasets of more are compressed */ };

static int put_attributes(hid_t file, const struct timeline *timeline)
{
    const struct timeline_form *form = &timeline_form[timeline->kind];
    const struct timeline_column *column = form->attribute;
    int result = hdf5_put_text(file, "format", form->format);
    for (size_t i = 0; result >= 0 && i < form->n_attribute; i++) {
        const void *value = (const char *)timeline + column[i].offset;
        if (column[i].type == TIMELINE_TEXT)
            result = hdf5_put_text(file, column[i].name, *(const char *const *)value);
        else
            result = hdf5_put_attribute(
                file, column[i].name, column[i].type == TIMELINE_WHOLE ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE,
                value, 0);
    }
    return result;
}

/* Numbers shrink to a fraction; HDF5 compresses no texts of variable length. */
static bool set_storage(hid_t list, hid_t type, hsize_t n)
{
    const hsize_t chunk = CHUNK;
    if (n <= CHUNK || H5Tget_class(type) != H5T_INTEGER)
        return true;
    return H5Pset_chunk(list, 1, &chunk) >= 0 && H5Pset_shuffle(list) >= 0 && H5Pset_deflate(list, 4) >= 0;
}

/* A 1-D dataset of n values, open; < 0 on failure. */
static hid_t put_vector(hid_t group, const char *name, hid_t type, const void *value, hsize_t n)
{
    hid_t dataset = -1, list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &n, NULL);
    if (list >= 0 && space >= 0 && set_storage(list, type, n) && H5Pset_obj_track_times(list, false) >= 0 &&
        H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0)
        dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (dataset >= 0 && n > 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0) {
        H5Dclose(dataset);
        dataset = -1;
    }
    hdf5_close(list);
    hdf5_close(space);
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
    hid_t type = column->type == TIMELINE_TEXT ? hdf5_text_type() : H5Tcopy(H5T_NATIVE_INT64);
    gather(table, column, row, n, store);
    hid_t dataset = type >= 0 ? put_vector(group, column->name, type, store, n) : -1;
    int result = dataset < 0 ? -1 : H5DSattach_scale(dataset, scale, 0);
    if (result >= 0 && column->unit[0])
        result = hdf5_put_text(dataset, "units", column->unit);
    if (result >= 0)
        result = hdf5_put_text(dataset, "long_name", column->sentence);
    hdf5_close(dataset);
    hdf5_close(type);
    return result;
}

static int put_table(hid_t file, const struct timeline_table *table, const struct timeline *timeline)
{
    const char *base = (const char *)timeline, *row;
    size_t n;
    memcpy(&row, base + table->rows_offset, sizeof row);
    memcpy(&n, base + table->count_offset, sizeof n);
    int64_t *store = calloc(n + 1, sizeof *store);
    hid_t group = store ? hdf5_create_group(file, table->name) : -1, scale = -1;
    for (size_t i = 0; store && i < n; i++)
        store[i] = (int64_t)i;
    if (group >= 0)
        scale = put_vector(group, table->index, H5T_NATIVE_INT64, store, n);
    int result = scale < 0 ? -1 : H5DSset_scale(scale, table->index);
    if (result >= 0)
        result = hdf5_put_text(scale, "long_name", table->index_sentence);
    for (size_t c = 0; result >= 0 && c < table->n_column; c++)
        result = put_column(group, table, &table->column[c], row, n, scale, store);
    hdf5_close(scale);
    hdf5_close(group);
    free(store);
    return result;
}

enum dse_status timeline_hdf5_write(const struct timeline *timeline, const char *path, struct dse_error *err)
{
    char temporary[PATH_LONGEST];
    struct hdf5_output output;
    struct hdf5_errors errors = {""};
    int length = snprintf(temporary, sizeof temporary, "%s.tmp", path);
    if (length < 0 || (size_t)length >= sizeof temporary)
        return dse_fail(err, DSE_BAD_USAGE, "the path of the timeline is too long");
    DSE_TRY(hdf5_output_open(&output, temporary, err));
    hdf5_errors_catch(&errors);
    int result = put_attributes(output.file, timeline);
    const struct timeline_form *form = &timeline_form[timeline->kind];
    for (size_t t = 0; result >= 0 && t < form->n_table; t++)
        result = put_table(output.file, &form->table[t], timeline);
    enum dse_status status = hdf5_output_close(&output, err);
    hdf5_errors_silence();
    if (status == DSE_OK && result < 0)
        status = dse_fail_at(err, DSE_IO, path, 0, "cannot be written: %s", errors.text);
    if (status == DSE_OK && rename(temporary, path) != 0)
        status = dse_fail_at(err, DSE_IO, path, 0, "cannot be written: %s", strerror(errno));
    if (status != DSE_OK)
        unlink(temporary);
    return status;
}
