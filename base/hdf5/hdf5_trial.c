/* Walks over all objects, reads each attribute and dataset window by window, and says into shared memory
 * where it is. */
#include "base/hdf5/hdf5_trial.h"

#include <hdf5.h>
#include <hdf5_hl.h>
#include <stdlib.h>
#include <string.h>

#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_guard.h"
#include "base/hdf5/hdf5_inside.h"
#include "base/text.h"

enum {
    WINDOW = 1 << 22, /* elements that are read at once: at most 32 MiB */
    RANK_MAX = H5S_MAX_RANK,
};

/* How values of a stored type are read: as numbers (H5T_NATIVE_*), as texts (to be closed), or, < 0, not at
 * all. */
struct reading {
    hid_t type;
    bool text;
};

static struct reading reading_of(hid_t stored)
{
    H5T_class_t class = H5Tget_class(stored);
    if (class == H5T_STRING && H5Tis_variable_str(stored) > 0)
        return (struct reading){hdf5_text_type(), true};
    if (class == H5T_FLOAT && H5Tget_size(stored) <= sizeof(double))
        return (struct reading){H5T_NATIVE_DOUBLE, false};
    if (class == H5T_INTEGER && H5Tget_size(stored) <= sizeof(uint64_t))
        return (struct reading){H5T_NATIVE_UINT64, false};
    return (struct reading){-1, false};
}

static bool read_attribute(hid_t attribute)
{
    hid_t stored = H5Aget_type(attribute), space = H5Aget_space(attribute);
    struct reading reading = stored >= 0 ? reading_of(stored) : (struct reading){-1, false};
    hssize_t n = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    bool fine = stored >= 0 && n >= 0;
    if (fine && reading.type >= 0 && n > 0) {
        void *value = calloc((size_t)n, sizeof(uint64_t));
        fine = value && H5Aread(attribute, reading.type, value) >= 0 &&
               (!reading.text || H5Dvlen_reclaim(reading.type, space, H5P_DEFAULT, value) >= 0);
        free(value);
    }
    if (reading.text && reading.type >= 0)
        H5Tclose(reading.type);
    hdf5_close(stored);
    hdf5_close(space);
    return fine;
}

static herr_t on_attribute(hid_t object, const char *name, const H5A_info_t *info, void *user)
{
    (void)info;
    (void)user;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    bool fine = attribute >= 0 && read_attribute(attribute);
    hdf5_close(attribute);
    return fine ? 0 : -1;
}

/* The next window of a dataset: whole rows of its trailing dimensions, at most WINDOW elements. */
struct window {
    int rank,
        slab; /* slab: the dimension of which several positions are taken; those before it: one position */
    hsize_t dim[RANK_MAX], start[RANK_MAX], count[RANK_MAX], row;
};

static void window_begin(struct window *w)
{
    w->row = 1;
    w->slab = w->rank - 1;
    while (w->slab > 0 && w->row <= WINDOW / w->dim[w->slab])
        w->row *= w->dim[w->slab--];
    for (int i = 0; i < w->rank; i++) {
        w->start[i] = 0;
        w->count[i] = i < w->slab ? 1 : w->dim[i];
    }
}

/* Elements of the window at `start`. */
static hsize_t window_size(struct window *w)
{
    hsize_t most = w->row < WINDOW ? WINDOW / w->row : 1, left = w->dim[w->slab] - w->start[w->slab];
    w->count[w->slab] = left < most ? left : most;
    return w->count[w->slab] * w->row;
}

/* Returns false behind the last window. */
static bool window_next(struct window *w)
{
    w->start[w->slab] += w->count[w->slab];
    for (int i = w->slab; w->start[i] >= w->dim[i]; i--) {
        if (i == 0)
            return false;
        w->start[i] = 0;
        w->start[i - 1]++;
    }
    return true;
}

static bool read_window(hid_t dataset, hid_t space, const struct reading *reading, struct window *w,
                        void *value)
{
    hsize_t n = window_size(w);
    hid_t memory = H5Screate_simple(1, &n, NULL);
    bool fine = memory >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, w->start, NULL, w->count, NULL) >= 0 &&
                H5Dread(dataset, reading->type, memory, space, H5P_DEFAULT, value) >= 0 &&
                (!reading->text || H5Dvlen_reclaim(reading->type, memory, H5P_DEFAULT, value) >= 0);
    hdf5_close(memory);
    return fine;
}

static bool read_values(hid_t dataset, hid_t space, const struct reading *reading)
{
    struct window w = {.rank = H5Sget_simple_extent_ndims(space)};
    hssize_t n = H5Sget_simple_extent_npoints(space);
    if (w.rank < 0 || n < 0)
        return false;
    if (n == 0 || !hdf5_can_hold(dataset, (hsize_t)n)) /* readers refuse it */
        return true;
    void *value = calloc(n < WINDOW ? (size_t)n : WINDOW, sizeof(uint64_t));
    bool fine = value != NULL;
    if (fine && n <= WINDOW) { /* as the readers do */
        fine = H5Dread(dataset, reading->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0 &&
               (!reading->text || H5Dvlen_reclaim(reading->type, space, H5P_DEFAULT, value) >= 0);
    } else if (fine) {
        fine = w.rank > 0 && H5Sget_simple_extent_dims(space, w.dim, NULL) == w.rank;
        if (fine)
            window_begin(&w);
        do
            fine = fine && read_window(dataset, space, reading, &w, value);
        while (fine && window_next(&w));
    }
    free(value);
    return fine;
}

static bool read_dataset(hid_t dataset)
{
    hid_t stored = H5Dget_type(dataset), space = H5Dget_space(dataset);
    struct reading reading = stored >= 0 ? reading_of(stored) : (struct reading){-1, false};
    bool fine = stored >= 0 && space >= 0;
    (void)H5Dget_storage_size(dataset);
    (void)H5DSis_scale(dataset);
    if (fine && reading.type >= 0)
        fine = read_values(dataset, space, &reading);
    if (reading.text && reading.type >= 0)
        H5Tclose(reading.type);
    hdf5_close(stored);
    hdf5_close(space);
    return fine;
}

static herr_t on_object(hid_t root, const char *name, const H5O_info_t *info, void *user)
{
    struct hdf5_trial *trial = user;
    hsize_t at = 0;
    (void)text_copy(trial->object, sizeof trial->object, strcmp(name, ".") == 0 ? "/" : name);
    if (info->type != H5O_TYPE_GROUP && info->type != H5O_TYPE_DATASET)
        return 0;
    hid_t object = H5Oopen(root, name, H5P_DEFAULT);
    if (object < 0)
        return -1;
    bool fine = H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &at, on_attribute, NULL) >= 0 &&
                (info->type == H5O_TYPE_GROUP || read_dataset(object));
    H5Oclose(object);
    return fine ? 0 : -1;
}

/* The links in the order of their making, which is how cubes are read; a file that was repacked may have lost
 * it. */
static void read_creation_order(hid_t file)
{
    char name[256];
    hsize_t i = 0;
    while (H5Lget_name_by_idx(file, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, name, sizeof name,
                              H5P_DEFAULT) >= 0)
        i++;
}

bool hdf5_trial_run(const char *path, struct hdf5_trial *trial)
{
    hid_t file;
    if (hdf5_open(path, &file, NULL) != DSE_OK)
        return false;
    bool inside = hdf5_is_inside(file, trial->object, sizeof trial->object);
    trial->outside = trial->object[0] != '\0';
    if (!inside)
        return false;
    (void)text_copy(trial->object, sizeof trial->object, "/");
    read_creation_order(file);
    bool fine = H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, on_object, trial, H5O_INFO_BASIC) >= 0;
    return H5Fclose(file) >= 0 && fine;
}
