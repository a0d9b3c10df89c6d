/* Blocks of problems are drawn in parallel and kept one after the other; the HDF5 file is written when all
 * are there. */
#include "engines/mindmappings/training/mm_data_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/hash.h"
#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_guard.h"
#include "base/hdf5/hdf5_output.h"
#include "base/hdf5/hdf5_read.h"
#include "costmodel/model/architecture.h"
#include "engines/mindmappings/training/checkpoint.h"

enum { BLOCK_SAMPLES = 20000, CHUNK_ROWS = 10000, DEFLATE_LEVEL = 1 };

static const char format[] = "dse training data of mappings, 1";
static const char again[] = "remove it, and `dse train --data` draws the data again";

uint64_t mm_data_hash(const struct mm_data_pair *pair)
{
    struct hash_state state;
    hash_begin(&state);
    for (int i = 0; i < 2; i++) {
        const struct mm_data *data = i ? &pair->test : &pair->train;
        hash_u64(&state, data->n_each);
        hash_bytes(&state, data->vector, (size_t)data->n * data->algorithm->n_value * sizeof *data->vector);
        hash_bytes(&state, data->ratio, (size_t)data->n * data->algorithm->n_cost * sizeof *data->ratio);
    }
    return hash_end(&state);
}

/* Of the problems that are given: a network's name may come to mean other layers. */
static uint64_t problems_hash(const struct mm_problems *problems)
{
    struct hash_state state;
    hash_begin(&state);
    for (uint32_t i = 0; i < problems->n_given; i++)
        hash_bytes(&state, problems->given[i], problems->algorithm->n_dim * sizeof problems->given[i][0]);
    return hash_end(&state);
}

/* All that determines the samples. */
static uint64_t identity_of(const struct mm_data_plan *plan)
{
    struct hash_state state;
    const struct mm_problems *problems = plan->draws.problems;
    hash_begin(&state);
    hash_text(&state, format);
    hash_text(&state, problems->algorithm->name);
    hash_u64(&state, architecture_hash(plan->draws.machine->arch));
    hash_u64(&state, plan->draws.mode);
    hash_u64(&state, plan->draws.seed);
    hash_u64(&state, problems_hash(problems));
    hash_u64(&state, plan->n_train);
    hash_u64(&state, plan->n_train_each);
    hash_u64(&state, plan->n_test);
    hash_u64(&state, plan->n_test_each);
    return hash_end(&state);
}

/* ---- drawing ---- */

static enum dse_status new_pair(const struct mm_data_plan *plan, struct arena *arena,
                                struct mm_data_pair *data, struct dse_error *err)
{
    const struct mm_algorithm *algorithm = plan->draws.problems->algorithm;
    DSE_TRY(mm_data_new(algorithm, plan->n_train, plan->n_train_each, arena, &data->train, err));
    return mm_data_new(algorithm, plan->n_test, plan->n_test_each, arena, &data->test, err);
}

/* The samples of a block on their way to and from PATH.part. */
struct block {
    struct mm_data *data;
    uint32_t first_problem, n_problem;
    size_t first, n; /* samples */
    char *record;    /* (BLOCK_SAMPLES of both, at least one problem) or NULL without a file */
};

static size_t record_byte(const struct mm_data_plan *plan)
{
    const struct mm_algorithm *algorithm = plan->draws.problems->algorithm;
    size_t most = BLOCK_SAMPLES;
    most = plan->n_train_each > most ? plan->n_train_each : most;
    most = plan->n_test_each > most ? plan->n_test_each : most;
    return most * (algorithm->n_value * sizeof(uint16_t) + algorithm->n_cost * sizeof(float));
}

static void pack(const struct block *block, bool unpack)
{
    const struct mm_data *data = block->data;
    size_t n_value = data->algorithm->n_value, n_cost = data->algorithm->n_cost;
    void *vector = data->vector + block->first * n_value, *ratio = data->ratio + block->first * n_cost;
    size_t vector_byte = block->n * n_value * sizeof *data->vector;
    size_t ratio_byte = block->n * n_cost * sizeof *data->ratio;
    memcpy(unpack ? vector : block->record, unpack ? block->record : vector, vector_byte);
    memcpy(unpack ? ratio : block->record + vector_byte, unpack ? block->record + vector_byte : ratio,
           ratio_byte);
}

/* Block `number` of the samples behind each other, training data first; false behind the last one. */
static bool find_block(struct mm_data_pair *pair, uint32_t number, struct block *block)
{
    for (int i = 0; i < 2; i++) {
        struct mm_data *data = i ? &pair->test : &pair->train;
        uint32_t n_problem = (data->n + data->n_each - 1) / data->n_each;
        uint32_t size = BLOCK_SAMPLES / data->n_each > 0 ? BLOCK_SAMPLES / data->n_each : 1;
        uint32_t n_block = (n_problem + size - 1) / size;
        if (number < n_block) {
            block->data = data;
            block->first_problem = number * size;
            block->n_problem =
                n_problem - block->first_problem < size ? n_problem - block->first_problem : size;
            block->first = (size_t)block->first_problem * data->n_each;
            block->n = (size_t)block->n_problem * data->n_each;
            block->n = data->n - block->first < block->n ? data->n - block->first : block->n;
            return true;
        }
        number -= n_block;
    }
    return false;
}

/* All blocks, those of the checkpoint (may be NULL) without drawing. */
static enum dse_status draw_blocks(const struct mm_data_plan *plan, const struct checkpoint *checkpoint,
                                   char *record, int n_thread, const atomic_int *cancel,
                                   mm_data_progress *progress, void *user, struct mm_data_pair *pair,
                                   struct dse_error *err)
{
    struct block block = {.record = record};
    uint32_t done = 0;
    for (uint32_t b = 0; find_block(pair, b, &block); b++) {
        struct mm_draws draws = plan->draws;
        draws.unseen = block.data == &pair->test;
        progress(user, done, plan->n_train + plan->n_test);
        if (checkpoint && checkpoint_get(checkpoint, b, record)) {
            pack(&block, true);
        } else {
            DSE_TRY(mm_data_draw(&draws, block.data, block.first_problem, block.n_problem, n_thread, cancel,
                                 err));
            if (checkpoint) {
                pack(&block, false);
                DSE_TRY(checkpoint_put(checkpoint, b, record, err));
            }
        }
        done += (uint32_t)block.n;
    }
    return DSE_OK;
}

/* ---- the file ---- */

static int put_rows(hid_t file, const char *name, hid_t stored, hid_t type, const void *value, size_t n_row,
                    size_t n_column)
{
    const hsize_t dim[2] = {n_row, n_column}, chunk[2] = {n_row < CHUNK_ROWS ? n_row : CHUNK_ROWS, n_column};
    hid_t space = H5Screate_simple(2, dim, NULL), list = H5Pcreate(H5P_DATASET_CREATE), dataset = -1;
    if (space >= 0 && list >= 0 && H5Pset_obj_track_times(list, false) >= 0 &&
        H5Pset_chunk(list, 2, chunk) >= 0 && H5Pset_shuffle(list) >= 0 &&
        H5Pset_deflate(list, DEFLATE_LEVEL) >= 0)
        dataset = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, list, H5P_DEFAULT);
    int result = dataset < 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0 ? -1 : 0;
    hdf5_close(dataset);
    hdf5_close(list);
    hdf5_close(space);
    return result;
}

static int put_data(hid_t file, const char *which, const struct mm_data *data)
{
    char name[32];
    const uint64_t n_each = data->n_each;
    snprintf(name, sizeof name, "%s_n_each", which);
    int result = hdf5_put_attribute(file, name, H5T_NATIVE_UINT64, &n_each, 0);
    snprintf(name, sizeof name, "%s_vector", which);
    if (result >= 0)
        result = put_rows(file, name, H5T_STD_U16LE, H5T_NATIVE_UINT16, data->vector, data->n,
                          data->algorithm->n_value);
    snprintf(name, sizeof name, "%s_ratio", which);
    if (result >= 0)
        result = put_rows(file, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, data->ratio, data->n,
                          data->algorithm->n_cost);
    return result;
}

static enum dse_status write_file(const struct mm_data_plan *plan, const char *path,
                                  const struct mm_data_pair *data, struct dse_error *err)
{
    struct hdf5_output output;
    char temporary[NEW_FILE_PATH_MAX];
    const struct architecture *arch = plan->draws.machine->arch;
    const uint64_t machine = architecture_hash(arch), seed = plan->draws.seed;
    const uint64_t problems = problems_hash(plan->draws.problems);
    if (snprintf(temporary, sizeof temporary, "%s.tmp", path) >= (int)sizeof temporary)
        return dse_fail(err, DSE_LIMIT, "the path of the data is too long");
    DSE_TRY(hdf5_output_open(&output, temporary, err));
    bool whole = hdf5_put_text(output.file, "format", format) >= 0 &&
                 hdf5_put_text(output.file, "algorithm", data->train.algorithm->name) >= 0 &&
                 hdf5_put_text(output.file, "mode", mm_mode_name[plan->draws.mode]) >= 0 &&
                 hdf5_put_attribute(output.file, "machine", H5T_NATIVE_UINT64, &machine, 0) >= 0 &&
                 hdf5_put_text(output.file, "architecture", arch->name) >= 0 &&
                 hdf5_put_text(output.file, "problems", plan->problems) >= 0 &&
                 hdf5_put_attribute(output.file, "problems_hash", H5T_NATIVE_UINT64, &problems, 0) >= 0 &&
                 hdf5_put_attribute(output.file, "seed", H5T_NATIVE_UINT64, &seed, 0) >= 0 &&
                 put_data(output.file, "train", &data->train) >= 0 &&
                 put_data(output.file, "test", &data->test) >= 0;
    enum dse_status status = hdf5_output_close(&output, err);
    if (status == DSE_OK && !whole)
        status = dse_fail_at(err, DSE_IO, path, 0, "HDF5 could not write the data");
    if (status == DSE_OK && rename(temporary, path) != 0)
        status = dse_fail_at(err, DSE_IO, path, 0, "cannot be written");
    if (status != DSE_OK)
        (void)remove(temporary);
    return status;
}

enum dse_status mm_data_make(const struct mm_data_plan *plan, const char *path, int n_thread,
                             const atomic_int *cancel, mm_data_progress *progress, void *user,
                             struct arena *arena, struct mm_data_pair *data, struct dse_error *err)
{
    struct checkpoint checkpoint;
    char part[CHECKPOINT_PATH_MAX];
    DSE_TRY(new_pair(plan, arena, data, err));
    if (!path)
        return draw_blocks(plan, NULL, NULL, n_thread, cancel, progress, user, data, err);
    char *record = arena_alloc(arena, record_byte(plan), 1);
    DSE_TRY(arena_check(arena, "training data", err));
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return dse_fail(err, DSE_LIMIT, "the path of the data is too long");
    DSE_TRY(checkpoint_open(&checkpoint, part, identity_of(plan), record_byte(plan), err));
    enum dse_status status =
        draw_blocks(plan, &checkpoint, record, n_thread, cancel, progress, user, data, err);
    if (status == DSE_OK)
        status = write_file(plan, path, data, err);
    checkpoint_close(&checkpoint, status == DSE_OK);
    return status;
}

/* ---- reading; errors say what, the caller says where ---- */

/* The first n rows (n 0: all, which are counted) of a dataset of n_column. */
static enum dse_status get_rows(hid_t file, const char *name, hid_t type, size_t size, size_t n_column,
                                struct arena *arena, uint32_t *n, void **value, struct dse_error *err)
{
    hsize_t dim[2] = {0, 0}, start[2] = {0, 0}, count[2] = {0, n_column};
    enum dse_status status = DSE_OK;
    hid_t dataset = H5Lexists(file, name, H5P_DEFAULT) > 0 ? H5Dopen2(file, name, H5P_DEFAULT) : -1;
    hid_t space = dataset >= 0 ? H5Dget_space(dataset) : -1,
          stored = dataset >= 0 ? H5Dget_type(dataset) : -1;
    hid_t memory = -1;
    H5T_class_t class = stored >= 0 ? H5Tget_class(stored) : H5T_NO_CLASS;
    bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == 2 &&
                H5Sget_simple_extent_dims(space, dim, NULL) == 2 && dim[1] == n_column && dim[0] > 0 &&
                dim[0] < UINT32_MAX && (class == H5T_FLOAT || class == H5T_INTEGER) &&
                hdf5_can_hold(dataset, dim[0] * dim[1]);
    *value = NULL;
    if (!good)
        status = dse_fail(err, DSE_BAD_INPUT, "dataset %s is missing, or is not numbers in rows of %zu", name,
                          n_column);
    else if (*n > dim[0])
        status = dse_fail(err, DSE_BAD_INPUT,
                          "holds %" PRIu64 " samples, and %" PRIu32 " are asked for; name another file, or "
                          "fewer with --samples",
                          (uint64_t)dim[0], *n);
    if (status == DSE_OK) {
        *n = *n ? *n : (uint32_t)dim[0];
        count[0] = *n;
        *value = arena_alloc_unset(arena, (size_t)*n * n_column, size);
        status = arena_check(arena, "training data", err);
        memory = H5Screate_simple(2, count, NULL);
    }
    if (status == DSE_OK &&
        (memory < 0 || H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
         H5Dread(dataset, type, memory, space, H5P_DEFAULT, *value) < 0))
        status = dse_fail(err, DSE_BAD_INPUT, "dataset %s cannot be read", name);
    hdf5_close(memory);
    hdf5_close(stored);
    hdf5_close(space);
    hdf5_close(dataset);
    return status;
}

static enum dse_status get_data(hid_t file, const char *which, uint32_t n,
                                const struct mm_algorithm *algorithm, struct arena *arena,
                                struct mm_data *data, struct dse_error *err)
{
    char name[32];
    void *vector, *ratio;
    *data = (struct mm_data){.algorithm = algorithm};
    snprintf(name, sizeof name, "%s_n_each", which);
    uint64_t n_each = hdf5_read_count(file, name);
    if (n_each == 0 || n_each > UINT32_MAX)
        return dse_fail(err, DSE_BAD_INPUT, "attribute %s is missing or makes no sense", name);
    snprintf(name, sizeof name, "%s_vector", which);
    DSE_TRY(get_rows(file, name, H5T_NATIVE_UINT16, sizeof(uint16_t), algorithm->n_value, arena, &n, &vector,
                     err));
    snprintf(name, sizeof name, "%s_ratio", which);
    DSE_TRY(get_rows(file, name, H5T_NATIVE_FLOAT, sizeof(float), algorithm->n_cost, arena, &n, &ratio, err));
    *data = (struct mm_data){algorithm, n, (uint32_t)n_each, vector, ratio};
    return mm_data_check(data, err);
}

static enum dse_status check_heading(hid_t file, const struct mm_data_plan *plan, struct arena *arena,
                                     struct dse_error *err)
{
    const char *word, *architecture;
    const struct mm_machine *machine = plan->draws.machine;
    const struct {
        const char *name, *wanted;
    } text[] = {{"algorithm", machine->algorithm->name},
                {"mode", mm_mode_name[plan->draws.mode]},
                {"problems", plan->problems}};
    DSE_TRY(hdf5_read_word(file, "format", arena, &word, err));
    if (strcmp(word, format) != 0)
        return dse_fail(err, DSE_BAD_INPUT, "no training data of `dse train`");
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        DSE_TRY(hdf5_read_word(file, text[i].name, arena, &word, err));
        if (strcmp(word, text[i].wanted) != 0)
            return dse_fail(err, DSE_BAD_INPUT, "data of %s %s, and %s is asked for", text[i].name, word,
                            text[i].wanted);
    }
    if (hdf5_read_count(file, "problems_hash") != problems_hash(plan->draws.problems))
        return dse_fail(err, DSE_BAD_INPUT, "data of another network %s: its layers are others now",
                        plan->problems);
    DSE_TRY(hdf5_read_word(file, "architecture", arena, &architecture, err));
    if (hdf5_read_count(file, "machine") != architecture_hash(machine->arch))
        return dse_fail(err, DSE_BAD_INPUT, "data of another machine (%s)", architecture);
    return DSE_OK;
}

enum dse_status mm_data_read(const struct mm_data_plan *plan, const char *path, struct arena *arena,
                             struct mm_data_pair *data, struct dse_error *err)
{
    hid_t file;
    struct dse_error why = {0};
    const struct mm_algorithm *algorithm = plan->draws.problems->algorithm;
    DSE_TRY(hdf5_open_checked(path, again, &file, err));
    enum dse_status status = check_heading(file, plan, arena, &why);
    if (status == DSE_OK)
        status = get_data(file, "train", plan->n_train, algorithm, arena, &data->train, &why);
    if (status == DSE_OK)
        status = get_data(file, "test", 0, algorithm, arena, &data->test, &why);
    H5Fclose(file);
    return status == DSE_OK ? DSE_OK : dse_fail_at(err, status, path, 0, "%s", why.text);
}
