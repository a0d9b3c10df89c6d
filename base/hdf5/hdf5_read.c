/* Attributes and datasets as arrays in an arena; a dataset that claims more than its bytes can hold is
 * refused. */
#include "base/hdf5/hdf5_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_guard.h"
#include "base/metric.h"

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory while reading a cube");
}

static enum dse_status keep_texts(hid_t type, hid_t space, char **raw, size_t n, struct arena *arena,
                                  const char ***text, struct dse_error *err)
{
    *text = arena_alloc(arena, n + 1, sizeof **text);
    if (*text)
        return hdf5_keep_texts(type, space, raw, n, arena, *text, err);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, raw);
    return no_memory(err);
}

enum dse_status hdf5_read_attribute(hid_t object, const char *name, struct arena *arena, const char ***text,
                                    size_t *n, struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    *text = NULL;
    *n = 0;
    if (H5Aexists(object, name) <= 0)
        return DSE_OK;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    hid_t stored = attribute >= 0 ? H5Aget_type(attribute) : -1;
    hid_t type = hdf5_text_type();
    if (space >= 0 && stored >= 0 && type >= 0 && H5Tis_variable_str(stored) > 0) {
        hssize_t count = H5Sget_simple_extent_npoints(space);
        char **raw = count > 0 ? calloc((size_t)count, sizeof *raw) : NULL;
        if (count > 0 && !raw)
            status = no_memory(err);
        if (raw && H5Aread(attribute, type, raw) >= 0) {
            *n = (size_t)count;
            status = keep_texts(type, space, raw, *n, arena, text, err);
        }
        free(raw);
    }
    hdf5_close(type);
    hdf5_close(stored);
    hdf5_close(space);
    hdf5_close(attribute);
    return status;
}

enum dse_status hdf5_read_word(hid_t object, const char *name, struct arena *arena, const char **word,
                               struct dse_error *err)
{
    const char **text;
    size_t n;
    DSE_TRY(hdf5_read_attribute(object, name, arena, &text, &n, err));
    *word = text && n == 1 ? text[0] : "";
    return DSE_OK;
}

enum dse_status hdf5_read_texts(hid_t dataset, hid_t space, size_t n, struct arena *arena, const char ***text,
                                struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    hid_t type = hdf5_text_type();
    char **raw = calloc(n + 1, sizeof *raw);
    if (!raw)
        status = no_memory(err);
    else if (type < 0 || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) < 0)
        status = dse_fail(err, DSE_BAD_INPUT, "a text dataset cannot be read (damaged?)");
    else
        status = keep_texts(type, space, raw, n, arena, text, err);
    free(raw);
    hdf5_close(type);
    return status;
}

enum dse_status hdf5_read_numbers(hid_t dataset, hid_t memory, hid_t space, size_t n, struct arena *arena,
                                  double **number, struct dse_error *err)
{
    double *value = arena_alloc(arena, n + 1, sizeof *value);
    if (!value)
        return no_memory(err);
    *number = value;
    hid_t stored = H5Dget_type(dataset);
    H5T_class_t class = stored >= 0 ? H5Tget_class(stored) : H5T_NO_CLASS;
    hdf5_close(stored);
    if (class == H5T_FLOAT) {
        if (H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, value) < 0)
            return dse_fail(err, DSE_BAD_INPUT, "a dataset cannot be read (damaged?)");
        return DSE_OK;
    }
    uint64_t *count = malloc((n + 1) * sizeof *count);
    if (!count)
        return no_memory(err);
    int result = H5Dread(dataset, H5T_NATIVE_UINT64, memory, space, H5P_DEFAULT, count);
    for (size_t i = 0; result >= 0 && i < n; i++)
        value[i] = count[i] == METRIC_U64_MISSING ? NAN : (double)count[i];
    free(count);
    return result >= 0 ? DSE_OK : dse_fail(err, DSE_BAD_INPUT, "a dataset cannot be read (damaged?)");
}

bool hdf5_read_number(hid_t object, const char *name, H5T_class_t class, hid_t type, void *value)
{
    hid_t attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    hid_t stored = attribute >= 0 ? H5Aget_type(attribute) : -1;
    /* HDF5 writes as many values as the attribute has. */
    bool good = space >= 0 && stored >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Tget_class(stored) == class && H5Aread(attribute, type, value) >= 0;
    hdf5_close(stored);
    hdf5_close(space);
    hdf5_close(attribute);
    return good;
}

uint64_t hdf5_read_count(hid_t object, const char *name)
{
    uint64_t value;
    return hdf5_read_number(object, name, H5T_INTEGER, H5T_NATIVE_UINT64, &value) ? value : 0;
}

enum dse_status hdf5_read_dataset(hid_t dataset, struct arena *arena, const char ***text, double **number,
                                  size_t *n, struct dse_error *err)
{
    enum dse_status status;
    *text = NULL;
    *number = NULL;
    hid_t space = H5Dget_space(dataset), stored = H5Dget_type(dataset);
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    H5T_class_t class = stored >= 0 ? H5Tget_class(stored) : H5T_NO_CLASS;
    *n = count > 0 ? (size_t)count : 0;
    if (count < 0)
        status = dse_fail(err, DSE_BAD_INPUT, "a dataset has no readable shape");
    else if (!hdf5_can_hold(dataset, *n))
        status =
            dse_fail(err, DSE_BAD_INPUT, "a dataset is longer than what the file holds of it (damaged?)");
    else if (class == H5T_STRING && H5Tis_variable_str(stored) > 0)
        status = hdf5_read_texts(dataset, space, *n, arena, text, err);
    else if (class == H5T_FLOAT || class == H5T_INTEGER)
        status = hdf5_read_numbers(dataset, H5S_ALL, H5S_ALL, *n, arena, number, err);
    else
        status = dse_fail(err, DSE_BAD_INPUT, "a dataset is neither text nor number");
    hdf5_close(stored);
    hdf5_close(space);
    return status;
}
