/* The HDF5 file of a model: attributes of the root say what it is for, four datasets normalise, and each
 * group net_I is a network. The seal behind the last byte (base/hdf5/hdf5_guard.h) tells cut and edited
 * files. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_guard.h"
#include "base/hdf5/hdf5_output.h"
#include "base/hdf5/hdf5_read.h"
#include "base/text.h"
#include "engines/mindmappings/mm_model.h"

static const char format[] = "dse surrogate of mappings, 1";
static const char again[] = "remove it, and `dse train` makes it again";
static const char *const quality_name[] = {"spearman", "spearman_within_problem", "spearman_cheapest_tenth",
                                           "median_error", "search_trial"};

enum { N_QUALITY = sizeof quality_name / sizeof quality_name[0] };

/* ---- writing ---- */

/* 1-D values of a native type, kept as `stored`; without times, so that the same model is the same bytes. */
static int put_values(hid_t parent, const char *name, hid_t stored, hid_t type, const void *value, size_t n)
{
    hsize_t length = n;
    hid_t space = H5Screate_simple(1, &length, NULL), list = H5Pcreate(H5P_DATASET_CREATE), dataset = -1;
    if (space >= 0 && list >= 0 && H5Pset_obj_track_times(list, false) >= 0)
        dataset = H5Dcreate2(parent, name, stored, space, H5P_DEFAULT, list, H5P_DEFAULT);
    int result = dataset < 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0 ? -1 : 0;
    hdf5_close(dataset);
    hdf5_close(list);
    hdf5_close(space);
    return result;
}

static int put_doubles(hid_t parent, const char *name, const double *value, size_t n)
{
    return put_values(parent, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, value, n);
}

static int put_count(hid_t object, const char *name, uint64_t value)
{
    return hdf5_put_attribute(object, name, H5T_NATIVE_UINT64, &value, 0);
}

static int put_net(hid_t file, uint32_t number, const struct mm_net *net)
{
    char name[32];
    const double quality[N_QUALITY] = {net->quality.spearman, net->quality.spearman_within,
                                       net->quality.spearman_low, net->quality.median_error,
                                       net->quality.trial};
    snprintf(name, sizeof name, "net_%" PRIu32, number);
    hid_t group = hdf5_create_group(file, name);
    int result = group < 0 ? -1 : put_count(group, "seed", net->seed);
    for (int i = 0; result >= 0 && i < N_QUALITY; i++)
        result = hdf5_put_attribute(group, quality_name[i], H5T_NATIVE_DOUBLE, &quality[i], 0);
    if (result < 0 ||
        put_values(group, "width", H5T_STD_U32LE, H5T_NATIVE_UINT32, net->mlp.width, net->mlp.n_layer + 1) <
            0 ||
        put_values(group, "parameter", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, net->mlp.parameter,
                   net->mlp.n_parameter) < 0 ||
        put_doubles(group, "train_loss", net->train_loss, net->n_epoch) < 0 ||
        put_doubles(group, "test_loss", net->test_loss, net->n_epoch) < 0)
        result = -1;
    hdf5_close(group);
    return result;
}

static int put_model(hid_t file, const struct mm_model *model)
{
    const struct mm_encoding *e = &model->encoding;
    int result = 0;
    if (hdf5_put_text(file, "format", format) < 0 ||
        hdf5_put_text(file, "algorithm", e->algorithm->name) < 0 ||
        hdf5_put_text(file, "mode", mm_mode_name[model->mode]) < 0 ||
        put_count(file, "machine", model->machine) < 0 ||
        hdf5_put_text(file, "architecture", model->architecture) < 0 ||
        hdf5_put_text(file, "problems", model->problems) < 0 ||
        hdf5_put_text(file, "options", model->options) < 0 || hdf5_put_text(file, "core", model->core) < 0 ||
        put_count(file, "data", model->data) < 0 || put_count(file, "n_sample", model->n_sample) < 0 ||
        hdf5_put_text(file, "input_form", mm_input_form_name[e->input]) < 0 ||
        hdf5_put_text(file, "output_form", mm_output_form_name[e->output]) < 0 ||
        put_count(file, "n_net", model->n_net) < 0 ||
        put_doubles(file, "input_mean", e->input_mean, e->algorithm->n_value) < 0 ||
        put_doubles(file, "input_deviation", e->input_deviation, e->algorithm->n_value) < 0 ||
        put_doubles(file, "output_mean", e->output_mean, e->algorithm->n_cost) < 0 ||
        put_doubles(file, "output_deviation", e->output_deviation, e->algorithm->n_cost) < 0)
        return -1;
    for (uint32_t i = 0; result >= 0 && i < model->n_net; i++)
        result = put_net(file, i, &model->net[i]);
    return result;
}

enum dse_status mm_model_write(const struct mm_model *model, const char *path, struct dse_error *err)
{
    struct hdf5_output output;
    char temporary[NEW_FILE_PATH_MAX];
    if (snprintf(temporary, sizeof temporary, "%s.tmp", path) >= (int)sizeof temporary)
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    DSE_TRY(hdf5_output_open(&output, temporary, err));
    bool whole = put_model(output.file, model) >= 0;
    enum dse_status status = hdf5_output_close(&output, err);
    if (status == DSE_OK && !whole)
        status = dse_fail_at(err, DSE_IO, path, 0, "HDF5 could not write the model");
    if (status == DSE_OK && rename(temporary, path) != 0)
        status = dse_fail_at(err, DSE_IO, path, 0, "cannot be written");
    if (status != DSE_OK)
        (void)remove(temporary);
    return status;
}

/* ---- reading; errors say what, the caller says where ---- */

/* The n values of a 1-D dataset, at most n_max of them where *n is 0 before. */
static enum dse_status get_values(hid_t parent, const char *name, hid_t type, size_t size, uint64_t n_max,
                                  struct arena *arena, uint64_t *n, void **value, struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    hid_t dataset = H5Lexists(parent, name, H5P_DEFAULT) > 0 ? H5Dopen2(parent, name, H5P_DEFAULT) : -1;
    hid_t space = dataset >= 0 ? H5Dget_space(dataset) : -1,
          stored = dataset >= 0 ? H5Dget_type(dataset) : -1;
    hssize_t count =
        space >= 0 && H5Sget_simple_extent_ndims(space) == 1 ? H5Sget_simple_extent_npoints(space) : -1;
    H5T_class_t class = stored >= 0 ? H5Tget_class(stored) : H5T_NO_CLASS;
    *value = NULL;
    if (count <= 0 || (class != H5T_FLOAT && class != H5T_INTEGER) || (uint64_t)count > n_max ||
        (*n > 0 && (uint64_t)count != *n))
        status =
            dse_fail(err, DSE_BAD_INPUT, "dataset %s is missing or not of the right size and type", name);
    *n = count > 0 ? (uint64_t)count : 0;
    if (status == DSE_OK) {
        *value = arena_alloc(arena, *n, size);
        status = arena_check(arena, "a model", err);
    }
    if (status == DSE_OK && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *value) < 0)
        status = dse_fail(err, DSE_BAD_INPUT, "dataset %s cannot be read", name);
    hdf5_close(stored);
    hdf5_close(space);
    hdf5_close(dataset);
    return status;
}

/* Doubles, all finite. */
static enum dse_status get_doubles(hid_t parent, const char *name, uint64_t n_max, struct arena *arena,
                                   uint64_t *n, double **value, struct dse_error *err)
{
    void *read;
    DSE_TRY(get_values(parent, name, H5T_NATIVE_DOUBLE, sizeof **value, n_max, arena, n, &read, err));
    *value = read;
    for (uint64_t i = 0; i < *n; i++)
        if (!isfinite((*value)[i]))
            return dse_fail(err, DSE_BAD_INPUT, "dataset %s: value %" PRIu64 " is not finite", name, i);
    return DSE_OK;
}

/* A table of normalisation of n values; deviations are above 0. */
static enum dse_status get_table(hid_t file, const char *name, uint64_t n, bool deviation,
                                 struct arena *arena, double *table, struct dse_error *err)
{
    double *value;
    DSE_TRY(get_doubles(file, name, n, arena, &n, &value, err));
    for (uint64_t i = 0; i < n; i++)
        if (deviation && !(value[i] > 0))
            return dse_fail(err, DSE_BAD_INPUT, "dataset %s: value %" PRIu64 " is not above 0", name, i);
    memcpy(table, value, n * sizeof *value);
    return DSE_OK;
}

/* The place of an attribute's word in a list. */
static enum dse_status get_choice(hid_t file, const char *name, const char *const *choice, uint32_t n,
                                  struct arena *arena, uint32_t *found, struct dse_error *err)
{
    const char *word;
    char shown[64];
    DSE_TRY(hdf5_read_word(file, name, arena, &word, err));
    for (*found = 0; *found < n; ++*found)
        if (strcmp(word, choice[*found]) == 0)
            return DSE_OK;
    return dse_fail(err, DSE_BAD_INPUT, "its %s \"%s\" is unknown here", name,
                    text_excerpt(word, shown, sizeof shown));
}

static enum dse_status get_network(hid_t group, const struct mm_algorithm *algorithm, struct arena *arena,
                                   struct mm_net *net, struct dse_error *err)
{
    void *width, *parameter;
    uint64_t n_width = 0, n;
    DSE_TRY(get_values(group, "width", H5T_NATIVE_UINT32, sizeof(uint32_t), MLP_LAYER_MAX + 1, arena,
                       &n_width, &width, err));
    const uint32_t *of = width;
    if (n_width < 2 || of[0] != algorithm->n_value || of[n_width - 1] != algorithm->n_cost)
        return dse_fail(err, DSE_BAD_INPUT,
                        "the network has not %u inputs and %u outputs, as algorithm %s has",
                        algorithm->n_value, algorithm->n_cost, algorithm->name);
    /* What the file holds comes first: its claims about widths could ask for any memory. */
    n = 0;
    DSE_TRY(get_values(group, "parameter", H5T_NATIVE_FLOAT, sizeof(float), UINT32_MAX, arena, &n, &parameter,
                       err));
    uint64_t wanted = 0;
    for (uint64_t i = 1; i < n_width; i++)
        wanted += ((uint64_t)of[i - 1] + 1) * of[i];
    if (wanted != n)
        return dse_fail(err, DSE_BAD_INPUT, "the network has %" PRIu64 " parameters, not %" PRIu64, n,
                        wanted);
    DSE_TRY(mlp_new(of, (uint32_t)n_width - 1, arena, &net->mlp, err));
    memcpy(net->mlp.parameter, parameter, n * sizeof(float));
    for (uint64_t i = 0; i < n; i++)
        if (!isfinite(net->mlp.parameter[i]))
            return dse_fail(err, DSE_BAD_INPUT, "parameter %" PRIu64 " of a network is not finite", i);
    return mlp_freeze(&net->mlp, arena, &net->frozen, err);
}

static enum dse_status get_net(hid_t file, uint32_t number, const struct mm_algorithm *algorithm,
                               struct arena *arena, struct mm_net *net, struct dse_error *err)
{
    char name[32];
    uint64_t n = 0;
    double quality[N_QUALITY];
    snprintf(name, sizeof name, "net_%" PRIu32, number);
    hid_t group = H5Lexists(file, name, H5P_DEFAULT) > 0 ? H5Gopen2(file, name, H5P_DEFAULT) : -1;
    if (group < 0)
        return dse_fail(err, DSE_BAD_INPUT, "there is no group %s", name);
    net->seed = hdf5_read_count(group, "seed");
    for (int i = 0; i < N_QUALITY; i++)
        if (!hdf5_read_number(group, quality_name[i], H5T_FLOAT, H5T_NATIVE_DOUBLE, &quality[i]))
            quality[i] = NAN;
    net->quality = (struct mm_quality){quality[0], quality[1], quality[2], quality[3], quality[4]};
    enum dse_status status = get_doubles(group, "train_loss", MM_EPOCH_MAX, arena, &n, &net->train_loss, err);
    if (status == DSE_OK)
        status = get_doubles(group, "test_loss", MM_EPOCH_MAX, arena, &n, &net->test_loss, err);
    net->n_epoch = (uint32_t)n;
    if (status == DSE_OK)
        status = get_network(group, algorithm, arena, net, err);
    hdf5_close(group);
    return status;
}

static enum dse_status get_heading(hid_t file, struct arena *arena, struct mm_model *model,
                                   struct dse_error *err)
{
    const char *word, *algorithm[MM_ALGORITHM_COUNT];
    uint32_t found, input, output, mode;
    for (enum mm_algorithm_id i = 0; i < MM_ALGORITHM_COUNT; i++)
        algorithm[i] = mm_algorithm(i)->name;
    DSE_TRY(hdf5_read_word(file, "format", arena, &word, err));
    if (strcmp(word, format) != 0)
        return dse_fail(err, DSE_BAD_INPUT, "not a model of `dse train`");
    DSE_TRY(get_choice(file, "algorithm", algorithm, MM_ALGORITHM_COUNT, arena, &found, err));
    DSE_TRY(get_choice(file, "mode", mm_mode_name, MM_MODE_COUNT, arena, &mode, err));
    DSE_TRY(get_choice(file, "input_form", mm_input_form_name, MM_INPUT_FORM_COUNT, arena, &input, err));
    DSE_TRY(get_choice(file, "output_form", mm_output_form_name, MM_OUTPUT_FORM_COUNT, arena, &output, err));
    DSE_TRY(hdf5_read_word(file, "architecture", arena, &model->architecture, err));
    DSE_TRY(hdf5_read_word(file, "problems", arena, &model->problems, err));
    DSE_TRY(hdf5_read_word(file, "options", arena, &model->options, err));
    DSE_TRY(hdf5_read_word(file, "core", arena, &model->core, err));
    model->encoding.algorithm = mm_algorithm((enum mm_algorithm_id)found);
    model->encoding.input = (enum mm_input_form)input;
    model->encoding.output = (enum mm_output_form)output;
    model->mode = (enum mm_mode)mode;
    model->machine = hdf5_read_count(file, "machine");
    model->data = hdf5_read_count(file, "data");
    model->n_sample = (uint32_t)hdf5_read_count(file, "n_sample");
    uint64_t n_net = hdf5_read_count(file, "n_net");
    if (n_net == 0 || n_net > MM_NET_MAX)
        return dse_fail(err, DSE_BAD_INPUT, "a model of %" PRIu64 " networks; 1 to %d are possible", n_net,
                        MM_NET_MAX);
    model->n_net = (uint32_t)n_net;
    return DSE_OK;
}

static enum dse_status get_model(hid_t file, struct arena *arena, struct mm_model *model,
                                 struct dse_error *err)
{
    DSE_TRY(get_heading(file, arena, model, err));
    struct mm_encoding *e = &model->encoding;
    DSE_TRY(get_table(file, "input_mean", e->algorithm->n_value, false, arena, e->input_mean, err));
    DSE_TRY(get_table(file, "input_deviation", e->algorithm->n_value, true, arena, e->input_deviation, err));
    DSE_TRY(get_table(file, "output_mean", e->algorithm->n_cost, false, arena, e->output_mean, err));
    DSE_TRY(get_table(file, "output_deviation", e->algorithm->n_cost, true, arena, e->output_deviation, err));
    model->net = arena_alloc(arena, model->n_net, sizeof *model->net);
    DSE_TRY(arena_check(arena, "a model", err));
    for (uint32_t i = 0; i < model->n_net; i++)
        DSE_TRY(get_net(file, i, e->algorithm, arena, &model->net[i], err));
    return DSE_OK;
}

enum dse_status mm_model_read(const char *path, const void *bytes, size_t n_byte, struct arena *arena,
                              const struct mm_model **model, struct dse_error *err)
{
    hid_t file;
    struct dse_error why = {0};
    struct mm_model *made = arena_alloc(arena, 1, sizeof *made);
    DSE_TRY(arena_check(arena, "a model", err));
    DSE_TRY(hdf5_open_sealed(path, bytes, n_byte, again, &file, err));
    enum dse_status status = get_model(file, arena, made, &why);
    H5Fclose(file);
    *model = made;
    return status == DSE_OK ? DSE_OK : dse_fail_at(err, status, path, 0, "%s", why.text);
}
