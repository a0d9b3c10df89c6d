/* Dimension scales with labels, creation order, chunks and filters: the settings that netCDF-4 readers and
 * quick writing ask for. */
#include "results/cube/cube_hdf5.h"

#include <hdf5_hl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hdf5/hdf5_file.h"

enum {
    CONVERSION_BYTE = 16384, /* HDF5 clears this for every text that is written; its default is 1 MiB */
    CHUNK_VALUE_MAX = 16384, /* 128 KiB of doubles: well within HDF5's chunk cache of 1 MiB */
    DEFLATE_LEVEL = 1, /* 4 takes twice the time for 0.2 % less: texts, most of a file, are not deflated */
    LABEL_ATTRIBUTE_MAX = 4000 /* 16 byte each; an attribute holds 64 KiB at most */
};

/* A dataset creation list that keeps attributes in order and leaves no times in the file. */
static hid_t dataset_list(void)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (list < 0)
        return list;
    if (H5Pset_obj_track_times(list, false) < 0 ||
        H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) < 0) {
        H5Pclose(list);
        return -1;
    }
    return list;
}

/* A 1-D dataset, written whole. */
static hid_t vector_dataset(hid_t parent, const char *name, hid_t type, const void *value, size_t n)
{
    hsize_t length = n;
    hid_t list = dataset_list();
    if (list < 0)
        return -1;
    hid_t space = H5Screate_simple(1, &length, NULL);
    hid_t dataset = -1;
    if (space >= 0) {
        dataset = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
        if (dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0) {
            H5Dclose(dataset);
            dataset = -1;
        }
        H5Sclose(space);
    }
    H5Pclose(list);
    return dataset;
}

static hid_t text_vector(hid_t parent, const char *name, const char *const *text, size_t n)
{
    hid_t type = hdf5_text_type();
    if (type < 0)
        return -1;
    hid_t dataset = vector_dataset(parent, name, type, text, n);
    H5Tclose(type);
    return dataset;
}

/* What people read at each position, as the attribute `labels`. */
static int put_labels(hid_t dataset, const struct result_coordinate *c, size_t n)
{
    enum { LABEL_SIZE = 96 };
    int result = -1;
    if (c->text || n > LABEL_ATTRIBUTE_MAX)
        return 0; /* the texts are their own labels */
    char *store = malloc(n * LABEL_SIZE);
    const char **label = malloc(n * sizeof *label);
    for (size_t i = 0; store && label && i < n; i++)
        label[i] = coordinate_label(c, i, store + i * LABEL_SIZE, LABEL_SIZE);
    if (store && label)
        result = hdf5_put_texts(dataset, "labels", label, n);
    free(label);
    free(store);
    return result;
}

static hid_t coordinate_dataset(hid_t parent, const struct result_coordinate *c, size_t n)
{
    hid_t dataset = c->text ? text_vector(parent, c->name, c->text, n)
                            : vector_dataset(parent, c->name, H5T_NATIVE_DOUBLE, c->number, n);
    if (dataset < 0)
        return -1;
    const char *long_name = c->long_name && c->long_name[0] ? c->long_name : c->name;
    if ((c->unit && c->unit[0] && hdf5_put_text(dataset, "units", c->unit) < 0) ||
        hdf5_put_text(dataset, "long_name", long_name) < 0 || put_labels(dataset, c, n) < 0) {
        H5Dclose(dataset);
        return -1;
    }
    return dataset;
}

/* The dimension scale of an axis and its linked coordinates. */
static int write_axis(struct cube_group *group, const struct result_axis *axis)
{
    hid_t scale = coordinate_dataset(group->id, &axis->coordinate[0], axis->n_value);
    if (scale < 0)
        return -1;
    group->scale[group->rank] = scale;
    group->length[group->rank++] = axis->n_value;
    if (H5DSset_scale(scale, axis->coordinate[0].name) < 0)
        return -1;
    for (size_t k = 1; k < axis->n_coordinate; k++) {
        const char *name = axis->coordinate[k].name;
        hid_t linked = coordinate_dataset(group->id, &axis->coordinate[k], axis->n_value);
        if (linked < 0)
            return -1;
        int result = H5DSattach_scale(linked, scale, 0);
        H5Dclose(linked);
        size_t used = strlen(group->coordinates);
        size_t left = sizeof group->coordinates - used;
        int written = snprintf(group->coordinates + used, left, "%s%s", used ? " " : "", name);
        if (result < 0 || written < 0 || (size_t)written >= left)
            return -1;
    }
    return 0;
}

int cube_group_begin(struct cube_group *group, hid_t parent, const char *name,
                     const struct result_schema *schema)
{
    memset(group, 0, sizeof *group);
    group->extra[0] = group->extra[1] = -1;
    group->id = parent;
    group->transfer = H5Pcreate(H5P_DATASET_XFER);
    if (group->transfer < 0 || H5Pset_buffer(group->transfer, CONVERSION_BYTE, NULL, NULL) < 0)
        return -1;
    if (name) {
        group->id = hdf5_create_group(parent, name);
        if (group->id < 0)
            return -1;
    }
    for (size_t a = 0; schema && a < schema->n_axis; a++) {
        if (write_axis(group, &schema->axis[a]) < 0)
            return -1;
    }
    return 0;
}

int cube_group_extra(struct cube_group *group, int slot, const char *name, const char *long_name,
                     const char *const *text, size_t n)
{
    hid_t scale;
    if (text) {
        scale = text_vector(group->id, name, text, n);
    } else {
        uint64_t *count = malloc(n * sizeof *count);
        if (!count)
            return -1;
        for (size_t i = 0; i < n; i++)
            count[i] = i;
        scale = vector_dataset(group->id, name, H5T_NATIVE_UINT64, count, n);
        free(count);
    }
    if (scale < 0)
        return -1;
    group->extra[slot] = scale;
    group->extra_length[slot] = n;
    return H5DSset_scale(scale, name) < 0 ? -1 : hdf5_put_text(scale, "long_name", long_name);
}

int cube_group_texts(const struct cube_group *group, const char *name, const char *long_name,
                     const char *const *text)
{
    hid_t dataset = text_vector(group->id, name, text, (size_t)group->extra_length[0]);
    if (dataset < 0)
        return -1;
    int result = hdf5_put_text(dataset, "long_name", long_name);
    if (result >= 0)
        result = H5DSattach_scale(dataset, group->extra[0], 0);
    return H5Dclose(dataset) < 0 ? -1 : result;
}

int cube_group_end(struct cube_group *group)
{
    int result = 0;
    for (int i = 0; i < group->rank; i++)
        result |= H5Dclose(group->scale[i]) < 0;
    for (int i = 0; i < 2; i++)
        result |= group->extra[i] >= 0 && H5Dclose(group->extra[i]) < 0;
    result |= group->transfer > 0 && H5Pclose(group->transfer) < 0;
    /* The root group is the file, which its owner closes. */
    if (group->id >= 0 && H5Iget_type(group->id) == H5I_GROUP)
        result |= H5Gclose(group->id) < 0;
    return result ? -1 : 0;
}

/* All lengths of a dataset with the dimensions in `extra`; returns the rank. */
static int all_lengths(const struct cube_group *group, unsigned extra, hsize_t *length, hid_t *scale)
{
    int rank = group->rank;
    for (int i = 0; i < rank; i++) {
        length[i] = group->length[i];
        scale[i] = group->scale[i];
    }
    for (int i = 0; i < 2; i++) {
        if (extra & (1u << i)) {
            length[rank] = group->extra_length[i];
            scale[rank++] = group->extra[i];
        }
    }
    return rank;
}

int cube_lengths(const struct cube_group *group, unsigned extra, hsize_t *length)
{
    hid_t scale[CUBE_RANK_MAX];
    return all_lengths(group, extra, length, scale);
}

void cube_chunk(int rank, const hsize_t *length, hsize_t *chunk)
{
    hsize_t room = CHUNK_VALUE_MAX;
    for (int i = rank - 1; i >= 0; i--) {
        hsize_t n = (length[i] + room - 1) / room;
        chunk[i] = n > 1 ? (length[i] + n - 1) / n : length[i];
        room = n > 1 ? 1 : room / chunk[i];
        if (room == 0)
            room = 1;
    }
}

static int set_storage(hid_t list, hid_t type, enum metric_type kind, int rank, const hsize_t *length)
{
    static const double no_f64 = NAN;
    static const uint64_t no_u64 = METRIC_U64_MISSING;
    const void *fill = kind == METRIC_F64 ? (const void *)&no_f64 : (const void *)&no_u64;
    hsize_t chunk[CUBE_RANK_MAX];
    /* Text needs none: every reader takes a reference that was never written for "". */
    if (kind != METRIC_TEXT && H5Pset_fill_value(list, type, fill) < 0)
        return -1;
    if (rank == 0)
        return 0; /* a scalar takes neither chunks nor filters */
    cube_chunk(rank, length, chunk);
    if (H5Pset_chunk(list, rank, chunk) < 0)
        return -1;
    if (kind == METRIC_TEXT)
        return 0; /* HDF5 1.10 refuses fletcher32 on variable-length strings and ignores the other filters */
    return H5Pset_shuffle(list) < 0 || H5Pset_deflate(list, DEFLATE_LEVEL) < 0 || H5Pset_fletcher32(list) < 0
               ? -1
               : 0;
}

static int put_metric_attributes(const struct cube_group *group, hid_t dataset, const struct metric *metric)
{
    static const double no_f64 = NAN;
    static const uint64_t no_u64 = METRIC_U64_MISSING;
    int result = 0;
    if (metric->type == METRIC_F64)
        result = hdf5_put_attribute(dataset, "_FillValue", H5T_NATIVE_DOUBLE, &no_f64, 1);
    else if (metric->type == METRIC_U64)
        result = hdf5_put_attribute(dataset, "_FillValue", H5T_NATIVE_UINT64, &no_u64, 1);
    if (result >= 0 && metric->unit[0])
        result = hdf5_put_text(dataset, "units", metric->unit);
    if (result >= 0)
        result = hdf5_put_text(dataset, "long_name", metric->sentence);
    if (result >= 0 && metric->better != METRIC_NEITHER)
        result = hdf5_put_text(dataset, "better", metric->better == METRIC_LESS ? "less" : "more");
    if (result >= 0 && group->coordinates[0])
        result = hdf5_put_text(dataset, "coordinates", group->coordinates);
    return result;
}

static hid_t create_dataset(const struct cube_group *group, const char *name, unsigned extra,
                            const struct metric *metric, hid_t type)
{
    hsize_t length[CUBE_RANK_MAX];
    hid_t scale[CUBE_RANK_MAX], dataset = -1;
    int rank = all_lengths(group, extra, length, scale);
    hid_t list = dataset_list();
    if (list < 0)
        return -1;
    hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, length, NULL);
    if (space >= 0) {
        if (set_storage(list, type, metric->type, rank, length) >= 0)
            dataset = H5Dcreate2(group->id, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
        H5Sclose(space);
    }
    H5Pclose(list);
    int result = dataset < 0 ? -1 : put_metric_attributes(group, dataset, metric);
    for (int i = 0; result >= 0 && i < rank; i++)
        result = H5DSattach_scale(dataset, scale[i], (unsigned)i);
    if (dataset >= 0 && result < 0) {
        H5Dclose(dataset);
        dataset = -1;
    }
    return dataset;
}

hid_t cube_dataset(const struct cube_group *group, const char *name, unsigned extra,
                   const struct metric *metric)
{
    if (metric->type == METRIC_F64)
        return create_dataset(group, name, extra, metric, H5T_NATIVE_DOUBLE);
    if (metric->type == METRIC_U64)
        return create_dataset(group, name, extra, metric, H5T_NATIVE_UINT64);
    hid_t type = hdf5_text_type();
    if (type < 0)
        return -1;
    hid_t dataset = create_dataset(group, name, extra, metric, type);
    H5Tclose(type);
    return dataset;
}
